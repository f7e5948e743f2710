"""Reads partitions.conf and qos-policy.conf as opensm does.

partitions.conf has ``NAME=PKEY,flag,flag=value : member, member=full ;``, each over one or several lines. The part
before the colon is on the line of the colon. For an error opensm discards the whole file and makes every port a full
member of the default partition; it skips unknown flags without a message. Grammar: opensm/osm_prtn_config.c of
linux-rdma/opensm @048c66e, and runs of opensm 3.3.23, which also has indx0.

qos-policy.conf has sections with an end each, ``word: value`` in them, ``#`` before a comment. For a single mistake
opensm discards the whole file: ERR AC05 and AC03 in its log, and no policy holds. Read line by line, as its guide
requires (doc/QoS_management_in_OpenSM.txt of linux-rdma/opensm @080e3ad): a keyword is the first word of its line.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
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
from lossless.model.fabric.infiniband.subnet import Member, Partition, c_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Membership


LINE_BYTES = 4094
"""Most bytes of a line that opensm reads in one piece: a longer list of members is cut within a GUID. From runs."""

WORDS = ("NONE", "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF")
"""Words for members, in the order in which opensm compares them; it accepts an abbreviation of each."""

GROUP_FLAGS = ("mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel")
"""Flags of a multicast group, in the order in which opensm tries them."""

FLAGS = (*GROUP_FLAGS, "ipoib", "indx0", "defmember")
"""Flags of a definition, in the order in which opensm tries them."""

_GROUP = "mgid"
_IP_GROUPS = (b"\x40\x1b", b"\x60\x1b")
"""Bytes 2 and 3 of the groups of IPv4 and IPv6."""
_OF_GROUPS = {"rate": 3, "mtu": 4}
"""The codes of a partition's groups where it declares none."""

_MEMBERSHIPS: tuple[Membership, ...] = ("full", "both", "limited")
_MOST_OF_FLAG = {"mtu": 2**32 - 1, "rate": 2**32 - 1, "scope": 15, "sl": 15}
"""The largest accepted number of each flag; 0 is accepted for sl alone."""
_OPEN = "opensm gives up the whole file and makes every port a full member of the default partition"


class _MemberEntry(NamedTuple):
    """A flag or member, ``name=value``, by offsets in the text; ``value`` is None where there is no equals sign."""

    name: tuple[int, int]
    value: tuple[int, int] | None


