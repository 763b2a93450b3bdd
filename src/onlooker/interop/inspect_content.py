"""A request of ours as the messages that Inspect sends."""

from __future__ import annotations

import base64

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Content, ContentImage, ContentText

from onlooker.errors import InputError
from onlooker.models.request import Image, Options, Request, Text


def messages(request: Request) -> list[ChatMessage]:
    """One turn of the user: the parts in order, neighbouring words joined; a plain string where all are words.

    So do our own providers, and so a model gets the same either way. Raises ``InputError`` for sound and video.
    """
    content: list[Content] = []
    for part in request.parts:
        match part:
            case Image():
                content.append(ContentImage(image=f"data:image/jpeg;base64,{base64.b64encode(part.jpeg).decode()}"))
            case Text() | Options():
                last = content[-1] if content else None
                if isinstance(last, ContentText):
                    content[-1] = ContentText(text=last.text + part.text)
                else:
                    content.append(ContentText(text=part.text))
            case _:
                raise InputError("only words and pictures can be handed over", value=type(part).__name__.lower())
    only = content[0] if len(content) == 1 else None
    user = ChatMessageUser(content=only.text if isinstance(only, ContentText) else content)
    return [user] if request.system is None else [ChatMessageSystem(content=request.system), user]
