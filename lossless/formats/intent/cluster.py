"""The GPUs of the hosts, and the failures that a fabric must tolerate."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema, model_validator

from lossless.formats.intent.base import Count, Model, Rate, listed, refused, shown, whole_number
from lossless.formats.intent.policy import Ratio

_MOST_IN_HOST = 256
"""The largest accepted number of GPUs or NICs of one host: above any real host, and small enough to count one by one.
"""


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
    """GPUs joined by UALink: the rate of each GPU, one way, and the number of GPUs in one pod."""

    rate: SomeRate
    """Rate at which each GPU sends into its pod, one way, with its unit. Example: `3.2T`"""
    domain: Count
    """How many GPUs are one pod. Example: `64`"""


class ClusterIntent(Model):
    """The GPUs of every host, counted by rules about bandwidth per GPU and about stalled hosts."""

    gpus_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of GPUs in one host")]
    """How many GPUs every host has. Example: `8`"""
    nics_per_host: Annotated[int, *whole_number(1, _MOST_IN_HOST, "a number of NICs in one host")] | None = (
        None
    )
    """How many RDMA NICs every host has on this fabric. Left out: as many as it has links. Example: `8`"""
    gpus: Count | None = None
    """Number of GPUs in all, to be checked. Left out: the GPUs of all hosts are counted. Example: `256`"""
    rails: Count | None = None
    """Number of rails that the NICs of a host are spread over. Left out: no rails are declared. Example: `8`"""
    bandwidth_per_gpu: SomeRate | None = None
    """Bandwidth that each GPU must have on the fabric, one way, with its unit: checked. Left out: that of the links.
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
"""The largest accepted number of failed links or switches: the most links of one bundle."""


def _out_of_service(value: object) -> object:
    """Return a failed switch as a tuple of one name, failed links as a tuple of their two ends.

    Raises:
        PydanticCustomError: the value is neither.
    """
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
    """Failures to tolerate: any ``links`` links at once, or any ``switches`` switches, besides those out of service.

    Rules about capacity and about routing read the same numbers; both are 1 where the intent has none.
    """

    links: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of links")] = 1
    """How many links may fail at once, while all switches work. Example: `2`"""
    switches: Annotated[int, *whole_number(0, _MOST_FAILED, "a number of switches")] = 1
    """How many switches may fail at once, while all other links work. Example: `1`"""
    oversubscription: Ratio | None = None
    """Accepted ratio of bandwidth below a switch to the bandwidth above it that such failures leave. Left out: any.
    Example: `2`
    """
    out_of_service: Annotated[tuple[OutOfService, ...], BeforeValidator(listed)] = ()
    """Switches that have failed already or are under repair, and links by their two ends. Left out: none.
    Example: `[spine2, [leaf1, spine1]]`
    """
