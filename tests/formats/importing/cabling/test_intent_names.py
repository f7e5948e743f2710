"""Cables as files tell of them against those of an intent: what is wrong is told once, what is unseen not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.interfaces.api.capacity import compare_cabling
from tests.checks.rules.snippets import BASES

if TYPE_CHECKING:
    from lossless.api import Report

INTENT = (BASES / "leaf-spine.yaml").read_text()
HOSTS = [
    (f"leaf{leaf},Ethernet{4 * number}", f"host{4 * (leaf - 1) + number // 2 + 1},eth{number % 2}")
    for leaf in (1, 2)
    for number in range(8)
]
UPLINKS = [
    (f"leaf{leaf},Ethernet{32 + 16 * (spine - 1) + 8 * n}", f"spine{spine},Ethernet{16 * (leaf - 1) + 8 * n}")
    for leaf in (1, 2)
    for spine in (1, 2)
    for n in (0, 1)
]
WHOLE = [*HOSTS, *UPLINKS]


def sheet(cables: list[tuple[str, str]]) -> str:
    return "".join(f"{a},{b}\n" for a, b in cables)


def compared(intent: str = INTENT, **files: str) -> Report:
    return compare_cabling(load_text(intent, "fabric.yaml"), texts_of(files))


def texts_of(files: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): text for name, text in files.items()}


def said(report: Report) -> list[tuple[str, dict[str, Any]]]:
    return [(finding.code, dict(finding.data)) for finding in report.findings]


def open_(report: Report) -> list[tuple[str, int]]:
    return [(gap.reason, gap.times) for gap in report.not_checked]


def refused(intent: str = INTENT, **files: str) -> list[str]:
    with pytest.raises(InputError) as error:
        compared(intent, **files)
    return [str(problem) for problem in error.value.problems]


def swapped(cables: list[tuple[str, str]], one: int, other: int) -> list[tuple[str, str]]:
    """Return cables of which two have their second ends in each other's place."""
    found = list(cables)
    found[one], found[other] = (cables[one][0], cables[other][1]), (cables[other][0], cables[one][1])
    return found


def test_a_fabric_that_is_cabled_as_declared_has_no_finding_and_leaves_nothing_open() -> None:
    report = compared(cables_csv=sheet(WHOLE))
    assert (said(report), open_(report)) == ([], [])


@pytest.mark.parametrize(
    ("device", "port"),
    [
        ("leaf1", "etp5"),
        ("LEAF1", "ethernet32"),
        ("leaf1.dc1.example.net", "swp5"),
        ("Leaf1.dc1", "Eth1/5"),
    ],
)
def test_a_device_and_its_port_are_known_by_every_name_they_have(device: str, port: str) -> None:
    text = sheet(WHOLE).replace("leaf1,Ethernet32,", f"{device},{port},")
    assert said(compared(cables_csv=text)) == []


@pytest.mark.parametrize("port", ["etp1b", "swp1s1", "Eth1/1/2"])
def test_parts_of_a_split_cage_are_known_by_their_letters_and_numbers(port: str) -> None:
    text = sheet(WHOLE).replace("leaf1,Ethernet4,", f"leaf1,{port},")
    assert said(compared(cables_csv=text)) == []


def test_the_whole_of_a_split_cage_is_no_port() -> None:
    text = sheet(WHOLE).replace("leaf1,Ethernet4,", "leaf1,etp1,")
    assert said(compared(cables_csv=text)) == [
        ("LNK008", {"declared": ["leaf1:Ethernet4 - host1"], "found": ["host1:eth1 - leaf1:etp1"]})
    ]


def test_two_cables_that_were_swapped_are_one_finding() -> None:
    report = compared(cables_csv=sheet(swapped(WHOLE, 16, 17)))
    assert said(report) == [
        (
            "LNK008",
            {
                "declared": ["leaf1:Ethernet32 - spine1:Ethernet0", "leaf1:Ethernet40 - spine1:Ethernet8"],
                "found": ["leaf1:Ethernet32 - spine1:Ethernet8", "leaf1:Ethernet40 - spine1:Ethernet0"],
            },
        )
    ]
    (found,) = report.findings
    assert (found.origin.file, found.origin.path) == ("cables.csv", ("line 17",))
    assert found.related[0].origin.path == ("topology", "leaf_spine", "uplinks")
    assert report.documents["cables.csv"].locate_many([found.origin.path])[found.origin.path].line == 17


