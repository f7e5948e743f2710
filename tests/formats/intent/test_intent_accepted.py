"""What an intent may leave out or write differently, and what it then means."""

from __future__ import annotations

import pytest

from lossless.formats.intent.base import Model
from lossless.formats.intent.document import Intent
from lossless.formats.intent.load import LoadedIntent, load_intent
from lossless.formats.intent.policy import ClassPlace, statements
from lossless.formats.intent.resolve.fabric import resolve
from lossless.formats.intent.shapes import ShapeIntent
from lossless.ground.basics.findings import Origin
from lossless.ground.documents import load_text
from lossless.model.fabric.cluster import dscp_of_name, name_of_dscp
from tests.formats.intent.intent_texts import ECN, NAMED, PRESET, SHAPE, WATCHDOG, said_of, spoilt


def loaded(text: str) -> LoadedIntent:
    return load_intent(load_text(text, "fabric.yaml"))


@pytest.mark.parametrize("off", ["off", "false", "False"])
def test_ecn_and_watchdog_are_off_in_either_spelling(off: str) -> None:
    intent = loaded(spoilt(SHAPE, (ECN, off), (WATCHDOG, off))).intent
    assert intent.classes["rdma"].ecn is None
    assert intent.pfc is not None
    assert intent.pfc.watchdog is None


def test_ecn_only_for_links_of_one_speed() -> None:
    text = spoilt(SHAPE, (ECN, "{by_speed: {400 Gb/s: {min: 1 MB, max: 2 MB, probability: 9%}}}"))
    ecn = loaded(text).intent.classes["rdma"].ecn
    assert ecn is not None
    assert [*statements(ecn, ClassPlace("", "leaf", 400 * 10**9))] != []
    assert [*statements(ecn, ClassPlace("", "leaf", 800 * 10**9))] == []


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


@pytest.mark.parametrize(
    ("written", "dscps"),
    [
        ("AF31", (26,)),
        ("cs3", (24,)),
        ("{AF31: 26}", (26,)),
        ("{AF31: 26, CS3: 24}", (26, 24)),
        ("[26, EF, {LE: 1}, VOICE-ADMIT]", (26, 46, 1, 44)),
        ("{CS3: 26}", (26,)),
    ],
)
def test_a_dscp_has_a_number_a_name_or_both(written: str, dscps: tuple[int, ...]) -> None:
    assert loaded(spoilt(SHAPE, ("dscp: 26", f"dscp: {written}"))).intent.classes["rdma"].dscps == dscps


def test_names_of_dscps_are_those_of_their_standards() -> None:
    assert {
        name: dscp_of_name(name) for name in ("CS0", "CS7", "AF11", "AF43", "EF", "VOICE-ADMIT", "LE")
    } == {
        "CS0": 0,
        "CS7": 56,
        "AF11": 10,
        "AF43": 38,
        "EF": 46,
        "VOICE-ADMIT": 44,
        "LE": 1,
    }
    assert not [
        name for name in ("CS8", "AF10", "AF14", "AF51", "CS", "AF", "") if dscp_of_name(name) is not None
    ]
    named = {dscp: name for dscp in range(64) if (name := name_of_dscp(dscp))}
    assert all(dscp_of_name(name) == dscp for dscp, name in named.items())
    assert len(named) == 8 + 12 + 3


def test_pfc_and_telemetry_are_off_as_a_policy() -> None:
    text = spoilt(SHAPE, (f"pfc:\n  watchdog: {WATCHDOG}", "pfc: off\ntelemetry: off"))
    assert (loaded(text).intent.pfc, loaded(text).intent.telemetry) == (None, None)
    assert said_of(text) == []


@pytest.mark.parametrize(("written", "found"), [("off", 0), ("false", 0), ("auto", "auto"), ("0.2s", 200)])
def test_stall_prevention_in_each_of_its_forms(written: str, found: object) -> None:
    text = spoilt(SHAPE, ("networks:", f"hosts: {{pfc_prevention: {written}}}\nnetworks:"))
    assert loaded(text).intent.hosts.pfc_prevention == found


@pytest.mark.parametrize(
    ("written", "found"), [("on", True), ("off", False), ("true", True), ("false", False)]
)
def test_a_switch_is_on_or_off_in_either_spelling(written: str, found: bool) -> None:
    text = spoilt(SHAPE, ("networks:", f"hosts: {{global_pause: {written}}}\nnetworks:"))
    assert loaded(text).intent.hosts.global_pause is found


def test_a_host_can_have_an_adapter_of_its_own() -> None:
    text = spoilt(NAMED, ("host2: {role: host}", "host2: {role: host, nic: connectx-8}"))
    assert [(host.name, host.qos.nic_name) for host in resolve(loaded(text)).hosts] == [
        ("host1", "connectx-7"),
        ("host2", "connectx-8"),
    ]


def test_the_validator_of_intents_is_built_without_rare_sections() -> None:
    Intent.model_rebuild()
    built = str(Intent.__pydantic_core_schema__)
    parts = ("WatchdogPolicy", "Cables", "DragonflyCables", "LosslessPool", "Nccl", "LeafSpineIntent")
    assert [part for part in parts if f".{part}'" in built] == ["WatchdogPolicy", "Cables", "LeafSpineIntent"]


def test_fields_of_sections_are_annotated_with_types_not_texts() -> None:
    """Pydantic would compile each text, at every start."""
    defaults = [field.default for field in Intent.model_fields.values()]
    sections = {Intent, *(type(value) for value in defaults if isinstance(value, Model))}
    sections |= {each for shape in ShapeIntent.__subclasses__() for each in (shape, *shape.__subclasses__())}
    texts = [
        each for each in sections if any(isinstance(a, str) for a in vars(each)["__annotations__"].values())
    ]
    assert texts == []
