"""Reads qos-policy.conf: sections with an end each, ``word: value`` in them, ``#`` before a comment.

For a single mistake opensm discards the whole file: ERR AC05 and AC03 in its log, and no policy holds. Read line by
line, as its guide requires (doc/QoS_management_in_OpenSM.txt of linux-rdma/opensm @080e3ad): a keyword is the first
word of its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.wording import suggestion
from lossless.ground.documents.marked_document import Marks, carriage_return, lines_of, trimmed
from lossless.model.fabric.infiniband.qos_policy import (
    KEYWORDS,
    MATCHES,
    SECTIONS,
    PolicyBlock,
    PolicyLine,
    QosPolicy,
    Ulp,
)
from lossless.model.fabric.infiniband.subnet import c_number

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

_NONE = "opensm refuses the whole file, and no policy holds"
_NUMBER = r"(?:0[xX][0-9a-fA-F]+|\d+)"
_RANGES = re.compile(rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?(?:\s*,\s*{_NUMBER}(?:\s*-\s*{_NUMBER})?)*")
_RANGED = frozenset({"port-guid", "pkey", "service-id", "qos-class", "path-bits"})
_MOST = {"sl": 15, "mtu-limit": None, "rate-limit": None, "packet-life": None, "vl-high-limit": None}
"""Words with one number, and the largest that opensm accepts, None where it checks none."""


class _PolicyReader:
    def __init__(self, file: str, text: str) -> None:
        self.marks = Marks(file, text)
        self.text = self.marks.text
        self.open: list[tuple[str, int]] = []
        self.blocks: list[PolicyBlock] = []
        self.ulps: list[Ulp] = []
        self.lines: list[PolicyLine] = []

    def read(self) -> None:
        foreign = carriage_return(self.text)
        if foreign is not None:
            self.marks.wrong(
                foreign, f"a carriage return, as Windows ends its lines, is no word of a policy: {_NONE}"
            )
        for start, line in lines_of(self.text):
            at = trimmed(self.text, start, start + len(line.partition("#")[0]))
            if at[0] < at[1]:
                self._line(*at)
        for name, start in self.open:
            self.marks.wrong(start, f"{name} has no end-{name}: {_NONE}")

    def _line(self, start: int, end: int) -> None:
        words = self.text[start:end]
        section = self.open[-1][0] if self.open else ""
        if words == f"end-{section}":
            self._close()
        elif words in SECTIONS.get(section, ()):
            self.open.append((words, start))
            self.lines = []
        elif section == "qos-ulps":
            self._ulp(start, end)
        elif section in KEYWORDS:
            self._keyword(section, start, end)
        else:
            self._stray(section, words, start)

    def _stray(self, section: str, words: str, start: int) -> None:
        expected = [*SECTIONS.get(section, ()), *([f"end-{section}"] if section else [])]
        self.marks.wrong(start, f"{words!r} has no place here; expected {' or '.join(expected)}: {_NONE}")

    def _close(self) -> None:
        name, start = self.open.pop()
        if name not in KEYWORDS:
            return
        number = sum(block.kind == name for block in self.blocks)
        path = (f"{name}s", number)
        self.marks.mark(path, start, start + len(name))
        self.blocks.append(PolicyBlock(name, tuple(self.lines), Origin(self.marks.file, path)))

    def _keyword(self, section: str, start: int, end: int) -> None:
        colon = self.text.find(":", start, end)
        word_at = trimmed(self.text, start, end if colon < 0 else colon)
        word = self.text[slice(*word_at)]
        if colon < 0 or word not in KEYWORDS[section]:
            hint = suggestion(word, KEYWORDS[section], most=None)
            self.marks.wrong(start, f"{word!r} is no word of a {section}{hint}: {_NONE}")
            return
        at = trimmed(self.text, colon + 1, end)
        problem = _problem(word, self.text[slice(*at)])
        if problem:
            self.marks.wrong(at[0], f"{problem}: {_NONE}")
            return
        number = sum(block.kind == section for block in self.blocks)
        path = (f"{section}s", number, word, sum(line.word == word for line in self.lines))
        self.marks.mark(path, *at, word_at)
        self.lines.append(PolicyLine(word, self.text[slice(*at)], Origin(self.marks.file, path)))

    def _ulp(self, start: int, end: int) -> None:
        colon = self.text.rfind(":", start, end)
        sl_at = trimmed(self.text, colon + 1, end)
        head = re.sub(r"\s*,\s*", ", ", self.text[start : max(colon, start)].strip(), count=1)
        match, numbers = _ulp_match(head)
        sl = c_number(self.text[slice(*sl_at)])
        if colon < 0 or match is None:
            known = ", ".join(repr(name) for name in MATCHES)
            self.marks.wrong(
                start, f"no line of qos-ulps; expected one of {known}, and the SL behind a colon: {_NONE}"
            )
        elif sl is None or not 0 <= sl <= 15:
            self.marks.wrong(sl_at[0], f"{self.text[slice(*sl_at)]!r} is no SL; expected 0 to 15: {_NONE}")
        else:
            path = ("qos-ulps", len(self.ulps))
            self.marks.mark(path, *sl_at, (start, max(colon, start)))
            self.ulps.append(Ulp(match, numbers, sl, Origin(self.marks.file, path)))


def read_policy(text: str, file: str) -> tuple[Document, QosPolicy]:
    """Return the policy of a file, and its document; a line of a block has the path ("qos-levels", 0, "sl", 0)."""
    reader = _PolicyReader(file, text)
    reader.read()

    def of(kind: str) -> tuple[PolicyBlock, ...]:
        return tuple(block for block in reader.blocks if block.kind == kind)

    policy = QosPolicy(
        tuple(reader.ulps), of("port-group"), of("qos-level"), of("qos-match-rule"), Origin(file)
    )
    return reader.marks.document(_data(policy)), policy


def looks_like_policy(text: str) -> bool:
    """Return whether a text is a qos-policy.conf: its first line is that of a section."""
    first = re.search(r"^[ \t]*([^#\s].*?)[ \t\r]*$", text, re.MULTILINE)
    return first is not None and first[1].partition("#")[0].strip() in SECTIONS[""]


def _problem(word: str, text: str) -> str:
    """Return the problem of a value of a word, empty where it is valid."""
    if not text:
        return f"{word} has no value"
    if word in _RANGED and not _RANGES.fullmatch(text):
        return f"{text!r} is no {word}; expected numbers or ranges as 0x10-0x1f, commas between"
    if word in _MOST:
        number, most = c_number(text), _MOST[word]
        if number is None or number < 0 or (most is not None and number > most):
            return f"{text!r} is no {word}; expected a number{f' from 0 to {most}' if most else ''}"
    return ""


def _ulp_match(head: str) -> tuple[str | None, str]:
    """Return the match of a line of qos-ulps, and its numbers; None for a match that opensm does not support."""
    protocol, comma, rest = head.partition(", ")
    what, _, numbers = rest.partition(" ")
    match = protocol.strip().lower() + (f", {what}" if comma else "")
    if match not in MATCHES or bool(comma) != bool(_RANGES.fullmatch(numbers.strip())):
        return None, ""
    return match, numbers.strip()


def _data(policy: QosPolicy) -> dict[str, object]:
    data: dict[str, object] = {}
    if policy.ulps:
        data["qos-ulps"] = [f"{ulp.match} {ulp.numbers}".strip() + f": {ulp.sl}" for ulp in policy.ulps]
    for block in (*policy.groups, *policy.levels, *policy.rules):
        words: dict[str, list[str]] = {}
        for line in block.lines:
            words.setdefault(line.word, []).append(line.text)
        rows = data.setdefault(f"{block.kind}s", [])
        assert isinstance(rows, list)
        rows.append(words)
    return data