def test_cables_of_two_hosts_that_were_swapped_are_one_finding() -> None:
    assert said(compared(cables_csv=sheet(swapped(WHOLE, 1, 2)))) == [
        (
            "LNK008",
            {
                "declared": ["leaf1:Ethernet4 - host1", "leaf1:Ethernet8 - host2"],
                "found": ["host2:eth0 - leaf1:Ethernet4", "host1:eth1 - leaf1:Ethernet8"],
            },
        )
    ]


def test_two_swaps_at_one_host_are_two_findings() -> None:
    report = compared(cables_csv=sheet(swapped(swapped(WHOLE, 0, 4), 1, 3)))
    assert [(finding.code, finding.places) for finding in report.findings] == [("LNK008", 2), ("LNK008", 2)]


def test_ports_of_a_host_that_nobody_named_are_any_of_its_ports() -> None:
    assert said(compared(cables_csv=sheet(swapped(WHOLE, 0, 1)))) == []


def test_three_cables_each_in_the_place_of_another_are_one_finding() -> None:
    report = compared(cables_csv=sheet(swapped(swapped(WHOLE, 16, 18), 18, 20)))
    assert said(report) == [
        (
            "LNK008",
            {
                "declared": [
                    "leaf1:Ethernet32 - spine1:Ethernet0",
                    "leaf1:Ethernet48 - spine2:Ethernet0",
                    "leaf2:Ethernet32 - spine1:Ethernet16",
                ],
                "found": [
                    "leaf1:Ethernet32 - spine2:Ethernet0",
                    "leaf1:Ethernet48 - spine1:Ethernet16",
                    "leaf2:Ethernet32 - spine1:Ethernet0",
                ],
            },
        )
    ]


def test_two_leaves_in_each_others_place_are_one_finding() -> None:
    turned = [(a.replace("leaf1", "x").replace("leaf2", "leaf1").replace("x", "leaf2"), b) for a, b in WHOLE]
    report = compared(cables_csv=sheet(turned))
    (found,) = report.findings
    assert (found.code, found.places) == ("LNK008", 24)


def test_all_cables_to_a_device_that_should_not_be_there_are_one_finding() -> None:
    wide = INTENT.replace("2 x 800G", "3 x 800G").replace(
        "  leaf_spine:\n", "  names: {spine1: agg1}\n  leaf_spine:\n"
    )
    three = "".join(f"leaf1,Ethernet{32 + 8 * n},core9,Ethernet{8 * n}\n" for n in range(3))
    assert said(compared(wide, cables_csv=three)) == [
        (
            "LNK008",
            {
                "declared": [
                    "leaf1:Ethernet32 - agg1:Ethernet0",
                    "leaf1:Ethernet40 - agg1:Ethernet8",
                    "leaf1:Ethernet48 - agg1:Ethernet16",
                ],
                "found": [
                    "core9:Ethernet0 - leaf1:Ethernet32",
                    "core9:Ethernet8 - leaf1:Ethernet40",
                    "core9:Ethernet16 - leaf1:Ethernet48",
                ],
            },
        )
    ]


def test_a_switch_by_another_name_than_a_shape_derives_is_taken_by_its_place() -> None:
    report = compared(cables_csv=sheet(WHOLE).replace("spine2,", "core9,"))
    assert said(report) == []
    assert open_(report)[0][0].startswith("which is which: files have core9 where the shape derives spine2")


def test_a_cable_in_the_wrong_port_says_where_it_goes_and_where_it_should() -> None:
    text = sheet(WHOLE).replace("spine1,Ethernet8\n", "spine1,Ethernet200\n")
    assert said(compared(cables_csv=text)) == [
        (
            "LNK008",
            {
                "declared": ["leaf1:Ethernet40 - spine1:Ethernet8"],
                "found": ["leaf1:Ethernet40 - spine1:Ethernet200"],
            },
        )
    ]


def test_a_link_of_which_no_file_tells_is_missing_where_both_devices_are_in_them() -> None:
    report = compared(cables_csv=sheet(WHOLE[:-1]))
    assert said(report) == [("LNK006", {"links": ["leaf2:Ethernet56 - spine2:Ethernet24"]})]
    assert report.findings[0].origin.path == ("topology", "leaf_spine", "uplinks")


