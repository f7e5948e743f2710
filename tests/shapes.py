"""Topologies as plain data for :mod:`tests.strategies`: two and three tiers, devices and links by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from lossless.formats.intent.resolve.classes import PortPlacement
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.load import load_nic, load_switch

if TYPE_CHECKING:
    from tests.strategies import Product

Data = dict[str, Any]
Draw = st.DrawFn


class Links(NamedTuple):
    """What joins hosts, leaves and spines."""

    down: tuple[int, int]
    up: tuple[int, int]
    host_cable_m: int
    uplink_cable_m: int


@st.composite
def links(draw: Draw, leaf: Product, spine: Product, nic: str) -> Links:
    """Draw links that both ends have ports and headroom for."""
    down_bps = draw(st.sampled_from(sorted(set(load_nic(nic).rates_bps) & leaf.reach.keys())))
    up_bps = draw(st.sampled_from(sorted(leaf.reach.keys() & spine.reach.keys())))
    longest = min(leaf.reach[up_bps], spine.reach[up_bps])
    return Links(
        (draw(st.integers(1, 2)), down_bps),
        (draw(st.integers(1, 4)), up_bps),
        draw(st.integers(1, leaf.reach[down_bps])),
        draw(st.integers(1, longest)),
    )


@st.composite
def leaf_spines(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw a two-tier Clos; where it is oversubscribed, it says so."""
    found = draw(links(leaf, spine, nic))
    leaves, spines, hosts = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    shape: Data = {
        "leaves": leaves,
        "spines": spines,
        "hosts_per_leaf": hosts,
        "host_links": bundle(*found.down),
        "uplinks": bundle(*found.up),
        "cables": {"host": f"{found.host_cable_m}m", "uplink": f"{found.uplink_cable_m} m"},
    }
    ratio = hosts * _bps(found.down) / (spines * _bps(found.up))
    return _accepting(draw, "leaf_spine", shape | draw(_lags()), ratio)


