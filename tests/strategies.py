"""Valid intents as plain data, for laws about fabrics.

``intents()`` draws whatever has a meaning; ``intents(renderable=True)`` keeps to fabrics that an operator
could build: every port exists, every cable has a headroom row, and in nearly all no rule reports an error.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from lossless.formats.intent.load import LoadedIntent, load_intent
from lossless.formats.intent.resolve.classes import PortPlacement
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.model.fabric.cluster import name_of_dscp
from lossless.model.fabric.model import tier_of_role
from lossless.model.hardware.load import load_nic, load_switch, nic_names, switch_names
from tests.shapes import (
    bundle,
    dragonflies,
    explicit,
    leaf_spines,
    rails,
    three_tiers,
    tiers_of,
    tori,
    with_dual_tors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric

Data = dict[str, Any]
Draw = st.DrawFn
MAX_PORTS = 16
"""Ports that a generated switch has at most; every product here has as many of any of its speeds."""


class Product(NamedTuple):
    """A HWSKU with lossless buffers; ``reach`` is the longest cable with a row, by link speed."""

    profile: str
    hwsku: str
    default: bool
    reach: dict[int, int]


@cache
def products() -> tuple[Product, ...]:
    """Every HWSKU of the shipped profiles that ships lossless buffers."""
    found = []
    for name in switch_names():
        profile = load_switch(name)
        for hwsku in profile.hwskus:
            reach: dict[int, int] = {}
            for row in hwsku.headroom:
                placement = PortPlacement(profile, hwsku)
                if all(placement.take(row.speed_bps) for _ in range(MAX_PORTS)):
                    reach[row.speed_bps] = max(row.cable_m, reach.get(row.speed_bps, 0))
            product = Product(name, hwsku.name, hwsku.name == profile.default_hwsku, reach)
            if reach and _ships_lossless_buffers(product):
                found.append(product)
    return tuple(found)


def _ships_lossless_buffers(product: Product) -> bool:
    choice = {"profile": product.profile, "hwsku": product.hwsku}
    links = [{"a": "l", "b": "s", "links": "1 x 100G", "cable": "1m"}]
    devices = {"l": {"role": "leaf"}, "s": {"role": "spine"}}
    data: Data = {"lossless": "v1", "fabric": "f", "transport": "rocev2", "preset": "nvidia"}
    data |= {"hardware": {"leaf": choice, "spine": choice, "nic": "connectx-7"}}
    try:
        fabric_of(data | {"topology": {"devices": devices, "links": links}})
    except InputError:
        return False
    return True


def written(data: Data) -> str:
    """Return an intent as text: JSON is YAML, and every key has a line of its own."""
    return json.dumps(data, indent=1)


def document_of(data: Data, file: str = "fabric.yaml") -> Document:
    """Return an intent as the document that is read from its text."""
    return load_text(written(data), file)


def loaded_of(data: Data) -> LoadedIntent:
    """Return an intent as it is loaded."""
    return load_intent(document_of(data))


def fabric_of(data: Data) -> Fabric:
    """Return the fabric of an intent; what draws an intent asks for the fabric that a law then takes."""
    return _fabric_of_text(written(data))


@lru_cache(maxsize=16)
def _fabric_of_text(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


@st.composite
def intents(draw: Draw, *, renderable: bool = False) -> Data:
    """Draw an intent as plain data."""
    data: Data = {"lossless": "v1", "fabric": draw(names()), "transport": "rocev2"}
    preset = draw(st.sampled_from([None, None, "azure", "nvidia", "pfc-only"]))
    nic = draw(st.sampled_from([name for name in nic_names() if load_nic(name).dcqcn or not renderable]))
    pfc_only = draw(st.booleans()) if preset is None else preset == "pfc-only"
    dual_tor = False
    if preset is None:
        dual_tor = draw(st.integers(0, 3)) == 0
        data["classes"] = draw(classes(pfc_only, dual_tor=dual_tor))
        data["congestion_control"] = "pfc-only" if pfc_only else draw(dcqcn(nic))
    else:
        data["preset"] = preset
        data |= draw(st.booleans().flatmap(lambda yes: overrides(preset) if yes else st.just({})))
    if preset is None or draw(st.booleans()):
        data["pfc"] = {"watchdog": draw(watchdogs(renderable))}
    leaf, spine = draw(st.sampled_from(_pairs(nic)))
    data["hardware"] = {"leaf": draw(chosen(leaf)), "spine": draw(chosen(spine)), "nic": nic}
    data["topology"] = draw(topologies(leaf, spine, nic))
    if "torus" in data["topology"]:
        data["hardware"]["switch"] = draw(chosen(leaf))
    if "spine_uplinks" in tiers_of(data["topology"]):
        data["hardware"]["super-spine"] = draw(chosen(spine))
    if dual_tor:
        data["topology"] = with_dual_tors(data["topology"])
    if "pfc" in data:
        data["pfc"] |= draw(
            tier_choices(data["topology"], with_uplinks=dual_tor and "torus" not in data["topology"])
        )
    data |= draw(extras([*data.get("classes", {})], nic))
    if draw(st.integers(0, 3)) == 0:
        data = draw(cages(data))
    order = draw(st.permutations([*data]))
    return {key: data[key] for key in order}


def names() -> st.SearchStrategy[str]:
    """Draw names of fabrics and devices."""
    return st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,12}[A-Za-z0-9]", fullmatch=True).filter(str.isascii)


@cache
def _pairs(nic: str) -> tuple[tuple[Product, Product], ...]:
    rates = set(load_nic(nic).rates_bps)
    return tuple(
        (leaf, spine)
        for leaf in products()
        if rates & leaf.reach.keys()
        for spine in products()
        if leaf.reach.keys() & spine.reach.keys()
    )


def chosen(product: Product) -> st.SearchStrategy[Any]:
    """Draw one of the forms to name a HWSKU."""
    full = st.just({"profile": product.profile, "hwsku": product.hwsku})
    return full | st.just(product.profile) if product.default else full


SIZES = ("100 kB", "150 kB", "200 KiB", "256 KiB", "0.5 MiB", "800 KiB", "1 MiB", "1500 kB")


@st.composite
def curves(draw: Draw) -> Data:
    """Draw a WRED curve."""
    low, high = sorted(draw(st.lists(st.integers(0, len(SIZES) - 1), min_size=2, max_size=2)))
    return {"min": SIZES[low], "max": SIZES[high], "probability": f"{draw(st.integers(1, 100))}%"}


@st.composite
def ecn(draw: Draw) -> Any:
    """Draw ECN of a class: one curve, with or without others by speed, or only those, or off."""
    policy = draw(curves())
    if draw(st.booleans()):
        speeds = draw(
            st.lists(st.sampled_from(["100G", "200 Gb/s", "400G", "800Gbps"]), max_size=3, unique=True)
        )
        if speeds:
            policy["by_speed"] = {speed: draw(curves()) for speed in speeds}
    return policy


@st.composite
def classes(draw: Draw, pfc_only: bool, *, dual_tor: bool = False) -> Data:
    """Draw traffic classes: one to three lossless ones, CNPs, lossy ones with and without their own group.

    Those for dual ToRs leave room for the second priorities of SONiC's remapping.
    """
    lossless, lossy = draw(st.integers(1, 2 if dual_tor else 3)), draw(st.integers(0, 2))
    by_class = (
        [*draw(st.permutations([3, 4]))[:lossless], *draw(st.permutations([0, 1, 5, 7]))]
        if dual_tor
        else draw(st.permutations(range(8)))
    )
    priorities = iter(by_class)
    second = {2, 6} if dual_tor else set()
    dscps = iter(draw(st.permutations([dscp for dscp in range(64) if dscp not in second | {48}])))
    found: Data = {}
    for number in range(lossless + lossy):
        several = draw(st.integers(1, 3))
        own = [next(dscps) for _ in range(several)]
        found[f"class-{number}"] = {
            "dscp": _spelt(draw, own[0]) if several == 1 and draw(st.booleans()) else own,
            "priority": next(priorities),
            "lossless": number < lossless,
        }
        if number < lossless:
            found[f"class-{number}"]["ecn"] = "off" if pfc_only else draw(ecn())
    found["cnp"] = {"dscp": 48, "priority": next(priorities), "scheduling": "strict"}
    found["default"] = {"dscp": "rest", "priority": next(priorities)}
    taken = {cls["priority"] for cls in found.values() if cls.get("lossless")}
    _share_out(draw, found, sorted(set(range(8)) - taken - second))
    order = draw(st.permutations([*found]))
    return {name: found[name] for name in order}


def _spelt(draw: Draw, dscp: int) -> Any:
    """Draw one of the forms to write a DSCP."""
    name = name_of_dscp(dscp)
    return draw(st.sampled_from([dscp, name, {name: dscp}])) if name else dscp


def _share_out(draw: Draw, found: Data, free_groups: Sequence[int]) -> None:
    for name, cls in found.items():
        if not cls.get("lossless") and draw(st.booleans()):
            cls["pg"] = draw(st.sampled_from(free_groups))
        if name != "cnp" and draw(st.booleans()):
            cls["bandwidth"] = f"{draw(st.integers(5, 100 // len(found)))}%"


def dcqcn(nic: str) -> st.SearchStrategy[Any]:
    """Draw DCQCN as a word or with parameters, as far as the adapter has them."""
    if not load_nic(nic).dcqcn:
        return st.just("dcqcn")
    rates = st.sampled_from(["5M", "50M", "1G"])
    times = st.sampled_from(["1us", "4us", "300us"])
    parameters = {
        "priorities": st.lists(st.integers(0, 7), min_size=1, unique=True),
        "cnp_dscp": st.just(48),
        "cnp_interval": times,
        "dce_tcp_g": st.integers(0, 1023),
        "dce_tcp_rtt": times,
        "rate_to_set_on_first_cnp": rates,
        "rpg_min_dec_fac": st.sampled_from(["10%", "50%"]),
        "rpg_gd": st.integers(10, 11),
        "clamp_tgt_rate": st.booleans(),
        "rpg_time_reset": times,
        "rpg_ai_rate": rates,
        "rpg_hai_rate": rates,
    }
    stated = st.fixed_dictionaries({}, optional=parameters)
    return st.just("dcqcn") | st.fixed_dictionaries({"dcqcn": st.none() | stated})


def overrides(preset: str) -> st.SearchStrategy[Data]:
    """Draw what an intent can say about the classes of a preset."""
    lossless = "lossless-3" if preset == "azure" else "rdma"
    changes: st.SearchStrategy[Data] = st.fixed_dictionaries({"bandwidth": st.sampled_from(["10%", "15%"])})
    if preset != "pfc-only":
        changes |= st.fixed_dictionaries({"ecn": st.fixed_dictionaries({"probability": st.just("7%")})})
    return changes.map(lambda change: {"classes": {lossless: change}})


@st.composite
def watchdogs(draw: Draw, renderable: bool) -> Any:
    """Draw a PFC watchdog, off where that is allowed."""
    if not renderable and draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(["off", False]))
    found: Data = draw(watchdog_times())
    if draw(st.booleans()) and not renderable:
        del found["restoration"]
    if draw(st.booleans()):
        found["action"] = draw(st.sampled_from(["drop", "forward"]))
    if draw(st.integers(0, 2)) == 0:
        tiers = st.sampled_from(["leaf", "spine", "super-spine"])
        found["by_tier"] = draw(st.dictionaries(tiers, watchdog_times(), min_size=1))
    return found


def watchdog_times() -> st.SearchStrategy[Data]:
    """Draw times of a watchdog that fit each other: polls, two to four of them, and twice as long as these."""
    return st.tuples(st.integers(1, 10), st.integers(2, 4)).map(
        lambda drawn: {
            "poll": f"{100 * drawn[0]}ms",
            "detection": f"{100 * drawn[0] * drawn[1]}ms",
            "restoration": f"{200 * drawn[0] * drawn[1]}ms",
        }
    )


@st.composite
def extras(draw: Draw, class_names: Sequence[str], nic: str) -> Data:
    """Draw the sections that can be left out: MTU, hosts, buffers, networks."""
    traffic_class = st.fixed_dictionaries(
        {}, optional={"class": st.sampled_from(class_names)} if class_names else {}
    )
    prefixes = st.sampled_from([[], ["10.20.0.0/16"], ["10.1.0.0/24", "2001:db8::/48"]])
    network = st.fixed_dictionaries({"on": st.just("separate"), "prefixes": prefixes}) | traffic_class.map(
        lambda extra: {"on": "fabric", **extra}
    )
    nccl = st.fixed_dictionaries(
        {},
        optional={
            "ib_tc": st.just(106),
            "gin": st.booleans(),
            "ib_qps_per_connection": st.integers(1, 128),
            "ib_gid_index": st.integers(0, 255),
            "socket_interfaces": st.just(["eth0", "eth1.100"]),
        },
    )
    hosts = st.fixed_dictionaries(
        {},
        optional={
            "mtu": st.sampled_from([4200, "9000 B"]),
            "interfaces": st.just(["eth0", "eth1.100"]),
            "pfc_prevention": st.sampled_from(["auto", "off"]),
            # Other tools than mlnx_qos set what firmware that speaks DCBX would write over: that is refused.
            "dcbx": st.sampled_from(["os", "firmware"] if "mlnx_qos" in load_nic(nic).tools else ["os"]),
            "applied_by": st.sampled_from(["unit", "other", "hand"]),
            "loopback_rdma": st.sampled_from([True, False, "on", "off"]),
            "job_timeout": st.just("600s"),
            "nccl": nccl,
            "ucx": st.sampled_from([{}, {"traffic_class": 106}, {"gid_index": 3}]),
        },
    )
    telemetry = st.sampled_from(["off", {}, {"interval": "5s"}, {"alerts": ["watchdog", "pauses"]}])
    sections = {
        "mtu": st.sampled_from([9100, 9216, "9000 B"]),
        "hosts": hosts,
        "networks": st.dictionaries(names(), network, max_size=2),
        "telemetry": telemetry,
        "buffers": st.fixed_dictionaries({"headroom_oversubscription": st.sampled_from([1, 1.5, 2])}),
    }
    return draw(st.fixed_dictionaries({}, optional=sections))


@st.composite
def with_class_buffers(draw: Draw, data: Data) -> Data:
    """Draw what an intent states of the buffers of its lossless classes; all of them agree, as one profile must."""
    switches = sorted({switch.device for switch in fabric_of(data).switches})
    policy = draw(class_buffers(switches))
    classes = loaded_of(data).intent.classes
    lossless = [name for name, cls in classes.items() if cls.lossless]
    by_class = {**data.get("classes", {})}
    # Lossy classes stay out of the groups of lossless ones, and of those that tunnels between dual ToRs have.
    free_groups = sorted({*range(8)} - {classes[name].priority for name in lossless} - {2, 6})
    others: list[str] = [name for name in classes if name not in lossless]
    for name in draw(st.lists(st.sampled_from(others), unique=True)) if free_groups else ():
        by_class[name] = {**by_class.get(name, {}), "pg": draw(group_exceptions(switches, free_groups))}
    stated = {name: {**by_class.get(name, {}), "buffer": policy} for name in lossless} if policy else {}
    for cls in stated.values():
        if draw(st.booleans()):
            cls["queue"] = draw(queue_limits(switches))
        if isinstance(cls.get("ecn"), dict) and "min" in cls["ecn"]:
            cls["ecn"] = _joined((cls["ecn"], draw(curve_exceptions(switches))))
    return {**data, "classes": {**by_class, **stated}} if by_class or stated else data


@st.composite
def queue_limits(draw: Draw, switches: Sequence[str]) -> Data:
    """Draw limits of the queues of a class and what is reserved for them."""
    limit = st.fixed_dictionaries(
        {},
        optional={
            "dynamic_th": st.integers(-8, 7),
            "size": st.sampled_from(["0 B", "1 B", "9216 B", "64 KiB"]),
        },
    )
    devices = st.dictionaries(st.sampled_from(switches), limit, min_size=1, max_size=2)
    speeds = st.dictionaries(st.sampled_from(["100G", "400G"]), limit, min_size=1)
    exceptions = st.fixed_dictionaries({}, optional={"by_device": devices, "by_speed": speeds})
    return _joined(draw(st.tuples(limit, exceptions)))


@st.composite
def curve_exceptions(draw: Draw, switches: Sequence[str]) -> Data:
    """Draw curves of single colours, tiers and devices, or none there."""
    off = st.just("off")
    colours = st.fixed_dictionaries({}, optional={"yellow": off | curves(), "red": off | curves()})
    layer: st.SearchStrategy[Any] = st.tuples(curves(), colours).map(_joined)
    speeds = st.dictionaries(st.just("400G"), off | layer, min_size=1).map(lambda found: {"by_speed": found})
    layer |= off | speeds | st.tuples(layer, speeds).map(_joined)
    tiers = st.dictionaries(st.sampled_from(["leaf", "spine"]), layer, min_size=1)
    devices = st.dictionaries(st.sampled_from(switches), layer, min_size=1, max_size=2)
    exceptions = st.fixed_dictionaries({}, optional={"by_tier": tiers, "by_device": devices})
    return _joined(draw(st.tuples(colours, exceptions)))


@st.composite
def group_exceptions(draw: Draw, switches: Sequence[str], free_groups: Sequence[int]) -> Data:
    """Draw priority groups of a class by speed, tier and device."""
    number = st.sampled_from(free_groups)
    speeds = st.dictionaries(st.sampled_from(["100G", "400G"]), number, min_size=1)
    stated = st.fixed_dictionaries({"number": number}, optional={"by_speed": speeds})
    layer = number | stated | speeds.map(lambda found: {"by_speed": found})
    tiers = st.dictionaries(st.sampled_from(["leaf", "spine"]), layer, min_size=1)
    devices = st.dictionaries(st.sampled_from(switches), layer, min_size=1, max_size=2)
    ranks = {"number": number, "by_speed": speeds, "by_tier": tiers, "by_device": devices}
    return draw(st.fixed_dictionaries({}, optional=ranks).filter(bool))


@st.composite
def class_buffers(draw: Draw, switches: Sequence[str]) -> Data:
    """Draw buffers of a class with exceptions by speed, tier and device."""
    headroom = st.fixed_dictionaries(
        {"xoff": st.sampled_from(["200 KiB", "400 kB"]), "xon": st.just("20 kB")},
        optional={"xon_offset": st.just("4 KiB")},
    )
    threshold = st.fixed_dictionaries({}, optional={"dynamic_th": st.integers(-8, 7)})
    values = st.tuples(threshold, st.just({}) | headroom).map(_joined)
    speeds = st.dictionaries(st.sampled_from(["100G", "200 Gb/s", "400G"]), values, min_size=1, max_size=2)
    layer = st.tuples(values, st.fixed_dictionaries({}, optional={"by_speed": speeds})).map(_joined)
    tiers = st.dictionaries(st.sampled_from(["leaf", "spine", "switch"]), layer, min_size=1)
    devices = st.dictionaries(st.sampled_from(switches), layer, min_size=1, max_size=2)
    exceptions = st.fixed_dictionaries({}, optional={"by_tier": tiers, "by_device": devices})
    return _joined(draw(st.tuples(layer, exceptions)))


def _joined(parts: tuple[Data, Data]) -> Data:
    return {**parts[0], **parts[1]}


def topologies(leaf: Product, spine: Product, nic: str) -> st.SearchStrategy[Data]:
    """Draw a topology in any form."""
    forms = (leaf_spines, three_tiers, explicit, rails, dragonflies, tori)
    return st.one_of([form(leaf, spine, nic) for form in forms])


def tier_choices(topology: Data, *, with_uplinks: bool) -> st.SearchStrategy[Data]:
    """Draw which links have PFC, where it is said at all."""
    wanted = st.sets(st.sampled_from(tiers_of(topology)), min_size=1).map(
        lambda chosen: sorted(chosen | {"uplinks"} if with_uplinks else chosen)
    )
    return st.fixed_dictionaries({}, optional={"tiers": wanted, "asymmetric": st.booleans()})


@st.composite
def cages(draw: Draw, data: Data) -> Data:
    """Draw, for one role of an intent, cages to split and ports to keep down, of those that no link needs."""
    try:
        fabric = fabric_of(data)
    except InputError:
        return data
    role = draw(st.sampled_from(sorted(data["hardware"].keys() - {"nic"})))
    switches = [switch for switch in fabric.switches if switch.tier == tier_of_role(role)]
    choice = data["hardware"][role]
    choice = {"profile": choice} if isinstance(choice, str) else choice
    profile = load_switch(choice["profile"])
    taken = {lane for switch in switches for port in switch.ports if port.spec for lane in port.spec.lanes}
    free = [cage for cage in profile.cages if not taken.intersection(cage.lanes) and len(cage.lanes) > 1]
    if not free:
        return data
    split = {}
    for cage in draw(st.lists(st.sampled_from(free), max_size=3, unique_by=lambda cage: cage.name)):
        mode = draw(st.sampled_from(cage.modes))
        split[cage.name] = bundle(mode.count, draw(st.sampled_from(mode.speeds_bps)))
    down = draw(st.sets(st.sampled_from([cage.name for cage in free]), max_size=2))
    stated = {"breakout": split, "down": sorted(down)}
    return {**data, "hardware": {**data["hardware"], role: {**choice, **stated}}}


def shuffled(value: Any, random: Random) -> Any:
    """Return plain data with the keys of every mapping in another order."""
    if isinstance(value, list):
        return [shuffled(item, random) for item in value]
    if not isinstance(value, dict):
        return value
    keys = [*value]
    random.shuffle(keys)
    return {key: shuffled(value[key], random) for key in keys}