def test_links_between_two_devices_are_missing_together() -> None:
    assert said(compared(cables_csv=sheet(WHOLE[:-2]))) == [
        (
            "LNK006",
            {"links": ["leaf2:Ethernet48 - spine2:Ethernet16", "leaf2:Ethernet56 - spine2:Ethernet24"]},
        )
    ]


def test_links_of_devices_that_no_file_tells_of_are_not_seen_and_not_missing() -> None:
    part = [(a, b) for a, b in WHOLE if a.startswith("leaf1")]
    report = compared(cables_csv=sheet(part))
    assert said(report) == []
    assert open_(report) == [
        ("links of host5, host6, host7, host8, leaf2: no file lists them", 12),
    ]


def test_a_cable_that_nobody_declared_is_said_with_its_line() -> None:
    report = compared(cables_csv=sheet(WHOLE) + "leaf1,Ethernet256,leaf2,Ethernet256\n")
    assert said(report) == [("LNK007", {"cables": ["leaf1:Ethernet256 - leaf2:Ethernet256"]})]
    assert report.findings[0].origin.path == ("line 25",)


def test_cables_of_others_and_those_for_management_are_none_of_our_concern() -> None:
    more = "leaf1,eth0,oob1,17\nleaf2,mgmt0,oob1,18\noob1,1,oob2,1\nspine1,Management0,oob1,19\n"
    assert said(compared(cables_csv=sheet(WHOLE) + more)) == []


def test_devices_can_be_left_out_of_the_comparison() -> None:
    more = "leaf1,Ethernet256,storage1,eth0\n"
    assert said(compared(cables_csv=sheet(WHOLE) + more)) == [
        ("LNK007", {"cables": ["leaf1:Ethernet256 - storage1:eth0"]})
    ]
    texts = {"cables.csv": sheet(WHOLE) + more}
    assert said(compare_cabling(load_text(INTENT, "fabric.yaml"), texts, exclude=("storage*",))) == []


def test_hosts_by_other_names_than_a_shape_derives_are_taken_by_their_place_and_counted() -> None:
    report = compared(cables_csv=sheet(WHOLE).replace("host", "gpu-a0"))
    assert said(report) == []
    ((reason, times),) = open_(report)
    assert reason.startswith("which is which: files have gpu-a01 where the shape derives host1")
    assert times == 8


def test_a_name_that_is_stated_is_not_taken_for_another() -> None:
    named = INTENT.replace("  leaf_spine:\n", "  names: {host1: gpu-a01}\n  leaf_spine:\n")
    text = sheet(WHOLE).replace("host1,", "gpu-b77,")
    assert said(compared(named, cables_csv=text)) == [
        (
            "LNK008",
            {
                "declared": ["leaf1:Ethernet0 - gpu-a01", "leaf1:Ethernet4 - gpu-a01"],
                "found": ["gpu-b77:eth0 - leaf1:Ethernet0", "gpu-b77:eth1 - leaf1:Ethernet4"],
            },
        )
    ]


LENGTHS = "a device,a port,b device,b port,length\n"


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("30m", []),
        ("28m", []),
        # 40 m is the row of the HWSKU that is configured for 30 m.
        ("40m", []),
        ("41m", [("LNK009", {"found_m": 41, "declared_m": 30, "configured_m": 40})]),
        ("5m", [("LNK009", {"found_m": 5, "declared_m": 30, "configured_m": 40})]),
    ],
)
def test_a_length_matters_where_another_row_would_be_configured(length: str, expected: list[object]) -> None:
    text = f"{LENGTHS}leaf1,Ethernet32,spine1,Ethernet0,{length}\nleaf1,Ethernet40,spine1,Ethernet8,30m\n"
    report = compared(cables_csv=text)
    assert said(report) == expected
    assert [finding.severity for finding in report.findings] == (
        [] if not expected else ["info"] if length == "5m" else ["error"]
    )


def test_one_length_that_is_declared_wrong_is_one_finding_at_its_key() -> None:
    text = LENGTHS + "".join(f"{a},{b},100m\n" for a, b in UPLINKS)
    (found,) = compared(cables_csv=text).findings
    assert (found.origin.path, found.places) == (("topology", "leaf_spine", "cables", "uplink"), 8)


