"""Patterns stand for what an operator means by them: a folder for all in it, a port for all of its fields."""

from __future__ import annotations

import pytest

from lossless.checks.lint.baseline import fits_file, fits_object

FITTING = [
    ("legacy", "legacy/a.json"),
    ("legacy/", "site/legacy/b/a.json"),
    ("*.json", "configs/leaf1.json"),
    ("configs/*/config_db.json", "configs/leaf1/config_db.json"),
    ("./configs/leaf1", "configs/leaf1/config_db.json"),
    ("/configs", "configs/a.json"),
    ("configs/**/config_db.json", "configs/config_db.json"),
    ("configs/**/config_db.json", "configs/a/b/config_db.json"),
    ("**", "a/b.json"),
    ("leaf[1-3].json", "leaf2.json"),
    ("leaf[!1-3].json", "leaf4.json"),
    ("leaf?.json", "leaf1.json"),
    ("a[z-a].json", "a[z-a].json"),
]
OTHERS = [
    ("legacy", "legacy2/a.json"),
    ("/configs", "site/configs/a.json"),
    ("configs/*/config_db.json", "configs/a/b/config_db.json"),
    ("*.json", "a.jsonx"),
    ("leaf?.json", "leaf10.json"),
    ("a.json", "a-json"),
]
OBJECTS = [
    ("PORT|Ethernet*", ("PORT", "Ethernet0", "mtu"), True),
    ("PORT|Ethernet1", ("PORT", "Ethernet1", "mtu"), True),
    ("PORT|Ethernet1", ("PORT", "Ethernet10", "mtu"), False),
    ("PORT", ("PORT_QOS_MAP", "Ethernet1"), False),
    ("PORT|Ethernet*|mtu", ("PORT", "Ethernet8", "mtu"), True),
    ("PORT|Ethernet*|mtu", ("PORT", "Ethernet8", "fec"), False),
    ("BUFFER_PG|Ethernet*|3-4", ("BUFFER_PG", "Ethernet0|3-4", "profile"), True),
    ("BUFFER_PG|Ethernet*", ("BUFFER_PG", "Ethernet0,Ethernet4|3-4"), True),
    ("**|mtu", ("PORT", "Ethernet8", "mtu"), True),
    ("LOOPBACK_INTERFACE|Loopback0|10.0.0.1", ("LOOPBACK_INTERFACE", "Loopback0|10.0.0.11"), False),
]


@pytest.mark.parametrize(("pattern", "file"), FITTING)
def test_patterns_for_files(pattern: str, file: str) -> None:
    assert fits_file(pattern, file)


@pytest.mark.parametrize(("pattern", "file"), OTHERS)
def test_patterns_stand_for_no_other_files(pattern: str, file: str) -> None:
    assert not fits_file(pattern, file)


@pytest.mark.parametrize(("pattern", "path", "fits"), OBJECTS)
def test_patterns_for_objects_of_a_switch(pattern: str, path: tuple[str, ...], fits: bool) -> None:
    assert fits_object(pattern, path, "config_db") == fits


def test_patterns_for_objects_of_an_intent() -> None:
    assert fits_object("classes.*.ecn", ("classes", "rdma", "ecn", "min"), "intent")
    assert not fits_object("classes.*", ("classes",), "intent")
    assert fits_object("topology.links", ("topology", "links", 3, "cable"), "intent")
