"""Markings of RDMA by hosts: the ToS byte that each source sets, its DSCP, and settings that show RDMA at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set as AbstractSet

    from lossless.ground.basics.findings import Origin
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.deployed_devices import Priorities
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


class RdmaShown(NamedTuple):
    """A setting that shows RDMA of a class, as text, and its origin."""

    what: str
    origin: Origin


def rdma_of(host: HostQos, priorities: AbstractSet[int], paused: Priorities) -> RdmaShown | None:
    """Return the first setting that shows RDMA of the given priorities on a host; None without one.

    ``paused`` are the DSCPs that the switch pauses, with their priorities. The map of a host that trusts DSCP counts as
    well.
    """
    own = () if host.dscp_to_priority is UNKNOWN or host.trust != "dscp" else host.dscp_to_priority
    dscps = {dscp for dscp, priority in (*paused, *own) if priority in priorities}
    for marking in every_marking(host):
        if marking.dscp in dscps:
            return RdmaShown(f"{marking.name} {marking.tos}, DSCP {marking.dscp}", marking.origin)
    running = host.dcqcn.priorities
    if host.dcqcn.enabled is True and isinstance(running, tuple) and not priorities.isdisjoint(running):
        return RdmaShown("DCQCN runs on it", host.dcqcn.at("priorities"))
    return None


def shows_rdma(host: HostQos) -> bool:
    """Return whether any file of a host shows RDMA of any class, or a NIC that is set up for it."""
    jobs, dcqcn = host.jobs, host.dcqcn
    settings = (host.traffic_class, host.cma_tos, host.roce_version, host.gid_types, host.rdma_mtu_bytes)
    return bool(
        host.rdma_devices
        or jobs.variables
        or jobs.libraries
        or dcqcn.enabled is not UNKNOWN
        or host.trust == "dscp"
        or any(setting is not UNKNOWN and setting is not None for setting in settings)
    )


def every_marking(host: HostQos) -> Iterator[Marking]:
    """Yield the sources of the ToS byte of RDMA packets in the files of a host, including RDMA-CM."""
    yield from markings(host)
    if isinstance(host.cma_tos, int):
        yield Marking("default_roce_tos", host.cma_tos, host.at("cma_tos"))
