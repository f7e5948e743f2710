"""YAML documents: what is refused and in which words, scalars, repeated keys, aliases, merges, and places."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Path as KeyPath, Span
from lossless.ground.documents.yaml.compose import load_yaml, text_scalar

both_parsers = pytest.mark.parametrize("pure", [False, True], ids=["c", "pure"])

INDENTATION = "unexpected text; is the indentation off, or a quote missing?"
COLON = "unexpected ':'; quote the value, or fix the indentation of this line"
NAMELESS = "a name must follow * and &; put a value that starts so in quotes"
DEEP = "nested deeper than 100 levels"

REFUSED = [
    ("a:\n\t- 1\n", "2:1: tab used for indentation; YAML allows only spaces"),
    ("a: 1\n\tb: 2\n", "2:1: tab used for indentation; YAML allows only spaces"),
    ("a: |\n\tx\n", "2:1: tab used for indentation; YAML allows only spaces"),
    ("a: b: c\n", f"1:5: {COLON}"),
    ("a: 1\n b: 2\n", f"2:3: {COLON}"),
    ("a: [1\nb: 2\n", "2:2: expected ',' or ']': '[' opened on line 1 is still open"),
    ("x: 1\na: {b: 1\n", "3:1: expected ',' or '}': '{' opened on line 2 is still open"),
    ('é: "x\n', '1:4: text opened by " is never closed'),
    ("a: 'x\n---\n", "1:4: text opened by ' is never closed"),
    ("a: 'it's'\n", f"1:8: {INDENTATION}"),
    ("- a\nb: 1\n", f"2:1: {INDENTATION}"),
    ("a:\n  b: 1\n c: 2\n", f"3:2: {INDENTATION}"),
    ("a: }\n", f"1:4: {INDENTATION}"),
    ("a: 1\nb\nc: 2\n", "2:1: expected ':' after this key"),
    ("a: @x\n", "1:4: a value cannot start with @; put it in quotes"),
    ("a: 50\nb: %50\n", "2:4: a value cannot start with %; put it in quotes"),
    ("a: [1, |x]\n", "1:8: a value cannot start with |; put it in quotes"),
    ("a: [1, , 2]\n", "1:8: expected a value before ,"),
    ("a: - 1\n", "1:4: a list entry cannot start here; put its - on a line of its own"),
    ("a: *\n", f"1:4: {NAMELESS}"),
    ("a: & b\n", f"1:4: {NAMELESS}"),
    ('a: "C:\\qos"\n', "1:7: unknown escape \\q; in double quotes a backslash is written \\\\"),
    ('a: "\\UFFFFFFFF"\n', "1:5: unknown escape \\U; in double quotes a backslash is written \\\\"),
    ("a: 1\nb: \x07\n", "2:4: character U+0007 is not allowed in YAML"),
    ("a: \ud800\n", "1:4: character U+D800 is not allowed in YAML"),
    ("a: 1\n---\nb: 2\n", "2:1: a second document starts here; one file holds one"),
    ("# only this\n", "1:1: the file holds only comments; expected a mapping (key: value)"),
    ("# x\n- a\n", "2:1: the top level is a list; expected a mapping (key: value)"),
    ("fabric\n", "1:1: the top level is a single value; expected a mapping (key: value)"),
    ("a: *leaf\n", "1:4: no anchor &leaf before this alias"),
    ("a: &leaf 1\nb: *laef\n", "2:4: no anchor &laef before this alias; nearest is &leaf"),
    ("a: &a\n  b: [*a]\n", "2:7: alias *a stands inside its own anchor"),
    ("a: " + "[" * 100 + "]" * 100, f"1:103: {DEEP}"),
    ("a: " + "[" * 100_000, f"1:103: {DEEP}"),
    ("a:\n " + "- " * 50_000, f"2:200: {DEEP}"),
]


@both_parsers
@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_has_no_meaning_is_refused(text: str, message: str, pure: bool) -> None:
    with pytest.raises(InputError) as caught:
        load_yaml(text, "fabric.yaml", pure=pure)
    assert str(caught.value) == f"fabric.yaml:{message}"


COLLECTED = [
    ("a: 1\nb: 2\na: 3\n", {"a": 1, "b": 2}, ["3:1: duplicate key 'a'; first on line 1"]),
    ("{1: 2, 1: 3, 0x1: 4}\n", {1: 2}, [f"1:{n}: duplicate key '1'; first on line 1" for n in (8, 14)]),
    ("a:\n  {x: 1,\n  'x': 2}\n", {"a": {"x": 1}}, ["3:3: duplicate key 'x'; first on line 2"]),
    ("? [a]\n: b\nc: 1\n", {"c": 1}, ["1:3: a key must be a single value, not a list or a mapping"]),
    ("<<: 3\n", {}, ["1:5: << takes a mapping or a list of mappings, usually as an alias"]),
    (
        "<<: {b: 1}\n<<: {b: 2}\n",
        {"b": 1},
        ["2:1: duplicate key '<<'; first on line 1"],
    ),
    (
        "a: !Ref x\n",
        {"a": None},
        ["1:4: unknown tag !Ref; expected !!str, !!int, !!float, !!bool or !!null"],
    ),
    ("a: !!set {b}\n", {"a": {"b": None}}, ["1:4: unknown tag !!set; expected none on a list or mapping"]),
    ("a: !!int fast\n", {"a": None}, ["1:4: 'fast' is not what its tag !!int says"]),
    ("a: !!int true\n", {"a": None}, ["1:4: 'true' is not what its tag !!int says"]),
    (
        "a: -.inf\nb: .nan\n",
        {"a": None, "b": None},
        [
            "1:4: -.inf is not a finite number; quote it if it is text",
            "2:4: .nan is not a finite number; quote it if it is text",
        ],
    ),
    ("a: 1e999\n", {"a": None}, ["1:4: 1e999 is too large a number"]),
    (
        "a: " + "9" * 5000,
        {"a": None},
        ["1:4: 99999999999999999999... has more than 300 digits, the most that is read"],
    ),
    (
        "%YAML 1.1\n---\na: no\n",
        {"a": "no"},
        ["1:1: YAML 1.1 reads `no` and `010` differently; remove this line, YAML 1.2 is meant"],
    ),
]


@both_parsers
@pytest.mark.parametrize(("text", "data", "messages"), COLLECTED)
def test_what_leaves_the_rest_readable_is_collected(
    text: str, data: dict[Any, Any], messages: list[str], pure: bool
) -> None:
    document = load_yaml(text, "f", pure=pure)
    assert document.data == data
    assert [str(problem) for problem in document.problems] == [f"f:{message}" for message in messages]


def test_problems_met_before_a_refusal_are_told_too() -> None:
    with pytest.raises(InputError) as caught:
        load_yaml("a: 1\na: 2\nb: [\n", "f")
    assert [problem.line for problem in caught.value.problems] == [2, 4]


SCALARS: list[tuple[str, Any]] = [
    ("no", "no"),
    ("on", "on"),
    ("10:20:30", "10:20:30"),
    ("00:11:22:33:44:55", "00:11:22:33:44:55"),
    ("010", 10),
    ("-7", -7),
    ("+7", 7),
    ("0o17", 15),
    ("0x1F", 31),
    ("-0x1F", "-0x1F"),
    ("0b1", "0b1"),
    ("1_000", "1_000"),
    ("1e3", 1000.0),
    ("1.", 1.0),
    (".5", 0.5),
    ("-1.5E-2", -0.015),
    (".", "."),
    ("1e", "1e"),
    ("٣", "٣"),
    ("2024-01-01", "2024-01-01"),
    ("10.0.0.1", "10.0.0.1"),
    ("2 x 400G", "2 x 400G"),
    ("", None),
    ("~", None),
    ("null", None),
    ("Null", None),
    ("nULL", "nULL"),
    ("true", True),
    ("FALSE", False),
    ("tRUE", "tRUE"),
    ("yes", "yes"),
    ("'26'", "26"),
    ('"null"', "null"),
    ("!!str 26", "26"),
    ("! 26", "26"),
    ("!!int '26'", 26),
    ("!!float 26", 26.0),
    ("!!bool 'true'", True),
    ("!!null ''", None),
    ("|\n  26\n", "26\n"),
]


@both_parsers
@pytest.mark.parametrize(("written", "value"), SCALARS)
def test_scalars_follow_the_core_schema_of_yaml_1_2(written: str, value: object, pure: bool) -> None:
    data = load_yaml(f"a: {written}", "f", pure=pure).data
    assert (data["a"], type(data["a"])) == (value, type(value))


@both_parsers
def test_keys_keep_their_constructed_value(pure: bool) -> None:
    data = load_yaml("1: a\n'2': b\n3.5: c\ntrue: d\n~: e\n", "f", pure=pure)
    # True is 1 in Python, so the two keys cannot both stand.
    assert list(data.data) == [1, "2", 3.5, None]
    assert [str(problem) for problem in data.problems] == ["f:4:1: duplicate key 'True'; first on line 1"]


INTENT = """\
classes:
  rdma: &rdma   # the only lossless one
    dscp: 26
    ecn: {min: 800 KiB, "max": 3200 KiB}
  storage: *rdma
  backup:
    dscp: 10
    <<: *rdma
