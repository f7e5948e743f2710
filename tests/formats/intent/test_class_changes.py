"""Thresholds put into an intent: every switch has them then, and every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.formats.intent.class_changes import class_changes, intent_line
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.ground.documents.command_lines import edited
from tests.formats.intent.intent_texts import ECN, PRESET, SHAPE, spoilt
from tests.strategies import Data, document_of, intents, with_class_buffers

RDMA = "  rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, "


def changed(text: str, **values: int) -> str:
    document = load_text(text, "fabric.yaml")
    after = edited(document, class_changes(load_intent(document), "rdma", values))
    assert after is not None
    return after


@pytest.mark.tools("laws")
@given(intents(renderable=True).flatmap(with_class_buffers), st.integers(-8, 7))
def test_every_group_of_the_class_has_the_threshold_that_was_put_there(data: Data, exponent: int) -> None:
    document = document_of(data)
    loaded = load_intent(document)
    name, cls = next((name, cls) for name, cls in loaded.intent.classes.items() if cls.lossless)
    after = edited(document, class_changes(loaded, name, {"dynamic_th": exponent}))
    assert after is not None
    ports = [
        port
        for switch in resolve(load_intent(load_text(after, "fabric.yaml"))).switches
        for port in switch.ports
    ]
    numbered = ((port.qos, port.qos.group_of(cls.priority)) for port in ports if port.qos)
    groups = (qos.groups[number] for qos, number in numbered if qos.pfc.priorities)
    found = {group.named.dynamic_th for group in groups if group is not None and group.named is not None}
    assert found <= {exponent}


def test_every_other_byte_stays() -> None:
    text = SHAPE.replace("  cnp:", "  # congestion notifications\n  cnp:   ")
    after = changed(text, dynamic_th=-1, max=6 << 20)
    assert after == spoilt(
        text, ("max: 2 MB, probability: 9%}", "max: 6 MiB, probability: 9%}, buffer: {dynamic_th: -1}")
    )


def test_a_curve_is_put_where_ecn_was_off() -> None:
    """A sweep gives every port the same curve."""
    off = "by_tier: {spine: off, leaf: {by_speed: {400G: off}}}"
    text = spoilt(SHAPE, (ECN, f"{{min: 8 KiB, max: 2 MB, probability: 9%, {off}}}"))
    after = changed(text, min=1 << 20, max=6 << 20, probability=5)
    curve = "{min: 1 MiB, max: 6 MiB, probability: 5%}"
    assert after == spoilt(
        text,
        ("min: 8 KiB, max: 2 MB, probability: 9%", curve[1:-1]),
        ("spine: off", f"spine: {curve}"),
        ("400G: off", f"400G: {curve}"),
    )


def test_exceptions_are_changed_too() -> None:
    curve = "{min: 1 MB, max: 2 MB, probability: 9%}"
    text = spoilt(
        SHAPE,
        (ECN, f"{{min: 8 KiB, max: 2 MB, probability: 9%, by_speed: {{400 Gb/s: {curve}}}}}"),
        (RDMA, f"{RDMA}buffer: {{by_tier: {{spine: {{dynamic_th: 3}}, leaf: {{xon: 19 KiB}}}}}}, "),
    )
    assert changed(text, dynamic_th=1, max=6 << 20) == (
        text.replace("max: 2 MB", "max: 6 MiB")
        .replace("dynamic_th: 3", "dynamic_th: 1")
        .replace("{xon: 19 KiB}}}", "{xon: 19 KiB}}, dynamic_th: 1}")
    )


def test_a_threshold_of_the_other_kind_goes() -> None:
    arista = SHAPE.replace("nvidia-sn5600", "arista-7060x6-64pe-b").replace("800G", "400G")
    text = spoilt(arista, (RDMA, f"{RDMA}buffer: {{static_th: 1 MiB}}, "))
    assert changed(text, dynamic_th=1) == text.replace("static_th: 1 MiB", "dynamic_th: 1")


def test_what_a_preset_gives_is_stated_beside_it() -> None:
    after = changed(PRESET, dynamic_th=1, max=6 << 20)
    assert load_intent(load_text(after, "fabric.yaml")).intent.classes["rdma"].ecn is not None
    assert (
        after == f"{PRESET.rstrip()}\nclasses: {{rdma: {{ecn: {{max: 6 MiB}}, buffer: {{dynamic_th: 1}}}}}}\n"
    )


def test_a_class_without_a_curve_gets_a_whole_one() -> None:
    text = spoilt(SHAPE, (ECN, "off"))
    after = changed(text, min=1 << 20, max=2 << 20, probability=9)
    assert after == spoilt(text, ("ecn: off", "ecn: {min: 1 MiB, max: 2 MiB, probability: 9%}"))


def test_half_a_curve_adds_no_ecn_to_a_class_that_states_none() -> None:
    loaded = load_intent(load_text(spoilt(SHAPE, (f", ecn: {ECN}", "")), "fabric.yaml"))
    assert loaded.intent.classes["rdma"].ecn is None
    assert class_changes(loaded, "rdma", {"min": 1 << 20}) == ()


@pytest.mark.parametrize(("model", "classes"), [("traditional", {"rdma", "bulk"}), ("dynamic", {"rdma"})])
def test_classes_that_share_a_profile_state_the_same(model: str, classes: set[str]) -> None:
    two = spoilt(SHAPE, ("  default:", "  bulk: {dscp: 28, priority: 4, lossless: true}\n  default:"))
    loaded = load_intent(load_text(f"{two}buffers: {{model: {model}}}\n", "fabric.yaml"))
    assert {change.path[1] for change in class_changes(loaded, "rdma", {"dynamic_th": 1})} == classes


def test_the_line_is_yaml() -> None:
    loaded = load_intent(load_text(SHAPE, "fabric.yaml"))
    line = intent_line(class_changes(loaded, "rdma", {"dynamic_th": 1, "xoff": 300 << 10}))
    assert line == "classes: {rdma: {buffer: {dynamic_th: 1, xoff: 300 KiB}}}"
