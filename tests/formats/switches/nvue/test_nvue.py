"""Configurations of NVUE: commands and YAML say the same, ``qos roce`` implies what it does by its mode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from lossless.api import Options, lint_documents
from lossless.formats.inputs.switches import configuration_in, is_structured, read_switch
from lossless.formats.switches.nvue.from_model import commands
from lossless.formats.switches.nvue.read import (
    Node,
    looks_like_commands,
    read_commands,
    tree_of_commands,
    tree_of_data,
)
from lossless.ground.documents import load_text
from lossless.model.fabric.configured_switch import ReadSwitch
from lossless.model.fabric.model import Port


def tree(text: str) -> dict[str, Any]:
    return plain(tree_of_commands(read_commands(text, "leaf1.nv")))


def plain(node: Node) -> dict[str, Any]:
    return {word: plain(below) for word, below in node.below.items()}


def read(text: str) -> ReadSwitch:
    document = configuration_in(text, "leaf1.nv")
    assert document is not None
    return read_switch(document).read


def ports(text: str) -> dict[str, Port]:
    return {port.name: port for port in read(text).switch.ports}


def priorities(port: Port) -> tuple[int, ...]:
    assert port.qos is not None
    return port.qos.pfc.priorities


# --- the tree ---


def test_lists_and_ranges_are_several_keys() -> None:
    said = tree(
        "nv set interface swp1-2,swp6,swp37s0-1 qos pfc-watchdog\nnv set qos pfc p switch-priority 3,5\n"
    )
    assert list(said["interface"]) == ["swp1", "swp2", "swp6", "swp37s0", "swp37s1"]
    assert list(said["qos"]["pfc"]["p"]["switch-priority"]) == ["3", "5"]


def test_what_is_set_last_counts_and_unset_takes_it_away() -> None:
    text = "nv set interface swp1 link mtu 9000\nnv set interface swp1 link mtu 9216\n"
    root = tree_of_commands(read_commands(text, "leaf1.nv"))
    assert root.value("interface", "swp1", "link", "mtu") == "9216"
    assert tree(f"{text}nv unset interface swp1 link\n")["interface"]["swp1"]["link"] == {}
    unset = tree_of_commands(read_commands(f"{text}nv unset interface swp1 link mtu 9216\n", "leaf1.nv"))
    assert unset.value("interface", "swp1", "link", "mtu") is None


def test_shell_around_commands_is_left_alone() -> None:
    text = "#!/bin/bash\nset -e\nsudo nv set qos roce\nnv config apply -y\n# nv set qos roce enable off\n"
    assert tree(text) == {"qos": {"roce": {}}}


_WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
_TREES = st.dictionaries(
    _WORDS,
    st.recursive(st.integers(0, 9), lambda inner: st.dictionaries(_WORDS, inner, min_size=1), max_leaves=8),
    min_size=1,
)


def _commands(data: dict[str, Any], path: str = "qos") -> list[str]:
    lines = []
    for key, value in data.items():
        lines += (
            _commands(value, f"{path} {key}") if isinstance(value, dict) else [f"nv set {path} {key} {value}"]
        )
    return lines


@given(_TREES)
def test_commands_and_yaml_make_one_tree(data: dict[str, Any]) -> None:
    import json

    document = load_text(json.dumps({"qos": data}), "leaf1.yaml")
    assert plain(tree_of_data(document)) == tree("\n".join(_commands(data)))


def test_the_list_that_nv_config_prints_is_its_tree() -> None:
    text = "- header:\n    version: '5.9'\n- set:\n    qos:\n      roce:\n        enable: 'on'\n"
    document = load_text(text, "leaf1.yaml", lists=True)
    assert is_structured(document)
    (others,) = read_switch(document).read.switch.ports
    assert priorities(others) == (3,)
    assert document.locate(others.origin.path, "key").line == 5


# --- what is implied ---


@pytest.mark.parametrize(
    "line",
    [
        "nv set qos roce",
        "nv set qos roce enable on",
        "nv set qos roce state enabled",
        "nv set qos roce mode lossless",
    ],
)
def test_roce_is_on_in_every_spelling(line: str) -> None:
    others = ports(f"{line}\n")["swp*"]
    assert priorities(others) == (3,)
    assert others.cable.configured_m == 100


@pytest.mark.parametrize(
    "line", ["nv set qos roce enable off", "nv set qos roce state disabled", "nv set qos roce mode lossy"]
)
def test_without_it_or_in_a_lossy_mode_nothing_is_paused(line: str) -> None:
    assert priorities(ports(f"{line}\n")["swp*"]) == ()


def test_roce_sends_two_priorities_to_classes_of_their_own() -> None:
    maps = read("nv set qos roce\n").maps
    assert [maps.dscp_to_tc.targets[dscp] for dscp in (0, 26, 34, 48)] == [0, 3, 0, 6]


def test_without_roce_a_port_trusts_pcp() -> None:
    assert read("nv set qos pfc default-global switch-priority 3\n").trusts == {"swp*": "pcp"}


def test_a_part_of_a_configuration_says_nothing_of_ports_it_does_not_name() -> None:
    part = read("nv set interface swp1 link mtu 9216\n")
    assert [port.name for port in part.switch.ports] == ["swp1"]
    assert part.trusts == {}


def test_a_profile_overrides_what_is_implied_at_its_ports_alone() -> None:
    text = "nv set qos roce\nnv set qos pfc other switch-priority 4\nnv set interface swp1 qos pfc profile other\n"
    seen = ports(text)
    assert (priorities(seen["swp1"]), priorities(seen["swp*"])) == ((4,), (3,))


def test_the_watchdog_detects_after_its_polls() -> None:
    text = "nv set qos roce\nnv set interface swp1 qos pfc-watchdog\nnv set qos pfc-watchdog robustness 5\n"
    qos = ports(text)["swp1"].qos
    assert qos is not None
    assert qos.watchdog is not None
    assert qos.watchdog.detection_ms == 500


@pytest.mark.parametrize("state", ["state disable", "state disabled", "enable off"])
def test_a_watchdog_that_is_off_watches_nothing(state: str) -> None:
    qos = ports(f"nv set qos roce\nnv set interface swp1 qos pfc-watchdog {state}\n")["swp1"].qos
    assert qos is not None
    assert qos.watchdog is None


# --- what has no effect ---


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("nv set interface bond1 bond member swp1\nnv set interface swp1 qos pfc profile p", "member"),
        ("nv set qos roce mode lossy\nnv set interface swp1 qos pfc-watchdog", "watchdog is on at swp1"),
        ("nv set qos pfc p port-buffer 1000", "1,000 B of port buffer"),
        ("nv set qos pfc p rx disable", "sent and not obeyed"),
        ("nv set qos pfc p tx disable", "obeyed and not sent"),
        (
            "nv set qos congestion-control c traffic-class 3 min-threshold 2000\n"
            "nv set qos congestion-control c traffic-class 3 max-threshold 1000",
            "minimum threshold of traffic class 3",
        ),
        (
            "nv set qos advance-buffer-config default-global egress-lossless-buffer shared-bytes 16777216",
            "limited to 16,777,216 B",
        ),
    ],
)
def test_what_has_another_effect_than_it_says(lines: str, says: str) -> None:
    text = f"nv set qos roce\nnv set qos pfc p switch-priority 3\n{lines}\n"
    assert [says in refused.what for refused in read(text).refused] == [True]


def test_a_word_below_qos_that_is_not_known_is_named() -> None:
    assert read("nv set qos rocee\n").unread == ("'qos rocee' is not read",)


# --- whose it is ---


def test_yaml_of_nvue_is_known_by_its_keys() -> None:
    assert is_structured(load_text("qos:\n  roce:\n    enable: 'on'\n", "leaf1.yaml"))
    assert is_structured(load_text("interface:\n  swp1:\n    type: swp\n", "leaf1.yaml"))
    assert not is_structured(load_text("interface:\n  Ethernet1:\n    mtu: 9000\n", "leaf1.yaml"))


@pytest.mark.parametrize(
    "text", ["nv show qos roce\n", "set interfaces et-0/0/0 mtu 9216\n", "interface Ethernet1\n  mtu 9214\n"]
)
def test_other_texts_are_not_taken_for_nvue(text: str) -> None:
    assert not looks_like_commands(text)


# --- adaptive routing ---


@pytest.mark.parametrize(
    ("text", "adaptive"),
    [
        (
            "router adaptive-routing state enabled\nnv set interface swp1 router adaptive-routing state enabled",
            True,
        ),
        ("router adaptive-routing enable on\nnv set interface swp1 router adaptive-routing enable on", True),
        ("interface swp1 router adaptive-routing state enabled", False),
        (
            "router adaptive-routing state enabled\nnv set interface swp1 qos pfc-watchdog state enabled",
            False,
        ),
        (
            "router adaptive-routing state disabled\nnv set interface swp1 router adaptive-routing state enabled",
            False,
        ),
    ],
)
def test_a_port_is_routed_adaptively_where_the_switch_and_the_port_have_it_on(
    text: str, adaptive: bool
) -> None:
    assert ports(f"nv set {text}\n")["swp1"].adaptive is adaptive


# --- what holds for all ports ---


@pytest.mark.parametrize(
    "line",
    [
        "nv set qos congestion-control default-global traffic-class 4 red enable",
        "nv set qos egress-scheduler default-global traffic-class 2 mode strict",
        "nv set qos egress-queue-mapping default-global switch-priority 2 traffic-class 7",
    ],
)
def test_what_sets_all_ports_leaves_the_rest_as_nvue_has_it(line: str) -> None:
    made = read(f"{line}\n")
    assert made.trusts == {"swp*": "pcp"}
    assert made.maps.dot1p_to_tc.sources(5) == (5,)
    (port,) = made.switch.ports
    assert port.qos is not None
    kept = port.qos.queues[6]
    assert kept is not None
    assert kept.scheduler is not None
    assert (kept.scheduler.kind, kept.scheduler.weight) == ("DWRR", 12)


def test_a_profile_that_no_port_is_known_to_have_sets_nothing_for_all() -> None:
    assert read("nv set qos egress-scheduler mine traffic-class 2 mode strict\n").trusts == {}


def test_a_pause_stops_the_queue_of_its_switch_priority() -> None:
    text = (
        "nv set qos roce\nnv set qos pfc default-global switch-priority 2\n"
        "nv set qos egress-queue-mapping default-global switch-priority 2 traffic-class 3\n"
        "nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 0\n"
        "nv set qos mapping default-global dscp 26 switch-priority 2\n"
        "nv set qos congestion-control default-global traffic-class 3 ecn disable\n"
    )
    port = ports(text)["swp*"]
    assert port.qos is not None
    assert port.qos.pfc_to_queue is not None
    assert (port.qos.pfc_to_queue.targets[2], port.qos.queue_of(port.qos.traffic_class(26))) == (3, 3)
    assert "ECN001" in codes(text)
    assert "ECN001" not in codes(text.replace("ecn disable", "ecn enable"))


def codes(text: str) -> set[str]:
    document = configuration_in(text, "leaf1.nv")
    assert document is not None
    return {finding.code for finding in lint_documents([document], Options()).findings}


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("swp1-2s0-1", ["swp1s0", "swp1s1", "swp2s0", "swp2s1"]),
        ("swp1-2s3", ["swp1s3", "swp2s3"]),
        ("swp6-7,28-29,bond1", ["swp6", "swp7", "swp28", "swp29", "bond1"]),
        ("swp1s0,2s0", ["swp1s0", "swp2s0"]),
        ("bond1-2", ["bond1", "bond2"]),
    ],
)
def test_ranges_may_count_ports_and_their_lanes(written: str, names: list[str]) -> None:
    assert list(tree(f"nv set interface {written} link mtu 9216\n")["interface"]) == names


_NAMES = st.from_regex(r"(eth|swp|bond|swp1s)(0|[1-9][0-9]?|0[0-9])?", fullmatch=True)


@given(st.sets(_NAMES, min_size=1))
@example({"eth", "eth0"})
@example({"swp01", "swp02"})
def test_names_are_read_back_from_the_ranges_of_commands(names: set[str]) -> None:
    data = {"interface": {name: {"link": {"mtu": 9216}} for name in names}}
    assert set(tree("\n".join(commands(data)))["interface"]) == names


def test_names_in_a_row_are_one_range() -> None:
    data: dict[str, Any] = {
        "interface": {name: {} for name in ("eth0", "swp1", "swp2", "swp3", "swp9", "swp10")}
    }
    assert list(commands(data)) == ["nv set interface eth0,swp1-3,swp9-10"]


def test_a_port_that_is_split_is_its_lanes() -> None:
    text = "nv set qos roce\nnv set interface swp1 link breakout 2x\n"
    assert list(ports(text)) == ["swp*", "swp1s0", "swp1s1"]
    assert list(ports(f"{text}nv set interface swp1s1 link mtu 9216\n")) == ["swp*", "swp1s0", "swp1s1"]
    assert list(ports(text.replace("2x", "1x"))) == ["swp*", "swp1"]