links:
- [leaf1, spine1]
- speed: 400G
  note: |
    first
    second


- &none
-
empty:
# the end
"""
RDMA = {"dscp": 26, "ecn": {"min": "800 KiB", "max": "3200 KiB"}}


@both_parsers
def test_aliases_and_merges_are_expanded_and_own_keys_win(pure: bool) -> None:
    assert load_yaml(INTENT, "f", pure=pure).data == {
        "classes": {"rdma": RDMA, "storage": RDMA, "backup": RDMA | {"dscp": 10}},
        "links": [
            ["leaf1", "spine1"],
            {"speed": "400G", "note": "first\nsecond\n"},
            None,
            None,
        ],
        "empty": None,
    }


@both_parsers
@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), Span(1, 1, 19, 7), Span(1, 1, 19, 7)),
        (("classes",), Span(1, 1, 1, 8), Span(2, 3, 8, 14)),
        (("classes", "rdma"), Span(2, 3, 2, 7), Span(2, 9, 4, 41)),
        (("classes", "rdma", "ecn", "max"), Span(4, 25, 4, 30), Span(4, 32, 4, 40)),
        (("classes", "rdma", "absent", "more"), Span(2, 3, 2, 7), Span(2, 9, 4, 41)),
        # The alias stands at its own place, what is in it at the anchor.
        (("classes", "storage"), Span(5, 3, 5, 10), Span(5, 12, 5, 17)),
        (("classes", "storage", "dscp"), Span(3, 5, 3, 9), Span(3, 11, 3, 13)),
        # An own key at its own place, what is merged in at the anchor.
        (("classes", "backup", "dscp"), Span(7, 5, 7, 9), Span(7, 11, 7, 13)),
        (("classes", "backup", "ecn", "min"), Span(4, 11, 4, 14), Span(4, 16, 4, 23)),
        (("links",), Span(9, 1, 9, 6), Span(10, 1, 18, 2)),
        (("links", 0, 1), Span(10, 11, 10, 17), Span(10, 11, 10, 17)),
        (("links", 1, "note"), Span(12, 3, 12, 7), Span(12, 9, 14, 11)),
        (("links", 2), Span(17, 3, 17, 8), Span(17, 3, 17, 8)),
        (("links", 9), Span(9, 1, 9, 6), Span(10, 1, 18, 2)),
        (("empty",), Span(19, 1, 19, 6), Span(19, 7, 19, 7)),
        (("empty", "below"), Span(19, 1, 19, 6), Span(19, 7, 19, 7)),
    ],
)
def test_places_of_keys_and_values_or_of_what_is_nearest_above(
    path: KeyPath, key: Span, value: Span, pure: bool
) -> None:
    document = load_yaml(INTENT, "f", pure=pure)
    assert document.locate(path, "key") == key
    assert document.locate(path) == value


@both_parsers
def test_of_several_merged_mappings_the_earlier_wins(pure: bool) -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}\nd: {'<<': *a}\n"
    data = load_yaml(text, "f", pure=pure).data
    assert data["c"] == {"x": 1, "y": 1, "z": 3}
    assert data["d"] == {"<<": {"x": 1, "y": 1}}


@both_parsers
def test_an_anchor_may_be_set_again(pure: bool) -> None:
    document = load_yaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "f", pure=pure)
    assert document.data == {"a": 1, "b": 1, "c": 2, "d": 2}


@both_parsers
def test_an_alias_bomb_is_refused_before_it_is_expanded(pure: bool) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    with pytest.raises(InputError) as caught:
        load_yaml("\n".join(lines), "f", pure=pure)
    assert str(caught.value) == "f:6:45: aliases expand to more than 1000000 values"


def test_nesting_through_aliases_counts_as_nesting() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
    with pytest.raises(InputError) as caught:
        load_yaml("\n".join(lines), "f")
    assert str(caught.value) == "f:100:12: nested deeper than 100 levels through alias *a98"


@both_parsers
def test_half_a_surrogate_pair_is_no_text(pure: bool) -> None:
    # The C parser refuses it, the other lets it through to us.
    try:
        problems = load_yaml('a: "\\ud800"\n', "f", pure=pure).problems
    except InputError as error:
        problems = error.problems
    assert [(problem.line, problem.message.split()[-1]) for problem in problems] in (
        [(1, "\\\\")],
        [(1, "character")],
    )


@pytest.mark.parametrize(
    "text", ["leaf1", "yes", "1e3", "", 'a"b', "C:\\new", "two\nlines", "ü\u0085", "\U0001f600"]
)
def test_a_text_is_the_same_after_it_is_written_and_read(text: str) -> None:
    assert load_yaml(f"key: {text_scalar(text)}\n", "file.yaml").data == {"key": text}
