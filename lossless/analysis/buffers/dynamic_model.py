"""The dynamic buffer model: the pools and lossless profiles that a switch computes for itself.

On NVIDIA chips the arithmetic is that of rendered pools (``buffers.pools``), with the headroom that the switch computes
for the configured cable length. On Barefoot chips the size of the lossless pool is fixed unless it is configured.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import chip_bytes
from lossless.analysis.buffers.headroom.port import (
    computed_headroom,
    fastest_speed,
    is_nvidia,
    shares_headroom,
)
from lossless.analysis.buffers.pools import NO_HEADROOM, PortLoad, idle_load, lent_headroom, nvidia_room
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.qos import BufferProfile
from lossless.model.fabric.view import single_port
from lossless.model.hardware.buffers import INGRESS_LOSSLESS_POOL, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.model.fabric.model import Fabric, Port, Switch
    from lossless.model.fabric.qos import DynamicBuffers, Pool, PortQos, PriorityGroup
    from lossless.model.hardware.model import HeadroomRow

_BAREFOOT_LOSSLESS_BYTES = 43_067_728
_BAREFOOT_GROUPS, _BAREFOOT_CELLS, _BAREFOOT_PART = 2, 400, 0.7
"""The size of the lossless pool, and the factors of its shared headroom: cells for each of two groups per port, of
which seven tenths are held. Source: sonic-swss cfgmgr/buffer_pool_barefoot.lua @fbc3657."""


def with_computed_buffers(fabric: Fabric) -> Fabric:
    """Return a fabric with the computed pools and profiles of the switches that use the dynamic buffer model.

    A switch with an unknown input keeps its pools and profiles.
    """
    if all(switch.qos.buffer_model != "dynamic" for switch in fabric.switches):
        return fabric
    known: dict[int, Switch] = {}
    switches = tuple(_like(known, switch) for switch in fabric.switches)
    return fabric._replace(switches=switches)


def _like(by_ports: dict[int, Switch], switch: Switch) -> Switch:
    """Return one switch with computed buffers; switches that share their ports share the result."""
    if id(switch.ports) not in by_ports:
        by_ports[id(switch.ports)] = _computed(switch)
    computed = by_ports[id(switch.ports)]
    return switch._replace(ports=computed.ports, qos=computed.qos)


def _computed(switch: Switch) -> Switch:
    dynamic = switch.qos.dynamic
    if switch.qos.buffer_model != "dynamic" or dynamic is None or dynamic.default_dynamic_th is None:
        return switch
    switch = _without_unready_groups(switch)
    needs = _needs(switch)
    loads = _loads(switch, needs)
    pool = _pool(switch, loads) if loads is not None else None
    if pool is None:
        return switch
    own: dict[tuple[int, HeadroomNeed | None, str], PortQos] = {}
    ports = []
    for port, need in zip(switch.ports, needs, strict=True):
        if port.qos is not None and (need is not None or _stated(port)):
            key = id(port.qos), need, _name(switch, port)
            if key not in own:
                own[key] = _with_profiles(port.qos, _profile(switch, port, need, pool, dynamic), pool)
            port = port._replace(qos=own[key])
        ports.append(port)
    pools = tuple(pool if stock.name == pool.name else stock for stock in switch.qos.pools)
    return switch._replace(ports=tuple(ports), qos=switch.qos._replace(pools=pools))


def room_left(switch: Switch) -> int | None:
    """Return the bytes that the ports in service of an NVIDIA switch leave to share, or None.

    Both buffer models are supported. The result is below 0 where the ports take more than the chip has, None on other
    chips, or where an input is unknown, such as the pipeline latency of the chip.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (available_buffer).
    """
    ready, stock, chip = _without_unready_groups(switch), _stock(switch), chip_bytes(switch)
    loads = _loads(ready, _needs(ready))
    if loads is None or stock is None or chip is None or not is_nvidia(switch) or switch.profile is None:
        return None
    if switch.profile.asic.pipeline_latency_bytes is None:
        return None
    shared = _lent(switch, stock, loads)
    return nvidia_room(switch.profile.asic, chip, loads, shared, lends=shares_headroom(switch))


def _without_unready_groups(switch: Switch) -> Switch:
    """Return a switch without the generated lossless groups of ports whose cable length is missing or 0m.

    SONiC generates no group on such a port. A file that lacks all cable lengths is left as it is.

    Source: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (refreshPgsForPort).
    """
    told = not switch.lacks_lengths
    own: dict[int, PortQos] = {}
    ports = []
    for port in switch.ports:
        if told and port.qos is not None and not port.cable.configured_m and _generated(port):
            left = tuple(
                None if group is not None and group.generated else group for group in port.qos.groups
            )
            port = port._replace(qos=own.setdefault(id(port.qos), port.qos._replace(groups=left)))
        ports.append(port)
    return switch._replace(ports=tuple(ports)) if own else switch


def _in_service(port: Port) -> bool:
    """Return whether a port of the switch takes buffer: it is up, or a file without its PORT row has QoS for it.

    A port whose PORT row has no admin_status is down. Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua
    (admin_up_port) and buffermgrdyn.cpp (the initial state is PORT_ADMIN_DOWN), both @e6b0c5b.
    """
    return port.placed and (port.admin_up is True or (port.qos is not None and port.admin_up is UNKNOWN))


def _generated(port: Port) -> bool:
    groups = port.qos.groups if port.qos is not None else ()
    return any(group is not None and group.generated for group in groups)


def _needs(switch: Switch) -> list[HeadroomNeed | None]:
    """Return the computed headroom of each port of a switch, None for a port without a computed one."""
    return [_need(switch, port) if _generated(port) else None for port in switch.ports]


def _need(switch: Switch, port: Port) -> HeadroomNeed | None:
    need = computed_headroom(single_port(switch, port, port.qos)) if port.qos is not None else None
    return None if isinstance(need, MissingInput) else need


def _loads(switch: Switch, needs: Sequence[HeadroomNeed | None]) -> tuple[PortLoad, ...] | None:
    """Return the buffer load of each port in service, with or without buffer rows; None where one is unknown."""
    ports = zip(switch.ports, needs, strict=True)
    loads = [_load(port, need) for port, need in ports if _in_service(port)]
    known = [load for load in loads if load is not None]
    return (*known, *map(idle_load, switch.idle)) if len(known) == len(loads) else None


def _load(port: Port, need: HeadroomNeed | None) -> PortLoad | None:
    """Return the buffer load of a port, None where the headroom or the profile of a group is unknown."""
    groups = [group for group in port.qos.groups if group is not None] if port.qos is not None else []
    computed, stated = sum(group.generated for group in groups), _stated(port)
    if (computed and need is None) or any(group.buffer is None and not group.generated for group in groups):
        return None
    return PortLoad(
        row=_row(port, need),
        lanes=port.lanes or 1,
        lossless_groups=computed,
        lossy_groups=len(groups) - computed - len(stated),
        other_reserved_bytes=_other_reserved_bytes(port.qos) if port.qos is not None else 0,
        stated=tuple(map(_row_of, stated)),
    )


def _other_reserved_bytes(qos: PortQos) -> int:
    """Return the total size of all profiles except those of lossless groups: lossy groups, queues, the egress list.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (iterate_all_items, iterate_profile_list).
    """
    groups = [group.buffer for group in qos.groups if group is not None and group.buffer is not None]
    lossy = [profile for profile in groups if not profile.lossless]
    queues = [queue.buffer for queue in qos.queues if queue is not None and queue.buffer is not None]
    return sum(profile.reserved_bytes for profile in (*lossy, *queues, *qos.profile_lists[1]))


def _stated(port: Port) -> list[BufferProfile]:
    """Return the buffer profiles of a port's lossless groups with configured headroom."""
    groups = port.qos.groups if port.qos is not None else ()
    return [group.buffer for group in groups if group is not None and group.buffer and group.buffer.lossless]


