"""Types of devices in CONFIG_DB, and the tier that a switch has by its neighbors and its own type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.device_types import TIER_OF_TYPE, device_tier, neighbor_types
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.records import UNKNOWN, Maybe
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from pathlib import Path

LEAF, SPINE, TOP = Tier
WITHOUT_TIER = """
    FabricSpineRouter UpperSpineRouter LowerRegionalHub FabricRegionalHub UpperRegionalHub
    SpineChassisFrontendRouter ChassisBackendRouter ASIC
    MgmtToRRouter MgmtLeafRouter MgmtSpineRouter MgmtAccessRouter LowerMgmtAggregator UpperMgmtAggregator
    BmcMgmtToRRouter EPMS MgmtTsToR MiniTs LeafTs SpineTs CoreTs ConsoleServer TerminalServer
    SonicHost SmartSwitchDPU NetworkBmc FilterLeaf MseeRouter not-provisioned
"""
"""Why each of them has none is said at :data:`lossless.formats.sonic.to_model.device_types.TIER_OF_TYPE`."""


def tables(own: str | None, *neighbors: str | None) -> Tables:
    """Return the tables of a switch with a neighbor of each type at a port of its own; None: nothing says its type."""
    names = [f"device{number}" for number in range(len(neighbors))]
    types = dict(zip(names, neighbors, strict=True))
    data = {
        "DEVICE_METADATA": {"localhost": {"hostname": "own", **({"type": own} if own else {})}},
        "DEVICE_NEIGHBOR": {f"Ethernet{4 * n}": {"name": name, "port": "p"} for n, name in enumerate(names)},
        "DEVICE_NEIGHBOR_METADATA": {name: {"type": kind} for name, kind in types.items() if kind},
    }
    return Tables("own.json", data)


def tier(own: str | None, *neighbors: str | None) -> Maybe[Tier]:
    (switch,) = read_fabric([tables(own, *neighbors)], lambda _hwsku, _platform: None).switches
    assert switch.device_type == own
    return switch.tier


@pytest.mark.parametrize(
    ("own", "neighbors", "expected"),
    [
        # T0, T1 and T2, as SONiC's own topologies are
        ("ToRRouter", ["LeafRouter", "LeafRouter", "Server", "Server"], LEAF),
        ("BackEndToRRouter", ["BackEndLeafRouter", "BackEndLeafRouter", "ToRRouter", None], LEAF),
        ("LeafRouter", ["ToRRouter", "ToRRouter", "SpineRouter", "SpineRouter"], SPINE),
        ("SpineRouter", ["LeafRouter", "LeafRouter", "RegionalHub", "AZNGHub"], TOP),
        ("LowerSpineRouter", ["LeafRouter", "LeafRouter", "FabricSpineRouter", "UpperSpineRouter"], TOP),
        # operators who call a leaf LeafRouter
        ("LeafRouter", ["Server", "Server", "SpineRouter"], LEAF),
        ("LeafRouter", ["server"], LEAF),
        ("SpineRouter", ["ToRRouter", "ToRRouter"], SPINE),
        # the type says nothing
        (None, ["Server", "LeafRouter"], LEAF),
        ("Undefined", ["Server"], LEAF),
        (None, ["ToRRouter", "ToRRouter"], SPINE),
        (None, [None, "LeafRouter"], UNKNOWN),
        (None, [], UNKNOWN),
        ("FabricSpineRouter", ["LowerSpineRouter", "LowerSpineRouter"], UNKNOWN),
        # types that contradict each other
        ("ToRRouter", ["ToRRouter", "ToRRouter"], UNKNOWN),
        ("LeafRouter", ["LeafRouter", "LeafRouter"], UNKNOWN),
        ("LeafRouter", ["Server", "ToRRouter", "SpineRouter"], UNKNOWN),
        ("SpineRouter", ["Server", "LeafRouter"], UNKNOWN),
        # neighbors of which nothing is known leave it to the type
        ("LeafRouter", [None, None], SPINE),
        ("ToRRouter", [], LEAF),
    ],
)
def test_what_is_attached_decides_first_and_the_type_second(
    own: str | None, neighbors: list[str | None], expected: Maybe[Tier]
) -> None:
    assert tier(own, *neighbors) is expected


def test_a_neighbor_on_several_links_is_one_neighbor() -> None:
    links = {port: {"name": "leaf2", "port": port} for port in ("Ethernet0", "Ethernet4")}
    data = {"DEVICE_NEIGHBOR": links, "DEVICE_NEIGHBOR_METADATA": {"leaf2": {"type": "ToRRouter"}}}
    assert device_tier(Tables("leaf1.json", data), "ToRRouter") is LEAF


def test_a_device_that_no_link_leads_to_is_no_neighbor() -> None:
    """A dual ToR names its peer in DEVICE_NEIGHBOR_METADATA, and smart cables, which no port leads to."""
    data = {"DEVICE_NEIGHBOR_METADATA": {"peer": {"type": "ToRRouter"}, "server": {"type": "Server"}}}
    assert device_tier(Tables("own.json", data), "LeafRouter") is SPINE


@pytest.mark.parametrize("rows", [None, [], "text", {"spine1": []}, {"spine1": {"type": 5}}, {"spine1": {}}])
def test_neighbors_that_cannot_be_read_say_nothing(rows: object) -> None:
    data = {"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine1"}}, "DEVICE_NEIGHBOR_METADATA": rows}
    assert neighbor_types(Tables("own.json", data)) == {}
    assert device_tier(Tables("own.json", data), None) is UNKNOWN


def test_every_type_of_the_yang_model_has_a_tier_or_a_reason(reference: Path) -> None:
    schema = json.loads((reference / "facts" / "sonic-schema.json").read_text())
    (pattern,) = schema["DEVICE_METADATA"]["children"]["localhost"]["fields"]["type"]["type"]["patterns"]
    known = set(pattern.split("|"))
    read_by_name = {"MiniToR", "MiniLeaf"}
    assert known == (TIER_OF_TYPE.keys() - read_by_name) | set(WITHOUT_TIER.split())
