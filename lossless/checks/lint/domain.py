"""Ports outside the lossless domain: those that are said to carry no RDMA, and those without any part of a chain.

A port is outside where its map, its PFC and its lossless group are all absent; one that has a part is inside, and what
it lacks is a fault. Rules of lossless classes look at ports inside, and the others are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.qos import PortQos


def without_ports(fabric: Fabric, names: Collection[str]) -> Fabric:
    """Return the fabric of one device in which some ports have no part of a class."""
    (switch,) = fabric.switches
    ports = tuple(port._replace(qos=None) if port.name in names else port for port in switch.ports)
    return fabric._replace(switches=(switch._replace(ports=ports),))


def ports_outside(switch: Switch, stated: Collection[str]) -> int:
    """Return how many ports in service are outside; ``stated`` are those that are said to be.

    Where no port is inside, there is no domain that the others could be outside of.
    """
    distinct = {id(port.qos): port.qos for port in switch.ports}
    has_part = {key: qos is not None and _has_part(switch, qos) for key, qos in distinct.items()}
    up = [port for port in switch.ports if port.admin_up is True]
    outside = [port for port in up if port.name in stated or not has_part[id(port.qos)]]
    return len(outside) if len(outside) < len(up) else sum(port.name in stated for port in up)


def _has_part(switch: Switch, qos: PortQos) -> bool:
    own_map = qos.dscp_to_tc is not None and qos.dscp_to_tc is not switch.qos.global_dscp_map
    lossless = any(group is not None and group.lossless for group in qos.groups)
    return bool(qos.pfc.priorities) or lossless or own_map or qos.trust_dot1p
