"""The commands of a configuration session of EOS: first the new settings, then the removals.

A session copies the running configuration, takes commands, and is committed at once, with a timer that rolls back by
itself (Arista, User Manual, "Configure Session", arista.com/en/um-eos/eos-configure-session: ``commit timer``,
``abort``, ``show session-config diffs``). A line is negated as it is printed; ``default`` gives a port its own value
back, where ``no`` means that it trusts no mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.command_changes import as_text, block, new_commands
from lossless.formats.switches.eos.read.running_config import config_of
from lossless.ground.basics.natural_order import natural_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.eos.read.rows import EosConfig, Key, Settings
    from lossless.ground.documents.document import Document

_INDENT = "   "
_PFC = "priority-flow-control"
_OF_SWITCH = {
    "dscp": "no qos map dscp {}",
    "cos": "no qos map cos {}",
    "tx-queue": "qos map traffic-class {0} to tx-queue {0}",
}
_OF_QUEUE = {
    "strict": "no priority",
    "percent": "no bandwidth percent",
    "guaranteed": "no bandwidth guaranteed",
    "ecn": "no random-detect ecn",
}


def session(running: Document, wanted: Document) -> tuple[str, ...]:
    """Return the commands that turn a running configuration into the wanted one; ports without a mention stay.

    Raises:
        InputError: a configuration is no text.
    """
    old, new = as_text(running), as_text(wanted)
    before, after = config_of(old), config_of(new)
    added = new_commands(old, new, _INDENT)
    return (*added, *_gone(before, after))


def _gone(before: EosConfig, after: EosConfig) -> Iterator[str]:
    yield from (line for key in before.switch if key not in after.switch for line in _of_switch(key))
    for name in sorted(before.interfaces.keys() & after.interfaces.keys(), key=natural_key):
        own, new = before.interfaces[name], after.interfaces[name]
        yield from block((f"interface {name}",), [*_of_port(own, new, "default")], _INDENT)
        yield from _of_queues((f"interface {name}",), own, new)
    kept = {_profile(own) for name, own in before.interfaces.items() if name not in after.interfaces}
    for name, own in before.profiles.items():
        if name in after.profiles:
            opening = (f"qos profile {name}",)
            yield from block(opening, [*_of_port(own, after.profiles[name], "no")], _INDENT)
            yield from _of_queues(opening, own, after.profiles[name])
        elif name not in kept:
            yield f"no qos profile {name}"


def _profile(settings: Settings) -> str:
    bound = settings.get(("profile",))
    return str(bound.value) if bound is not None else ""


def _of_switch(key: Key) -> Iterator[str]:
    if key[0] in _OF_SWITCH and len(key) > 1:
        yield _OF_SWITCH[str(key[0])].format(key[1])
    elif key[0] == "watchdog":
        yield f"no {_PFC} pause watchdog {'action' if key[1] == 'action' else f'default {key[1]}'}"
    elif key[0] == "all-off":
        yield f"no {_PFC} all off"


def _of_port(own: Settings, new: Settings, back: str) -> Iterator[str]:
    """Yield the commands that remove the settings of a port or a profile that it no longer has."""
    gone = {key: setting.value for key, setting in own.items() if key not in new}
    for key, value in gone.items():
        if key[0] == "no-drop" and value:
            yield f"no {_PFC} priority {key[1]} no-drop"
        elif key == ("pfc",):
            yield f"{back} {_PFC}"
        elif key == ("watchdog",):
            yield f"{_PFC} pause watchdog"
        elif key == ("trust",):
            yield "default qos trust"
        elif key == ("profile",) and value is not None:
            yield "no service-profile"
    if any(key[:1] == ("watchdog",) and key[1:] not in ((), ("action",)) for key in gone):
        yield f"no {_PFC} pause watchdog port timer"
    if ("watchdog", "action") in gone:
        yield f"no {_PFC} pause watchdog port action"


def _of_queues(opening: tuple[str, ...], own: Settings, new: Settings) -> Iterator[str]:
    for number in sorted({int(key[1]) for key in own if key[0] == "queue" and len(key) > 1}):
        lines = [
            line
            for word, line in _OF_QUEUE.items()
            if (key := ("queue", number, word)) in own and key not in new and own[key].value
        ]
        yield from block((*opening, f"uc-tx-queue {number}"), lines, _INDENT)