def test_what_a_type_of_interface_can_do_is_not_the_speed_of_a_link() -> None:
    kinds = "Device,Name,Type,Speed (Kbps)\nleaf1,Ethernet0,OSFP (800GE),\nleaf1,Ethernet4,OSFP (800GE),{}\n"
    assert said(compared(cables_csv=sheet(WHOLE), interfaces_csv=kinds.format(400_000_000))) == []
    assert said(compared(cables_csv=sheet(WHOLE), interfaces_csv=kinds.format(200_000_000))) == [
        ("LNK010", {"found_bps": 200000000000, "declared_bps": 400000000000})
    ]


def neighbor(name: str, *words: str) -> dict[str, object]:
    port = {"id": {"type": "local", "value": words[0]}, "descr": words[-1]}
    return {"via": "LLDP", "chassis": {name: {"id": {"type": "mac", "value": "00:11"}}}, "port": port}


def lldp(*seen: tuple[str, dict[str, object]]) -> str:
    return json.dumps({"lldp": {"interface": [{port: one} for port, one in seen]}}, indent=1)


def json0(*seen: tuple[str, str, str]) -> str:
    interfaces = [
        {
            "name": port,
            "via": "LLDP",
            "chassis": [{"id": [{"type": "mac", "value": "00:11"}], "name": [{"value": name}]}],
            "port": [{"id": [{"type": "ifname", "value": far}], "descr": [{"value": "to somewhere"}]}],
        }
        for port, name, far in seen
    ]
    return json.dumps({"lldp": [{"interface": interfaces}]}, indent=1)


LEAF1 = [
    ("Ethernet32", neighbor("spine1.example.net", "etp1", "Ethernet0")),
    ("Ethernet40", neighbor("spine1.example.net", "etp2", "Ethernet8")),
]


def test_lldp_of_one_device_says_nothing_against_hosts_that_are_never_heard() -> None:
    report = compared(leaf1_json=lldp(*LEAF1))
    assert said(report) == []
    assert sum(times for _, times in open_(report)) == 22


def test_a_link_that_neither_end_hears_is_missing_and_may_be_down() -> None:
    report = compared(leaf1_json=lldp(LEAF1[0]))
    assert said(report) == [("LNK006", {"links": ["leaf1:Ethernet40 - spine1:Ethernet8"]})]
    assert report.findings[0].confidence == "medium"


def test_devices_that_only_others_heard_are_not_checked_between_them() -> None:
    spine = lldp(("Ethernet16", neighbor("leaf2", "etp7", "x")))
    report = compared(leaf1_json=lldp(*LEAF1), spine2_json=spine)
    reasons = [reason for reason, _ in open_(report)]
    assert "links as leaf2:Ethernet32 - spine1:Ethernet16: missing LLDP of these devices themselves" in (
        reasons
    )


def test_json_of_one_interface_and_json0_are_read_as_well() -> None:
    one = json.dumps({"lldp": {"interface": {"Ethernet32": neighbor("spine1", "etp2", "Ethernet8")}}})
    more = json0(("Ethernet0", "leaf1", "etp6"), ("Ethernet8", "leaf1", "etp5"))
    for files in ({"leaf1_json": one}, {"spine1_json": more}, {"leaf1_json": one, "spine1_json": more}):
        wrong = [cable for _, data in said(compared(**files)) for cable in data["found"]]
        assert "leaf1:Ethernet32 - spine1:Ethernet8" in wrong


def test_what_people_are_shown_of_neighbors_is_read_as_well() -> None:
    shown = """\
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    Ethernet32, via: LLDP, RID: 1, Time: 0 day, 00:21:44
  Chassis:
    ChassisID:    mac 00:11:22:33:44:55
    SysName:      spine1
    SysDescr:     SONiC Software Version: SONiC.202311
  Port:
    PortID:       local etp2
    PortDescr:    Ethernet8
    TTL:          120
Interface:    Ethernet40, via: LLDP, RID: 2, Time: 0 day, 00:21:44
  Chassis:
    ChassisID:    mac 00:11:22:33:44:55
    SysName:      spine1
  Port:
    PortID:       local etp1
    PortDescr:    Ethernet0
-------------------------------------------------------------------------------
"""
    report = compared(leaf1_txt=shown)
    assert [finding.code for finding in report.findings] == ["LNK008"]
    assert report.findings[0].origin.path == ("line 4",)


