"""The buffer verdict: what makes a port unsafe, what puts it on the edge, and what nobody can know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, FabricVerdict, PortVerdict, fabric_verdict
from lossless.api import load_fabrics
from lossless.ground.documents import load, load_text
from lossless.model.fabric.view import View
from lossless.output.report.plain import plain
from tests.checks.rules.snippets import BASES, merge
from tests.paths import ROOT


def checked(base: str, patch: dict[str, Any] | None = None) -> FabricVerdict:
    data = load_text((BASES / base).read_text(), base).data
    document = load_text(json.dumps(merge(data, patch or {})), base)
    fabrics, errors = load_fabrics([document])
    assert errors == ()
    return fabric_verdict(View(fabrics[0]))


def leaf(**tables: Any) -> FabricVerdict:
    return checked("leaf.json", tables)


LOSSLESS = {"pool": "ingress_lossless_pool", "xon": "19456", "dynamic_th": "0"}
"""A lossless profile of the leaf but for its sizes."""
COMPUTED_GROUPS = {f"Ethernet{n}|3": {"profile": "NULL"} for n in (0, 4, 8)}
STEERING = {
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
}
"""What the dynamic model computes by; without both, nothing is programmed."""
ELSEWHERE = {"localhost": {"buffer_model": "dynamic", "hwsku": "Own-Build-64", "platform": "x86_64-own"}}


def line(verdict: FabricVerdict, speed_gbps: int) -> PortVerdict:
    return next(found for found in verdict.lines if found.speed_bps == speed_gbps * 10**9)


def unknown_hwsku(xoff: int) -> FabricVerdict:
    """Return the leaf on hardware nobody describes: 400G over 5 m needs at least 95,713 B."""
    profile = {"xoff": str(xoff), "size": str(xoff + 19_456)}
    return leaf(
        DEVICE_METADATA={"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}},
        BUFFER_PROFILE={"pg_lossless_400000_5m_profile": profile},
    )


# --- safe ---


@pytest.mark.parametrize("base", ["leaf.json", "azure.json", "leaf-spine.yaml"])
def test_sound_bases_are_safe_and_wholly_checked(base: str) -> None:
    verdict = checked(base)
    assert verdict.overall == "safe"
    assert {found.verdict for found in verdict.lines} == {"safe"}
    assert verdict.reasons == verdict.not_checked == ()


def test_the_example_fabric_is_safe_line_by_line() -> None:
    path = ROOT / "examples" / "roce-256" / "fabric.yaml"
    verdict = fabric_verdict(View(load_fabrics([load(str(path))]).fabrics[0]))
    assert verdict.overall == "safe"
    found = [(f.switch, f.switches, f.ports, f.priority, f.speed_bps, f.cable_m) for f in verdict.lines]
    assert found == [
        ("leaf1", 2, 64, 3, 400_000_000_000, 3),
        ("leaf1", 2, 32, 3, 800_000_000_000, 30),
        ("spine1", 2, 32, 3, 800_000_000_000, 30),
    ]


def test_switches_that_are_listed_one_by_one_are_as_few_lines_as_those_of_a_shape() -> None:
    """Each link has a place of its own in the file; the switches are identical all the same."""
    leaves, hosts = [f"leaf{n}" for n in range(1, 8)], [f"host{n}" for n in range(1, 8)]
    roles = [*((name, "leaf") for name in leaves), ("spine1", "spine"), *((name, "host") for name in hosts)]
    links = [{"a": leaf, "b": "spine1", "links": "1 x 800G", "cable": "30m"} for leaf in leaves]
    links += [
        {"a": leaf, "b": host, "links": "2 x 400G", "cable": "3m" if leaf != "leaf7" else "5m"}
        for leaf, host in zip(leaves, hosts, strict=True)
    ]
    devices = {name: {"role": role} for name, role in roles}
    verdict = checked(
        "leaf-spine.yaml", {"topology": {"leaf_spine": None, "devices": devices, "links": links}}
    )
    assert [(found.switch, found.switches, found.ports, found.cable_m) for found in verdict.lines] == [
        ("leaf1", 7, 7, 30),
        ("leaf1", 6, 12, 3),
        ("leaf7", 1, 2, 5),
        ("spine1", 1, 7, 30),
    ]
    assert [len(found.elements) for found in verdict.lines] == [5, 5, 2, 5], "five ports are named at most"
    assert [(pool.switch, pool.switches) for pool in verdict.pools] == [("leaf1", 7), ("spine1", 1)]


def test_ports_of_one_switch_that_differ_in_what_is_not_told_are_of_one_switch() -> None:
    verdict = leaf(QUEUE={"Ethernet0|0": None})
    found = [(line.switch, line.switches, line.ports, line.speed_bps) for line in verdict.lines]
    assert found == [("leaf1", 1, 2, 400 * 10**9), ("leaf1", 1, 1, 800 * 10**9)]


def test_the_numbers_behind_a_line() -> None:
    headroom = line(leaf(), 800).headroom
    assert headroom is not None
    assert headroom._asdict() == {
        "given_bytes": 362_496,
        "stated_bytes": 362_496,
        "need_bytes": 362_496,
        "method": "vendor row",
        "floor_bytes": 135_385,
        "cable_bytes": 40_405,
        "cable_plus_mtu_bytes": 49_505,
        "mtu_bytes": 9100,
        "margin_bytes": 312_991,
    }


# --- marking order is a margin, never a verdict ---


def test_fan_in_runs_to_the_most_senders_up_down_routing_allows() -> None:
    # 8 host ports and 4 uplinks on a leaf: 11 others can send to a host, only the 8 hosts to an uplink.
    verdict = checked("leaf-spine.yaml")
    assert [found.senders for found in line(verdict, 400).fan_in] == [2, 8, 11]
    assert [found.senders for found in line(verdict, 800).fan_in] == [2, 8]


def test_a_group_pauses_sooner_but_the_egress_holds_more_as_senders_join() -> None:
    found = line(checked("leaf-spine.yaml"), 400).fan_in
    assert [f.group_bytes for f in found] == sorted((f.group_bytes for f in found), reverse=True)
    assert [f.egress_bytes for f in found] == sorted(f.egress_bytes for f in found)


def test_fan_out_is_reported_up_to_every_other_port_and_may_be_negative() -> None:
    curve = {"green_min_threshold": "25000000", "green_max_threshold": "30000000"}
    verdict = leaf(WRED_PROFILE={"AZURE_LOSSLESS": curve})
    margins = [(f.egresses, f.kmin_margin_bytes, f.kmax_margin_bytes) for f in line(verdict, 400).fan_out]
    assert margins == [(1, 14_000_000, 9_000_000), (2, -11_000_000, -21_000_000)]
    assert verdict.overall == "safe"


# --- unsafe ---


def test_headroom_below_the_row_is_unsafe() -> None:
    small = {"pg_lossless_400000_5m_profile": {"xoff": "200000"}}
    verdict = leaf(BUFFER_PROFILE=small)
    assert verdict.overall == line(verdict, 400).verdict == "unsafe"
    assert line(verdict, 800).verdict == "safe"
    assert verdict.reasons == ("headroom at 400G over 5 m is 200,000 B; 231,424 B are needed (vendor row)",)


def test_a_row_below_the_link_itself_does_not_make_it_safe() -> None:
    switch = {"profile": "nvidia-sn4700", "hwsku": "Mellanox-SN4700-O32"}
    shape = {"uplinks": "4 x 400G", "cables": {"uplink": "1500m"}}
    patch = {"hardware": {"leaf": switch, "spine": switch}, "topology": {"leaf_spine": shape}}
    verdict = checked("leaf-spine.yaml", patch)
    reason = "headroom at 400G over 1500 m is 427,008 B; 766,676 B are needed (vendor row)"
    assert (verdict.overall, verdict.reasons) == ("unsafe", (reason,))


def test_headroom_that_nothing_backs_is_unsafe() -> None:
    # The profile leaves xoff to a shared headroom pool, and the switch has none.
    verdict = leaf(BUFFER_PROFILE={"pg_lossless_400000_5m_profile": {"size": "19456"}})
    assert verdict.overall == "unsafe"
    assert "as size does not hold the xoff of 231,424 B" in verdict.reasons[0]


def test_a_cable_without_a_row_is_unsafe() -> None:
    cables = {"uplink": "500m"}
    verdict = checked("leaf-spine.yaml", {"topology": {"leaf_spine": {"cables": cables}}})
    assert verdict.reasons == ("PFC priority 3 at 800G over 500 m has no headroom",)
    assert line(verdict, 400).verdict == "safe"


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"PFC_WD": {"Ethernet8": None}}, "missing"),
        ({"PORT_QOS_MAP": {"Ethernet8": {"pfcwd_sw_enable": ""}}}, "mask empty"),
        ({"PORT_QOS_MAP": {"Ethernet8": {"pfcwd_sw_enable": None}}}, "mask empty"),
        ({"FLEX_COUNTER_TABLE": {"PFCWD": {"FLEX_COUNTER_STATUS": "disable"}}}, "counters off"),
    ],
)
def test_a_port_on_which_nothing_ends_a_storm_is_unsafe(tables: dict[str, Any], why: str) -> None:
    verdict = leaf(**tables)
    assert line(verdict, 800).verdict == "unsafe"
    assert verdict.reasons == (f"nothing ends a pause storm: watchdog {why}",)


def test_of_a_fragment_without_rows_of_the_watchdog_nobody_knows_whether_one_runs() -> None:
    """A qos.json has no PORT rows, and need not have those of PFC_WD; beside one row, a port without one has none."""
    verdict = leaf(PFC_WD=None, PORT=None)
    assert {each.watchdog for each in verdict.lines} == {"unknown"}
    assert verdict.reasons == ()
    assert "watchdog: a fragment without PORT rows: the watchdog may stand elsewhere" in verdict.not_checked
    assert leaf(PFC_WD=None).overall == "unsafe"


def test_an_old_file_without_a_mask_is_filled_in_by_the_switch() -> None:
    mask = {"Ethernet8": {"pfcwd_sw_enable": None}}
    verdict = leaf(PORT_QOS_MAP=mask, VERSIONS={"DATABASE": {"VERSION": "version_3_0_4"}})
    assert line(verdict, 800).watchdog == "running"
    newer = leaf(PORT_QOS_MAP=mask, VERSIONS={"DATABASE": {"VERSION": "version_3_0_5"}})
    assert line(newer, 800).watchdog == "mask empty"


def test_counters_that_a_file_does_not_speak_of_are_switched_on_by_the_device() -> None:
    """``config reload`` lays the file over init_cfg.json, which enables them (sonic-buildimage @086b03b)."""
    for group in (None, {"FLEX_COUNTER_STATUS": None, "POLL_INTERVAL": "200"}):
        assert line(leaf(FLEX_COUNTER_TABLE={"PFCWD": group}), 800).watchdog == "running"


def test_an_intent_without_a_watchdog_is_unsafe() -> None:
    assert checked("leaf-spine.yaml", {"pfc": {"watchdog": "off"}}).overall == "unsafe"


# --- on the edge ---


@pytest.mark.parametrize(
    ("xoff", "expected"),
    [(95_712, "unsafe"), (95_713, "on the edge"), (104_812, "on the edge"), (104_813, "safe")],
)
def test_over_the_floor_the_edge_is_one_frame_wide(xoff: int, expected: str) -> None:
    assert line(unknown_hwsku(xoff), 400).verdict == expected


def test_a_need_known_only_as_a_floor_says_so() -> None:
    verdict = unknown_hwsku(200_000)
    assert verdict.overall == "safe"
    assert "headroom at 400G over 5 m: floor only" in verdict.reasons


def test_over_the_cable_and_one_frame_the_edge_is_another_frame_wide() -> None:
    """The row of 1500 m of this HWSKU holds less than the cable itself: 427,008 B of 757,576 B."""
    reasons = []
    for xoff in (766_675, 766_676, 775_775, 775_776):
        profile = {"xoff": str(xoff), "size": str(xoff + 19_456)}
        verdict = leaf(
            DEVICE_METADATA={
                "localhost": {"hwsku": "Mellanox-SN4700-O32", "platform": "x86_64-mlnx_msn4700-r0"}
            },
            CABLE_LENGTH={"AZURE": {"Ethernet0": "1500m", "Ethernet4": "1500m"}},
            BUFFER_PROFILE={"pg_lossless_400000_1500m_profile": {**LOSSLESS, **profile}},
        )
        reasons.append(line(verdict, 400).reasons)
    assert reasons == [
        ("headroom at 400G over 1500 m is 766,675 B; 766,676 B are needed (vendor row)",),
        ("headroom at 400G over 1500 m is 766,676 B, only 0 B over the cable and one frame",),
        ("headroom at 400G over 1500 m is 775,775 B, only 9,099 B over the cable and one frame",),
        (),
    ]


def test_over_the_floor_the_reason_says_so() -> None:
    reason = "headroom at 400G over 5 m is 95,713 B, only 0 B over the floor"
    assert line(unknown_hwsku(95_713), 400).reasons == (reason,)


def test_a_rate_without_a_known_need_is_not_checked() -> None:
    verdict = leaf(
        DEVICE_METADATA={"localhost": {"hwsku": "Own-Build-64", "platform": "x86_64-own"}},
        PORT={"Ethernet8": {"speed": "1600000"}},
    )
    assert line(verdict, 1600).not_checked == ("headroom: no headroom need is known at 1.6T",)
    assert line(verdict, 1600).verdict == "not checked"


@pytest.mark.parametrize(
    ("shared_bytes", "expected"),
    [(418_496, "safe"), (418_300, "safe"), (418_000, "on the edge"), (500_000, "safe")],
)
def test_headroom_is_oversubscribed_from_a_thousandth_on(shared_bytes: int, expected: str) -> None:
    """Three groups claim 418,496 B of the pool at once."""
    verdict = checked("azure.json", {"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": str(shared_bytes)}}})
    assert [pool.verdict for pool in verdict.pools] == [expected]


def test_oversubscribed_headroom_that_nobody_declared_is_on_the_edge() -> None:
    verdict = checked("azure.json", {"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "330000"}}})
    assert verdict.overall == "on the edge"
    (pool,) = verdict.pools
    assert (pool.headroom_bytes, pool.shared_headroom_bytes, pool.ratio) == (418_496, 330_000, 1.268)
    assert verdict.reasons == ("headroom of 418,496 B is promised 1.27 times over ingress_lossless_pool",)


def test_declared_oversubscription_is_no_edge() -> None:
    switch = {"profile": "arista-7260cx3", "hwsku": "Arista-7260CX3-C64"}
    shape = {"host_links": "2 x 100G", "uplinks": "4 x 100G"}
    patch = {
        "hardware": {"leaf": switch, "spine": switch},
        "topology": {"leaf_spine": shape},
        "buffers": {"headroom_oversubscription": 2},
    }
    verdict = checked("leaf-spine.yaml", patch)
    assert {(pool.verdict, pool.ratio) for pool in verdict.pools} == {("safe", 2.0)}


# --- not checked ---


def test_what_the_dynamic_model_computes_is_not_checked() -> None:
    verdict = leaf(DEVICE_METADATA=ELSEWHERE, BUFFER_PG=COMPUTED_GROUPS, **STEERING)
    assert verdict.overall == "not checked"
    assert "headroom: in the dynamic buffer model the switch computes headroom itself" in verdict.not_checked


def test_a_known_fault_outweighs_what_is_unknown() -> None:
    verdict = leaf(
        DEVICE_METADATA=ELSEWHERE, BUFFER_PG=COMPUTED_GROUPS, PFC_WD={"Ethernet0": None}, **STEERING
    )
    assert verdict.overall == "unsafe"
    assert [found.verdict for found in verdict.lines].count("not checked") == 2


def test_a_pool_that_fits_does_not_make_unknown_ports_safe() -> None:
    lengths = {f"Ethernet{n}": None for n in (0, 4, 8)}
    verdict = leaf(CABLE_LENGTH={"AZURE": lengths})
    assert [pool.verdict for pool in verdict.pools] == ["safe"]
    assert verdict.overall == "not checked"
    assert verdict.not_checked == ("headroom: the length of the cable is unknown",)


def test_a_fabric_without_pfc_has_nothing_to_check() -> None:
    off = {f"Ethernet{n}": {"pfc_enable": ""} for n in (0, 4, 8)}
    verdict = leaf(PORT_QOS_MAP=off)
    assert (verdict.overall, verdict.not_checked) == ("not checked", ("no port in service has PFC on",))


def test_a_file_without_buffers_says_nothing_of_headroom() -> None:
    buffers = ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH")
    verdict = leaf(**dict.fromkeys(buffers))
    assert verdict.overall == "not checked"
    assert "headroom: the file has no buffer pools" in verdict.not_checked


# --- as data ---


def test_the_verdict_is_plain_data() -> None:
    data = plain(checked("leaf-spine.yaml"))
    assert json.loads(json.dumps(data)) == data
    assert list(data) == ["overall", "lines", "pools", "reasons", "not_checked"]
    lines = data["lines"]
    assert isinstance(lines, list)
    assert isinstance(lines[0], dict)
    assert isinstance(lines[0]["headroom"], dict)
    assert lines[0]["headroom"]["method"] == "vendor row"


def test_the_corpus_is_checked_without_a_crash(reference: Path) -> None:
    for path in sorted((reference / "corpus").glob("*/*.json")):
        if path.parent.name == "rejected" or path.name == "index.json":
            continue
        for fabric in load_fabrics([load(str(path))]).fabrics:
            verdict = fabric_verdict(View(fabric))
            assert verdict.overall in BUFFER_VERDICTS
            json.dumps(plain(verdict))


def moved_to(number: int, group: int = 3) -> dict[str, Any]:
    """Return a patch of the leaf by which a traffic class is counted in another PG, which pauses its priority."""
    data = load_text((BASES / "leaf.json").read_text(), "leaf.json").data
    rows = {key: fields for key, fields in data["BUFFER_PG"].items() if key.endswith(f"|{group}")}
    return {
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(group): str(number)}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(group): str(number)}},
        "BUFFER_PG": {
            **dict.fromkeys(rows),
            **{key.replace(f"|{group}", f"|{number}"): fields for key, fields in rows.items()},
        },
    }


def test_the_headroom_of_a_priority_is_that_of_the_group_that_pauses_it() -> None:
    assert leaf(**moved_to(5)).lines == leaf().lines


def test_headroom_too_short_is_found_in_a_group_of_another_number() -> None:
    profile = {"BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"xoff": "4096"}}}
    found = [line(leaf(**patch, **profile), 400) for patch in ({}, moved_to(5))]
    assert [each.verdict for each in found] == ["unsafe", "unsafe"]
    assert found[0].reasons == found[1].reasons


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_an_intent_that_moves_a_class_to_another_group_keeps_its_headroom(model: str) -> None:
    own, moved = (
        checked("leaf-spine.yaml", {"buffers": {"model": model}, "classes": {"rdma": {"pg": number}}})
        for number in (3, 5)
    )
    assert own.lines == moved.lines
    assert own.overall == "safe"
