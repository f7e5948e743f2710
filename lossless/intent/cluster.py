"""The GPUs behind the hosts, and the failures that a fabric must bear."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema, model_validator

from lossless.intent.base import Count, Model, Rate, refused, small_number
from lossless.intent.policy import Ratio

_MOST_IN_HOST = 256
"""GPUs or NICs of one host: many more than any has, and few enough to count one by one."""


def _in_host(what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _MOST_IN_HOST})
    return small_number(1, _MOST_IN_HOST, f"a number of {what} in one host"), schema


def _some(rate_bps: int) -> int:
    if rate_bps == 0:
        raise refused("a GPU that sends nothing needs no fabric; state its rate, as in 400G")
    return rate_bps


SomeRate = Annotated[Rate, AfterValidator(_some)]


class NvLink(Model):
    """GPUs joined by NVLink: its generation, and how many of them are one domain."""

    generation: Literal[4, 5]
    domain: Count


class UaLink(Model):
    """GPUs joined by UALink: what each sends, one way, and how many of them are one pod."""

    rate: SomeRate
    domain: Count


class Cluster(Model):
    """The GPUs of every host: they are counted where bandwidth is given per GPU, or hosts stand still."""

    gpus_per_host: Annotated[int, *_in_host("GPUs")]
    nics_per_host: Annotated[int, *_in_host("NICs")] | None = None
    gpus: Count | None = None
    rails: Count | None = None
    bandwidth_per_gpu: SomeRate | None = None
    nvlink: NvLink | None = None
    ualink: UaLink | None = None

    @model_validator(mode="after")
    def _joined_one_way(self) -> Cluster:
        if self.nvlink is not None and self.ualink is not None:
            raise refused("give either nvlink or ualink, not both")
        return self


def _number(what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = WithJsonSchema({"type": "integer", "minimum": 0, "maximum": _MOST_FAILED})
    return small_number(0, _MOST_FAILED, f"a number of {what}"), schema


_MOST_FAILED = 1024
"""As many links as one bundle can have."""


class Failures(Model):
    """What may fail at once, and the oversubscription that is accepted then: each of the two by itself."""

    links: Annotated[int, *_number("links")] = 0
    switches: Annotated[int, *_number("switches")] = 0
    oversubscription: Ratio

    @model_validator(mode="after")
    def _something_fails(self) -> Failures:
        if not self.links and not self.switches:
            raise refused("state how many links or switches may fail, as in links: 1")
        return self