def test_a_chassis_without_a_name_is_nobody() -> None:
    nameless = {"id": {"type": "mac", "value": "00:11"}, "capability": {"type": "Station", "enabled": True}}
    text = lldp(
        *LEAF1, ("Ethernet0", {"chassis": nameless, "port": {"id": {"type": "mac", "value": "00:12"}}})
    )
    assert said(compared(leaf1_json=text)) == []


def test_of_several_neighbors_of_a_port_the_declared_one_counts() -> None:
    host = neighbor("host1.example.net", "0c:42:a1:5e:10:20", "eth0")
    card = neighbor("host1-dpu", "0c:42:a1:5e:10:21", "p0")
    assert said(compared(leaf1_json=lldp(*LEAF1, ("Ethernet0", card), ("Ethernet0", host)))) == [
        ("LNK006", {"links": ["leaf1:Ethernet4 - host1"]})
    ]


def test_a_port_that_a_neighbor_calls_by_its_mac_may_be_the_declared_one() -> None:
    mac = neighbor("spine1", "00:11:22:33:44:55", "to leaf1")
    assert said(compared(leaf1_json=lldp(("Ethernet32", mac), LEAF1[1]))) == []


def test_what_two_files_tell_of_one_cable_is_one_cable() -> None:
    spine = lldp(
        ("Ethernet0", neighbor("LEAF1", "etp5", "x")), ("Ethernet8", neighbor("leaf1", "00:11", "x"))
    )
    assert said(compared(leaf1_json=lldp(*LEAF1), spine1_json=spine, cables_csv=sheet(UPLINKS))) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"cables_csv": "tor1,1,agg1,2\n"},
            "cables.csv: none of its devices is in the intent: it has agg1, tor1, the intent host1, host2, host3, "
            "host4, host5 and 7 more",
        ),
        (
            {"cables_csv": "leaf1,Ethernet32,spine1,xe-0/0\n"},
            "cables.csv:1:1: spine1 has no port called xe-0/0; write them as SONiC calls them, Ethernet0, or by alias",
        ),
        (
            {"cables_csv": "leaf1,xe-0/0/1,spine1,xe-0/0/2\n"},
            "cables.csv:1:1: leaf1 has no port called xe-0/0/1; write them as SONiC calls them, Ethernet0, or by alias",
        ),
        (
            {"cables_csv": "leaf1.a,Ethernet32,spine1,Ethernet0\nleaf1.b,Ethernet40,spine1,Ethernet8\n"},
            "cables.csv:1:1: leaf1.a and leaf1.b may both be leaf1 of the intent; leave one out: --exclude 'leaf1.b'",
        ),
        (
            {"tor9_json": lldp(*LEAF1)},
            "tor9.json: is LLDP of 'tor9', which the intent does not have; name the file DEVICE.txt or DEVICE.json, "
            "or put it in DEVICE/",
        ),
        (
            {"cables_csv": "leaf1,Ethernet32,spine1\n"},
            "cables.csv:1:1: 'leaf1, Ethernet32, spine1' is no cable; expected a device, a port, b device, b port, "
            "length",
        ),
        (
            {"leaf1_json": lldp(LEAF1[0]), "cables_csv": "leaf1,Ethernet32,spine2,Ethernet0\n"},
            "leaf1.json:5:1: leaf1 Ethernet32 is joined to spine1 Ethernet0 here, and to spine2 Ethernet0 in "
            "cables.csv:1",
        ),
    ],
)
def test_what_cannot_be_compared_is_located(files: dict[str, str], expected: str) -> None:
    assert expected in refused(**files)


def test_links_without_ports_are_nothing_to_compare_with() -> None:
    oversized = INTENT.replace("uplinks: 2 x 800G", "uplinks: 40 x 800G")
    assert refused(oversized, cables_csv=sheet(WHOLE)) == [
        "fabric.yaml:13:1: leaf1 has no ports for some of its links, as `lossless lint` says: nothing to compare with"
    ]


