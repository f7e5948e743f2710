"""P_Key and arbitration tables that a manager has written into ports, read from the running subnet and compared.

P_Key tables (InfiniBand specification 1.2.1, 14.2.5.7) against the members that partitions state; arbitration tables
(14.2.5.9) against the lanes that paths leave a port by.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lossless.analysis.opensm import questions
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.derived_policy import DEFAULT_PKEY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.opensm.run import LiveSubnet
    from lossless.model.fabric.infiniband.subnet import Member, Partition, Subnet

    Keys = Mapping[str, Collection[int]]

_PKEY_TABLE, _VL_ARBITRATION = 0x0016, 0x0018
_KEYS_A_BLOCK = 32
_LOW, _HIGH = 1, 3
"""Blocks of an arbitration table: the first 32 entries of low and of high priority."""
_FULL = 0x8000
"""The bit of a P_Key that makes a port a full member."""
_BITS: dict[str, frozenset[int]] = {
    "limited": frozenset({0}),
    "full": frozenset({_FULL}),
    "both": frozenset({0, _FULL}),
}
_WORDS = {bits: f"a {word} member" for word, bits in _BITS.items()} | {
    frozenset(): "no member",
    _BITS["both"]: "a member of both kinds",
}
_NAMED = 4
"""The most ports that a complaint names."""
_LONGEST_S = 50.0


class Questions(NamedTuple):
    """A subnet that is up, to be queried: the LID of each node and port by its GUID, and that of the ``manager``."""

    up: LiveSubnet
    lids: Mapping[int, int]
    manager: int

    def ask(self, asked: Iterable[str]) -> list[str] | None:
        """Return the responses to queries (:mod:`lossless.analysis.opensm.questions`), None where one is missing."""
        lines = list(asked)
        program = str(Path(questions.__file__).resolve())
        command = (sys.executable, "-S", "-E", program, str(self.manager))
        given = "".join(f"{line}\n" for line in lines)
        answers = self.up.ask(*command, given=given, timeout_s=_LONGEST_S).split()
        return None if len(answers) != len(lines) or "-" in answers else answers

    def path_levels(self, paths: Iterable[tuple[int, int]]) -> list[int] | None:
        """Return the service level of each path from one LID to another, None where a response is missing."""
        answers = self.ask(f"path {source} {destination}" for source, destination in paths)
        return None if answers is None else list(map(int, answers))

    def attributes(self, asked: Iterable[tuple[int, int, int]]) -> list[bytes] | None:
        """Return the data of each attribute, by GUID, attribute and modifier; None where a response is missing."""
        answers = self.ask(
            f"get {self.lids.get(guid, 0)} {attribute} {modifier}" for guid, attribute, modifier in asked
        )
        return None if answers is None else list(map(bytes.fromhex, answers))


def questions_to(up: LiveSubnet, manager_guid: int) -> Questions:
    """Return the client that queries a subnet that is up, with the LIDs that opensm has dumped."""
    lines = (line.split() for line in up.text("guid2lid").splitlines() if line.strip())
    lids = {int(words[0], 16): int(words[1], 16) for words in lines}
    return Questions(up, lids, lids.get(manager_guid, 0))


def partition_complaints(subnet: Subnet, asking: Questions) -> Iterator[str]:
    """Yield the differences between P_Key tables of HCAs and the declared partitions, or that tables are unreadable.

    Nothing is yielded if HCAs or partitions are unknown, or no partitions are declared.
    """
    partitions = subnet.partitions
    if isinstance(partitions, Unknown) or partitions is None or isinstance(subnet.hcas, Unknown):
        return
    blocks = -(-(2 * len(partitions) + 2) // _KEYS_A_BLOCK)
    asked = [(hca.guid or 0, _PKEY_TABLE, block) for hca in subnet.hcas for block in range(blocks)]
    answers = asking.attributes(asked)
    if answers is None:
        yield "P_Key tables of HCAs could not be read"
        return
    held: dict[str, set[int]] = {hca.name: set() for hca in subnet.hcas}
    for place, data in enumerate(answers):
        keys = (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
        held[subnet.hcas[place // blocks].name].update(filter(None, keys))
    for partition in partitions:
        yield from _of_partition(subnet, partition, held)


def _of_partition(subnet: Subnet, partition: Partition, held: Keys) -> Iterator[str]:
    base = partition.base or (DEFAULT_PKEY if partition.name == "Default" else None)
    if base is None:
        return
    meant = _meant(subnet, partition)
    otherwise = []
    for hca, keys in held.items():
        now = frozenset(key & _FULL for key in keys if key & ~_FULL == base)
        # opensm makes every port a limited member of the default partition, whatever the file says.
        unstated = _BITS["limited"] if base == DEFAULT_PKEY and hca not in meant else frozenset()
        if now != meant.get(hca, frozenset()) and now != unstated:
            otherwise.append(((meant.get(hca, frozenset()), now), hca))
    for (stated, now), hcas in grouped(otherwise).items():
        each = f", {joined(hcas, _NAMED)}," if len(hcas) > 1 else ""
        count = hcas[0] if len(hcas) == 1 else f"each of {len(hcas)} HCAs"
        yield f"{count}{each} is {_WORDS[now]} of {partition.name}, P_Key {base:#06x}; meant is {_WORDS[stated]}"


def _meant(subnet: Subnet, partition: Partition) -> dict[str, frozenset[int]]:
    """Return the HCAs that a partition names, each with the membership bits of the last entry about it."""
    return {hca: _BITS[member.membership] for member in partition.members for hca in _named(subnet, member)}


def _named(subnet: Subnet, member: Member) -> Iterator[str]:
    if isinstance(subnet.hcas, Unknown):
        return
    seats = {manager.hca for manager in subnet.managers if not manager.standby}
    for hca in subnet.hcas:
        if (
            member.word in ("ALL", "ALL_CAS")
            or (member.word == "SELF" and hca.name in seats)
            or (member.word is None and (member.hca == hca.name or member.guid == hca.guid))
        ):
            yield hca.name


class Sender(NamedTuple):
    """A port by which paths leave: its kind, the GUID for queries, its number, its name, and the paths' lanes."""

    kind: Literal["switches", "HCAs"]
    guid: int
    port: int
    name: str
    lanes: frozenset[int]


def weight_complaints(senders: Sequence[Sender], asking: Questions) -> Iterator[str]:
    """Yield the lanes of paths without weight in either arbitration table of a port, or that tables are unreadable."""
    asked = [
        (sender.guid, _VL_ARBITRATION, block << 16 | sender.port)
        for sender in senders
        for block in (_LOW, _HIGH)
    ]
    answers = asking.attributes(asked)
    if answers is None:
        yield "arbitration tables could not be read"
        return
    starved = []
    for sender, low, high in zip(senders, answers[::2], answers[1::2], strict=True):
        table = low + high
        served = {table[at] & 0x0F for at in range(0, len(table), 2) if table[at + 1]}
        if sender.lanes - served:
            starved.append(((sender.kind, tuple(sorted(sender.lanes - served))), sender.name))
    for (kind, lanes), names in grouped(starved).items():
        have = "has" if len(lanes) == 1 else "have"
        vls = f"VL {joined(map(str, lanes))} {have} no weight at {len(names)} ports of {kind}"
        yield f"{vls}, and paths leave by it: {joined(names, _NAMED)}"
