"""Who is connected to whom: cabling files, LLDP and DEVICE_NEIGHBOR, in this order of trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.importing.cabling.cables import LldpNeighbor, device_of, read_cabling, read_lldp
from lossless.formats.importing.model import Claim
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from lossless.model.fabric.cabling import CableEnd
from tests.formats.sonic.devices import Config, base, patched

TABLE = """\
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    spine1          etp1            BR            Ethernet8
Ethernet4    a host          eth0            O
eth0         mgmt1           Ethernet1/25    BR            Ethernet1/25
--------------------------------------------------
Total entries displayed:  3
"""


def seen(name: str, port: str, descr: str) -> dict[str, Any]:
    return {
        "chassis": {name: {"id": {"type": "mac", "value": "00:00:5e:00:53:01"}}},
        "port": {"id": {"type": "local", "value": port}, "descr": descr},
    }


def links(config: Config, tmp_path: Path, **files: str) -> list[str]:
    """Return the lines of links of one imported device, with a cabling file or a file of LLDP."""
    paths = {name: tmp_path / f"{name}.txt" for name in files}
    for name, text in files.items():
        paths[name].write_text(text)
    document = load_text(json.dumps(config), "leaf1/config_db.json")
    lldp = [paths["lldp"]] if "lldp" in paths else []
    text = import_documents([document], cabling=paths.get("cabling"), lldp=lldp).text
    return [line.strip() for line in text.splitlines() if "links: 1 x" in line]


def test_a_cabling_file_has_a_cable_a_line() -> None:
    heads = "Device A, Port A, Device B, Port B, Length\n\n# row 3\n"
    text = heads + "leaf1, Ethernet0, spine1, Ethernet8, 30m\nleaf1,Ethernet4,gpu1,eth0\n"
    assert read_cabling(text, "cables.csv") == (
        Claim("cabling", CableEnd("leaf1", "Ethernet0"), CableEnd("spine1", "Ethernet8"), 30),
        Claim("cabling", CableEnd("leaf1", "Ethernet4"), CableEnd("gpu1", "eth0"), None),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "leaf1, Ethernet0, spine1",
            "'leaf1, Ethernet0, spine1' is no cable; expected device, port, device, port, length",
        ),
        (
            "leaf1, , spine1, Ethernet8",
            "'leaf1, , spine1, Ethernet8' is no cable; expected device, port, device, port, length",
        ),
        (
            "leaf1, Ethernet0, spine1, Ethernet8, 30",
            "'30' has no unit; write it like 3m or 30m (units: m, cm, km)",
        ),
        ("leaf1, Ethernet0, spine1, Ethernet8, 0m", "'0m' is no cable; the shortest counts as 1m"),
        ("leaf1, Ethernet0, leaf1, Ethernet0, 3m", "leaf1 Ethernet0 already has a cable in line 2"),
        ("a, b, gpu1, eth0, 3m", "gpu1 eth0 already has a cable in line 1"),
        ('leaf1, "Ethernet0, spine1, Ethernet8', "not CSV: unexpected end of data"),
    ],
)
def test_a_line_that_is_no_cable_is_located(line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_cabling(f"leaf9, Ethernet0, gpu1, eth0, 3m\n{line}\n", "cables.csv")
    assert str(error.value.problems[0]) == f"cables.csv:2:1: {message}"


def line_of(beginning: str) -> int:
    return next(n for n, line in enumerate(TABLE.splitlines(), 1) if line.startswith(beginning))


def test_the_table_that_sonic_prints_is_read_by_its_columns() -> None:
    assert read_lldp(TABLE, "leaf1.txt") == (
        LldpNeighbor("Ethernet0", "spine1", ("etp1", "Ethernet8"), line_of("Ethernet0 ")),
        LldpNeighbor("Ethernet4", "a host", ("eth0",), line_of("Ethernet4 ")),
        LldpNeighbor("eth0", "mgmt1", ("Ethernet1/25",), line_of("eth0 ")),
    )


@pytest.mark.parametrize("several", [False, True])
def test_json_of_lldpctl_is_read_with_one_interface_and_with_several(several: bool) -> None:
    one = {"Ethernet0": seen("spine1", "etp1", "Ethernet8")}
    interfaces: Any = [one, {"Ethernet4": seen("gpu1", "eth0", "eth0")}] if several else one
    expected = [LldpNeighbor("Ethernet0", "spine1", ("etp1", "Ethernet8"))]
    expected += [LldpNeighbor("Ethernet4", "gpu1", ("eth0",))] if several else []
    assert read_lldp(json.dumps({"lldp": {"interface": interfaces}}), "leaf1.json") == tuple(expected)


def test_json0_of_lldpctl_keeps_lists_of_one_and_names_beside_values() -> None:
    neighbor = {
        "name": "Ethernet0",
        "chassis": [{"id": [{"type": "mac", "value": "00:11"}], "name": [{"value": "spine1"}]}],
        "port": [{"id": [{"type": "local", "value": "etp1"}], "descr": [{"value": "Ethernet8"}]}],
    }
    text = json.dumps({"lldp": [{"interface": [{"name": "eth9"}, neighbor]}]}, indent=1)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if '"Ethernet0"' in words)
    assert read_lldp(text, "leaf1.json") == (
        LldpNeighbor("Ethernet0", "spine1", ("etp1", "Ethernet8"), line),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ethernet0 spine1\n", "not what `show lldp table` prints: no line with LocalPort, "),
        ('{"lldp": 3}', "not what `lldpctl -f json` prints: no lldp, or no interface in it"),
        ('{"lldp": {"interface": "x"}}', "not what `lldpctl -f json` prints: no lldp, or no interface in it"),
    ],
)
def test_what_is_no_output_of_lldp_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_lldp(text, "leaf1.txt")
    assert str(error.value.problems[0]).startswith(f"leaf1.txt:1:1: {message}")


def test_the_name_of_a_file_or_of_its_folder_says_whose_lldp_it_is() -> None:
    devices = ("leaf1", "leaf2.dc1")
    assert device_of("lldp/leaf1.txt", devices) == "leaf1"
    assert device_of("leaf2.dc1/lldp.json", devices) == "leaf2.dc1"
    assert device_of("lldp/leaf2.dc1", devices) == "leaf2.dc1"
    assert device_of("anything.txt", ("leaf1",)) == "leaf1"
    with pytest.raises(InputError, match="cannot tell which device this is of"):
        device_of("lldp.txt", devices)


def test_cabling_counts_before_lldp_and_lldp_before_device_neighbor(tmp_path: Path) -> None:
    config = patched(base(), DEVICE_NEIGHBOR={"Ethernet0": {"name": "told", "port": "eth1"}})
    heard = TABLE.replace("spine1 ", "heard1 ")
    assert links(config, tmp_path)[0].startswith('- {a: "leaf1:Ethernet0", b: "told:eth1"')
    assert links(config, tmp_path, lldp=heard)[0].startswith('- {a: "leaf1:Ethernet0", b: "heard1:etp1"')
    cabling = "drawn1, eth7, leaf1, Ethernet0, 2m\n"
    first = links(config, tmp_path, lldp=heard, cabling=cabling)[0]
    assert first == '- {a: "leaf1:Ethernet0", b: "drawn1:eth7", links: 1 x 400G, cable: 2m}'


def test_a_port_is_found_by_its_alias(tmp_path: Path) -> None:
    alias = base()["PORT"]["Ethernet0"]["alias"]
    first = links(base(), tmp_path, cabling=f"gpu9, eth3, leaf1, {alias}, 2m\n")[0]
    assert first.startswith('- {a: "leaf1:Ethernet0", b: "gpu9:eth3"')


def test_a_contradiction_between_sources_is_noted(tmp_path: Path) -> None:
    config = patched(base(), DEVICE_NEIGHBOR={"Ethernet0": {"name": "told", "port": "eth1"}})
    cabling = tmp_path / "cables.csv"
    cabling.write_text("drawn1, eth7, leaf1, Ethernet0, 2m\n")
    document = load_text(json.dumps(config), "leaf1/config_db.json")
    text = import_documents([document], cabling=cabling).text
    assert "# leaf1 Ethernet0: cabling says drawn1, DEVICE_NEIGHBOR says told; the first was taken\n" in text


def test_names_of_neighbors_cannot_break_the_document(tmp_path: Path) -> None:
    odd = {
        "Ethernet0": {"name": "a: {b}\n# \x1b[31m", "port": "{x"},
        "Ethernet4": {"name": "null", "port": "on"},
    }
    found = links(patched(base(), DEVICE_NEIGHBOR=odd), tmp_path)
    assert found[0].startswith('- {a: "leaf1:Ethernet0", b: a---b----')
    assert any('b: "null:on"' in line for line in found)


@pytest.mark.parametrize(
    "first",
    [
        "device7, Ethernet0, spine1, Ethernet8, 3m",
        "leaf1, port1, gpu1, port2, 3m",
        "# device, port, device, port",
    ],
)
def test_only_words_for_all_four_columns_make_a_heading(first: str) -> None:
    """Devices and ports may be called what a heading calls them."""
    claims = read_cabling(f"{first}\nleaf9, Ethernet0, gpu1, eth0, 3m\n", "cables.csv")
    assert len(claims) == (1 if first.startswith("#") else 2)
    assert read_cabling("Device A,Port A,Device B,Port B\n", "cables.csv") == ()


def test_a_neighbor_that_does_not_say_its_name_is_none() -> None:
    heard = "Interface:    Ethernet0, via: LLDP\n  SysName:  gpu1\n  PortID:  ifname eth0\n"
    silent = "Interface:    Ethernet4, via: LLDP\n  PortID:  mac 00:11:22:33:44:55\n"
    assert [neighbor.name for neighbor in read_lldp(heard + silent, "leaf1.txt")] == ["gpu1"]