class _PartitionReader:
    """Reads one partitions.conf; ``name`` is the key of the partition being read, empty between two partitions."""

    def __init__(self, file: str, text: str) -> None:
        self.marks = Marks(file, text)
        self.text = self.marks.text
        self.partitions: dict[str, Partition] = {}
        self.times: Counter[str] = Counter()
        self.name = ""

    def read(self) -> None:
        foreign = carriage_return(self.text)
        if foreign is not None:
            self.marks.wrong(
                foreign, f"a carriage return, as Windows ends its lines, is taken for a member here: {_OPEN}"
            )
        for start, line in lines_of(self.text):
            if len(line) > LINE_BYTES // 4 and len(line.encode()) > LINE_BYTES:
                self.marks.wrong(
                    start + LINE_BYTES, f"a line of more than {LINE_BYTES} bytes is cut here: {_OPEN}"
                )
            self._line(start, start + len(line.partition("#")[0]))

    def _line(self, start: int, end: int) -> None:
        while start < end:
            stop = self.text.find(";", start, end)
            last = stop < 0
            at = trimmed(self.text, start, end if last else stop)
            if at[0] < at[1] and not self._statement(*at):
                return
            if not last:
                self.name = ""
            start = end if last else stop + 1

    def _statement(self, start: int, end: int) -> bool:
        """Read a partition's definition with its members, or more members; return whether the definition is valid."""
        if not self.name:
            colon = self.text.find(":", start, end)
            if colon < 0:
                self.marks.wrong(
                    start, f"a partition's definition ends with a colon on its line; without one {_OPEN}"
                )
                return False
            if not self._definition(start, colon):
                return False
            start = colon + 1
        entries = list(_entries(self.text, start, end))
        for number, entry in enumerate(entries):
            if self._of(entry.name) == _GROUP:
                # opensm takes all that follows on the line for flags of the group.
                self._group(entry, entries[number + 1 :])
                break
            self._member(entry)
        return True

    def _group(self, entry: _MemberEntry, flags: list[_MemberEntry]) -> None:
        """Read a multicast group. A value that opensm ignores is a mistake; opensm does not discard the file for it."""
        at, address = entry.value or entry.name, _multicast(self._value(entry) or "")
        if address is None:
            says = f"{self._of(at)!r} is no multicast address, as ff12:401b::1 is one: opensm makes no group"
            self.marks.wrong(at[0], says)
        for flag in flags:
            self._group_flag(flag, is_ip=address is not None and address[2:4] in _IP_GROUPS)

    def _group_flag(self, entry: _MemberEntry, *, is_ip: bool) -> None:
        word, text, partition = self._of(entry.name), self._value(entry), self.partitions[self.name]
        name = next((flag for flag in GROUP_FLAGS if word and flag.startswith(word)), None)
        number = None if text is None else c_number(text)
        if name is None:
            says = f"{word!r} is no flag of a group, and opensm skips it; it knows {_or(GROUP_FLAGS)}"
            self.marks.wrong(entry.name[0], says)
        elif number is None or (name in _MOST_OF_FLAG and not _is_taken(name, number)):
            self._skipped(entry, _expected(name))
        elif is_ip and name in _OF_GROUPS:
            stated = (partition.rate if name == "rate" else partition.mtu) or _OF_GROUPS[name]
            if number != stated:
                says = f"{name} {number} is not that of the partition, {stated}: opensm makes no group"
                self.marks.wrong((entry.value or entry.name)[0], says)

    def _definition(self, start: int, end: int) -> bool:
        first, *flags = _entries(self.text, start, end)
        name, number = self._of(first.name), first.value
        if number is None and name[:1].isdigit():
            name, number = "", first.name
        pkey = None if number is None else c_number(self._of(number))
        if number is not None and pkey is None:
            says = f"{self._of(number)!r} is no P_Key; expected a number as 0x8001: {_OPEN}"
            self.marks.wrong(number[0], says)
            return False
        self.name = self._named(name or (f"{pkey:#06x}" if pkey is not None else "unnamed"))
        self.marks.mark((self.name,), start, end, first.name)
        if number is not None:
            self.marks.mark((self.name, "pkey"), *number)
        # A P_Key has 16 bits: opensm takes the low ones.
        pkey = None if pkey is None else pkey & 0xFFFF
        origin = Origin(self.marks.file, (self.name,))
        self.partitions[self.name] = Partition(
            name, pkey, False, False, None, None, None, "limited", (), origin
        )
        for flag in flags:
            self._flag(flag)
        return True

    def _named(self, name: str) -> str:
        """Return the key of a partition in the document; a name that occurs again gets a number."""
        times = self.times[name]
        key = f"{name}#{times + 1}" if times else name
        self.times.update({name, key})
        return key

    def _flag(self, entry: _MemberEntry) -> None:
        word, text = self._of(entry.name), self._value(entry)
        name = next((flag for flag in FLAGS if word and flag.startswith(word)), None)
        if name is None:
            self.marks.wrong(
                entry.name[0], f"opensm knows no flag {word!r} and skips it; it knows {_or(FLAGS)}"
            )
        elif name in ("ipoib", "indx0"):
            self._set(entry, name, **{"index0" if name == "indx0" else name: True})
        elif name == "defmember":
            membership = _membership(text)
            if membership is None:
                self._skipped(entry, "limited, full or both")
            else:
                self._set(entry, "default", default=membership)
        elif name in _MOST_OF_FLAG:
            self._number(entry, name, text)

    def _number(self, entry: _MemberEntry, name: str, text: str | None) -> None:
        number = None if text is None else c_number(text)
        if number is None or not _is_taken(name, number):
            self._skipped(entry, _expected(name))
        else:
            self._set(entry, name, **{name: number})

    def _skipped(self, entry: _MemberEntry, expected: str) -> None:
        at = entry.value or entry.name
        says = f"{self._of(at)!r} is no {self._of(entry.name)}; expected {expected}: opensm skips it"
        self.marks.wrong(at[0], says)

    def _set(self, entry: _MemberEntry, place: str, **fields: object) -> None:
        self.marks.mark((self.name, place), *(entry.value or entry.name), entry.name)
        self.partitions[self.name] = self.partitions[self.name]._replace(**fields)  # type: ignore[arg-type]

    def _member(self, entry: _MemberEntry) -> None:
        word = self._of(entry.name)
        partition = self.partitions[self.name]
        if not word or "NONE".startswith(word):
            return
        name = next((known for known in WORDS if known.startswith(word)), None)
        guid = c_number(word) if name is None else None
        if name is None and not guid:
            self.marks.wrong(entry.name[0], f"{word!r} is no GUID and none of {_or(WORDS)}: {_OPEN}")
            return
        path = (self.name, "members", len(partition.members))
        self.marks.mark(path, *entry.name)
        member = Member(None, guid, name, self._as_member(entry), Origin(self.marks.file, path))
        self.partitions[self.name] = partition._replace(members=(*partition.members, member))

    def _as_member(self, entry: _MemberEntry) -> Membership:
        text = self._value(entry)
        if text is None:
            return self.partitions[self.name].default
        membership = _membership(text)
        if membership is None:
            assert entry.value is not None
            self.marks.wrong(
                entry.value[0],
                f"{text!r} is no membership, so opensm takes limited; it knows full, both, limited",
            )
        return membership or "limited"

    def _value(self, entry: _MemberEntry) -> str | None:
        return None if entry.value is None else self._of(entry.value)

    def _of(self, at: tuple[int, int]) -> str:
        return self.text[slice(*at)]


