"""The content of a qos-policy.conf as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin

SECTIONS: dict[str, tuple[str, ...]] = {
    "": ("qos-ulps", "port-groups", "qos-setup", "qos-levels", "qos-match-rules"),
    "port-groups": ("port-group",),
    "qos-setup": ("vlarb-tables", "sl2vl-tables"),
    "vlarb-tables": ("vlarb-scope",),
    "sl2vl-tables": ("sl2vl-scope",),
    "qos-levels": ("qos-level",),
    "qos-match-rules": ("qos-match-rule",),
}
"""Sections by their parent section, ``""`` for the whole file; each ends with a line ``end-NAME``."""

KEYWORDS: dict[str, tuple[str, ...]] = {
    "port-group": ("name", "use", "port-guid", "port-name", "pkey", "partition", "node-type"),
    "qos-level": ("name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "path-bits", "pkey"),
    "qos-match-rule": ("use", "qos-class", "qos-level-name", "source", "destination", "service-id", "pkey"),
    "vlarb-scope": ("group", "across", "vlarb-high", "vlarb-low", "vl-high-limit"),
    "sl2vl-scope": ("group", "across", "across-from", "across-to", "from", "to", "sl2vl-table"),
}
"""Words that begin a line ``word: value``, by section: opensm/osm_qos_parser_y.y of linux-rdma/opensm @080e3ad."""

MATCHES = (
    "default",
    "any, service-id",
    "any, pkey",
    "any, target-port-guid",
    "any, source-port-guid",
    "sdp",
    "sdp, port-num",
    "rds",
    "rds, port-num",
    "iser",
    "iser, port-num",
    "srp, target-port-guid",
    "ipoib",
    "ipoib, pkey",
)
"""The beginnings of lines of ``qos-ulps``, from the same source; protocols are matched in upper and lower case."""


class PolicyLine(NamedTuple):
    """One line ``word: text``, and its place."""

    word: str
    text: str
    origin: Origin


class PolicyBlock(NamedTuple):
    """A port group, a level or a match rule: its lines in their order; a word may occur more than once."""

    kind: str
    lines: tuple[PolicyLine, ...]
    origin: Origin

    def line(self, word: str) -> PolicyLine | None:
        """Return the last line of a word, None without one."""
        return next((line for line in reversed(self.lines) if line.word == word), None)

    def text(self, word: str) -> str:
        """Return the text of a word, empty without one."""
        line = self.line(word)
        return line.text if line else ""


class Ulp(NamedTuple):
    """A line of ``qos-ulps``: its match, one of :data:`MATCHES`, the numbers of the match, and the SL."""

    match: str
    numbers: str
    sl: int
    origin: Origin


class QosPolicy(NamedTuple):
    """A qos-policy.conf. Match rules are tried in their order, before those of ``ulps``; the first match applies.

    opensm parses ``qos-setup`` and ignores it, so it is not here.
    """

    ulps: tuple[Ulp, ...]
    groups: tuple[PolicyBlock, ...]
    levels: tuple[PolicyBlock, ...]
    rules: tuple[PolicyBlock, ...]
    origin: Origin
