"""JSON documents: what is refused and in which words, repeated keys, and places."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Path as KeyPath, Span
from lossless.ground.documents import load, load_text
from lossless.ground.documents.json.document import load_json
from tests.paths import ROOT

REFUSED = [
    ('{"a": 1,}', "1:8: a comma before the closing bracket; JSON allows none after the last entry"),
    ('{"a": [1 ,\n ]}', "1:10: a comma before the closing bracket; JSON allows none after the last entry"),
    ('{"a": [,]}', "1:8: expected a value"),
    ('{"a":}', "1:6: expected a value"),
    ('{"a": .5}', "1:7: expected a value"),
    ("{'a': 1}", "1:2: single quotes; JSON takes double quotes"),
    ("{a: 1}", "1:2: key a needs double quotes"),
    ("{1: 1}", "1:2: expected a key in double quotes"),
    ('{"a": True}', "1:7: True is not a JSON value; write true"),
    ('{"a": None}', "1:7: None is not a JSON value; write null"),
    ('{"a": drop}', "1:7: drop needs double quotes"),
    (
        '{"a": 1\n "b": 2}',
        "2:2: expected ',' or the closing bracket; is a comma missing before this?",
    ),
    ('{"a" 1}', "1:6: expected ':' after this key"),
    ('{"PORT": {"Ethernet0": \n', "1:23: the file ends too early; is it cut off?"),
    ('{"a": 1', "1:8: the file ends too early; is it cut off?"),
    ('{"a": "x', "1:7: this string is never closed by '\"'"),
    ('{"a": "x\n"}', "1:9: a control character inside a string; write a line break as \\n, a tab as \\t"),
    ('{"a": "C:\\dir"}', "1:10: unknown escape inside a string; a backslash is written \\\\"),
    ('{"a": "\\uZZ"}', "1:8: \\u must be followed by four hexadecimal digits"),
    ("{} {}", "1:4: more text after the end of the JSON value; one file holds one object"),
    ('{"a": 1} // port', "1:10: JSON has no comments"),
    ('{ # port\n"a": 1}', "1:3: JSON has no comments"),
    ('{"NaN": "NaN", "a": [-1, NaN]}', "1:26: NaN is not a number in JSON"),
    ('{"a": -Infinity}', "1:7: -Infinity is not a number in JSON"),
    ('{"b": -1, "a": 1e999}', "1:16: 1e999 is too large a number"),
    (
        '{"b": ' + "8" * 400 + ', "a": ' + "9" * 5000 + "}",
        "1:414: 99999999999999999999... is too large a number",
    ),
    (
        '{"b": "x",\n "a": "\\ud800"}',
        "2:7: this string holds half of a \\u surrogate pair, which is no character",
    ),
    ("[1]", "1:1: the top level is a list; expected an object {...}"),
    ("\n 3", "2:2: the top level is a number; expected an object {...}"),
    ('"x"', "1:1: the top level is a string; expected an object {...}"),
    ("null", "1:1: the top level is null; expected an object {...}"),
    ("\ufeff{}", "1:1: a second byte-order mark; remove it"),
    ('{"[": "\\"["' + ', "a": ' + "[" * 101 + "]" * 101 + "}", "1:118: nested deeper than 100 levels"),
    ('{"a": ' + "[" * 100_000, "1:106: nested deeper than 100 levels"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_json_does_not_allow_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_json(text, "config_db.json")
    assert str(caught.value) == f"config_db.json:{message}"


def test_nesting_up_to_the_limit_is_read_and_located() -> None:
    text = '{"a": ' + "[" * 99 + "]" * 99 + "}"
    path: KeyPath = ("a", *[0] * 98)
    assert load_json(text, "f").locate(path) == Span(1, 105, 1, 107)


def test_a_surrogate_pair_is_one_character() -> None:
    assert load_json('{"a": "\\ud83d\\ude00"}', "f").data == {"a": "😀"}


TWICE = """{
  "PORT": {"Ethernet0": {"mtu": "9100", "mtu": "9216"}},
  "QUEUE": [1, {"a": 1, "b": {"a": 2}, "a": 3, "a": 4}],
  "PORT": {"Ethernet4": {"mtu": "1500"}}
}
"""


def test_of_a_repeated_key_the_last_value_counts_and_every_repeat_is_listed() -> None:
    document = load_json(TWICE, "f")
    assert document.data == json.loads(TWICE)
    assert document.problems == ()
    assert [tuple(duplicate) for duplicate in document.duplicates] == [
        (("PORT", "Ethernet0", "mtu"), 2, 41, 2),
        (("QUEUE", 1, "a"), 3, 40, 3),
        (("QUEUE", 1, "a"), 3, 48, 3),
        (("PORT",), 4, 3, 2),
    ]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (r'{"a\"b": 1, "a\u0022b": 2}', [('a"b',)]),
        (r'{"\u0061": 1, "a": 2, "A": 3}', [("a",)]),
        (r'{"\"": {"x": 1, "\u0078": {"y": 1, "y": 2}}}', [('"', "x"), ('"', "x", "y")]),
        (r'{"a": "\"a\": 1, \"a\": 2", "b": "\"a\"", "\\": "\\"}', []),
        ('{"a": {"a": {"a": 1, "b": 2}}, "b": [{"a": 1}, {"a": 2}]}', []),
        ('{"a": [{"b": {"c": 1, "c": 2}}, {"b": 1, "b": 2}]}', [("a", 0, "b", "c"), ("a", 1, "b")]),
        ('{"": {"": 1, "": 2}, "": 3}', [("", ""), ("",)]),
    ],
)
def test_keys_are_repeated_by_what_they_spell_wherever_they_stand(text: str, paths: list[KeyPath]) -> None:
    document = load_json(text, "f")
    assert [duplicate.path for duplicate in document.duplicates] == paths
    assert document.data == json.loads(text)


def test_a_repeated_key_is_located_where_it_is_in_effect() -> None:
    document = load_json(TWICE, "f")
    assert document.locate(("PORT",), "key") == Span(4, 3, 4, 9)
    assert document.locate(("QUEUE", 1, "a")) == Span(3, 53, 3, 54)
    # The first PORT is not in effect, so nothing is found inside it.
    assert not document.exists(("PORT", "Ethernet0"))
    assert document.locate(("PORT", "Ethernet0", "mtu"), "key") == Span(4, 3, 4, 9)


PORTS = '{"PORT": {\r\n  "Eth\\u0065rnet0": {"lanes": [1, 2]},\r\n  "é😀": "x"\r\n}}\r\n'


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), Span(1, 1, 4, 3), Span(1, 1, 4, 3)),
        (("PORT",), Span(1, 2, 1, 8), Span(1, 10, 4, 2)),
        (("PORT", "Ethernet0"), Span(2, 3, 2, 19), Span(2, 21, 2, 38)),
        (("PORT", "Ethernet0", "lanes", 1), Span(2, 35, 2, 36), Span(2, 35, 2, 36)),
        (("PORT", "é😀"), Span(3, 3, 3, 7), Span(3, 9, 3, 12)),
        (("PORT", "Ethernet0", "mtu"), Span(2, 3, 2, 19), Span(2, 21, 2, 38)),
        (("PORT", "Ethernet0", "lanes", 2), Span(2, 22, 2, 29), Span(2, 31, 2, 37)),
        (("PORT", "Ethernet0", "lanes", -1), Span(2, 22, 2, 29), Span(2, 31, 2, 37)),
        (("PORT", "é😀", "below", 3), Span(3, 3, 3, 7), Span(3, 9, 3, 12)),
        (("VLAN", "Vlan10"), Span(1, 1, 4, 3), Span(1, 1, 4, 3)),
    ],
)
def test_places_of_keys_and_values_or_of_what_is_nearest_above(path: KeyPath, key: Span, value: Span) -> None:
    document = load_json(PORTS, "f")
    assert document.locate(path, "key") == key
    assert document.locate(path) == value


def test_what_exists() -> None:
    document = load_json(PORTS, "f")
    there: list[KeyPath] = [(), ("PORT", "Ethernet0", "lanes", 0)]
    absent: list[KeyPath] = [("PORT", 0), ("PORT", "Ethernet0", "lanes", 2), ("PORT", "é😀", 0), ("x",)]
    assert [document.exists(path) for path in there] == [True, True]
    assert [document.exists(path) for path in absent] == [False] * 4


def test_reading_json_imports_nothing_heavy() -> None:
    program = (
        "import sys; from lossless.ground.documents import load_text\n"
        "document = load_text('{\"a\": {\"b\": 1}}', 'x.json'); document.locate(('a', 'b'))\n"
        "heavy = {'ruamel', 'pathlib', 'dataclasses', 'inspect', 'tempfile', 'difflib', 'pydantic'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    # -S leaves out the site packages, whose start-up files import what they like.
    run = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def test_a_list_is_read_where_it_is_asked_for_and_its_items_are_found_by_number() -> None:
    document = load_text('[{"a": 1},\n {"a": "0"}]', "x.json", lists=True)
    assert document.data == {0: {"a": 1}, 1: {"a": "0"}}
    assert document.locate((1, "a"))[:2] == (2, 8)
    with pytest.raises(InputError, match="the top level is a list"):
        load_text("[]", "x.json")


@pytest.mark.parametrize(("mark", "marked"), [(b"", False), (b"\xef\xbb\xbf", True)])
def test_a_byte_order_mark_is_no_text_and_not_forgotten(tmp_path: Path, mark: bytes, marked: bool) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(mark + b'{"a": 1}')
    document = load(path)
    assert (document.text, document.marked) == ('{"a": 1}', marked)
