"""The GPUs behind the hosts, and the failures that a fabric must bear."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema, model_validator

from lossless.formats.intent.base import Count, Model, Rate, listed, refused, shown, whole_number
from lossless.formats.intent.policy import Ratio

_MOST_IN_HOST = 256
"""GPUs or NICs of one host: many more than any has, and few enough to count one by one."""


def _some(rate_bps: int) -> int:
    if rate_bps == 0:
        raise refused("a GPU that sends nothing needs no fabric; state its rate, as in 400G")
    return rate_bps


SomeRate = Annotated[Rate, AfterValidator(_some)]


class NvLink(Model):
    """GPUs joined by NVLink: its generation, and how many of them are one domain."""

    generation: Literal[4, 5]
    """Generation of NVLink: 4 (450 GB/s per GPU, one way) or 5 (900 GB/s). Example: `5`"""
    domain: Count
    """How many GPUs reach each other by NVLink: 8 in one host, 72 in an NVL72. Example: `8` Example: `72`"""


class UaLink(Model):
    """GPUs joined by UALink: what each sends, one way, and how many of them are one pod."""

    rate: SomeRate
    """What each GPU sends into its pod, one way, with its unit. Example: `3.2T`"""
    domain: Count
    """How many GPUs are one pod. Example: `64`"""


class ClusterIntent(Model):
    """The GPUs of every host: they are counted where bandwidth is given per GPU, or hosts stall."""

    gpus_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of GPUs in one host")]
    """How many GPUs every host has. Example: `8`"""
    nics_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of NICs in one host")] | None = (
        None
    )
    """How many RDMA NICs every host has on this fabric. Left out: as many as it has links. Example: `8`"""
    gpus: Count | None = None
    """How many GPUs there are in all, to be checked. Left out: what hosts have is counted. Example: `256`"""
    rails: Count | None = None
    """How many rails the NICs of a host are spread over. Left out: none are meant. Example: `8`"""
    bandwidth_per_gpu: SomeRate | None = None
    """What each GPU must have on the fabric, one way, with its unit: checked. Left out: what links carry.
    Example: `400G`
    """
    nvlink: NvLink | None = None
    """Given where NVLink joins the GPUs. Left out: it does not. Example: `{generation: 4, domain: 8}`"""
    ualink: UaLink | None = None
    """Given where UALink joins the GPUs. Left out: it does not. Example: `{rate: 3.2T, domain: 64}`"""

    @model_validator(mode="after")
    def _joined_one_way(self) -> ClusterIntent:
        if self.nvlink is not None and self.ualink is not None:
            raise refused("give either nvlink or ualink, not both")
        return self


_MOST_FAILED = 1024
"""As many links as one bundle can have."""


def _out_of_service(value: object) -> object:
    """Return a switch, or the two ends of links, as the models hold them."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and len(value) == 2 and all(isinstance(end, str) for end in value):
        return tuple(value)
    raise refused(f"expected a switch, or the two ends of links as [leaf1, spine1]; found {shown(value)}")


_ENDS = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
OutOfService = Annotated[
    tuple[str, ...],
    BeforeValidator(_out_of_service),
    WithJsonSchema({"anyOf": [{"type": "string"}, _ENDS]}),
]


class FailuresIntent(Model):
    """What must be tolerated: any so many links at once, or any so many switches, besides what is out of service.

    Rules about capacity and about routing read the same numbers; an intent that says nothing means one of each.
    """

    links: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of links")] = 1
    """How many links may fail at once, while all switches work. Example: `2`"""
    switches: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of switches")] = 1
    """How many switches may fail at once, while all other links work. Example: `1`"""
    oversubscription: Ratio | None = None
    """Accepted ratio of bandwidth below a switch to what such failures leave above it. Left out: any. Example: `2`"""
    out_of_service: Annotated[tuple[OutOfService, ...], BeforeValidator(listed)] = ()
    """What has failed already, or is under repair: switches, and links by their two ends. Left out: nothing.
    Example: `[spine2, [leaf1, spine1]]`
    """
