"""An edit changes what it is asked to change, and no other byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from inline_snapshot import snapshot

from lossless.ground.basics.findings import Json
from lossless.ground.documents import load_text
from lossless.ground.documents.changes import ValueChange, changed
from lossless.ground.documents.command_lines import edited
from lossless.ground.documents.yaml.edits import on_one_line

CONFIG = """\
{
    "PFC_WD": {
        "Ethernet0": {"action": "drop", "detection_time": "200"},
        "GLOBAL": {
            "POLL_INTERVAL": "100"
        }
    },
    "PORT": {}
}
"""
INTENT = """\
# A fabric, and why.
lossless: v1
classes:
  rdma: {dscp: 26, priority: 3, lossless: true}   # the one that must not drop
  cnp:
    dscp: "48"
    scheduling: strict   # before all else
pfc:
  watchdog: {poll: 600ms, detection: 1200ms}

hosts:
  trust: pcp
"""


def json_after(*changes: ValueChange, text: str = CONFIG) -> str | None:
    return edited(load_text(text, "config_db.json"), changes)


def yaml_after(*changes: ValueChange, text: str = INTENT) -> str | None:
    return edited(load_text(text, "fabric.yaml"), changes)


def lines_that_differ(before: str, after: str | None) -> list[str]:
    assert after is not None
    return [line for line in after.splitlines() if line not in before.splitlines()]


# --- JSON ---


def test_a_value_is_replaced_and_nothing_else() -> None:
    after = json_after(ValueChange(("PFC_WD", "GLOBAL", "POLL_INTERVAL"), "set", "200"))
    assert after == CONFIG.replace('"100"', '"200"')


def test_a_field_is_added_as_its_row_is_laid_out() -> None:
    after = json_after(
        ValueChange(("PFC_WD", "Ethernet0", "restoration_time"), "set", "400"),
        ValueChange(("PFC_WD", "GLOBAL", "BIG_RED_SWITCH"), "set", "disable"),
    )
    assert lines_that_differ(CONFIG, after) == snapshot(
        [
            '        "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "400"},',
            '            "POLL_INTERVAL": "100",',
            '            "BIG_RED_SWITCH": "disable"',
        ]
    )


def test_rows_and_tables_that_are_missing_are_added_whole() -> None:
    after = json_after(
        ValueChange(("PORT", "Ethernet0", "fec"), "add", "rs"),
        ValueChange(("QUEUE", "Ethernet0|3", "scheduler"), "add", "scheduler.1"),
        ValueChange(("QUEUE", "Ethernet0|3", "wred_profile"), "add", "AZURE_LOSSLESS"),
    )
    assert lines_that_differ(CONFIG, after) == snapshot(
        [
            '    "PORT": {',
            '        "Ethernet0": {',
            '            "fec": "rs"',
            '    "QUEUE": {',
            '        "Ethernet0|3": {',
            '            "scheduler": "scheduler.1",',
            '            "wred_profile": "AZURE_LOSSLESS"',
            "    }",
        ]
    )


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        (("action",), {"detection_time": "200"}),
        (("detection_time",), {"action": "drop"}),
        (("action", "detection_time"), {}),
    ],
)
def test_fields_are_taken_out_with_their_comma(gone: tuple[str, ...], left: dict[str, str]) -> None:
    after = json_after(*(ValueChange(("PFC_WD", "Ethernet0", field), "remove") for field in gone))
    assert after is not None
    assert json.loads(after)["PFC_WD"]["Ethernet0"] == left
    assert [line for line in after.splitlines() if "Ethernet0" not in line] == [
        line for line in CONFIG.splitlines() if "Ethernet0" not in line
    ]


def test_a_value_is_set_only_in_a_row_that_is_there() -> None:
    """The row may stand under another key, or in another form: a second one would not fix it."""
    assert json_after(ValueChange(("PORT", "Ethernet0", "fec"), "set", "rs")) is None


def test_a_key_is_renamed_at_its_place() -> None:
    after = json_after(ValueChange(("PFC_WD", "Ethernet0"), "rename", "Ethernet4"))
    assert after == CONFIG.replace('"Ethernet0"', '"Ethernet4"')


def test_a_key_that_is_taken_is_no_name_to_give() -> None:
    assert json_after(ValueChange(("PFC_WD", "Ethernet0"), "rename", "GLOBAL")) is None


@pytest.mark.parametrize(
    "path",
    [("PFC_WD", "GLOBAL", "B"), ("PFC_WD", "GLOBAL", "B", "C"), ("PORT", "Ethernet0"), ("A", "B", "C")],
)
def test_windows_line_ends_stay(path: tuple[str, ...]) -> None:
    change = ValueChange(path, "add", "1")
    assert json_after(change, text=CONFIG.replace("\n", "\r\n")) == (json_after(change) or "").replace(
        "\n", "\r\n"
    )


@pytest.mark.parametrize("path", [("classes", "cnp", "priority"), ("hosts", "nic", "count"), ("name",)])
def test_windows_line_ends_stay_in_yaml(path: tuple[str, ...]) -> None:
    change = ValueChange(path, "add", 1)
    assert yaml_after(change, text=INTENT.replace("\n", "\r\n")) == (yaml_after(change) or "").replace(
        "\n", "\r\n"
    )


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=4)
PLAIN = st.one_of(NAMES, st.integers(-(10**6), 10**6), st.booleans(), st.none())
DATA = st.recursive(
    st.dictionaries(NAMES, PLAIN, max_size=4),
    lambda below: st.dictionaries(NAMES, below | PLAIN | st.lists(PLAIN, max_size=3), max_size=4),
    max_leaves=12,
)


def paths(data: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every path of a value, its own left out."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path for key, value in pairs for path in ((*here, key), *paths(value, (*here, key)))]


@st.composite
def data_and_changes(draw: st.DrawFn) -> tuple[dict[str, Any], list[ValueChange]]:
    """Return data, and changes of some of its paths of which none lies below another; some are new."""
    data = draw(DATA)
    known = paths(data)
    chosen = draw(st.lists(st.sampled_from(known), max_size=4, unique=True)) if known else []
    free = [one for one in chosen if not any(one != other and one[: len(other)] == other for other in chosen)]
    found = [
        ValueChange(path, draw(st.sampled_from(("set", "remove"))), draw(PLAIN))
        if not isinstance(path[-1], int) or isinstance(path[-1], bool)
        else ValueChange(path, "set", draw(PLAIN))
        for path in free
    ]
    if draw(st.booleans()):
        found.append(
            ValueChange(
                (*draw(st.sampled_from([(), *(p for p in known if p not in chosen)])), "new"), "set", "x"
            )
        )
    return data, found


@given(data_and_changes(), st.sampled_from([None, 1, 4, "\t"]))
def test_whatever_is_asked_of_json_is_done_or_has_no_meaning(
    given_: tuple[dict[str, Any], list[ValueChange]], indent: int | str | None
) -> None:
    data, wanted = given_
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    expected = changed(load_text(text, "x.json").data, wanted)
    after = edited(load_text(text, "x.json"), wanted)
    assert (after is None) == (expected is None)
    if after is not None:
        assert json.loads(after) == expected


# --- YAML ---


def test_a_yaml_value_keeps_its_quotes_and_comments() -> None:
    after = yaml_after(
        ValueChange(("classes", "cnp", "dscp"), "set", "46"),
        ValueChange(("classes", "rdma", "dscp"), "set", 24),
    )
    assert after == INTENT.replace('"48"', '"46"').replace("dscp: 26", "dscp: 24")


def test_a_key_is_added_where_its_neighbors_stand() -> None:
    after = yaml_after(
        ValueChange(("pfc", "watchdog", "restoration"), "set", "2400ms"),
        ValueChange(("classes", "cnp", "priority"), "set", 6),
        ValueChange(("telemetry", "interval"), "add", "10s"),
    )
    assert lines_that_differ(INTENT, after) == snapshot(
        [
            "    priority: 6",
            "  watchdog: {poll: 600ms, detection: 1200ms, restoration: 2400ms}",
            "telemetry: {interval: 10s}",
        ]
    )


def test_a_key_is_taken_out_with_its_line() -> None:
    after = yaml_after(ValueChange(("classes", "cnp", "scheduling"), "remove"))
    assert after == INTENT.replace("    scheduling: strict   # before all else\n", "")
    assert yaml_after(ValueChange(("pfc", "watchdog", "poll"), "remove")) == INTENT.replace(
        "poll: 600ms, ", ""
    )
    assert yaml_after(ValueChange(("pfc", "watchdog", "detection"), "remove")) == INTENT.replace(
        ", detection: 1200ms", ""
    )


def test_the_only_key_leaves_an_empty_mapping() -> None:
    after = yaml_after(ValueChange(("hosts", "trust"), "remove"))
    assert after == INTENT.replace("trust: pcp", "{}")


def test_a_text_that_would_be_read_as_something_else_is_quoted() -> None:
    after = yaml_after(ValueChange(("hosts", "trust"), "set", "true"))
    assert after is not None
    assert load_text(after, "fabric.yaml").data["hosts"]["trust"] == "true"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6))
@example("202405")
@example("%x")
@example("host[1-4]")
def test_a_text_on_one_line_is_read_back_wherever_it_stands(text: str) -> None:
    value: Json = {"key": text, "list": [text, {"below": text}], **({text: 1} if text else {})}
    assert load_text(f"all: {on_one_line(value)}\n", "fabric.yaml").data["all"] == value


def test_what_others_share_by_alias_or_merge_is_left_alone() -> None:
    text = "lossless: v1\nbase: &b {mtu: 9000}\nhosts: {<<: *b}\n"
    assert yaml_after(ValueChange(("hosts", "mtu"), "set", 4200), text=text) is None


@pytest.mark.parametrize("changed_at", ["rdma", "cnp"])
def test_a_mapping_that_two_keys_share_is_changed_for_both_or_not_at_all(changed_at: str) -> None:
    text = "classes:\n  rdma: {ecn: &curve {min: 8 KiB, max: 2 MB}}\n  cnp: {ecn: *curve}\n"
    one = ValueChange(("classes", changed_at, "ecn", "min"), "set", "4 KiB")
    assert yaml_after(one, text=text) is None
    both = (ValueChange(("classes", name, "ecn", "min"), "set", "4 KiB") for name in ("rdma", "cnp"))
    assert yaml_after(*both, text=text) == text.replace("8 KiB", "4 KiB")


@given(st.data())
def test_whatever_is_done_to_an_intent_is_what_was_asked(data: st.DataObject) -> None:
    known = paths(load_text(INTENT, "fabric.yaml").data)
    path = data.draw(st.sampled_from(known))
    wanted = data.draw(
        st.sampled_from([ValueChange(path, "remove"), ValueChange(path, "set", data.draw(PLAIN))])
    )
    after = yaml_after(wanted)
    expected = changed(load_text(INTENT, "fabric.yaml").data, [wanted])
    assert after is not None
    assert load_text(after, "fabric.yaml").data == expected
    assert after.startswith("# A fabric, and why.\n")
