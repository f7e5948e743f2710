"""Common parts of switches of all dialects: their configurations do not declare buffers, hardware and neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.known import UNKNOWN
from lossless.model.fabric.model import ClassSet, Switch, SwitchQos, TrafficClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Port, WatchdogPoll


def plain_switch(
    name: str, ports: tuple[Port, ...], poll: WatchdogPoll, rdma_dscps: tuple[int, ...], origin: Origin
) -> Switch:
    """Return a switch of these ports; ``rdma_dscps`` names the DSCPs that must be lossless."""
    return Switch(
        name=name,
        tier=UNKNOWN,
        hwsku_name=UNKNOWN,
        profile=None,
        hwsku=None,
        classes=_classes(ports, rdma_dscps, origin),
        ports=ports,
        demand=(),
        qos=SwitchQos(
            buffer_model="traditional",
            pools=(),
            poll=poll,
            counters=(),
            global_dscp_map=None,
            database_version=None,
            headroom_oversubscription=None,
            storage_backend=False,
            voq=False,
            origin=origin,
        ),
        origin=origin,
    )


def _classes(ports: Sequence[Port], rdma_dscps: tuple[int, ...], origin: Origin) -> ClassSet:
    """Return the class of DSCPs that are named, else a lossless class for each priority that some port pauses."""
    if rdma_dscps:
        named = TrafficClass("rdma", rdma_dscps, rest=False, priority=None, lossless=True, origin=origin)
        return ClassSet("named", (named,))
    dscps: dict[int, set[int]] = {}
    for qos in {id(port.qos): port.qos for port in ports if port.qos and port.admin_up is not False}.values():
        for priority in qos.pfc.priorities:
            sources = qos.dscp_to_tc.sources(qos.pausing_group(priority)) if qos.dscp_to_tc else ()
            dscps.setdefault(priority, set()).update(sources)
    return ClassSet(
        "inferred",
        tuple(
            TrafficClass(
                f"priority {p}", tuple(sorted(of)), rest=False, priority=p, lossless=True, origin=origin
            )
            for p, of in sorted(dscps.items())
        ),
    )
