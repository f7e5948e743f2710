"""What ``lossless profiles`` shows of InfiniBand hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.output.report.columns import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lossless.model.hardware.infiniband import HcaProfile, SwitchProfile

_UNKNOWN = "unknown"


def infiniband_names(folders: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of InfiniBand switches and adapters, switches first."""
    from lossless.model.hardware.infiniband import hca_names, infiniband_switch_names

    return (*infiniband_switch_names(folders), *hca_names(folders))


def infiniband_overview(folders: Sequence[Path]) -> Iterator[str]:
    """Yield one line for each InfiniBand switch and adapter."""
    from lossless.model.hardware.infiniband import (
        hca_names,
        infiniband_switch_names,
        load_hca,
        load_infiniband_switch,
    )

    switches = [load_infiniband_switch(name, folders) for name in infiniband_switch_names(folders)]
    hcas = [load_hca(name, folders) for name in hca_names(folders)]
    yield ""
    yield "InfiniBand switches"
    rows = [(s.name, f"{s.vendor} {s.product}", _ports(s), _managed(s)) for s in switches]
    yield columns(rows, "  ")
    yield ""
    yield "InfiniBand adapters"
    yield columns([(h.name, h.product, f"up to {h.rates[-1]}") for h in hcas], "  ")


def one_of_infiniband(name: str, folders: Sequence[Path]) -> Iterator[str]:
    """Yield what is known of one InfiniBand switch or adapter."""
    from lossless.model.hardware.infiniband import infiniband_switch_names, load_hca, load_infiniband_switch

    if name in infiniband_switch_names(folders):
        return _switch(load_infiniband_switch(name, folders))
    return _hca(load_hca(name, folders))


def _switch(switch: SwitchProfile) -> Iterator[str]:
    yield f"{switch.name}: {switch.vendor} {switch.product}"
    yield columns(
        [
            ("ports", _ports(switch)),
            ("subnet manager", _managed(switch)),
            ("SHARP", f"generation {switch.sharp}"),
            ("data VLs", str(switch.vls or _UNKNOWN)),
        ],
        "  ",
    )
    yield from _sources(switch.sources)


def _hca(hca: HcaProfile) -> Iterator[str]:
    yield f"{hca.name}: {hca.product}"
    yield columns(
        [
            ("InfiniBand", ", ".join(hca.rates)),
            ("ports", f"up to {hca.ports}" if hca.ports else _UNKNOWN),
            ("PCI id", hca.pci_id or _UNKNOWN),
        ],
        "  ",
    )
    yield from _sources(hca.sources)


def _ports(switch: SwitchProfile) -> str:
    return " or ".join(f"{count} x {rate}" for rate, count in switch.ports.items())


def _managed(switch: SwitchProfile) -> str:
    return "managed" if switch.managed else "externally managed"


def _sources(sources: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "sources"
    yield columns(list(sources.items()), "  ")
