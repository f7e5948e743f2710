"""``lossless headroom`` of what is no link, is not there, or has no meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with

LINK = ("--profile", "nvidia-sn5600", "--speed", "400G", "--cable", "40m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a PATH, or a switch with --profile, --speed and --cable"),
        (("--profile", "nvidia-sn5600", "--cable", "3m"), "--profile also needs --speed"),
        (("--profile", "nvidia-sn5600"), "--profile also needs --speed and --cable"),
        (
            ("config_db.json", *LINK),
            "PATH or --profile, not both: a file says itself which switch it is",
        ),
        (
            ("config_db.json", "--speed", "400G", "--mtu", "9100", "--no-shared-headroom"),
            "--speed, --mtu, --shared-headroom: a file says this itself; it belongs to --profile",
        ),
        (
            (*LINK, "--port", "Ethernet0"),
            "--port names a port in PATH; --profile is for a link that is in no file",
        ),
        (
            (*LINK, "--speed", "400"),
            "Invalid value for '--speed': '400' has no unit; write it like 400G or 1.6T",
        ),
        ((*LINK, "--speed", "0G"), "Invalid value for '--speed': '0G' is no speed"),
        ((*LINK, "--speed", "-4G"), "Invalid value for '--speed': '-4G' is not a rate"),
        ((*LINK, "--cable", "40"), "Invalid value for '--cable': '40' has no unit; write it like 3m or 30m"),
        ((*LINK, "--cable", "0m"), "Invalid value for '--cable': '0m' is no cable: it has 1 m to 1,000 km"),
        ((*LINK, "--cable", "-3m"), "Invalid value for '--cable': '-3m' is not a length"),
        ((*LINK, "--cable", "40G"), "Invalid value for '--cable': '40G' is not a length"),
        ((*LINK, "--cable", "40000km"), "Invalid value for '--cable': '40000km' is no cable"),
        (
            (*LINK, "--cable", "9" * 9999 + "m"),
            "'99999999999999999999'... is no quantity: it has 10,000 char",
        ),
        ((*LINK, "--mtu", "0"), "Invalid value for '--mtu': '0' is no MTU of a port: it has 68 to 9,216 B"),
        ((*LINK, "--mtu", "9217"), "Invalid value for '--mtu': '9217' is no MTU of a port"),
        ((*LINK, "--mtu", "9100m"), "'9100m' is no MTU of a port; write bytes, like 9100 or 4 KiB"),
        ((*LINK, "--mtu", "٩١٠٠"), "is no MTU of a port; write bytes, like 9100 or 4 KiB"),
        ((*LINK, "--lossless-mtu", "63"), "'63' is no lossless packet: it has 64 to 9,216 B"),
        ((*LINK, "--small-packets", "50"), "'50' is not a percentage"),
        ((*LINK, "--small-packets", "101%"), "'101%' is not a percentage"),
        ((*LINK, "--lanes", "9"), "Invalid value for '--lanes': 9 is not in the range 1<=x<=8"),
        ((*LINK, "--gearbox", "400"), "Invalid value for '--gearbox': '400' has no unit"),
        ((*LINK, "--peer-response", "1s"), "'1s' is no delay on a link: it has at most 1 ms"),
        ((*LINK, "--peer-response", "9 KiB"), "'9 KiB' is not a duration"),
    ],
)
def test_what_is_no_question_is_refused_by_its_option(
    arguments: tuple[str, ...], message: str, cli: Cli
) -> None:
    outcome = cli("headroom", *arguments)
    assert message in outcome.err.splitlines()[-1]
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*LINK, "--profile", "nvidia-sn560"), "lossless: no switch profile is called 'nvidia-sn560'; did"),
        (
            (*LINK, "--hwsku", "ACS-SN560"),
            "lossless: nvidia-sn5600 has no HWSKU 'ACS-SN560'; did you mean ACS-",
        ),
        ((*LINK, "--hwsku", "x"), "lossless: nvidia-sn5600 has no HWSKU 'x'; there are ACS-SN5600, Mella"),
        (
            (*LINK, "--speed", "1.6T"),
            "lossless: no port of nvidia-sn5600 runs at 1.6T; its ports run at 10G, 25G",
        ),
        (("gone.json",), "gone.json: no such file"),
        (("empty",), "empty: nothing here to compute headroom for"),
        (("config_db.json", "--port", "Ethernet1"), "lossless: leaf1 has no port 'Ethernet1'; did you mean"),
        (("config_db.json", "--port", "leaf1"), "lossless: leaf1 has no port 'leaf1'; there are Ethernet0, "),
        (("config_db.json", "--port", "leaf1:"), "lossless: leaf1 is a switch; name one of its ports, like "),
        (("config_db.json", "--port", "leaf3:Ethernet0"), "lossless: no switch 'leaf3'; did you mean leaf1?"),
        (("twins", "--port", "leaf1:Ethernet0"), "lossless: twins/a.json and twins/b.json both have the "),
        (("broken.yaml",), "broken.yaml:"),
    ],
)
def test_what_is_not_there_is_named(arguments: tuple[str, ...], message: str, cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    Path("broken.yaml").write_text(f"{INTENT}\nunknown: 1\n")
    Path("empty").mkdir()
    Path("twins").mkdir()
    for name in ("a", "b"):
        Path(f"twins/{name}.json").write_text(LEAF)
    outcome = cli("headroom", *arguments)
    assert outcome.err.startswith(message)
    assert len(outcome.err.splitlines()) == 1
    assert (outcome.code, outcome.out) == (2, "")


def test_a_port_without_qos_has_no_headroom_to_show(cli: Cli) -> None:
    tables = json.loads(LEAF)
    for name in ("PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PFC_WD", "CABLE_LENGTH"):
        rows = tables.get(name, {})
        tables[name] = {key: row for key, row in rows.items() if not key.startswith("Ethernet4")}
    Path("config_db.json").write_text(json.dumps(tables))
    outcome = cli("headroom", "config_db.json", "--port", "Ethernet4")
    assert outcome == (2, "", "lossless: leaf1:Ethernet4 has no QoS: nothing is lossless there\n")


@pytest.mark.parametrize(
    ("table", "row", "fields", "said"),
    [
        (
            "PORT",
            "Ethernet0",
            {"mtu": "jumbo"},
            "floor unknown the MTU of the port is unknown",
        ),
        ("PORT", "Ethernet0", {"mtu": "0"}, "floor unknown the MTU of the port is unknown"),
        ("PORT", "Ethernet0", {"speed": "0"}, "floor unknown the speed of the port is unknown"),
        ("PORT", "Ethernet0", {"speed": "1234"}, "floor unknown IEEE 802.3 gives no pause quanta for 1.234G"),
        ("CABLE_LENGTH", "AZURE", {"Ethernet0": "-5m"}, "floor unknown the length of the cable is unknown"),
        (
            "BUFFER_PROFILE",
            "pg_lossless_400000_5m_profile",
            {"xoff": "much"},
            "none there is no lossless group",
        ),
    ],
)
def test_what_a_file_says_without_meaning_silences_what_needs_it(
    table: str, row: str, fields: dict[str, str], said: str, cli: Cli
) -> None:
    Path("config_db.json").write_text(leaf_with(table, row, **fields))
    outcome = cli("headroom", "config_db.json", "--port", "Ethernet0")
    assert said in " ".join(outcome.out.split())
    assert (outcome.code, outcome.err) == (0, "")
    assert cli("headroom", "config_db.json").code == 0


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ({"mtu": "1024", "small_packet_percentage": "150"}, "150 is not a percentage of small packets"),
        ({"mtu": "10", "small_packet_percentage": "50"}, "an MTU of 10 bytes is below the smallest packet"),
    ],
)
def test_a_pattern_without_meaning_gives_no_headroom(pattern: dict[str, str], said: str, cli: Cli) -> None:
    tables = json.loads(LEAF)
    tables["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    tables["LOSSLESS_TRAFFIC_PATTERN"] = {"AZURE": pattern}
    tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
    for row in tables["BUFFER_PG"].values():
        if row["profile"].startswith("pg_lossless"):
            row["profile"] = "NULL"
    Path("config_db.json").write_text(json.dumps(tables))
    outcome = cli("headroom", "config_db.json")
    assert f"from what has no meaning: {said}" in " ".join(outcome.out.split())
    assert f"formula unknown {said}" in " ".join(outcome.out.split())
    assert (outcome.code, outcome.err) == (0, "")
