"""A trace as a person sees it, and as a machine reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from lossless.ground.basics.foreign_text import gated
from lossless.output.report.columns import PLAIN, TextStyle
from lossless.output.report.trace import json_text, trace_data, trace_text
from tests.checks.trace.tracing import device, intent, traced

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE / "trace-report.schema.json").read_text())
LINT = Resource.from_contents(json.loads((HERE / "lint-report.schema.json").read_text()))
Patch = dict[str, Any]
VERBOSE = TextStyle(verbose=True)


def data_of(*documents: Any, source: str, target: str, dscp: int = 26, via: str | None = None) -> Any:
    """Return a trace as plain data; fails where it breaks the contract."""
    found = traced(documents, source, target, dscp, via=via)
    return validated(trace_data(found, {document.file: document for document in documents}))


def text_of(
    *documents: Any,
    source: str,
    target: str,
    dscp: int = 26,
    via: str | None = None,
    style: TextStyle = PLAIN,
) -> str:
    """Return a trace as a person sees it."""
    found = traced(documents, source, target, dscp, via=via)
    return trace_text(found, {document.file: document for document in documents}, style)


def validated(data: Any) -> Any:
    """Return a trace as plain data; fails where it breaks the contract."""
    report = json.loads(json_text(data))
    registry: Registry[Any] = Registry().with_resource("lint-report.schema.json", LINT)
    Draft202012Validator(SCHEMA, registry=registry).validate(report)
    assert report == json.loads(json.dumps(data))
    return data


def shown(patch: Patch, dscp: int = 26, style: TextStyle = VERBOSE) -> str:
    data_of(device(patch), source="Ethernet0", target="Ethernet8", dscp=dscp)
    return text_of(device(patch), source="Ethernet0", target="Ethernet8", dscp=dscp, style=style)


BROKEN: Patch = {
    "PFC_WD": {"Ethernet8": None},
    "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_drop_probability": "0"}},
}


def test_one_switch() -> None:
    assert shown({}).splitlines() == [
        "DSCP 26 from leaf1:Ethernet0 to leaf1:Ethernet8: lossless",
        "unbroken: no error on this path concerns this DSCP",
        "path: leaf1",
        "the only path of its length",
        "",
        "leaf1",
        "  in   Ethernet0, 400G over 5 m",
        "  out  Ethernet8, 800G over 40 m",
        "  class     DSCP 26 -> TC 3                                DSCP_TO_TC_MAP AZURE",
        "  group     TC 3 -> PG 3                                   TC_TO_PRIORITY_GROUP_MAP AZURE",
        "  headroom  231,424 B, needed 231,424 B (vendor row)",
        "            BUFFER_PROFILE pg_lossless_400000_5m_profile",
        "  PFC in    Ethernet0 sends pauses of priority 3",
        "  PFC out   Ethernet8 obeys pauses of priority 3",
        "  watchdog  running: drop; detects in 800 ms; restores 800 ms after pauses end; polls every 400 ms",
        "  queue     TC 3 -> queue 3                                TC_TO_QUEUE_MAP AZURE",
        "  served    DWRR, weight 15                                SCHEDULER scheduler.1",
        "  ECN       marks: Kmin 819,200 B, Kmax 3,276,800 B, 20 %  WRED_PROFILE AZURE_LOSSLESS",
        "  buffer    dynamic_th 7 of egress_lossless_pool           BUFFER_PROFILE egress_lossless_profile",
        "  DSCP      leaves with 26, unchanged",
    ]


def test_by_default_a_hop_is_one_row_unless_something_breaks_there() -> None:
    assert shown({}, style=PLAIN) == snapshot("""\
DSCP 26 from leaf1:Ethernet0 to leaf1:Ethernet8: lossless
unbroken: no error on this path concerns this DSCP
path: leaf1
the only path of its length

hop    in         out        TC  PG  queue  broken by
leaf1  Ethernet0  Ethernet8   3   3      3  none

