"""The part of ``lossless profiles`` about InfiniBand hardware."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lossless.interfaces.cli.terminal import style_for
from lossless.output.report.columns import facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.interfaces.api.reference import Hardware, HcaProfile, InfinibandSwitchProfile

_UNKNOWN = "unknown"


def laid_out(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of facts, wrapped to the width of the terminal."""
    return facts(rows, style_for(sys.stdout), "  ")


def infiniband_overview(hardware: Hardware) -> Iterator[str]:
    """Yield one line for each InfiniBand switch and adapter."""
    switches = hardware.infiniband_switches
    yield ""
    yield "InfiniBand switches"
    yield laid_out([(s.name, f"{s.vendor} {s.product}", _ports(s), _managed(s)) for s in switches])
    yield ""
    yield "InfiniBand adapters"
    yield laid_out([(hca.name, hca.product, f"up to {hca.rates[-1]}") for hca in hardware.hcas])


def infiniband_switch_lines(switch: InfinibandSwitchProfile) -> Iterator[str]:
    """Yield the facts of an InfiniBand switch."""
    yield f"{switch.name}: {switch.vendor} {switch.product}"
    yield laid_out(
        [
            ("ports", _ports(switch)),
            ("subnet manager", _managed(switch)),
            ("SHARP", f"generation {switch.sharp}"),
            ("data VLs", str(switch.vls or _UNKNOWN)),
        ]
    )
    yield from _sources(switch.sources)


def hca_lines(hca: HcaProfile) -> Iterator[str]:
    """Yield the facts of an InfiniBand adapter."""
    yield f"{hca.name}: {hca.product}"
    yield laid_out(
        [
            ("InfiniBand", ", ".join(hca.rates)),
            ("ports", f"up to {hca.ports}" if hca.ports else _UNKNOWN),
            ("PCI id", hca.pci_id or _UNKNOWN),
        ]
    )
    yield from _sources(hca.sources)


def _ports(switch: InfinibandSwitchProfile) -> str:
    return " or ".join(f"{count} x {rate}" for rate, count in switch.ports.items())


def _managed(switch: InfinibandSwitchProfile) -> str:
    return "managed" if switch.managed else "externally managed"


def _sources(sources: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "sources"
    yield laid_out(list(sources.items()))
