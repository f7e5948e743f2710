"""Devices by the names others have for them."""

from __future__ import annotations

import pytest

from lossless.model.fabric.cabling import DeviceNames, canonical_names, claimed_twice, other_names

KNOWN = ("leaf1", "Leaf2", "spine1.dc1.example.net", "core.a", "core.b")


@pytest.mark.parametrize(
    ("word", "device"),
    [
        ("leaf1", "leaf1"),
        ("LEAF1.dc1.example.net", "leaf1"),
        ("leaf2", "Leaf2"),
        ("spine1", "spine1.dc1.example.net"),
        ("Spine1.dc1", "spine1.dc1.example.net"),
        ("spine1.dc2", None),
        # Either of two is neither.
        ("core", None),
        ("leaf", None),
        ("leaf10", None),
    ],
)
def test_a_name_means_one_device_or_none(word: str, device: str | None) -> None:
    assert DeviceNames(KNOWN).find(word) == device


def test_names_of_one_device_become_one_and_others_stay() -> None:
    names = ["leaf1", "LEAF1", "leaf1.dc1", "leaf2.dc1", "core", "core.a", "core.b", "x.y.z", "x.y", "x"]
    called = canonical_names(names)
    assert {called[name] for name in ("leaf1", "LEAF1", "leaf1.dc1")} == {"leaf1"}
    assert {called[name] for name in ("x.y.z", "x.y", "x")} == {"x"}
    assert {name: called[name] for name in ("leaf2.dc1", "core", "core.a", "core.b")} == {
        name: name for name in ("leaf2.dc1", "core", "core.a", "core.b")
    }


def test_a_device_that_several_domains_claim_is_named_once_with_two_of_them() -> None:
    meant = {"leaf1": "leaf1", "LEAF1": "leaf1", "leaf1.dc1": "leaf1", "leaf1.dc1.example.net": "leaf1"}
    assert list(claimed_twice(meant)) == []
    others = {"leaf1.dc2": "leaf1", "leaf1.dc3": "leaf1", "leaf2.dc2": "leaf2", "leaf2.dc30": "leaf2"}
    assert list(claimed_twice(meant | others)) == [
        ("leaf1", "leaf1.dc1.example.net", "leaf1.dc2"),
        ("leaf2", "leaf2.dc2", "leaf2.dc30"),
    ]


def test_names_of_two_domains_are_not_one_device() -> None:
    assert other_names({"leaf1", "leaf2"}, ["leaf1.a", "leaf1.b", "leaf2.a", "LEAF2.a"]) == {
        "leaf2.a": "leaf2",
        "LEAF2.a": "leaf2",
    }
    assert other_names({"leaf1.a", "leaf1.b"}, ["leaf1", "spine1"]) == {}