def _row_of(profile: BufferProfile) -> HeadroomRow:
    return NO_HEADROOM._replace(
        reserved_bytes=profile.reserved_bytes,
        xon_bytes=profile.xon_bytes or 0,
        headroom_bytes=profile.xoff_bytes,
    )


def _row(port: Port, need: HeadroomNeed | None) -> HeadroomRow:
    """Return a headroom need in the form of a lookup table row, :data:`NO_HEADROOM` without one."""
    if need is None:
        return NO_HEADROOM
    return NO_HEADROOM._replace(
        speed_bps=port.speed_bps or 0,
        cable_m=port.cable.configured_m or 0,
        reserved_bytes=need.reserved_bytes or 0,
        xon_bytes=need.xon_bytes or 0,
        headroom_bytes=need.headroom_bytes,
    )


def _stock(switch: Switch) -> Pool | None:
    """Return the configured ingress_lossless_pool, None without one."""
    return next((pool for pool in switch.qos.pools if pool.name == INGRESS_LOSSLESS_POOL), None)


def _pool(switch: Switch, loads: tuple[PortLoad, ...]) -> Pool | None:
    """Return ingress_lossless_pool with its configured or computed size and shared headroom, None where unknown."""
    stock, chip, profile = _stock(switch), chip_bytes(switch), switch.profile
    if stock is None or profile is None:
        return None
    if profile.asic.formula == "barefoot":
        size_bytes = stock.size_bytes or _BAREFOOT_LOSSLESS_BYTES
        return stock._replace(size_bytes=size_bytes, shared_headroom_bytes=_barefoot_headroom(switch))
    shared = _lent(switch, stock, loads)
    if stock.size_bytes is not None:
        return stock._replace(shared_headroom_bytes=shared or None)
    # The size stays unknown for a chip whose headroom has no formula.
    if chip is None or profile.asic.pipeline_latency_bytes is None:
        return None
    room = nvidia_room(profile.asic, chip, loads, shared, lends=shares_headroom(switch))
    size_bytes = max(0, math.ceil(room * _part(switch, stock)))
    return stock._replace(size_bytes=size_bytes, shared_headroom_bytes=shared or None)


