"""The buffer policy of deployed switches comes back as it was stated, tier by tier."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.importing.imported import ratio_of, shared_sizes
from lossless.formats.sonic.changes.meaning import Cell
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.formats.importing.imports import imported, intent, lines, named, telling
from tests.formats.importing.test_importing_laws import deployed
from tests.formats.sonic.devices import Config, base, patched

NVIDIA, BROADCOM = "nvidia-sn5600", "arista-7260cx3"
BASIC: dict[str, Any] = {
    "lossless": "v1",
    "fabric": "buffers",
    "transport": "rocev2",
    "classes": {
        "rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%"},
        "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
    },
    "pfc": {"watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"}},
    "congestion_control": "pfc-only",
}


def fabric(switch: str, **buffers: Any) -> dict[str, Any]:
    """Return an intent of two leaves and two spines of one product with a buffer policy."""
    shape = {
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 4,
        "host_links": "2 x 100G",
        "uplinks": "2 x 100G",
        "cables": {"host": "5m", "uplink": "40m"},
    }
    hardware = {"leaf": switch, "spine": switch, "nic": "connectx-7"}
    return {**BASIC, "hardware": hardware, "topology": {"leaf_spine": shape}, "buffers": buffers}


@pytest.mark.parametrize(
    ("switch", "buffers", "expected"),
    [
        (NVIDIA, {}, None),
        (NVIDIA, {"model": "traditional"}, None),
        (NVIDIA, {"model": "dynamic"}, "{model: dynamic, lossless_mtu: 1024, small_packets: 100%}"),
        (
            NVIDIA,
            {"model": {"spine": "dynamic"}, "lossless_mtu": 2048, "small_packets": "50%"},
            "{model: {spine: dynamic}, lossless_mtu: 2048, small_packets: 50%}",
        ),
        (
            NVIDIA,
            {"model": "dynamic", "headroom_oversubscription": 2},
            "{model: dynamic, headroom_oversubscription: 2, lossless_mtu: 1024, small_packets: 100%}",
        ),
        (NVIDIA, {"unused_ports": "keep"}, None),
        (NVIDIA, {"unused_ports": "reclaim"}, "{unused_ports: reclaim}"),
        (NVIDIA, {"unused_ports": {"leaf": "reclaim"}}, "{unused_ports: {leaf: reclaim}}"),
        (
            NVIDIA,
            {"model": "dynamic", "unused_ports": "reclaim"},
            "{model: dynamic, unused_ports: reclaim, lossless_mtu: 1024, small_packets: 100%}",
        ),
        (NVIDIA, {"pools": "single"}, "{pools: single}"),
        (NVIDIA, {"pools": {"spine": "single"}}, "{pools: {spine: single}}"),
        (NVIDIA, {"pools": "split"}, None),
        (BROADCOM, {}, None),
        (BROADCOM, {"headroom_oversubscription": 1.5}, "{headroom_oversubscription: 1.5}"),
        (BROADCOM, {"headroom_oversubscription": 4}, "{headroom_oversubscription: 4}"),
    ],
)
def test_a_buffer_policy_comes_back_as_it_was_stated(
    switch: str, buffers: dict[str, Any], expected: str | None
) -> None:
    found = import_documents(deployed(fabric(switch, **buffers)))
    assert lines(found, "buffers:") == ([] if expected is None else [f"buffers: {expected}"])
    assert found.differences == ()


ZERO = {
    "size": {"size": "1"},
    "dynamic threshold": {"dynamic_th": "-7"},
    "static threshold": {"dynamic_th": "", "static_th": "1"},
    "no profile": {},
}


@pytest.mark.parametrize("change", ZERO)
def test_unused_ports_that_keep_some_buffer_are_not_said_to_give_it_back(change: str) -> None:
    (file, *_) = deployed(fabric(NVIDIA, unused_ports="reclaim"))
    data = json.loads(file.text)
    for name in ("egress_lossy_zero_profile", "egress_lossless_zero_profile"):
        data["BUFFER_PROFILE"][name] |= ZERO[change]
        if not ZERO[change]:
            del data["BUFFER_PROFILE"][name]
    assert intent(import_documents([load_text(file.text, file.file)]))["buffers"] == {
        "unused_ports": "reclaim"
    }
    assert "buffers" not in intent(import_documents([load_text(json.dumps(data), file.file)]))


def test_unused_ports_that_are_not_all_there_are_not_said_to_give_their_buffer_back() -> None:
    (file, *_) = deployed(fabric(NVIDIA, unused_ports="reclaim"))
    data = json.loads(file.text)
    unused = next(port for port in data["PORT"] if port not in data["PORT_QOS_MAP"])
    del data["PORT"][unused]
    assert "buffers" not in intent(import_documents([load_text(json.dumps(data), file.file)]))


def split(device: Config, cage: int, speed: str, *lanes: str) -> Config:
    """Return a device with a cage split into ports of a speed, by their lanes."""
    rows = {port: row for port, row in device["PORT"].items() if row["index"] != str(cage)}
    for own in lanes:
        rows[f"Ethernet{own.partition(',')[0]}"] = {"lanes": own, "index": str(cage), "speed": speed}
    return {**device, "PORT": rows}


@pytest.mark.parametrize(
    ("cage", "speed", "lanes", "declared"),
    [
        (2, "200000", ("8,9,10,11", "12,13,14,15"), "Ethernet8: 2 x 200G"),
        (2, "200000", ("8, 9, 10, 11",), "Ethernet8: 1 x 200G"),
        (2, "400000", ("8,9,10,11,12,13,14,15",), "Ethernet8: 1 x 400G"),
        # As many as the speed allows need no word where some are in use, and one where none is.
        (2, "400000", ("8,9,10,11", "12,13,14,15"), None),
        (3, "400000", ("16,17,18,19", "20,21,22,23"), "Ethernet16: 2 x 400G"),
        # So the HWSKU has it; no product has such ports; nobody can tell which lanes these are.
        (1, "400000", ("0,1,2,3", "4,5,6,7"), None),
        (3, "800000", ("16,17,18,19,20,21,22,23",), None),
        (2, "200000", ("8,9,10,11", "13,14,15"), None),
        (2, "200000", ("8,9,10,11", "12,13,14,x"), None),
        (2, "200000", ("8,9,10,11", "12,13,14,16"), None),
    ],
)
def test_a_cage_that_is_split_otherwise_than_its_hwsku_and_speed_say_is_declared(
    cage: int, speed: str, lanes: tuple[str, ...], declared: str | None
) -> None:
    found = lines(imported(split(base(), cage, speed, *lanes)), "breakout")
    hardware = f"profile: nvidia-sn5600, hwsku: ACS-SN5600, breakout: {{{declared}}}"
    assert found == ([f"leaf1: {{role: leaf, hardware: {{{hardware}}}}}"] if declared else [])


def test_a_port_without_lanes_is_of_no_cage() -> None:
    config = split(base(), 2, "200000", "8,9,10,11", "12,13,14,15")
    del config["PORT"]["Ethernet12"]["lanes"]
    assert lines(imported(config), "breakout") == []


def test_ports_without_a_speed_have_each_that_of_their_own_in_the_hwsku() -> None:
    whole = fabric(BROADCOM)
    whole["topology"]["leaf_spine"]["hosts_per_leaf"] = 6
    (file, *_) = deployed(whole)
    data = json.loads(file.text.replace("Arista-7260CX3-C64", "Arista-7260CX3-D108C8"))
    for row in data["PORT"].values():
        del row["speed"]
    found = lines(import_documents([load_text(json.dumps(data), file.file)]), "no speed")
    speeds = {line.split('"')[1]: line.partition("links: 1 x ")[2].partition(",")[0] for line in found}
    assert speeds == {f"leaf1:Ethernet{lane}": "50G" if lane < 48 else "100G" for lane in range(0, 64, 4)}


def test_ports_of_two_speeds_in_one_cage_are_no_split() -> None:
    config = split(base(), 2, "200000", "8,9,10,11", "12,13,14,15")
    config["PORT"]["Ethernet12"]["speed"] = "100000"
    assert lines(imported(config), "breakout") == []


@given(st.integers(10**6, 10**8), st.integers(1001, 9999))
def test_the_ratio_that_is_found_gives_the_pool_that_is_deployed(claimed: int, thousandths: int) -> None:
    deployed_bytes = math.ceil(claimed / (thousandths / 1000))
    ratio = ratio_of([(claimed, deployed_bytes)])
    assert ratio is not None
    assert math.ceil(claimed / ratio) == deployed_bytes


@pytest.mark.parametrize(
    ("sizes", "ratio"),
    [
        ([], None),
        ([(1000, 1000)], 1.0),
        ([(1000, 500)], 2.0),
        ([(1000, 667)], 1.5),
        ([(1000, 750)], 1.334),
        # The ratio of most pools; one that no decimal makes has no say.
        ([(1000, 500), (2000, 1000), (1000, 250)], 2.0),
        ([(10**12, 10**12 // 3)], None),
        ([(10**12, 10**12 // 3), (1000, 250)], 4.0),
    ],
)
def test_the_ratio_has_as_few_decimals_as_give_the_size(
    sizes: list[tuple[int, int]], ratio: float | None
) -> None:
    assert ratio_of(sizes) == ratio


@pytest.mark.parametrize(
    ("field", "deployed_text", "rendered", "size"),
    [
        ("xoff", "500", "1000", (1000, 500)),
        ("xoff", "1000", "1000", (1000, 1000)),
        ("xoff", "1001", "1000", None),
        ("xoff", "0", "1000", None),
        ("xoff", "500", "0", None),
        ("xoff", "many", "1000", None),
        ("xoff", None, "1000", None),
        ("xoff", "500", None, None),
        ("size", "500", "1000", None),
    ],
)
def test_pools_that_lend_headroom_are_compared_with_what_all_groups_claim(
    field: str, deployed_text: str | None, rendered: str | None, size: tuple[int, int] | None
) -> None:
    cell = Cell("BUFFER_POOL", "ingress_lossless_pool", field, deployed_text, rendered)
    assert shared_sizes([cell]) == ([] if size is None else [size])
    assert shared_sizes([cell._replace(table="BUFFER_PROFILE")]) == []


def dynamic(name: str) -> Config:
    """Return a leaf with the dynamic buffer model."""
    return named(base(), name, buffer_model="dynamic")


def test_the_model_that_most_devices_of_a_tier_have_is_declared_and_that_some_differ_is_noted() -> None:
    found = imported(dynamic("leaf1"), dynamic("leaf2"), named(base(), "leaf3"))
    assert intent(found)["buffers"]["model"] == "dynamic"
    assert lines(found, "# buffers") == ["# buffers: 2 of 3 of role leaf have it so, the others differ"]
    same = imported(named(base(), "leaf1"), named(base(), "leaf2"), dynamic("leaf3"))
    assert intent(same)["buffers"].keys() == {"pool_sizes"}


def test_devices_of_another_tier_have_their_own_majority() -> None:
    spines = [named(dynamic("x"), f"spine{n}", "LeafRouter") for n in (1, 2)]
    leaves = [named(base(), f"leaf{n}") for n in (1, 2)]
    assert intent(imported(*leaves, *spines))["buffers"]["model"] == {"spine": "dynamic"}


def test_a_device_without_pools_says_nothing_of_their_form() -> None:
    config = patched(base(), BUFFER_POOL=None)
    assert "buffers" not in intent(imported(config))
    assert {kind for kind, _ in telling(imported(config))} <= {
        "vendor profile",
        "headroom row",
    }
