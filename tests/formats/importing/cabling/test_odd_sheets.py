"""Sheets as spreadsheets and people really write them: read rightly, or refused where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import cabled_topology
from lossless.ground.basics.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ROLES = (("leaf*", "leaf"), ("spine*", "spine"), ("gpu*", "host"))
ROWS = [
    ["From Device", "From Port", "To Device", "To Port", "Speed", "Length (m)"],
    ["leaf1", "Ethernet0", "gpu1", "eth0", "400G", "3"],
    ["leaf1", "Ethernet256", "spine1", "Ethernet0", "800G", "30"],
]
LINKS = [
    '- {a: "leaf1:Ethernet0", b: "gpu1:eth0", links: 1 x 400G, cable: 3m}',
    '- {a: "leaf1:Ethernet256", b: "spine1:Ethernet0", links: 1 x 800G, cable: 30m}',
]


def joined(separator: str = ",", end: str = "\n", rows: list[list[str]] = ROWS) -> str:
    return "".join(separator.join(row) + end for row in rows)


def links(folder: Path, *texts: bytes | str) -> list[str]:
    files = []
    for number, text in enumerate(texts, 1):
        file = folder / f"cables{number}.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append(file)
    found = cabled_topology(files, roles=ROLES)
    return [line.strip() for line in found.text.splitlines() if "links: 1" in line]


def refused(folder: Path, *texts: bytes | str) -> list[str]:
    with pytest.raises(InputError) as error:
        links(folder, *texts)
    return [str(problem).removeprefix(f"{folder}/") for problem in error.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"\xef\xbb\xbf" + joined(end="\r\n").encode(), id="byte-order-mark-and-crlf"),
        pytest.param(joined(end="\r"), id="old-macintosh"),
        pytest.param(joined(";"), id="semicolons"),
        pytest.param(joined("\t"), id="tabs"),
        pytest.param("sep=;\n" + joined(";"), id="told-the-separator"),
        pytest.param('"sep=|"\r\n' + joined("|", "\r\n"), id="told-an-odd-separator"),
        pytest.param(joined(end=",,,,\n"), id="empty-cells-at-the-end"),
        pytest.param(
            "leaf1,Ethernet0,gpu1,eth0,3m,400G,,,\nleaf1,Ethernet256,spine1,Ethernet0,30m,800G,,,\n",
            id="empty-cells-without-headings",
        ),
        pytest.param(joined() + ",,,,,\n\n  \n,,,,,\n", id="empty-lines-at-the-end"),
        pytest.param("\n,,,\n" + joined(), id="empty-lines-at-the-beginning"),
        pytest.param(joined(" , "), id="blanks-around-cells"),
        pytest.param(joined(",\u00a0"), id="blanks-that-do-not-break"),
        pytest.param(joined('","').replace("\n", '"\n"').join(['"', ""])[:-1], id="quoted"),
        pytest.param(joined(";").replace(";3\n", ";2,5\n"), id="decimal-commas"),
        pytest.param(joined().replace(",3\n", ",2.50\n"), id="decimal-points"),
        pytest.param(joined().replace(",3\n", ",300 cm\n"), id="a-unit-of-its-own"),
        pytest.param(joined().replace(",3\n", ",9.8 ft\n"), id="feet"),
        pytest.param(
            joined().replace("Length (m)", "Length [ft]").replace(",3\n", ",9\n").replace(",30\n", ",98\n"),
            id="feet-in-the-heading",
        ),
    ],
)
def test_a_sheet_is_read_however_a_spreadsheet_wrote_it(text: bytes | str, tmp_path: Path) -> None:
    assert links(tmp_path, text) == LINKS


@pytest.mark.parametrize(
    "heads",
    [
        "Device,Port,Neighbor,Neighbor Port,Speed,Length (m)",
        "Local Device,Local Int,Remote Device,Remote Int,Speed,Length (m)",
        "Switch,Interface,Peer,Peer Intf,Speed,Length (m)",
        "Source Host,Source Port,Dest Server,Dest NIC,Speed,Length (m)",
    ],
)
def test_headings_have_many_words_for_the_same(heads: str, tmp_path: Path) -> None:
    assert links(tmp_path, joined().replace(",".join(ROWS[0]), heads)) == LINKS


def test_a_cable_that_is_listed_from_both_its_ends_is_one(tmp_path: Path) -> None:
    back = [[*row[2:4], *row[:2], *row[4:]] for row in ROWS[1:]]
    assert links(tmp_path, joined(rows=[*ROWS, *back])) == LINKS
    back[0][5] = "5"
    assert refused(tmp_path, joined(rows=[*ROWS, *back])) == [
        f"cables1.csv:4:1: gpu1 eth0 to leaf1 Ethernet0: 5 m here, 3 m in {tmp_path}/cables1.csv:2"
    ]


def test_one_device_by_several_spellings_is_one(tmp_path: Path) -> None:
    other = [ROWS[0], ["LEAF1.dc1.example.net", "ethernet8", "GPU2", "eth0", "400G", "3"]]
    assert links(tmp_path, joined(), joined(rows=other)) == [
        LINKS[0],
        '- {a: "leaf1:Ethernet8", b: "GPU2:eth0", links: 1 x 400G, cable: 3m}',
        LINKS[1],
    ]


def test_two_devices_of_different_domains_are_two(tmp_path: Path) -> None:
    rows = [
        [device, "Ethernet0", f"gpu{n}", "eth0", "400G", "3"]
        for n, device in enumerate(("leaf1", "leaf1.dc1", "leaf1.dc2"))
    ]
    found = links(tmp_path, joined(rows=[ROWS[0], *rows]))
    assert [line.split('"')[1] for line in found] == [
        "leaf1:Ethernet0",
        "leaf1.dc1:Ethernet0",
        "leaf1.dc2:Ethernet0",
    ]


BAD: dict[str, tuple[bytes | str, list[str]]] = {
    "empty": (b"", ["cables1.csv: the file is empty"]),
    "blank": (b"\n \n", ["cables1.csv: the file is blank"]),
    "utf-16": ("a,b".encode("utf-16"), ["cables1.csv:1:1: is encoded as UTF-16; expected UTF-8"]),
    "latin-1": (
        b"leaf1,Ethernet0,gpu1,\xfc,400G,3m\n",
        ["cables1.csv:1:22: is not UTF-8: byte 0xFC at byte 22 of the file"],
    ),
    "no-heading-known": (
        "rack,unit,panel,position\n1,2,3,4\n",
        [
            "cables1.csv:1:1: no column for a device, a port, b device, b port; found rack, unit, panel, position"
        ],
    ),
    "nobody-by-numbers": (
        "1,2,3,4\n",
        [
            "cables1.csv:1:1: nothing says what 1, 3 are; state it: --role ROLE='1*', with one of leaf, spine, "
            "super-spine, switch, host"
        ],
    ),
    "no-port-columns": (
        "Device A,Device B,Length\nleaf1,gpu1,3m\n",
        ["cables1.csv:1:1: no column for a port, b port; found Device A, Device B, Length"],
    ),
    "unknown-unit": (
        joined().replace(",3\n", ",3 yd\n"),
        ["cables1.csv:2:1: '3 yd' is no length; write it like 3m (units: km, m, cm, mi, ft, in)"],
    ),
    "thousands": (
        joined(";").replace(";3\n", ";1,500\n"),
        ["cables1.csv:2:1: '1,500' is no length; write it like 3m (units: km, m, cm, mi, ft, in)"],
    ),
    "negative": (
        joined().replace(",3\n", ",-3\n"),
        ["cables1.csv:2:1: '-3' is no length; write it like 3m (units: km, m, cm, mi, ft, in)"],
    ),
    "nothing-known-yet": (
        joined().replace(",3\n", ",TBD\n"),
        [
            "cables1.csv:2:1: gpu1 eth0 to leaf1 Ethernet0: no length, which headroom needs; add a column of it, or "
            "state it: --cable hosts=LENGTH"
        ],
    ),
    "the-same-line-twice": (
        joined(rows=[*ROWS, ROWS[1]]),
        ["cables1.csv:4:1: gpu1 eth0 already has a cable in line 2"],
    ),
    "to-itself-in-other-letters": (
        joined(rows=[*ROWS, ["LEAF1", "ethernet0", "leaf1", "Ethernet0", "400G", "3"]]),
        ["cables1.csv:4:1: leaf1 Ethernet0 is joined to itself"],
    ),
    "a-lag": (
        joined().replace("leaf1,Ethernet0,", "leaf1,PortChannel12,"),
        [
            "cables1.csv:2:1: leaf1 PortChannel12 is made of ports, and no port; write a line for each of its members"
        ],
    ),
    "several-ends": (
        joined().replace(",eth0,", ',"eth0,eth1",'),
        ["cables1.csv:2:1: 'eth0,eth1' are several ends; write a line for each link"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_reported_at_its_place(case: str, tmp_path: Path) -> None:
    text, expected = BAD[case]
    assert refused(tmp_path, text) == expected


def test_ten_thousand_lines_are_read(tmp_path: Path) -> None:
    lines = [f"leaf{n // 64},Ethernet{n % 64 * 8},gpu{n},eth0,400G,3" for n in range(10_000)]
    found = links(tmp_path, f"{','.join(ROWS[0])}\n" + "\n".join(lines))
    assert len(found) == 10_000
