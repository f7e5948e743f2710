"""The sessions by which switches of systems other than SONiC get another configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.checks.plan.systems import PlannedSession, SystemSwitch
from lossless.formats.device_files.environment import render_template
from lossless.formats.device_files.other_systems import other_files
from lossless.formats.switches.meaning import differences, meaning
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.errors import RenderError

if TYPE_CHECKING:
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Switch


def system_of(target: Switch, running: Switch, document: Document | None) -> SystemSwitch:
    """Return a switch with the session commands of its system; ``document`` is its running configuration, if read."""
    writer = _SessionWriter(target, running, document)
    system = dialect(target.format)
    silent = frozenset(system.not_applicable)
    return SystemSwitch(
        TITLES[target.format],
        running,
        target,
        silent,
        system.carrying.drained,
        writer.refused,
        writer.session,
    )


def differing(target: Switch, running: Switch) -> frozenset[str]:
    """Return the parts whose behavior differs between a switch that was read and its target, by its system's rules."""
    return frozenset(
        difference.part for difference in differences(target, running, dialect(target.format).losses)
    )


def told_of(document: Document, running: Switch) -> str:
    """Return as text the part of a configuration that a session depends on: the switch's behavior, and its names."""
    system = dialect(document.dialect)
    names = system.session(document, system.document("", document.file))
    said = meaning(running, system.losses)
    return json.dumps([[sorted(map(repr, own.items())) for own in said], names])


class _SessionWriter:
    """Writes the configurations that a switch has on the way, and the commands between two of them."""

    def __init__(self, target: Switch, running: Switch, document: Document | None) -> None:
        self._system = dialect(target.format)
        self._file = self._system.files(target)[0].name
        self._running, self._document = running, document

    def refused(self, switch: Switch) -> tuple[str, ...]:
        """Return the reasons why the system has no configuration for a switch; the running switch always has one."""
        if switch is self._running:
            return ()
        try:
            other_files(switch)
        except RenderError as error:
            return tuple(error.lines)
        return ()

    def session(self, before: Switch, after: Switch) -> PlannedSession:
        """Return the session between two states."""
        texts = self._read(before), self._read(after)
        carrying = self._system.carrying
        runs = {
            "begin": carrying.begin,
            "commands": (f"the commands of {carrying.file}",),
            "commit": carrying.commit,
            "check": carrying.check,
            "confirm": carrying.confirm,
            "back": carrying.back,
        }
        undo = self._system.session(texts[1], texts[0])
        return PlannedSession(carrying.file, self._system.session(*texts), undo, runs, carrying.why)

    def _read(self, switch: Switch) -> Document:
        if switch is self._running and self._document is not None:
            return self._document
        file = self._system.files(switch)[0]
        return self._system.document(render_template(file.template, file.content), file.name)
