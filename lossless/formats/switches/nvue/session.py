"""The commands that give NVUE another configuration: ``nv set`` for new settings, ``nv unset`` for removed ones.

Commands make a pending revision, ``nv config diff`` shows it, and ``nv config apply`` brings all of it in; with
``--confirm`` it rolls back by itself unless ``nv config confirm`` follows (NVIDIA, Cumulus Linux guides, "NVIDIA User
Experience - NVUE", "Configuration Management Commands"). ``nv unset`` removes the setting that the same ``nv set`` made
(NVUE reference, "QoS").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.nvue.from_model.commands import commands
from lossless.formats.switches.nvue.read.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nvue.read.tree import Node
    from lossless.ground.documents.document import Document

_PROFILED = ("mapping", "pfc", "congestion-control", "egress-scheduler")
_OWN = ("roce", "traffic-pool", *_PROFILED, "egress-queue-mapping", "pfc-watchdog")
"""The parts of QoS that are written; all others stay."""
_ADAPTIVE = "adaptive-routing"
_LISTS = frozenset({("pfc", "switch-priority"), ("traffic-pool", "switch-priority")})
"""Kinds of profiles, each with a word of theirs that several values may follow."""


def session(running: Document, wanted: Document) -> tuple[str, ...]:
    """Return the commands that turn a running configuration into the wanted one; ports without a mention stay."""
    before, after = tree_of(running), tree_of(wanted)
    unset = (f"nv unset {' '.join(path)}" for path in _gone(before, after))
    return (*commands(_new(before, after)), *unset)


def _new(before: Node | None, after: Node) -> dict[str, Any]:
    """Return the settings that a tree has and another lacks, as data."""
    new: dict[str, Any] = {}
    for word, node in after.below.items():
        old = before.below.get(word) if before is not None else None
        below = _new(old, node)
        if below or old is None or old.removed:
            new[word] = below
    return new


def _gone(before: Node, after: Node) -> Iterator[tuple[str, ...]]:
    ports_before, ports_after = before.at("interface"), after.at("interface")
    ports = ports_before.below if ports_before is not None else {}
    wanted = ports_after.below if ports_after is not None else {}
    yield from _of_word(before.at("router"), after.at("router"), _ADAPTIVE, ("router",))
    for name in ports:
        if name in wanted:
            old, new = ports[name].at("router"), wanted[name].at("router")
            yield from _of_word(old, new, _ADAPTIVE, ("interface", name, "router"))
            for word in (*_PROFILED, "pfc-watchdog"):
                yield from _of_word(
                    ports[name].at("qos"), wanted[name].at("qos"), word, ("interface", name, "qos")
                )
    bound = {
        (kind, profile)
        for name, port in ports.items()
        if name not in wanted
        for kind in _PROFILED
        if (profile := port.value("qos", kind, "profile")) is not None
    }
    for word in _OWN:
        for path in _of_word(before.at("qos"), after.at("qos"), word, ("qos",)):
            yield from () if path[1:] in bound else (path,)


def _of_word(
    before: Node | None, after: Node | None, word: str, path: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    old = before.at(word) if before is not None else None
    new = after.at(word) if after is not None else None
    if old is None or old.removed:
        return
    if new is None and (word not in _PROFILED or path[0] == "interface"):
        yield (*path, word)
        return
    yield from _below(old, new, (*path, word))


def _below(old: Node, new: Node | None, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the shortest paths that the new tree has not; a value that another one takes the place of stays out."""
    for word, node in old.below.items():
        if node.removed:
            continue
        following = new.below.get(word) if new is not None else None
        if following is None:
            is_listed = (path[1:2] + path[-1:]) in _LISTS
            if node.below or new is None or not new.below or is_listed:
                yield (*path, word)
        else:
            yield from _below(node, following, (*path, word))
