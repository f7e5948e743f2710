"""The QoS maps as orchagent reads them: the numbers that each map translates, and the odd entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.sonic.fields import is_canonical
from lossless.formats.sonic.read.tables import read_number
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow

_PLAIN = {count: frozenset(map(str, range(count))) for count in (8, 16, 64)}


class MapKind(NamedTuple):
    """The numbers that a map translates from and to, with the count of each."""

    source: str
    sources: int
    target: str
    targets: int


KINDS = {
    "DSCP_TO_TC_MAP": MapKind("DSCP", 64, "TC", 16),
    "DOT1P_TO_TC_MAP": MapKind("802.1p", 8, "TC", 16),
    "TC_TO_QUEUE_MAP": MapKind("TC", 16, "queue", 8),
    "TC_TO_PRIORITY_GROUP_MAP": MapKind("TC", 16, "PG", 8),
    "MAP_PFC_PRIORITY_TO_QUEUE": MapKind("priority", 8, "queue", 8),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": MapKind("priority", 8, "PG", 8),
    "TC_TO_DSCP_MAP": MapKind("TC", 16, "DSCP", 64),
    "TC_TO_DOT1P_MAP": MapKind("TC", 16, "802.1p", 8),
    "MPLS_TC_TO_TC_MAP": MapKind("MPLS TC", 8, "TC", 16),
}
"""TCs count 0 to 15 (sonic-buildimage src/sonic-yang-models, tc_type @086b03b); SONiC's own templates for dual ToR
use TC 8 (files/build_templates/qos_config.j2 @086b03b)."""


class QosMapEntry(NamedTuple):
    """One entry that is not two plain numbers in range. ``source`` or ``target`` None: it is no number."""

    table: str
    row: ConfigRow
    source_text: str
    target_text: str
    source: int | None
    target: int | None

    @property
    def kind(self) -> MapKind:
        """The numbers that its map translates from and to."""
        return KINDS[self.table]


def odd_entries(device: Device) -> Iterator[QosMapEntry]:
    """Yield the entries of all QoS maps that are not written as a number in range to a number in range.

    Those of a row come in the order of their numbers: in which order a file writes them makes no difference.
    """
    for table, kind in KINDS.items():
        for row in device.tables.written(table).values():
            fields = row.fields
            if not _is_plain(fields, kind):
                for source_text, target_text in sorted(fields.items(), key=_in_numeric_order):
                    entry = _entry(table, row, source_text, target_text)
                    if _is_odd(entry):
                        yield entry


def _in_numeric_order(field: tuple[str, str]) -> tuple[object, ...]:
    return natural_key(field[0])


def _is_plain(fields: Mapping[str, str], kind: MapKind) -> bool:
    return _PLAIN[kind.sources].issuperset(fields) and _PLAIN[kind.targets].issuperset(fields.values())


def _entry(table: str, row: ConfigRow, source_text: str, target_text: str) -> QosMapEntry:
    return QosMapEntry(
        table, row, source_text, target_text, read_number(source_text), read_number(target_text)
    )


def _is_odd(entry: QosMapEntry) -> bool:
    if entry.source_text == "NULL":  # how the database writes a row without fields
        return False
    in_range = entry.source in range(entry.kind.sources) and entry.target in range(entry.kind.targets)
    return not in_range or not is_canonical(entry.source_text) or not is_canonical(entry.target_text)
