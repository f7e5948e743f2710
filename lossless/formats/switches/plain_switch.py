"""Common parts of switches of all dialects: their configurations do not declare buffers, hardware and neighbors.

Commands of a configuration that another one lacks, mode by mode: the input of a configuration session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.command_lines import CommandDocument
from lossless.model.fabric.model import ClassSet, Switch, SwitchQos, TrafficClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.command_lines import Command
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Port, WatchdogPoll


def plain_switch(
    name: str, ports: tuple[Port, ...], poll: WatchdogPoll, rdma_dscps: tuple[int, ...], origin: Origin
) -> Switch:
    """Return a switch of these ports; ``rdma_dscps`` names the DSCPs that must be lossless."""
    return Switch(
        name=name,
        tier=UNKNOWN,
        hwsku_name=UNKNOWN,
        profile=None,
        hwsku=None,
        classes=_classes(ports, rdma_dscps, origin),
        ports=ports,
        demand=(),
        qos=SwitchQos(
            buffer_model="traditional",
            pools=(),
            poll=poll,
            counters=(),
            global_dscp_map=None,
            database_version=None,
            headroom_oversubscription=None,
            storage_backend=False,
            voq=False,
            origin=origin,
        ),
        origin=origin,
    )


def _classes(ports: Sequence[Port], rdma_dscps: tuple[int, ...], origin: Origin) -> ClassSet:
    """Return the class of DSCPs that are named, else a lossless class for each priority that some port pauses."""
    if rdma_dscps:
        named = TrafficClass("rdma", rdma_dscps, rest=False, priority=None, lossless=True, origin=origin)
        return ClassSet("named", (named,))
    dscps: dict[int, set[int]] = {}
    for qos in {id(port.qos): port.qos for port in ports if port.qos and port.admin_up is not False}.values():
        for priority in qos.pfc.priorities:
            sources = qos.dscp_to_tc.sources(qos.pausing_group(priority)) if qos.dscp_to_tc else ()
            dscps.setdefault(priority, set()).update(sources)
    return ClassSet(
        "inferred",
        tuple(
            TrafficClass(
                f"priority {p}", tuple(sorted(of)), rest=False, priority=p, lossless=True, origin=origin
            )
            for p, of in sorted(dscps.items())
        ),
    )


def as_text(document: Document) -> CommandDocument:
    """Return a configuration that is text.

    Raises:
        InputError: it is structured, and does not say which lines the switch has.
    """
    if not isinstance(document, CommandDocument):
        says = "structured; a session is made for the text that the switch prints: name its running configuration"
        raise InputError([Problem(document.file, None, None, says)])
    return document


def new_commands(running: CommandDocument, wanted: CommandDocument, indent: str) -> Iterator[str]:
    """Yield the commands of ``wanted`` that ``running`` does not have, each below the commands that open its mode.

    A text as a switch prints it has each setting once, so a command that both have is not new.
    """
    known = {command.path for top in running.top for command in (top, *top.all())}
    for command in wanted.top:
        yield from _new(command, known, indent, 0)


def _new(command: Command, known: set[tuple[str | int, ...]], indent: str, depth: int) -> Iterator[str]:
    below = [line for each in command.below for line in _new(each, known, indent, depth + 1)]
    if below or command.path not in known:
        yield f"{indent * depth}{command.text}"
        yield from below


def block(opening: Sequence[str], commands: Sequence[str], indent: str) -> Iterator[str]:
    """Yield commands below those that open their mode; none if there are no commands."""
    if commands:
        yield from (f"{indent * depth}{line}" for depth, line in enumerate(opening))
        yield from (f"{indent * len(opening)}{line}" for line in commands)
