"""Reading bytes: what is refused, in which words, and how offsets become lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.errors import InputError, UnreadableError
from lossless.ground.basics.findings import Span
from lossless.ground.basics.limits import DIGITS
from lossless.ground.basics.units import nearest
from lossless.ground.documents import load, load_text
from lossless.ground.documents.text import Lines, decode, read_bytes, read_text

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = [
    (b"", "f: the file is empty"),
    (b" \r\n\t\n", "f: the file is blank"),
    (b"\xef\xbb\xbf", "f: the file is blank"),
    (b"a: 1\nb: \x00\n", "f:2:4: is binary: a NUL byte at byte 9; expected text in UTF-8"),
    (b"a: 1\nb: \xe9t\xe9\n", "f:2:4: is not UTF-8: byte 0xE9 at byte 9 of the file"),
    (b"\xef\xbb\xbfa: \xc3\xa9 \xff", "f:1:6: is not UTF-8: byte 0xFF at byte 10 of the file"),
    (b"a: \xf0\x9f\x98", "f:1:4: is not UTF-8: byte 0xF0 at byte 4 of the file"),
    ("{}".encode("utf-16"), "f:1:1: is encoded as UTF-16; expected UTF-8"),
    (b"\xfe\xff\x00{", "f:1:1: is encoded as UTF-16; expected UTF-8"),
    ("{}".encode("utf-32"), "f:1:1: is encoded as UTF-32; expected UTF-8"),
    (b"a: 1234567890123456789012345", "f: larger than 24 bytes, the most that is read from one file"),
]


@pytest.mark.parametrize(("raw", "message"), REFUSED)
def test_bytes_that_are_no_text_are_refused(raw: bytes, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(raw, "f", limit_bytes=24)
    assert str(caught.value) == message


@pytest.mark.parametrize(("raw", "message"), REFUSED)
def test_a_file_is_refused_as_its_bytes_are(tmp_path: Path, raw: bytes, message: str) -> None:
    file = tmp_path / "f"
    file.write_bytes(raw)
    with pytest.raises(UnreadableError) as caught:
        read_text(file, limit_bytes=24)
    assert str(caught.value) == message.replace("f:", f"{file}:", 1)


def test_a_missing_file_a_directory_and_a_nul_in_the_name(tmp_path: Path) -> None:
    for path, reason in (
        (str(tmp_path / "absent.yaml"), "no such file"),
        (str(tmp_path), "is a directory; expected a file"),
        ("a\0b", "a file name cannot hold a NUL character"),
        ("a" * 5000, "cannot be read: File name too long"),
    ):
        with pytest.raises(UnreadableError) as caught:
            read_text(path)
        assert str(caught.value) == f"{path}: {reason}".replace("\0", "\\0")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("a: 1")
    file.chmod(0)
    if os.geteuid() == 0:
        # Permissions do not bind the superuser, so the refusal of the system is played.
        def refuse(name: str) -> None:
            raise PermissionError(13, "Permission denied", name)

        monkeypatch.setattr("io.FileIO", refuse)
    with pytest.raises(UnreadableError) as caught:
        read_text(file)
    assert str(caught.value) == f"{file}: no permission to read this file"


def test_a_byte_order_mark_is_dropped_and_does_not_move_columns(tmp_path: Path) -> None:
    file = tmp_path / "marked.json"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert load(file).locate(("a",)) == Span(1, 7, 1, 8)


def test_the_kind_of_a_file_is_its_suffix(tmp_path: Path) -> None:
    for name, text in (("x.json", '{"a": 1}'), ("x.JSON", '{"a": 1}'), ("x.yaml", "a: 1"), ("x.yml", "a: 1")):
        (tmp_path / name).write_text(text)
        document = load(tmp_path / name)
        assert (document.data, document.file, document.text) == ({"a": 1}, str(tmp_path / name), text)


def test_an_unknown_kind_of_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pools.toml"
    path.write_text("a = 1\n")
    with pytest.raises(InputError) as caught:
        load(str(path))
    assert str(caught.value) == f"{path}: unknown kind of file; expected .json, .yaml or .yml"


def test_a_path_that_is_not_there_is_missed_whatever_its_name() -> None:
    with pytest.raises(InputError) as caught:
        load("absent.toml")
    assert str(caught.value) == "absent.toml: no such file"


@given(st.lists(st.text("aé😀\u2028\x85", max_size=4), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_character_stands_on_the_line_its_line_break_says(parts: list[str], ending: str) -> None:
    text = ending.join(parts)
    lines = Lines(text)
    for number, part in enumerate(parts, 1):
        assert lines.line_text(number) == part
        start = len(ending.join([*parts[: number - 1], ""]))
        assert lines.span(start, start + len(part)) == Span(number, 1, number, len(part) + 1)


def test_a_line_that_is_not_there() -> None:
    document = load_text('{\n"a": 1}', "x.json")
    assert document.line_text(2) == '"a": 1}'
    for number in (0, 3):
        with pytest.raises(IndexError):
            document.line_text(number)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("watchdgo", "watchdog"),
        ("DSCP", "dscp"),
        ("priorty", "priority"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_name_whatever_the_order(name: str, meant: str | None) -> None:
    names = ["watchdog", "dscp", "priority", "scheduling"]
    assert nearest(name, names) == nearest(name, reversed(names)) == meant


@pytest.mark.parametrize("after", [b"", b" ", b"1", b"x9"])
def test_a_number_too_long_is_refused_anywhere(after: bytes) -> None:
    for before in range(2 * DIGITS):
        text = b"x" * before + b"7" * DIGITS
        assert decode(text + b" " + after, "f")
        with pytest.raises(UnreadableError, match=f"a number of more than {DIGITS} digits") as refused:
            decode(text + b"7" + after, "f")
        assert refused.value.problems[0].column == before + 1


def test_what_grows_while_it_is_read_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, status = tmp_path / "a.yaml", os.fstat
    file.write_text("a: 1\n" * 50_000)
    monkeypatch.setattr(
        os, "fstat", lambda number: os.stat_result((*status(number)[:6], 5, *status(number)[7:]))
    )
    assert read_text(file) == "a: 1\n" * 50_000


@pytest.mark.parametrize("size", [9, 10, 11, 400])
def test_a_file_is_read_up_to_the_limit(tmp_path: Path, size: int) -> None:
    (tmp_path / "f").write_bytes(b"x" * size)
    assert len(read_bytes(tmp_path / "f", 10)) == min(size, 11)


class Searched(str):
    """A text that counts how often the start of a line is searched for in it."""

    searches = 0

    def rfind(self, *arguments: object) -> int:
        type(self).searches += 1
        return super().rfind(*arguments)  # type: ignore[arg-type]


def test_places_on_one_long_line_are_not_each_searched_for_from_its_start() -> None:
    text = Searched("x" * 10_000)
    lines = Lines(text)
    assert [lines.place(offset) for offset in range(0, 10_000, 10)] == [
        (1, offset + 1) for offset in range(0, 10_000, 10)
    ]
    # As many searches as together go over the text about once; a thousand would go over it five hundred times.
    assert Searched.searches < 100
