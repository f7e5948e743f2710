"""Transcripts: the commands in a text, and the properties of printed values that follow from a command.

``show ... watermark`` prints the watermarks since the last user clear, ``persistent-watermark`` those since the last
clear of the persistent ones (sonic-utilities scripts/watermarkstat @2a5c132).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.state.readings import CountedSince

_PROMPT = re.compile(
    r"(?:\[?(?P<user>[\w.-]+)@(?P<host>[\w.-]+)(?::[^#$>]*|[^\]#$>:]*\])?\s*[#$>]|(?P<name>[\w.-]+)[#>]|[#$]|==>)"
    r"\s*(?P<command>\S.*)"
)
_KNOWN = re.compile(
    r"(?:sudo\s+)?(?:/usr/(?:local/)?bin/)?"
    r"(?:show|clear|sonic-clear|config|portstat|pfcstat|queuestat|wredstat|watermarkstat|pfcwd|pfc|ecnconfig|mmuconfig"
    r"|counterpoll|dropstat|dropconfig|pg-drop|intfstat|switchstat|fabricstat|trimstat|sonic-db-cli|sonic-db-dump"
    r"|redis-cli|redis-dump|gnmi_get|gnmic|date|uptime|cat)\b"
)
_NAMESPACE = re.compile(r"(?:-n|--namespace)[ =]([A-Za-z]+[0-9]+)\b")
_PERSISTENT = re.compile(r"persistent-watermark|watermarkstat\b.* (?:-\w*p\w*|--persistent)\b")
_SINGLE_LETTER = re.compile(r"^(?:sudo\s+)?(?:/\S*/)?")


class SwitchCommand(NamedTuple):
    """A command as typed, and the device that its prompt names."""

    text: str
    device: str | None = None

    @property
    def form(self) -> str:
        """The command without its options: ``show queue watermark unicast``."""
        words = _SINGLE_LETTER.sub("", self.text).split()
        kept = []
        for word in words:
            if word.startswith("-"):
                break
            kept.append(word)
        return " ".join(kept)

    @property
    def namespace(self) -> str | None:
        """The namespace in the command."""
        match = _NAMESPACE.search(self.text)
        return match[1] if match else None

    @property
    def window(self) -> CountedSince:
        """Since when the watermarks that it prints are."""
        if _PERSISTENT.search(self.text):
            return "persistent clear"
        return "user clear" if "watermark" in self.text else "unknown"

    @property
    def watermark(self) -> str | None:
        """The watermark of a priority group or pool that the command prints; None if its words do not name one."""
        if "watermark" not in self.text:
            return None
        if "headroom" in self.text:
            return "xoff_room_watermark_bytes"
        return "watermark_bytes" if "pool" in self.text else "shared_watermark_bytes"


NO_COMMAND = SwitchCommand("")


def command_of(line: str) -> SwitchCommand | None:
    """Return the command that a line of a transcript starts; None for any other line."""
    match = _PROMPT.fullmatch(line.strip())
    if match is None or not _KNOWN.match(match["command"]):
        return None
    return SwitchCommand(match["command"].strip(), match["host"] or match["name"])
