"""What an intent may leave out or write differently, and what it then means."""

from __future__ import annotations

import pytest

from lossless.findings import Origin
from lossless.intent.load import LoadedIntent, load_intent
from lossless.source import load_text
from tests.intent.intent_texts import ECN, PRESET, SHAPE, WATCHDOG, said_of, spoilt


def loaded(text: str) -> LoadedIntent:
    return load_intent(load_text(text, "fabric.yaml"))


@pytest.mark.parametrize("off", ["off", "false", "False"])
def test_ecn_and_watchdog_are_off_in_either_spelling(off: str) -> None:
    intent = loaded(spoilt(SHAPE, (ECN, off), (WATCHDOG, off))).intent
    assert intent.classes["rdma"].ecn is None
    assert intent.pfc.watchdog is None


def test_ecn_only_for_links_of_one_speed() -> None:
    text = spoilt(SHAPE, (ECN, "{by_speed: {400 Gb/s: {min: 1 MB, max: 2 MB, probability: 9%}}}"))
    ecn = loaded(text).intent.classes["rdma"].ecn
    assert ecn is not None
    assert ecn.curve(400 * 10**9) is not None
    assert ecn.curve(800 * 10**9) is None


@pytest.mark.parametrize("written", ["dcqcn", "{dcqcn: {}}", "{dcqcn: ~}", "{dcqcn: {cnp_interval: 4us}}"])
def test_dcqcn_in_each_of_its_forms(written: str) -> None:
    text = spoilt(SHAPE, ("\n  dcqcn: {cnp_interval: 4us}", f" {written}"))
    assert loaded(text).intent.congestion_control.kind == "dcqcn"


def test_pfc_only_is_a_policy() -> None:
    text = spoilt(SHAPE, ("\n  dcqcn: {cnp_interval: 4us}", " pfc-only"))
    assert loaded(text).intent.congestion_control.kind == "pfc-only"


def test_no_preset_is_no_preset() -> None:
    assert said_of(spoilt(SHAPE, ("transport", "preset:\ntransport"))) == []


def test_what_is_said_lies_over_the_preset() -> None:
    text = spoilt(
        PRESET,
        ("fabric: base", "fabric: base\nclasses: {rdma: {dscp: 24, bandwidth: ~, scheduling: strict}}"),
    )
    rdma = loaded(text).intent.classes["rdma"]
    assert (rdma.dscps, rdma.priority, rdma.bandwidth, rdma.scheduling) == ((24,), 3, None, "strict")


def test_ecn_of_a_preset_can_be_turned_off() -> None:
    text = spoilt(PRESET, ("fabric: base", "fabric: base\nclasses: {rdma: {ecn: off}}"))
    assert loaded(text).intent.classes["rdma"].ecn is None


def test_a_value_is_traced_to_its_key_to_the_preset_or_to_the_key_above() -> None:
    text = spoilt(PRESET, ("fabric: base", "fabric: base\nclasses: {rdma: {dscp: 24}}"))
    intent = loaded(text)
    assert intent.origin("classes", "rdma", "dscp") == Origin("fabric.yaml", ("classes", "rdma", "dscp"))
    assert intent.origin("classes", "rdma", "priority") == Origin("fabric.yaml", ("preset",))
    assert intent.origin("pfc", "watchdog", "poll") == Origin("fabric.yaml", ("preset",))
    assert intent.origin("topology", "leaf_spine", "oversubscription") == Origin(
        "fabric.yaml", ("topology", "leaf_spine"), "key"
    )


@pytest.mark.parametrize("preset", ["azure", "nvidia", "pfc-only"])
def test_every_preset_is_an_intent_with_hardware_and_a_topology(preset: str) -> None:
    assert said_of(spoilt(PRESET, ("preset: nvidia", f"preset: {preset}"))) == []
