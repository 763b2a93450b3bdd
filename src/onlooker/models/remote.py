"""What all models behind an address have in common: who they are, what they take, what they may be told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from onlooker.models.capabilities import Provider, accepted_kinds, capabilities_of
from onlooker.models.endpoint import open_endpoint
from onlooker.models.limits import Limits, limits_of
from onlooker.models.options import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from onlooker.models.options import ModelOptions
    from onlooker.models.request import Modality


@dataclass(frozen=True, slots=True)
class Service:
    """What a provider's API is to us.

    provider      its row in the tables of capabilities and limits
    wire          the format, as fingerprints name it
    own_url, own_key_env   its own address, and the variables that hold the key for it
    quota_words   what a refusal says when money or quota is used up
    usable        the options that this kind of model has a use for
    """

    provider: Provider
    wire: str
    own_url: str
    own_key_env: Sequence[str]
    quota_words: tuple[str, ...]
    usable: Collection[str]


class RemoteModel:
    """The common part of the models of one service. ``reserved``: {object in the settings, None for the settings
    themselves: the names in it that the run writes}. Raises InputError where an option is of no use, the key is missing
    or the URL is none.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        model: str,
        options: ModelOptions,
        service: Service,
        reserved: Mapping[str | None, Collection[str]],
    ) -> None:
        self._model = model
        self._options = options
        self._service = service
        options.refuse_others(service.usable, self.name)
        for inside, names in reserved.items():
            options.refuse_settings(names, self.name, inside=inside)
        self._accepts = accepted_kinds(service.provider, model, options.accepts)
        self._can = capabilities_of(service.provider, model)
        self._sampling = self._can.sampling if options.sampling is None else options.sampling
        self._limits = limits_of(service.provider, model, options.limits)
        self._timeout_s = options.timeout_s or DEFAULT_TIMEOUT_S
        self._endpoint = open_endpoint(
            self.name,
            own_url=service.own_url,
            own_key_env=service.own_key_env,
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            quota_words=service.quota_words,
        )

    @property
    def name(self) -> str:
        """``KIND:MODEL``."""
        return f"{self.kind}:{self._model}"

    @property
    def model(self) -> str:
        """The provider's own name of it."""
        return self._model

    @property
    def accepts(self) -> frozenset[Modality]:
        """As stated, else as the table of capabilities says; text always."""
        return self._accepts

    @property
    def limits(self) -> Limits:
        """What is known of the largest request."""
        return self._limits

    @property
    def at_once(self) -> int | None:
        """As many as it is asked."""
        return None

    def described(self, **own: str) -> dict[str, str]:
        """The fingerprint: model, endpoint and how everything is sent; never the key. ``own``: what this kind adds."""
        return {
            "kind": self._service.wire,
            "model": self._model,
            "endpoint": self._endpoint.url,
            "accepts": ",".join(sorted(self._accepts)),
            "effort": self._options.effort or "not sent",
            "sampling": "sent" if self._sampling else "not sent",
            "settings": self._options.settings_text(),
            **own,
        }
