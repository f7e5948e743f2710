"""Markings of RDMA by hosts: the ToS byte that each source sets, and its DSCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import ClassSet

ECT0 = 0b10
"""ECN-capable transport in the two low bits of the ToS byte (RFC 3168, section 5)."""


class Marking(NamedTuple):
    """One source of the ToS byte of RDMA packets; ``name`` is the setting, such as ``NCCL_IB_TC``."""

    name: str
    tos: int
    origin: Origin

    @property
    def dscp(self) -> int:
        """The DSCP: the upper six bits of the ToS byte (RFC 2474, section 3)."""
        return self.tos >> 2


def tos_settings(host: HostQos) -> tuple[str, ...]:
    """Return the names of the settings in which :func:`markings` looks for a ToS byte."""
    return tuple(dict.fromkeys(name for name, _, _ in _settings(host)))


def markings(host: HostQos) -> tuple[Marking, ...]:
    """Return the sources that set a ToS byte on this host; without any, RDMA has DSCP 0.

    Left out are unknown settings (see :func:`marks_all_known`) and libraries that bypass the kernel.
    """
    known = ((name, tos, origin) for name, tos, origin in _settings(host) if tos is not UNKNOWN)
    return tuple(Marking(name, tos, origin) for name, tos, origin in known if tos is not None)


def _settings(host: HostQos) -> Iterator[tuple[str, Maybe[int], Origin]]:
    yield "traffic_class", host.traffic_class, host.traffic_class_origin
    yield "NCCL_IB_TC", host.nccl_tc, host.nccl_tc_origin
    for library in host.jobs.libraries:
        if not library.bypasses:
            yield library.variable, library.tos, library.origin


def marks_all_known(host: HostQos) -> bool:
    """Return whether the settings of ``traffic_class`` and ``NCCL_IB_TC`` are known."""
    return host.traffic_class is not UNKNOWN and host.nccl_tc is not UNKNOWN


def lossless_dscps(classes: ClassSet) -> tuple[int, ...]:
    """Return every DSCP whose class is lossless, those of a lossless ``rest`` included."""
    return tuple(dscp for dscp in DSCPS if (cls := classes.of_dscp(dscp)) is not None and cls.lossless)


def is_unit_slip(tos: int, lossless: Iterable[int]) -> bool:
    """Return whether the number of a ToS byte is a lossless DSCP, while its upper six bits are not."""
    return tos in lossless and tos >> 2 not in lossless
