"""Thresholds put into intents as people write them: block and flow style, comments, quotes, anchors, exceptions."""

from __future__ import annotations

import copy
import re
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.intent.class_changes import class_changes
from lossless.formats.intent.load import load_intent
from lossless.ground.basics.units import size_text
from lossless.ground.documents import load_text
from lossless.ground.documents.command_lines import edited
from tests.formats.intent.intent_texts import SHAPE, spoilt
from tests.strategies import curve_exceptions, curves

Data = dict[str, Any]
CURVE_KEYS = ("min", "max", "probability")
SWITCHES = ("leaf1", "leaf2", "spine1")
RDMA = re.compile(r"^  rdma: .*\n", re.MULTILINE)


@st.composite
def policies(draw: st.DrawFn) -> Data:
    """Draw what a class states of curves and thresholds, with exceptions of every rank."""
    values = st.fixed_dictionaries({}, optional={"dynamic_th": st.integers(-8, 7), "xon": st.just("19 KiB")})
    some = values.filter(bool)
    speeds = st.dictionaries(st.sampled_from(["400G", "800 Gb/s"]), some, min_size=1)
    layer = (
        st.tuples(values, st.fixed_dictionaries({}, optional={"by_speed": speeds})).map(_joined).filter(bool)
    )
    exceptions = st.fixed_dictionaries(
        {},
        optional={
            "by_tier": st.dictionaries(st.sampled_from(["leaf", "spine"]), layer, min_size=1),
            "by_device": st.dictionaries(st.sampled_from(SWITCHES), layer, min_size=1),
        },
    )
    buffer = _joined(draw(st.tuples(layer, exceptions)))
    ecn = _joined(draw(st.tuples(curves(), curve_exceptions(SWITCHES))))
    return {
        "dscp": 26,
        "priority": 3,
        "lossless": True,
        "ecn": ecn,
        **({"buffer": buffer} if draw(st.booleans()) else {}),
    }


def _joined(parts: tuple[Data, Data]) -> Data:
    return {**parts[0], **parts[1]}