OUTSIDE = """\
lossless: v1
fabric: edge
transport: rocev2
preset: nvidia
hardware: {leaf: nvidia-sn5600, nic: connectx-7}
topology:
  devices:
    leaf1: {role: leaf}
    border: {role: spine, outside: true}
    gpu1: {role: host}
  links:
    - {a: "leaf1:Ethernet0", b: "gpu1:eth0", links: 1 x 800G, cable: 3m}
    - {a: "leaf1:Ethernet8", b: "gpu1:eth1", links: 1 x 800G, cable: 3m}
    - {a: "border:ge-1", b: "leaf1:Ethernet16", links: 1 x 800G, cable: 30m}
"""


def test_links_to_what_is_outside_are_declared_as_well() -> None:
    text = "leaf1,Ethernet0,gpu1,eth0\nleaf1,Ethernet8,gpu1,eth1\nleaf1,Ethernet16,border,{}\n"
    assert said(compared(OUTSIDE, cables_csv=text.format("ge-1"))) == []
    assert said(compared(OUTSIDE, cables_csv=text.format("ge-1").replace("Ethernet16", "Ethernet24"))) == [
        (
            "LNK008",
            {"declared": ["leaf1:Ethernet16 - border:ge-1"], "found": ["border:ge-1 - leaf1:Ethernet24"]},
        )
    ]


def test_ports_of_a_host_count_where_the_intent_names_them() -> None:
    crossed = "leaf1,Ethernet0,gpu1,eth1\nleaf1,Ethernet8,gpu1,eth0\nleaf1,Ethernet16,border,ge-1\n"
    ((_, data),) = said(compared(OUTSIDE, cables_csv=crossed))
    assert data["found"] == ["gpu1:eth1 - leaf1:Ethernet0", "gpu1:eth0 - leaf1:Ethernet8"]
    # Names that none of its declared ports has are other words for them, and say nothing.
    assert said(compared(OUTSIDE, cables_csv=crossed.replace("eth", "mlx5_"))) == []


@given(st.permutations(WHOLE), st.booleans(), st.integers(0, 23), st.integers(0, 23))
def test_no_order_of_lines_or_ends_changes_what_is_found(
    cables: list[tuple[str, str]], turned: bool, one: int, other: int
) -> None:
    wrong = dict(swapped(WHOLE, one, other))
    lines = [(a, wrong[a]) for a, _ in cables]
    text = sheet([(b, a) for a, b in lines] if turned else lines)
    found, expected = compared(cables_csv=text), compared(cables_csv=sheet(list(wrong.items())))
    assert {one.message for one in found.findings} == {one.message for one in expected.findings}


@given(st.sets(st.integers(0, 23)))
def test_every_cable_that_is_taken_away_is_missing_or_not_seen(gone: set[int]) -> None:
    left = [cable for number, cable in enumerate(WHOLE) if number not in gone]
    if left:
        report = compared(cables_csv=sheet(left))
        missing = sum(finding.places for finding in report.findings if finding.code == "LNK006")
        assert missing + sum(times for _, times in open_(report)) == len(gone)
        assert {finding.code for finding in report.findings} <= {"LNK006"}


@given(st.permutations(range(8)))
def test_cables_that_are_only_mixed_up_are_neither_missing_nor_too_many(order: list[int]) -> None:
    mixed = [(UPLINKS[n][0], UPLINKS[order[n]][1]) for n in range(8)]
    report = compared(cables_csv=sheet(mixed))
    wrong = sum(order[n] != n for n in range(8))
    assert sum(finding.places for finding in report.findings if finding.code == "LNK008") == wrong
    assert {finding.code for finding in report.findings} <= {"LNK008"}


def test_a_host_that_calls_its_ports_otherwise_over_lldp_has_no_other_cables() -> None:
    def heard(first: str) -> str:
        return lldp(
            ("Ethernet0", neighbor("gpu1", "0c:42:a1:00:00:01", first)),
            ("Ethernet8", neighbor("gpu1", "0c:42:a1:00:00:02", "enp1s0f1")),
        )

    assert said(compared(OUTSIDE, leaf1_json=heard("enp1s0f0"))) == []
    assert "LNK008" in {code for code, _ in said(compared(OUTSIDE, leaf1_json=heard("eth1")))}
