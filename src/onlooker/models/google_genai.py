"""Gemini, by Google's generateContent API.

Built on the official SDK with its retries switched off. Media travel inside the request while they are small; above the
limit, videos and sounds are uploaded beforehand (``uploads``). The transport is httpx2 and not aiohttp, which the SDK
prefers where it happens to be installed: one path, one set of errors.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from onlooker.errors import InputError, MissingExtra, ModelError
from onlooker.models.capabilities import refuse_sampling, refuse_unaccepted
from onlooker.models.endpoint import retry_after_s
from onlooker.models.google_wire import duration, merged, read_reply, read_status
from onlooker.models.limits import check_request, uploads_needed
from onlooker.models.options import ModelOptions
from onlooker.models.payload import check_file, read_videos
from onlooker.models.remote import RemoteModel, Service
from onlooker.models.request import Image, Reply, Request, Sound, Video
from onlooker.models.uploads import State, Stored, Uploads

if TYPE_CHECKING:
    from google.genai.client import Client
    from google.genai.types import (
        Content,
        ContentUnion,
        File,
        GenerateContentConfig,
        Part,
        UploadFileConfig,
        VideoMetadata,
    )

_T = TypeVar("_T")
_R = TypeVar("_R")

_URL = "https://generativelanguage.googleapis.com"
_API_VERSION = "v1"  # as the SDK has it by itself (3.6, November 2026)
# Every 429 speaks of "your current quota", also one that is over in a minute: only the quotas of a day and money count.
_QUOTA_WORDS = ("perday", "per day", "credits are depleted", "insufficient_quota", "billing account")
_UPLOAD_TIMEOUT_S = 600.0
# How long the API keeps uploaded files (ai.google.dev/gemini-api/docs/files); used where it does not say until when.
_KEPT_S = 48 * 3600.0
_LEVELS = ("minimal", "low", "medium", "high")
_GONE = frozenset((403, 404))
_STATES: Mapping[str, State] = {"ACTIVE": "ready", "FAILED": "failed"}
_WRITTEN = ("model", "contents", "systemInstruction", "system_instruction", "generation_config")
# Inside generationConfig, where further parameters go too.
_CONFIGURED = ("temperature", "topP", "seed", "maxOutputTokens", "responseMimeType", "candidateCount")
_USABLE = (
    "base_url",
    "api_key_env",
    "accepts",
    "timeout_s",
    "upload_timeout_s",
    "media_resolution",
    "effort",
    "sampling",
    "limits",
    "settings",
)


_SERVICE = Service(
    provider="google",
    wire="google generateContent",
    own_url=_URL,
    own_key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    quota_words=_QUOTA_WORDS,
    usable=_USABLE,
)


class GoogleModel(RemoteModel):
    """One Gemini; ``ModelOptions`` says what can be set.

    A thinking budget is added to the output budget, because the API counts both together. ``effort`` is sent as the
    thinking level that Gemini 3 has instead. Raises InputError, MissingExtra. ``sleep`` waits while an uploaded file is
    processed.
    """

    kind = "google"

    def __init__(
        self,
        model: str,
        options: ModelOptions | None = None,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        options = options or ModelOptions()
        super().__init__(model, options, _SERVICE, {None: _WRITTEN, "generationConfig": _CONFIGURED})
        if options.effort is not None and options.effort not in _LEVELS:
            raise InputError(
                "no such effort", where=self.name, value=options.effort, remedy=f"one of {', '.join(_LEVELS)}"
            )
        self._genai, self._types, self._httpx = _load_sdk()
        self._client: Client | None = None
        self._http: Any = None
        self._upload_timeout_s = options.upload_timeout_s or _UPLOAD_TIMEOUT_S
        self._uploads = Uploads(self, self.name, timeout_s=self._upload_timeout_s, sleep=sleep)

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Model, endpoint and how everything is sent; never the key."""
        return self.described(media_resolution=self._options.media_resolution or "not sent")

    async def ask(self, request: Request) -> Reply:
        """One request on the wire, after its uploads if it has any. Errors as ``Model.ask`` says.

        Where the provider does not know a file that was remembered from an earlier call, it is uploaded again and the
        request sent once more: the first one was refused before anything was counted.
        """
        contents, remembered = await self.contents(request)
        try:
            answer = await self._generate(contents, request, lent=bool(remembered))
        except _GoneError:
            for sha256 in remembered:
                self._uploads.forget(sha256)
            contents, _ = await self.contents(request)
            answer = await self._generate(contents, request)
        return self.reply(answer, request)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aio.aclose()
            client.close()
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    def connect(self) -> Client:
        """The SDK's client, made once. It is given everything, so that no variable of the environment changes it."""
        if self._client is None:
            types = self._types
            self._http = self._httpx.AsyncClient(
                timeout=self._timeout_s, limits=self._httpx.Limits(max_connections=None)
            )
            self._client = self._genai.Client(
                vertexai=False,
                api_key=self._endpoint.key or "none",
                http_options=types.HttpOptions(
                    base_url=self._endpoint.url,
                    api_version=_API_VERSION,
                    timeout=round(self._timeout_s * 1000),
                    retry_options=types.HttpRetryOptions(attempts=1),
                    httpx_async_client=self._http,
                ),
            )
        return self._client

    async def contents(self, request: Request) -> tuple[list[Content], list[str]]:
        """The one turn of a request, and the digests of the remembered uploads in it.

        ModelError where the request cannot be sent as it is.
        """
        refuse_unaccepted(request, self._accepts, self.name)
        upload = uploads_needed(request, self._limits)
        check_request(request, self._limits, self.name, uploaded=upload)
        videos = {} if upload else await read_videos(request, self.name)
        types = self._types
        parts: list[Part] = []
        remembered: list[str] = []
        words = ""
        for part in request.parts:
            if not isinstance(part, Image | Sound | Video):
                words += part.text
                continue
            if words:
                parts.append(types.Part(text=words))
                words = ""
            if isinstance(part, Image):
                parts.append(types.Part(inline_data=types.Blob(data=part.jpeg, mime_type="image/jpeg")))
                continue
            if upload:
                sha256 = part.sha256 if isinstance(part, Video) else hashlib.sha256(part.wav).hexdigest()
                stored, is_old = await self._uploads.handle(part, sha256)
                remembered += [sha256] if is_old else []
                made = types.Part(file_data=types.FileData(file_uri=stored.uri, mime_type=_mime(part)))
            else:
                data = part.wav if isinstance(part, Sound) else videos[part.sha256]
                made = types.Part(inline_data=types.Blob(data=data, mime_type=_mime(part)))
            made.video_metadata = self._watching(part)
            parts.append(made)
        if words:
            parts.append(types.Part(text=words))
        return [types.Content(role="user", parts=parts)], remembered

    def config(self, request: Request) -> GenerateContentConfig:
        """Everything of a call but its contents; ModelError where it cannot be sent as it is."""
        types = self._types
        config: GenerateContentConfig = types.GenerateContentConfig(
            max_output_tokens=request.max_output_tokens + (request.thinking_tokens or 0),
            system_instruction=request.system,
            seed=request.seed if self._can.seed else None,
            response_mime_type="application/json" if request.json_object and self._can.json_object else None,
        )
        if self._sampling:
            config.temperature, config.top_p = request.temperature, request.top_p
        else:
            refuse_sampling(request, self.name, why="this model takes no sampling parameters")
        if self._options.media_resolution is not None:
            config.media_resolution = types.MediaResolution(
                f"MEDIA_RESOLUTION_{self._options.media_resolution.upper()}"
            )
        if request.thinking_tokens is not None and self._options.effort is not None:
            raise ModelError("a request has a thinking budget or an effort, not both", where=self.name)
        if request.thinking_tokens is not None:
            config.thinking_config = types.ThinkingConfig(thinking_budget=request.thinking_tokens)
        elif self._options.effort is not None:
            config.thinking_config = types.ThinkingConfig(thinking_level=self._options.effort.upper())
        return config

    def reply(self, answer: Mapping[str, Any], request: Request) -> Reply:
        """What the server said (a GenerateContentResponse as JSON); TransientModelError where it is none."""
        reply = read_reply(answer)
        if reply is None:
            raise self._endpoint.garbled("the answer holds no candidate", dict(answer))
        left_out = {
            "temperature": not self._sampling and request.temperature != 1.0,
            "seed": request.seed is not None and not self._can.seed,
            "json_object": request.json_object and not self._can.json_object,
        }
        reply = self._endpoint.hide_in(reply)
        if not any(left_out.values()):
            return reply
        return replace(
            reply, details={**reply.details, "not_sent": [name for name, is_out in left_out.items() if is_out]}
        )

    async def wire_body(self, request: Request) -> dict[str, Any]:
        """The body of one call as JSON, as a file of calls holds it."""
        contents, _ = await self.contents(request)
        settings = self.config(request).model_dump(mode="json", by_alias=True, exclude_none=True)
        body: dict[str, Any] = {
            "contents": [turn.model_dump(mode="json", by_alias=True, exclude_none=True) for turn in contents]
        }
        if (system := settings.pop("systemInstruction", None)) is not None:
            body["systemInstruction"] = {"parts": [{"text": system}], "role": "user"}
        body["generationConfig"] = settings
        return merged(body, self._options.settings)

    async def send_file(self, path: Path, mime: str) -> str:
        """Upload a file that is no medium; its name at the provider."""
        config = self._types.UploadFileConfig(mime_type=mime)
        return (await self._send(str(path), config)).name

    async def send(self, part: Video | Sound) -> Stored:
        """For ``Uploads``: the bytes go in pieces and are read beside the event loop."""
        config = self._types.UploadFileConfig(mime_type=_mime(part))
        if isinstance(part, Sound):
            return await self._send(io.BytesIO(part.wav), config)
        await asyncio.to_thread(check_file, part, self.name)
        with tempfile.TemporaryDirectory() as folder:
            # The SDK tells the provider the name of the file: it is not to learn how a person named a video.
            link = Path(folder) / f"{part.sha256[:16]}{part.path.suffix}"
            link.symlink_to(part.path.resolve())
            return await self._send(str(link), config)

    async def _send(self, file: str | io.BytesIO, config: UploadFileConfig) -> Stored:
        return await self.call(
            lambda client: client.aio.files.upload(file=file, config=config), _stored, within_s=self._upload_timeout_s
        )

    async def look(self, name: str) -> Stored:
        """For ``Uploads``."""
        return await self.call(lambda client: client.aio.files.get(name=name), _stored)

    async def call(
        self,
        send: Callable[[Client], Awaitable[_T]],
        read: Callable[[_T], _R],
        *,
        lent: bool = False,
        within_s: float | None = None,
    ) -> _R:
        """One exchange with the server, its failures as ours.

        ``lent``: the request speaks of an upload of an earlier call; a server that does not know it is a _GoneError.
        """
        httpx, errors = self._httpx, self._genai.errors
        within_s = within_s or self._timeout_s
        try:
            async with asyncio.timeout(within_s):
                return read(await send(self.connect()))
        except (TimeoutError, httpx.TimeoutException):
            raise self._endpoint.late(within_s) from None
        except errors.APIError as error:
            if lent and error.code in _GONE:
                raise _GoneError from None
            wait_s = retry_after_s(getattr(error.response, "headers", None) or {})
            raise self.failure(error.code, error.details, retry_after_s=wait_s) from None
        except httpx.HTTPError as error:
            raise self._endpoint.cut(error) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            # The SDK meets a body that is no JSON, or JSON of another shape, with any of these.
            raise self._endpoint.garbled("the answer is not what the API describes", error) from None

    def failure(self, status: int, body: Any, *, retry_after_s: float | None = None) -> ModelError:
        """An error body (google.rpc.Status) as the error it means."""
        words, wait_s = read_status(body)
        return self._endpoint.failure(status, words, retry_after_s=wait_s if retry_after_s is None else retry_after_s)

    async def _generate(self, contents: list[Content], request: Request, *, lent: bool = False) -> Mapping[str, Any]:
        config = self.config(request)
        if self._options.settings:
            config.http_options = self._types.HttpOptions(extra_body=dict(self._options.settings))
        return await self.call(
            lambda client: client.aio.models.generate_content(
                model=self._model, contents=cast("list[ContentUnion]", contents), config=config
            ),
            lambda answer: answer.model_dump(mode="json", by_alias=True, exclude_none=True),
            lent=lent,
        )

    def _watching(self, part: Sound | Video) -> VideoMetadata | None:
        if isinstance(part, Sound) or (part.fps is None and part.watch_s is None):
            return None
        start, end = (None, None) if part.watch_s is None else map(duration, part.watch_s)
        watching: VideoMetadata = self._types.VideoMetadata(fps=part.fps, start_offset=start, end_offset=end)
        return watching


class _GoneError(Exception):
    """The provider does not know an upload that was remembered."""


def _mime(part: Sound | Video) -> str:
    return "audio/wav" if isinstance(part, Sound) else part.mime


def _stored(file: File) -> Stored:
    if not file.name or not file.uri:
        raise ValueError(f"an uploaded file without a name or an address: {file}")
    state = _STATES.get(file.state.value if file.state else "ACTIVE", "processing")
    expires_at_s = file.expiration_time.timestamp() if file.expiration_time else time.time() + _KEPT_S
    reason = file.error.message if file.error and file.error.message else ""
    return Stored(file.name, file.uri, state, expires_at_s, reason)


def _load_sdk() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        import httpx2  # noqa: PLC0415  comes with the extra
        from google import genai  # noqa: PLC0415  an extra
        from google.genai import types  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("google", "a model of Google") from error
    return genai, types, httpx2