def read_partitions(text: str, file: str) -> tuple[Document, tuple[Partition, ...]]:
    """Return the document of a partitions.conf, and its partitions.

    Paths of the document are (name,), (name, "pkey"), (name, "members", 0) and so on.
    """
    reader = _PartitionReader(file, text)
    reader.read()
    data = {name: _data(partition) for name, partition in reader.partitions.items()}
    return reader.marks.document(data), tuple(reader.partitions.values())


def looks_like_partitions(text: str) -> bool:
    """Return whether a text is a partitions.conf: half or more of its partitions have a part that no other text has."""
    if ":" not in text or ";" not in text:
        return False
    _, partitions = read_partitions(text, "")
    return 0 < len(partitions) <= 2 * sum(map(_is_meant, partitions))


def _is_meant(partition: Partition) -> bool:
    """Return whether a partition has a part that no other text has: a P_Key, a word for members, or a long GUID."""
    guids = (member.guid for member in partition.members)
    known = any(member.word is not None for member in partition.members)
    return partition.pkey is not None or known or any(guid is not None and guid > 2**32 for guid in guids)


def _entries(text: str, start: int, end: int) -> Iterator[_MemberEntry]:
    while True:
        comma = text.find(",", start, end)
        stop = end if comma < 0 else comma
        equals = text.find("=", start, stop)
        if equals < 0:
            yield _MemberEntry(trimmed(text, start, stop), None)
        else:
            yield _MemberEntry(trimmed(text, start, equals), trimmed(text, equals + 1, stop))
        if comma < 0:
            return
        start = comma + 1


def _membership(text: str | None) -> Membership | None:
    return next((known for known in _MEMBERSHIPS if text and known.startswith(text)), None)


