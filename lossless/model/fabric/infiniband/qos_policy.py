"""The content of a qos-policy.conf as plain data, and the rates of InfiniBand links.

Rates have their usual names and their codes in opensm.
"""

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
    """One line ``word: text`` of a QoS policy, and its place."""

    word: str
    text: str
    origin: Origin


class PolicyBlock(NamedTuple):
    """A port group, a level or a match rule of a QoS policy: its lines in order; a word may occur more than once."""

    kind: str
    lines: tuple[PolicyLine, ...]
    origin: Origin

    def line(self, word: str) -> PolicyLine | None:
        """Return the last line of a word, None without one."""
        return next((line for line in reversed(self.lines) if line.word == word), None)

    def text(self, word: str) -> str:
        """Return the text of the last line of a word, empty without one."""
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


class Rate(NamedTuple):
    """A rate: its name, bits per second one way, lanes and their speed, and the code of ``rate=`` in partitions.conf.

    ``generation`` is the name of its lane speed: ``NDR`` of ``NDR200``.
    """

    name: str
    bits_per_second: int
    lanes: int
    generation: str
    code: int

    @property
    def width(self) -> str:
        """Width and speed in the notation of topology files: ``4xNDR``."""
        return f"{self.lanes}x{self.generation}"


_G = 10**9
RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("QDR", 40 * _G, 4, "QDR", 7),
        Rate("FDR", 56 * _G, 4, "FDR", 12),
        Rate("EDR", 100 * _G, 4, "EDR", 16),
        Rate("HDR100", 100 * _G, 2, "HDR", 16),
        Rate("HDR", 200 * _G, 4, "HDR", 17),
        Rate("NDR200", 200 * _G, 2, "NDR", 17),
        Rate("NDR", 400 * _G, 4, "NDR", 21),
        Rate("XDR", 800 * _G, 4, "XDR", 23),
    )
}
"""Rates by name. Codes: opensm's ib_types.h, IB_PATH_RECORD_RATE_*: 7 is 40 Gb/s, 12 56, 16 100, 17 200, 21 400.

Those of QDR and FDR are the nominal ones, which the codes name, and include the coding of the line.
"""

RATE_CODES: dict[int, int] = {
    gigabits * _G: code
    for gigabits, code in (
        (10, 3),
        (25, 15),
        (40, 7),
        (50, 20),
        (56, 12),
        (100, 16),
        (200, 17),
        (300, 18),
        (400, 21),
        (600, 22),
        (800, 23),
        (1200, 24),
    )
}
"""Code of ``rate=`` in partitions.conf by bits per second; the source is that of :data:`RATES`."""

MTU_CODES: dict[int, int] = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
"""Code of ``mtu=`` in partitions.conf by bytes (InfiniBand specification, PortInfo:NeighborMTU)."""

OPERATIONAL_VLS: dict[int, int] = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}
"""The number of VLs for each code of ``max_op_vls`` (PortInfo:OperationalVLs): 3 is VL0 to VL3."""