-v shows every stage of each hop, and what the hosts send\
""")
    broken = intent({"classes": {"rdma": {"ecn": None}}})
    text = text_of(broken, source="host1", target="host5")
    rows, *hops, more = text.split("\n\n")[1:]
    assert [row.split()[-1] for row in rows.splitlines()] == ["by", "ECN001", "ECN001", "ECN001"]
    assert [hop.splitlines()[0] for hop in hops] == ["leaf1"]
    assert more == "-v shows every stage of each hop, and what the hosts send"


def test_a_break_stands_below_its_stage_with_code_place_and_help() -> None:
    lines = shown(BROKEN).splitlines()
    watchdog = lines.index("  watchdog  missing")
    first, second, place, fix = lines[watchdog + 1 : watchdog + 5]
    assert [first, second] == [
        "    X WD001 watchdog-missing: PFC is on and the port has no PFC_WD row, though other ports of the",
        "      switch have one",
    ]
    assert re.fullmatch(r" {6}leaf1\.json:\d+:\d+", place)
    assert fix == "      help: pfcwd start on Ethernet8, or add its row to PFC_WD"
    ecn = lines.index("  ECN       marks: Kmin 819,200 B, Kmax 3,276,800 B, 0 %  WRED_PROFILE AZURE_LOSSLESS")
    assert lines[ecn + 1].startswith("    X ECN003 marking-probability-zero: ")
    assert lines[1] == "broken: leaf1 (ECN003, WD001)"


def test_a_finding_is_explained_once() -> None:
    broken = intent({"classes": {"rdma": {"ecn": None}}})
    text = text_of(broken, source="host1", target="host5", style=VERBOSE)
    assert text.count("lossless-queue-without-ecn") == 1
    assert text.count("X ECN001 as at leaf1") == 2
    assert text.splitlines()[1] == "broken: leaf1 (ECN001); spine1 (ECN001); leaf2 (ECN001)"


def test_a_warning_does_not_break() -> None:
    stock = {
        "green_min_threshold": "1048576",
        "green_max_threshold": "2097152",
        "green_drop_probability": "5",
    }
    lines = shown({"WRED_PROFILE": {"AZURE_LOSSLESS": stock}}).splitlines()
    assert any(line.startswith("    ! ECN010 ") for line in lines)
    assert lines[1].startswith("unbroken")


def test_errors_elsewhere_are_counted_below_the_verdict() -> None:
    text = text_of(device(BROKEN), source="Ethernet8", target="Ethernet0", dscp=0)
    assert text.splitlines()[1:3] == [
        "lossy: no hop protects this DSCP from drops; no error on this path concerns it",
        "2 errors concern other traffic or other devices; lossless lint shows all",
    ]


@pytest.mark.parametrize(
    ("patch", "dscp", "line"),
    [
        ({}, 0, "  headroom  none: the group is lossy           BUFFER_PROFILE ingress_lossy_profile"),
        ({}, 0, "  PFC in    Ethernet0 sends none of priority 0; PFC is on for 3"),
        ({}, 0, "  watchdog  nothing to watch: no PFC for this queue"),
        ({}, 0, "  ECN       marks nothing: no WRED profile is bound"),
        (
            {"DSCP_TO_TC_MAP": {"AZURE": {"26": None}}},
            26,
            "  class     DSCP 26 -> TC 0, as the map has no entry  DSCP_TO_TC_MAP AZURE",
        ),
        (
            {"DSCP_TO_TC_MAP": {"AZURE": {"26": "x"}}, "PORT": None},
            26,
            "  class     DSCP 26 -> TC unknown: its entry cannot be read  DSCP_TO_TC_MAP AZURE",
        ),
        (
            {"DSCP_TO_TC_MAP": {"AZURE": {"26": "x"}}, "PORT": None},
            26,
            "  queue     queue unknown, as the TC is                      TC_TO_QUEUE_MAP AZURE",
        ),
        (
            {"PORT_QOS_MAP": {"Ethernet0": {"dot1p_to_tc_map": "A"}}, "DOT1P_TO_TC_MAP": {"A": {"3": "3"}}},
            26,
            "  class     the port goes by 802.1p, not by DSCP: TC unknown",
        ),
        (
            {"BUFFER_PG": {"Ethernet0|3": None}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": None}}},
            26,
            "  headroom  none: there is no lossless group",
        ),
        (
            {"PORT": None},
            26,
            "  in   Ethernet0, unknown over 5 m",
        ),
        (
            {"PORT": {"Ethernet8": {"admin_status": "down"}}},
            26,
            "  out  Ethernet8, 800G over 40 m, admin down",
        ),
        (
            {"PORT_QOS_MAP": {"Ethernet8": {"pfcwd_sw_enable": "4"}}},
            26,
            "  watchdog  running, but not on priority 3: drop; detects in 800 ms; restores 800 ms after pauses",
        ),
        (
            {
                "PORT_QOS_MAP": {"Ethernet8": {"tc_to_dscp_map": "OUT"}},
                "TC_TO_DSCP_MAP": {"OUT": {"3": "10"}},
            },
            26,
            "  DSCP      leaves with 10, rewritten                      TC_TO_DSCP_MAP OUT",
        ),
    ],
)
def test_facts_in_words(patch: Patch, dscp: int, line: str) -> None:
    lines = shown(patch, dscp).splitlines()
    assert line in lines, "\n".join(lines)


def test_hosts_say_what_they_put_on_packets() -> None:
    text = text_of(intent({}), source="host1", target="host5", dscp=0, style=VERBOSE)
    sender, receiver = (block for block in text.split("\n\n") if block.startswith("host"))
    assert sender.splitlines() == [
        "host1 port1 sends, connectx-7",
        "  RDMA      ToS 106, DSCP 26; DSCP 0 is other traffic of this host",
        "  priority  0",
        "  PFC       on for 3",
    ]
    assert receiver.splitlines() == [
        "host5 port1 receives, connectx-7",
        "  priority  0",
        "  PFC       on for 3",
    ]


def test_a_nic_that_goes_by_pcp_does_not_say_where_a_dscp_goes() -> None:
    document = intent({})
    found = traced((document,), "host1", "host5", 26)
    assert found.receiver is not None
    by_pcp = found._replace(receiver=found.receiver._replace(trust="pcp", priority=None, pfc=None))
    lines = trace_text(by_pcp, {document.file: document}, VERBOSE).splitlines()
    assert "  priority  unknown: the NIC goes by PCP, not by DSCP" in lines


def test_paths_are_counted_and_a_detour_is_said() -> None:
    lines = text_of(intent({}), source="host1", target="host5").splitlines()
    assert lines[:4] == [
        "DSCP 26 from host1:port1 to host5:port1: class rdma, lossless",
        "unbroken: no error on this path concerns this DSCP",
        "path: host1 - leaf1 - spine1 - leaf2 - host5",
        "one of 8 equal-cost paths, each link counted, all identical",
    ]
    detour = text_of(intent({}), source="host1", target="host2", via="spine1").splitlines()
    assert detour[2:5] == [
        "path: host1 - leaf1 - spine1 - leaf1 - host2",
        "longer than the shortest path",
        "one of 4 equal-cost paths, each link counted, all identical",
    ]


def test_what_differs_beside_the_path_is_named() -> None:
    def leaf(name: str, far: str, **more: Patch) -> Any:
        neighbors = {port: {"name": far, "port": port} for port in ("Ethernet4", "Ethernet8")}
        own = {"DEVICE_METADATA": {"localhost": {"hostname": name}}, "DEVICE_NEIGHBOR": neighbors}
        return device({**own, **more}, f"{name}.json")

    text = text_of(
        leaf("a", "b", PFC_WD={"Ethernet8": None}), leaf("b", "a"), source="a:Ethernet0", target="b:Ethernet0"
    )
    assert "differs: a, Ethernet0 to Ethernet8: other watchdog" in text
    assert "broken by WD001; look with --from a:Ethernet0 --to a:Ethernet8" in text.replace("\n ", "")
    assert text.splitlines()[1:3] == [
        "unbroken: no error on this path concerns this DSCP",
        "other paths of its length are broken, see below",
    ]


def test_lines_fit_a_hundred_columns() -> None:
    long = "pg_" + "x" * 90
    patch = {
        "BUFFER_PROFILE": {
            long: {"pool": "ingress_lossless_pool", "size": "0", "xoff": "1", "dynamic_th": "0"}
        },
        "BUFFER_PG": {"Ethernet0|3": {"profile": long}},
    }
    of_hosts = text_of(intent({}), source="host1", target="host5", style=VERBOSE)
    texts = [shown(patch), shown(BROKEN), of_hosts]
    assert max(len(line) for text in texts for line in text.splitlines() if long not in line) <= 100


def test_colour_is_only_that_of_the_style() -> None:
    plain, coloured = shown(BROKEN), gated(shown(BROKEN, style=TextStyle(colour=True, verbose=True)))
    assert "\x1b[1;31mX WD001\x1b[0m" in coloured
    assert coloured.replace("\x1b[0m", "").replace("\x1b[1;31m", "").replace("\x1b[1m", "") == plain


def test_names_cannot_harm_a_terminal() -> None:
    neighbors = {"Ethernet0": {"name": "x\x1b[2J", "port": "p"}}
    text = text_of(device({"DEVICE_NEIGHBOR": neighbors}), source="leaf1:Ethernet0", target="Ethernet8")
    assert "\x1b" not in text
