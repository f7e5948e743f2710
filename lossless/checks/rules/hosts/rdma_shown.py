"""Settings in the files of a host that show RDMA and its priorities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.classification.host_markings import Marking, markings
from lossless.ground.basics.records import UNKNOWN, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Set as AbstractSet

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.deployed_devices import Priorities
    from lossless.model.fabric.hosts import HostQos


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
