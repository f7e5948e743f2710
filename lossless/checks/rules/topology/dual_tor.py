"""A deployed dual ToR's tunnel to its peer, for packets that it cannot deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.interface_tables import raw_rows
from lossless.ground.basics.findings import Origin

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.qos import TunnelMaps


def tunnel_to_peer(device: Device) -> Origin | None:
    """Return the origin of the tunnel of a dual ToR with PFC to its peer; None for other devices."""
    if device.metadata.get("subtype") != "DualToR" or not device.view.lossless_sets:
        return None
    names = [name for name, _ in raw_rows(device, "TUNNEL")]
    # muxorch makes a tunnel to a peer that is named, and no other.
    if not names or not any(True for _ in raw_rows(device, "PEER_SWITCH")):
        return None
    return Origin(device.tables.file, ("TUNNEL", names[0]))


def kept_priorities(device: Device) -> list[int]:
    """Return the priorities with PFC that packets keep when a dual ToR returns them, by the maps of its tunnel."""
    paused = {p for ports in device.view.lossless_sets for p in ports.qos.pfc.priorities}
    return sorted(p for p in paused if _stays(device.switch.qos.tunnel, p, paused))


def _stays(tunnel: TunnelMaps | None, priority: int, paused: set[int]) -> bool:
    """Return whether bounced packets of a priority stay in it; False for those in which packets of others return."""
    queues = tunnel.tc_to_queue if tunnel is not None else None
    if queues is None:
        return True
    second = {queues.targets[p] for p in paused if queues.targets[p] != p}
    return queues.targets[priority] in (priority, None) and priority not in second
