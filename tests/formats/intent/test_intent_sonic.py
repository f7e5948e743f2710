"""Keys of an intent that are about SONiC: releases, buffer models, pools, unused ports."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.formats.intent.document import RELEASES, json_schema
from lossless.formats.intent.load import load_intent
from lossless.ground.documents import load_text
from tests.formats.intent.intent_texts import SHAPE, said_of

WRONG = {
    "buffers: {model: dynamc}": "23:18: buffers.model: 'dynamc' is no buffer model; did you mean dynamic? "
    "(others: traditional)",
    "buffers: {model: {leaf: dyn}}": "23:25: buffers.model.leaf: 'dyn' is no buffer model; did you mean dynamic? "
    "(others: traditional)",
    "buffers: {model: {leaf: dynamic, spyne: traditional}}": (
        "23:34: 'spyne' is no role of a switch; there are leaf, spine, super-spine and switch"
    ),
    "buffers: {model: {}}": (
        "23:18: buffers.model: an empty mapping; write traditional or dynamic, or one of them for each role"
    ),
    "buffers: {model: [dynamic]}": (
        "23:18: buffers.model: a list is no buffer model; there are traditional, dynamic"
    ),
    "buffers: {pools: both}": (
        "23:18: buffers.pools: 'both' is no form of ingress pools; there are single, split"
    ),
    "buffers: {unused_ports: yes}": (
        "23:25: buffers.unused_ports: 'yes' is no policy for unused ports; there are reclaim, keep"
    ),
    "buffers: {small_packets: 50%}": (
        "23:26: buffers.small_packets: counts in the dynamic buffer model alone; state model: dynamic, or leave it out"
    ),
    "buffers: {model: traditional, lossless_mtu: 4200}": (
        "23:45: buffers.lossless_mtu: counts in the dynamic buffer model alone; state model: dynamic, or leave it out"
    ),
    "buffers: {model: dynamic, lossless_mtu: 12000}": (
        "23:41: buffers.lossless_mtu: 12000 is no lossless packet; SONiC takes 68 to 9,216 bytes"
    ),
    "sonic: {release: 202412}": "23:18: sonic.release: 202412 is no release that is known; did you mean 202411? "
    "(others: 202311, 202405, 202511, 202305, 202505, 202605, master)",
    "sonic: {release: true}": (
        "23:18: sonic.release: true is no release that is known; there are 202305, 202311, 202405, "
        "202411, 202505, 202511, 202605, master"
    ),
    "sonic: {devices: {leaf1: 3}}": (
        "23:26: sonic.devices.leaf1: 3 is no release that is known; there are 202305, 202311, 202405, "
        "202411, 202505, 202511, 202605, master"
    ),
    "sonic: {devices: leaf1}": (
        "23:18: sonic.devices: expected a mapping of devices to releases, found 'leaf1'"
    ),
    "sonic: {relase: 202411}": "23:9: unknown key 'relase'; did you mean release?",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_means_nothing_is_reported_at_its_place(text: str) -> None:
    assert said_of(f"{SHAPE}{text}\n") == [WRONG[text]]


def intent(text: str) -> Any:
    return load_intent(load_text(f"{SHAPE}{text}\n", "fabric.yaml")).intent


def test_one_word_holds_for_every_role() -> None:
    assert intent("buffers: {model: dynamic}").buffers.model == {
        "leaf": "dynamic",
        "spine": "dynamic",
        "super-spine": "dynamic",
        "switch": "dynamic",
    }
    assert intent("buffers: {model: {spine: dynamic}}").buffers.model == {"spine": "dynamic"}


def test_releases_are_numbers_or_text() -> None:
    plain, quoted = intent("sonic: {release: 202405}"), intent('sonic: {release: "202405"}')
    assert plain.sonic == quoted.sonic
    assert plain.sonic.release_of("leaf1", "leaf") == "202405"
    assert intent("").sonic.release_of("leaf1", "leaf") is None
    own = intent("sonic: {release: 202405, devices: {leaf1: master}}").sonic
    assert [own.release_of(name, "leaf") for name in ("leaf1", "leaf2")] == ["master", "202405"]


def test_editors_are_told_the_words() -> None:
    known = json_schema()["properties"]
    one, each = known["buffers"]["properties"]["model"]["anyOf"]
    assert one == {"enum": ["traditional", "dynamic"]}
    assert {role: part["enum"] for role, part in each["properties"].items()} == dict.fromkeys(
        ("leaf", "spine", "super-spine", "switch"), one["enum"]
    )
    assert each["additionalProperties"] is False
    releases = known["sonic"]["properties"]["release"]["anyOf"][0]["enum"]
    assert releases == [*RELEASES, *(int(name) for name in RELEASES if name != "master")]
    assert {"pools", "unused_ports", "lossless_mtu", "small_packets"} <= set(known["buffers"]["properties"])
