"""Where databases are is read from SONiC's own files, and a mistake in one is a line that says where."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.telemetry.exposition.layout import DATABASES, Database, RedisServer, given, read_layout
from lossless.ground.basics.errors import InputError


def layout(**changed: Any) -> dict[str, Any]:
    """Return a ``database_config.json``, with some keys changed."""
    numbers = {"CONFIG_DB": 4, "COUNTERS_DB": 2, "APPL_DB": 0, "STATE_DB": 6}
    databases = {
        name: {"id": number, "separator": "|", "instance": "redis"} for name, number in numbers.items()
    }
    instance = {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": "/var/run/redis/redis.sock"}
    return {"INSTANCES": {"redis": instance}, "DATABASES": databases, "VERSION": "1.0", **changed}


def test_a_file_of_one_asic_names_server_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "database_config.json"
    file.write_text(json.dumps(layout()))
    (namespace,) = read_layout(str(file))
    assert namespace.name == ""
    assert namespace.databases["COUNTERS_DB"] == Database(RedisServer("/var/run/redis/redis.sock"), 2)


def test_without_a_socket_host_and_port_count(tmp_path: Path) -> None:
    file = tmp_path / "database_config.json"
    file.write_text(json.dumps(layout(INSTANCES={"redis": {"hostname": "10.0.0.1", "port": 6380}})))
    (namespace,) = read_layout(str(file))
    assert namespace.databases["APPL_DB"] == Database(RedisServer(None, "10.0.0.1", 6380), 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, r".+:1:1: expected a number at DATABASES\.CONFIG_DB\.id"),
        (layout(DATABASES={}), r".+:1:\d+: expected a number at DATABASES\.CONFIG_DB\.id"),
        (layout(INSTANCES={}), r".+:1:\d+: expected an object at INSTANCES\.redis"),
        (
            layout(INSTANCES={"redis": {"hostname": "a"}}),
            r".+:1:\d+: expected a number at INSTANCES\.redis\.port",
        ),
        (
            layout(INSTANCES={"redis": {"hostname": "a", "port": True}}),
            r".+: expected a number at INSTANCES\.redis\.port",
        ),
        ({"INCLUDES": {}}, r".+:1:\d+: expected a list at INCLUDES"),
        ({"INCLUDES": ["asic0"]}, r'.+:1:\d+: expected \{"include": FILE, "namespace": NAME\}'),
        ({"INCLUDES": [{"include": "none.json"}]}, r".+none\.json: .*no such file.*"),
        ({"INCLUDES": []}, r".+:1:\d+: names no databases"),
    ],
)
def test_a_mistake_in_a_file_is_one_located_line(data: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "database_config.json"
    file.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        read_layout(str(file))
    assert re.fullmatch(message, str(caught.value), re.IGNORECASE), str(caught.value)


def test_servers_that_are_given_have_the_numbers_of_every_sonic() -> None:
    (namespace,) = given(["10.0.0.1:6379"])
    assert {name: place.number for name, place in namespace.databases.items()} == {
        "CONFIG_DB": 4, "COUNTERS_DB": 2, "APPL_DB": 0, "STATE_DB": 6
    }  # fmt: skip
    assert namespace.databases["APPL_DB"].server == RedisServer(None, "10.0.0.1", 6379)
    (six,) = given(["[2001:db8::1]:6379"])
    assert six.databases["APPL_DB"].server == RedisServer(None, "2001:db8::1", 6379)


def test_of_a_switch_with_several_asics_only_the_configuration_is_read() -> None:
    own, *asics = given(["/run/redis.sock", "asic0=/run/redis0.sock", "asic1=10.0.0.1:6379"])
    assert list(own.databases) == ["CONFIG_DB"]
    assert {namespace.name: tuple(namespace.databases) for namespace in asics} == {
        "asic0": DATABASES, "asic1": DATABASES
    }  # fmt: skip


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        (["redis"], "--redis: 'redis' is neither the path of a socket nor HOST:PORT"),
        (["host:70000"], "--redis: 'host:70000' is neither the path of a socket nor HOST:PORT"),
        (["host:0"], "--redis: 'host:0' is neither the path of a socket nor HOST:PORT"),
        (["a/b", "c/d"], "--redis: 'c/d' is a second server of the switch"),
        (["asic0=a/b", "asic0=h:1"], "--redis: 'asic0=h:1' is a second server of asic0"),
    ],
)
def test_what_is_no_server_is_refused(servers: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        given(servers)
    assert str(caught.value) == message
