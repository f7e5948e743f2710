"""Configurations as lines, what is damaged in them, and what a port then does."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

RDMA = 26
LARGEST_FRAME = 4178
"""Bytes of the largest frame of RoCEv2: 4,096 of payload, and Ethernet, IPv4, UDP, BTH, ICRC and FCS around it."""

Lines = list[str]


class Port(NamedTuple):
    """What a port does with the DSCP.

    ``lossy`` is why no pause protects it, empty where one does; ``unclear`` why that depends on what the text does not
    say, and an intent may. ``outside``: nothing of the port is about PFC, so that it is not meant to carry RDMA.
    ``beside`` is a fault that PFC does not prevent, ``against`` one that only an intent shows.
    """

    lossy: str = ""
    unclear: str = ""
    watched: bool = True
    marks: bool = True
    outside: bool = False
    beside: str = ""
    against: str = ""


class Site(NamedTuple):
    """Where a damage is done: the lines of a switch, the chosen ports, and the source of random choices."""

    lines: Lines
    ports: Sequence[str]
    rng: random.Random

    def then(self, damage: Damage) -> Site:
        """Return the same place after a damage."""
        return self._replace(lines=damage(self))


class System(NamedTuple):
    """One system: its hardware in an intent, its file, what provisioning adds, its reader and its damages."""

    hardware: str
    file: str
    provisioned: Callable[[Lines], Lines]
    ports_of: Callable[[Lines], dict[str, Port]]
    ports: Callable[[Lines], list[str]]
    damages: dict[str, Damage]


Damage = Callable[[Site], Lines]
"""Returns the lines of a switch after a damage."""


def blocks(lines: Sequence[str]) -> list[Lines]:
    """Return commands with what is indented below them."""
    made: list[Lines] = []
    for line in lines:
        if made and line[:1] == " ":
            made[-1].append(line)
        else:
            made.append([line])
    return made


def joined(made: Sequence[Lines]) -> Lines:
    """Return the lines of blocks."""
    return [line for block in made for line in block]


def in_blocks(head: str, change: Callable[[Lines], Lines]) -> Damage:
    """Return a damage to every block whose first line matches."""

    def damage(at: Site) -> Lines:
        return joined(
            [change(block) if re.fullmatch(head, block[0]) else block for block in blocks(at.lines)]
        )

    return damage


def at_ports(change: Callable[[Lines], Lines]) -> Damage:
    """Return a damage to the blocks of interfaces."""

    def damage(at: Site) -> Lines:
        heads = {f"interface {port}" for port in at.ports}
        return joined([change(block) if block[0] in heads else block for block in blocks(at.lines)])

    return damage


def without(pattern: str) -> Callable[[Lines], Lines]:
    """Return a change that takes lines out."""
    return lambda block: [line for line in block if not re.fullmatch(pattern, line.strip())]


def replaced(pattern: str, text: str) -> Callable[[Lines], Lines]:
    """Return a change that writes lines again."""
    return lambda block: [
        re.sub(r"\S.*", text, line) if re.fullmatch(pattern, line.strip()) else line for line in block
    ]


def extended(*added: str) -> Callable[[Lines], Lines]:
    """Return a change that adds lines at the end."""
    return lambda block: [*block, *added]


def everywhere(change: Callable[[Lines], Lines]) -> Damage:
    """Return a damage to all lines of a switch."""
    return lambda at: change(at.lines)


def after_first(*added: str) -> Damage:
    """Return a damage that adds lines below the first one."""
    return lambda at: [at.lines[0], *added, *at.lines[1:]]


def shuffled(fixed: str) -> Damage:
    """Return a damage, harmless, that changes the order of blocks that do not match."""

    def damage(at: Site) -> Lines:
        made = blocks(at.lines)
        moved = [block for block in made if not re.match(fixed, block[0])]
        at.rng.shuffle(moved)
        rest = iter(moved)
        return joined([block if re.match(fixed, block[0]) else next(rest) for block in made])

    return damage


def numbers_of(text: str) -> set[int]:
    """Return the numbers of a list with ranges."""
    found: set[int] = set()
    for part in re.split(r"[ ,]+", text.strip(" ,")):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def last(lines: Sequence[str], pattern: str) -> re.Match[str] | None:
    """Return the match of the last line that fits."""
    matches = [match for line in lines if (match := re.fullmatch(pattern, line))]
    return matches[-1] if matches else None