def _is_taken(name: str, number: int) -> bool:
    return (name == "sl" and number == 0) or 0 < number <= _MOST_OF_FLAG[name]


def _expected(name: str) -> str:
    return "a number from 0 to 15" if name in ("sl", "scope") else "the number of a code"


def _multicast(text: str) -> bytes | None:
    """Return the bytes of a multicast address, which InfiniBand writes as IPv6 does; None for other text."""
    from socket import AF_INET6, inet_pton

    try:
        address = inet_pton(AF_INET6, text)
    except (OSError, ValueError):
        return None
    return address if address[0] == 0xFF else None


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _data(partition: Partition) -> dict[str, object]:
    stated = {
        "pkey": partition.pkey,
        "rate": partition.rate,
        "mtu": partition.mtu,
        "sl": partition.sl,
        "scope": partition.scope,
        "ipoib": partition.ipoib or None,
        "indx0": partition.index0 or None,
        "default": partition.default,
        "members": [member.word or f"{member.guid:#018x}" for member in partition.members],
    }
    return {key: value for key, value in stated.items() if value is not None}


_NONE = "opensm refuses the whole file, and no policy holds"
_NUMBER = r"(?:0[xX][0-9a-fA-F]+|[0-9]+)"
_RANGES = re.compile(rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?(?:\s*,\s*{_NUMBER}(?:\s*-\s*{_NUMBER})?)*")
_RANGED = frozenset({"port-guid", "pkey", "service-id", "qos-class", "path-bits"})
_MOST_OF_LEVEL = {"sl": 15, "mtu-limit": None, "rate-limit": None, "packet-life": None, "vl-high-limit": None}
"""Words of qos-policy.conf with one number, and the largest that opensm accepts, None where it checks none."""


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
        head = self.text[start : max(colon, start)].strip()
        first, comma, rest = head.partition(",")
        head = f"{first.rstrip()}, {rest.lstrip()}" if comma else head
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
    """Return the document of a qos-policy.conf, and its policy; a line has a path like ("qos-levels", 0, "sl", 0)."""
    reader = _PolicyReader(file, text)
    reader.read()

    def of(kind: str) -> tuple[PolicyBlock, ...]:
        return tuple(block for block in reader.blocks if block.kind == kind)

    policy = QosPolicy(
        tuple(reader.ulps), of("port-group"), of("qos-level"), of("qos-match-rule"), Origin(file)
    )
    return reader.marks.document(_policy_data(policy)), policy


def looks_like_policy(text: str) -> bool:
    """Return whether a text is a qos-policy.conf: its first line is that of a section."""
    first = re.search(r"^[ \t]*+([^#\s].*)", text, re.MULTILINE)
    return first is not None and first[1].partition("#")[0].strip() in SECTIONS[""]


def _problem(word: str, text: str) -> str:
    """Return why the value of a word of qos-policy.conf is invalid, empty where it is valid."""
    if not text:
        return f"{word} has no value"
    if word in _RANGED and not _RANGES.fullmatch(text):
        return f"{text!r} is no {word}; expected numbers or ranges as 0x10-0x1f, commas between"
    if word in _MOST_OF_LEVEL:
        number, most = c_number(text), _MOST_OF_LEVEL[word]
        if number is None or number < 0 or (most is not None and number > most):
            return f"{text!r} is no {word}; expected a number{f' from 0 to {most}' if most else ''}"
    return ""


def _ulp_match(head: str) -> tuple[str | None, str]:
    """Return the match and the numbers of a line of qos-ulps; None and empty for a match that opensm does not have."""
    protocol, comma, rest = head.partition(", ")
    what, _, numbers = rest.partition(" ")
    match = protocol.strip().lower() + (f", {what}" if comma else "")
    if match not in MATCHES or bool(comma) != bool(_RANGES.fullmatch(numbers.strip())):
        return None, ""
    return match, numbers.strip()


def _policy_data(policy: QosPolicy) -> dict[str, object]:
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