def yaml_of(draw: st.DrawFn, value: Any, indent: int, *, flow: bool = False) -> str:
    """Return a value as somebody might write it; a mapping in block style begins on a line of its own."""
    if not isinstance(value, dict):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return (
            draw(st.sampled_from([text, f'"{text}"'])) if isinstance(value, str) and value != "off" else text
        )
    if flow or draw(st.booleans()):
        gap = draw(st.sampled_from(["", " "]))
        entries = (f"{key}: {yaml_of(draw, each, indent, flow=True)}" for key, each in value.items())
        return f"{{{gap}{', '.join(entries)}{gap}}}"
    lines = ""
    for key, each in value.items():
        text = yaml_of(draw, each, indent + 2)
        space = "" if text.startswith("\n") else " " * draw(st.integers(1, 3))
        comment = draw(st.sampled_from(["", "", "  # max: 1 MB, {dynamic_th: 7}"]))
        lines += f"\n{' ' * indent}{key}:{space}{text}"
        # A comment behind a block mapping would stand at its last line.
        lines += "" if text.startswith("\n") else comment
    return lines


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw the text of an intent."""
    policy = draw(policies())
    return RDMA.sub(lambda _: f"  rdma:{_entry(yaml_of(draw, policy, 4))}\n", SHAPE)


def _entry(text: str) -> str:
    return text if text.startswith("\n") else f" {text}"


def expected(data: Data, wanted: dict[str, int]) -> Data:
    """Return an intent in which a class has values at every place where it has any of their kind."""
    after = copy.deepcopy(data)
    rdma = after["classes"]["rdma"]
    texts = {
        k: f"{v}%" if k == "probability" else v if k == "dynamic_th" else size_text(v)
        for k, v in wanted.items()
    }
    curve = {key: text for key, text in texts.items() if key in CURVE_KEYS}
    for layer in _layers(rdma["ecn"]):
        layer.update(curve if "min" in layer else {})
    if len(curve) == len(CURVE_KEYS):
        rdma["ecn"] = _marking_everywhere(rdma["ecn"], curve)
    if "dynamic_th" in texts:
        buffer = rdma.setdefault("buffer", {})
        for layer in _layers(buffer):
            layer.update({"dynamic_th": texts["dynamic_th"]} if "dynamic_th" in layer else {})
        buffer["dynamic_th"] = texts["dynamic_th"]
    return after


def _layers(policy: Data) -> list[Data]:
    found = [policy]
    for key in ("by_tier", "by_device", "by_speed"):
        for layer in policy.get(key, {}).values():
            found += _layers(layer) if layer != "off" else []
    return found


def _marking_everywhere(policy: Data, curve: Data) -> Data:
    """Return a policy with a curve at every place where it has ``off``; colours of a curve are left alone."""
    places = {
        key: {
            name: _marking_everywhere(layer, curve) if layer != "off" else dict(curve)
            for name, layer in layers.items()
        }
        for key, layers in policy.items()
        if key in ("by_tier", "by_device", "by_speed")
    }
    return {**policy, **places}


def tokens(text: str) -> list[str]:
    return re.findall(r"\n *|[ \t]+|[{},:#\"]|[^\s{},:#\"]+", text)


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "min": st.just(64 << 10),
        "max": st.just(9 << 20),
        "probability": st.just(37),
        "dynamic_th": st.integers(-8, 7),
    },
).filter(bool)


@given(texts(), VALUES)
def test_what_is_read_back_is_what_was_recommended_and_nothing_else_has_changed(
    text: str, wanted: dict[str, int]
) -> None:
    document = load_text(text, "fabric.yaml")
    after = edited(document, class_changes(load_intent(document), "rdma", wanted))
    assert after is not None
    assert load_text(after, "fabric.yaml").data == expected(document.data, wanted)
    load_intent(load_text(after, "fabric.yaml"))
    if not re.search(r": *off", text):
        # Where a curve takes the place of off, more than values change.
        _only_values(text, after, wanted)


def _only_values(before: str, after: str, wanted: dict[str, int]) -> None:
    """Assert that what was taken out are quantities, and what was put in the wanted ones and keys that state them."""
    assert re.findall("#.*", before) == re.findall("#.*", after)
    ours, theirs = tokens(before), tokens(after)
    gone, new = "", ""
    for kind, low, high, first, last in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind != "equal":
            gone += "".join(ours[low:high])
            new += "".join(theirs[first:last])
    assert not re.sub(r'[\d." ]|KiB|MiB|kB|MB|KB|B|%|-', "", gone), gone
    keys = "|".join(["buffer", *wanted])
    assert not re.sub(rf"{keys}|[\d.\" ,:{{}}\n-]|KiB|MiB|%", "", new), new


SHARED = """\
  rdma:
    dscp: 26
    priority: 3
    lossless: true
    ecn: {by_tier: {leaf: &curve {min: 8 KiB, max: 2 MB, probability: 9%}, spine: *curve}}
"""


@pytest.mark.parametrize("wanted", [{"max": 9 << 20}, {"min": 4096, "max": 9 << 20, "probability": 37}])
def test_a_curve_that_an_anchor_shares_is_changed_at_its_place_or_not_at_all(
    wanted: dict[str, int],
) -> None:
    text = RDMA.sub(lambda _: SHARED, SHAPE)
    document = load_text(text, "fabric.yaml")
    after = edited(document, class_changes(load_intent(document), "rdma", wanted))
    if after is not None:
        assert load_text(after, "fabric.yaml").data == expected(document.data, wanted)
        _only_values(text, after, wanted)


def test_an_anchor_beside_what_is_changed_stays() -> None:
    text = spoilt(SHAPE, ("leaf: nvidia-sn5600, spine: nvidia-sn5600", "leaf: &sw nvidia-sn5600, spine: *sw"))
    document = load_text(text, "fabric.yaml")
    after = edited(document, class_changes(load_intent(document), "rdma", {"max": 9 << 20}))
    assert after == spoilt(text, ("max: 2 MB", "max: 9 MiB"))