@st.composite
def three_tiers(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw a three-tier Clos, some of rails; where leaves or spines are oversubscribed, it says so."""
    found = draw(links(leaf, spine, nic))
    planes = draw(st.integers(1, 2))
    spines, above = planes * draw(st.integers(1, 2 // planes)), planes * draw(st.integers(1, 2))
    number = draw(st.sampled_from([1, 1, 2]))
    leaves, hosts = number * draw(st.integers(1, 2 // number)), draw(st.integers(1, 4))
    each, down_bps = found.down
    top = (draw(st.integers(1, 2)), draw(st.sampled_from(sorted(spine.reach))))
    shape: Data = {
        "pods": draw(st.integers(1, 2)),
        "leaves_per_pod": leaves,
        "spines_per_pod": spines,
        "super_spines": above,
        "hosts_per_leaf": hosts,
        "host_links": bundle(number * each, down_bps),
        "uplinks": bundle(*found.up),
        "spine_uplinks": bundle(*top),
        "cables": {
            "host": f"{found.host_cable_m}m",
            "uplink": f"{found.uplink_cable_m}m",
            "spine_uplink": f"{draw(st.integers(1, spine.reach[top[1]]))}m",
        },
    }
    if planes > 1 or draw(st.booleans()):
        shape["planes"] = planes
    if number > 1 or draw(st.booleans()):
        shape["rails"] = number
    leaf_ratio = hosts * _bps(found.down) / (spines * _bps(found.up))
    spine_ratio = leaves * _bps(found.up) / (above // planes * _bps(top))
    return _accepting(draw, "three_tier", shape | draw(_lags()), max(leaf_ratio, spine_ratio))


@st.composite
def rails(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw a rail-optimised fabric, some of planes or with room; where it is oversubscribed, it says so."""
    found = draw(links(leaf, spine, nic))
    number, spines, hosts = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    planes = draw(st.sampled_from([1, 1, 2]))
    each, down_bps = found.down
    shape: Data = {
        "units": draw(st.integers(1, 2)),
        "rails": number,
        "spines": spines * planes,
        "hosts_per_unit": hosts,
        "host_links": bundle(number * planes * each, down_bps),
        "uplinks": bundle(*found.up),
        "cables": {"host": f"{found.host_cable_m}m", "uplink": f"{found.uplink_cable_m}m"},
    }
    shape |= {"planes": planes} if planes > 1 else {}
    shape |= draw(st.sampled_from([{}, {"room": {"units": 3}}, {"room": {"hosts_per_unit": 4}}]))
    ratio = hosts * _bps(found.down) / (spines * _bps(found.up))
    return _accepting(draw, "rail_optimised", shape | draw(_lags()), ratio)


@st.composite
def dragonflies(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw a dragonfly+, some with room to grow; where it is oversubscribed, it says so."""
    found = draw(links(leaf, spine, nic))
    spines, hosts, top_bps = (
        draw(st.integers(1, 2)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from(sorted(spine.reach))),
    )
    shape: Data = {
        "groups": draw(st.integers(2, 3)),
        "leaves": draw(st.integers(1, 2)),
        "spines": spines,
        "hosts_per_leaf": hosts,
        "host_links": bundle(*found.down),
        "uplinks": bundle(*found.up),
        "global_links": bundle(draw(st.integers(1, 3)), top_bps),
        "cables": {
            "host": f"{found.host_cable_m}m",
            "uplink": f"{found.uplink_cable_m}m",
            "global": f"{draw(st.integers(1, spine.reach[top_bps]))}m",
        },
    }
    shape |= draw(st.sampled_from([{}, {"room": {"groups": 4}}]))
    ratio = hosts * _bps(found.down) / (spines * _bps(found.up))
    return _accepting(draw, "dragonfly_plus", shape | draw(_lags()), ratio)


@st.composite
def tori(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw a torus of switches that are the leaves of other shapes."""
    found = draw(links(leaf, spine, nic))
    bps = draw(st.sampled_from(sorted(leaf.reach)))
    shape: Data = {
        "sides": draw(st.lists(st.integers(2, 3), min_size=2, max_size=2)),
        "links": bundle(draw(st.integers(1, 2)), bps),
        "hosts_per_switch": draw(st.integers(1, 3)),
        "host_links": bundle(*found.down),
        "cables": {"host": f"{found.host_cable_m}m", "link": f"{draw(st.integers(1, leaf.reach[bps]))}m"},
    }
    return {"torus": shape | draw(_lags())}


def _lags() -> st.SearchStrategy[Data]:
    return st.sampled_from([{}, {}, {"lag": True}, {"lag": "on"}, {"lag": False}])


def _accepting(draw: Draw, name: str, shape: Data, ratio: float) -> Data:
    if ratio <= 1:
        return {name: shape}
    accepted = {"oversubscription": ratio}
    return {name: shape | accepted} if draw(st.booleans()) else {name: shape} | accepted


def _bps(of: tuple[int, int]) -> int:
    return of[0] * of[1]


def bundle(count: int, rate_bps: int) -> str:
    """Return links as an intent writes them."""
    return f"{count} x {format_rate(rate_bps)}"


@st.composite
def explicit(draw: Draw, leaf: Product, spine: Product, nic: str) -> Data:
    """Draw devices and links by name, some with the ports they use, some as LAGs, some below a super-spine."""
    from tests.strategies import chosen, names

    found = draw(links(leaf, spine, nic))
    device_names = draw(st.lists(names(), min_size=4, max_size=8, unique_by=str.casefold))
    top = [device_names.pop()] if draw(st.booleans()) else []
    leaves = device_names[: max(1, len(device_names) // 3)]
    spines, hosts = device_names[len(leaves) : len(leaves) + 1], device_names[len(leaves) + 1 :]
    devices: dict[str, Data] = {name: {"role": "leaf"} for name in leaves}
    devices |= {name: {"role": "spine"} for name in spines} | {name: {"role": "super-spine"} for name in top}
    for name in leaves:
        if draw(st.booleans()):
            devices[name]["hardware"] = draw(chosen(leaf))
    devices |= {name: {"role": "host"} for name in hosts}
    pairs = [(name, host, found.down, found.host_cable_m) for host in hosts for name in leaves[:2]]
    pairs += [(name, up, found.up, found.uplink_cable_m) for name in leaves for up in spines]
    pairs += [(name, up, found.up, found.uplink_cable_m) for name in spines for up in top]
    products = dict.fromkeys(leaves, leaf) | dict.fromkeys((*spines, *top), spine)
    ports = {name: PortPlacement(*_hardware(product)) for name, product in products.items()}
    entries = [entry for pair in pairs for entry in _entries(draw, pair, ports)]
    order = draw(st.permutations([*devices]))
    topology = {"devices": {name: devices[name] for name in order}, "links": entries}
    ratio = len(hosts) * _bps(found.down) / _bps(found.up)
    ratio = max(ratio, len(leaves)) if top else ratio
    return {**topology, "oversubscription": ratio} if ratio > 1 else topology


def _hardware(product: Product) -> Any:
    profile = load_switch(product.profile)
    return profile, profile.hwsku(product.hwsku)


def _entries(
    draw: Draw, pair: tuple[str, str, tuple[int, int], int], ports: dict[str, PortPlacement]
) -> list[Data]:
    """Return a bundle as one entry, or as an entry a link with the ports that placement would choose."""
    near, far, (count, speed_bps), cable_m = pair
    between_switches = near in ports and far in ports
    if draw(st.booleans()):
        near, far = far, near
    places = [{n: ports[n].take(speed_bps) for n in (near, far) if n in ports} for _ in range(count)]
    plain: Data = {"a": near, "b": far, "links": bundle(count, speed_bps), "cable": f"{cable_m}m"}
    lag = between_switches and draw(st.booleans())
    if draw(st.booleans()):
        return [plain | {"lag": True} if lag else plain]
    entries = []
    for place in places:
        ends = {side: _end(plain[side], place, draw(st.booleans())) for side in ("a", "b")}
        entries.append({**plain, **ends, "links": bundle(1, speed_bps), **({"lag": "one"} if lag else {})})
    return entries


def _end(name: str, place: dict[str, Any], with_port: bool) -> str:
    spec = place.get(name)
    return f"{name}:{spec.name}" if spec is not None and with_port else name


def with_dual_tors(topology: Data) -> Data:
    """Return a topology whose leaves are dual ToRs, where its form has such."""
    for name in ("leaf_spine", "three_tier"):
        if name in topology:
            return {**topology, name: {**topology[name], "dual_tor": True}}
    if "devices" not in topology:
        return topology
    devices = {
        name: {**device, "dual_tor": "on"} if device["role"] == "leaf" else device
        for name, device in topology["devices"].items()
    }
    return {**topology, "devices": devices}


def tiers_of(topology: Data) -> list[str]:
    """Return the tiers that links of a topology are of."""
    if "torus" in topology:
        return ["hosts", "links"]
    if "dragonfly_plus" in topology:
        return ["hosts", "uplinks", "global_links"]
    devices = topology.get("devices", {}).values()
    pods = "three_tier" in topology or any(device["role"] == "super-spine" for device in devices)
    return ["hosts", "uplinks", "spine_uplinks"] if pods else ["hosts", "uplinks"]