def _lent(switch: Switch, stock: Pool, loads: tuple[PortLoad, ...]) -> int:
    """Return the size of the shared headroom pool: configured, or computed from the ratio; 0 without a pool."""
    shared, dynamic, profile = stock.shared_headroom_bytes or 0, switch.qos.dynamic, switch.profile
    if shared or profile is None or not shares_headroom(switch):
        return shared
    ratio = dynamic.oversubscription if dynamic is not None else None
    return lent_headroom(profile.asic, loads, ratio or 1.0)


def _part(switch: Switch, pool: Pool) -> Fraction:
    """Return the share of the remaining bytes that a pool without a size takes: its ``percentage``, else all or half.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b.
    """
    if pool.percent is not None:
        return Fraction(pool.percent, 100)
    others = (other for other in switch.qos.pools if other.name != pool.name)
    unsized = sum(other.kind == "ingress" and other.size_bytes is None for other in others)
    return Fraction(1, min(1 + unsized, _MOST_SHARERS))


_MOST_SHARERS = 2
"""The most parts that remaining bytes are divided into: a pool takes half beside one or more without a size."""


def _barefoot_headroom(switch: Switch) -> int:
    cell = switch.profile.asic.cell_bytes if switch.profile else None
    ports = len(switch.ports) + len(switch.unused)
    return int(ports * _BAREFOOT_GROUPS * _BAREFOOT_CELLS * int(cell or 0) * _BAREFOOT_PART)


def _name(switch: Switch, port: Port) -> str:
    """Return the name of the lossless buffer profile that a switch computes for a port.

    Source: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (getDynamicProfileName).
    """
    speed_bps = fastest_speed(single_port(switch, port, port.qos)) if port.qos is not None else port.speed_bps
    mtu = (
        f"_mtu{port.mtu_bytes}" if isinstance(port.mtu_bytes, int) and port.mtu_bytes != _DEFAULT_MTU else ""
    )
    family = re.search(r"sn([45])[0-9]{3}", switch.profile.platform) if switch.profile else None
    usual_bps = _EIGHT_LANES_BPS[family[1]] if family else speed_bps
    lanes = "_8lane" if port.lanes == 8 and speed_bps != usual_bps else ""
    return pg_profile_name(speed_bps, port.cable.configured_m, f"{mtu}{lanes}")


_DEFAULT_MTU = 9100
_EIGHT_LANES_BPS = {"4": 400 * 10**9, "5": 800 * 10**9}
"""The speed at which ports of SN4000 and SN5000 always have eight lanes; profile names then omit the lanes."""


def _profile(
    switch: Switch, port: Port, need: HeadroomNeed | None, pool: Pool, dynamic: DynamicBuffers
) -> BufferProfile | None:
    if need is None:
        return None
    return BufferProfile(
        name=_name(switch, port),
        pool=pool,
        reserved_bytes=need.reserved_bytes or 0,
        headroom_bytes=need.headroom_bytes,
        xon_bytes=need.xon_bytes,
        xon_offset_bytes=None,
        dynamic_th=dynamic.default_dynamic_th,
        static_th_bytes=None,
        origin=dynamic.origin,
    )


def _with_profiles(qos: PortQos, default: BufferProfile | None, pool: Pool) -> PortQos:
    return qos._replace(groups=tuple(group and _in_pool(group, default, pool) for group in qos.groups))


def _in_pool(group: PriorityGroup, default: BufferProfile | None, pool: Pool) -> PriorityGroup:
    """Return a group with the computed profile if it is generated, else with the computed pool in place of its own.

    A group whose pool has another name, or is unknown, stays as it is.
    """
    if group.generated and default is not None:
        return group._replace(buffer=_with_threshold(default, group.override))
    if group.buffer is not None and group.buffer.pool is not None and group.buffer.pool.name == pool.name:
        return group._replace(buffer=group.buffer._replace(pool=pool))
    return group


def _with_threshold(default: BufferProfile, override: BufferProfile | None) -> BufferProfile:
    """Return a computed profile with the threshold that its group declares, or with the default one."""
    if override is None:
        return default
    return default._replace(
        dynamic_th=override.dynamic_th, static_th_bytes=override.static_th_bytes, origin=override.origin
    )
