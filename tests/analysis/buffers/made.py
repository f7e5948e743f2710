"""Parts of a fabric, made by hand: the ports of the leaf base, and pools and profiles in a few words."""

from __future__ import annotations

from typing import Any

from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.findings import Origin
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from lossless.model.fabric.qos import BufferProfile, Pool
from lossless.model.fabric.view import PortSet, View
from lossless.model.hardware.load import load_switch
from tests.checks.rules.snippets import BASES

NOWHERE = Origin("x")
SN5600 = load_switch("nvidia-sn5600")


def leaf_fabric() -> Fabric:
    """Return the fabric of the leaf base, one ACS-SN5600."""
    data = load_text((BASES / "leaf.json").read_text(), "leaf.json").data
    hwsku = SN5600.hwsku("ACS-SN5600")
    assert hwsku is not None
    return read_fabric([Tables("leaf.json", data)], lambda *_: (SN5600, hwsku))


def leaf_ports() -> tuple[PortSet, ...]:
    """Return the ports of the leaf base: two of 400G over 5 m, then one of 800G over 40 m."""
    return View(leaf_fabric()).lossless_sets


def pool(size: int | None, headroom: int | None = None, mode: str = "dynamic", name: str = "") -> Pool:
    return Pool(name or "ingress_lossless_pool", "ingress", mode, size, headroom, NOWHERE)


def profile(**fields: Any) -> BufferProfile:
    """Return a lossless profile of a dynamic pool of 1 MB without shared headroom."""
    known = BufferProfile("made", pool(1_000_000), 0, 1000, 0, None, 0, None, NOWHERE)
    return known._replace(**fields)


def with_group(ports: PortSet, buffer: BufferProfile, priority: int = 3) -> PortSet:
    """Return ports whose priority group has another profile."""
    groups = list(ports.qos.groups)
    group = groups[3]
    assert group is not None
    groups[priority] = group._replace(number=priority, buffer=buffer)
    return ports._replace(qos=ports.qos._replace(groups=tuple(groups)))
