"""``lossless profiles``: the hardware that is known, every fact with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.infiniband_profiles import (
    hca_lines,
    infiniband_overview,
    infiniband_switch_lines,
    laid_out,
)
from lossless.interfaces.cli.options import profiles
from lossless.interfaces.cli.terminal import next_step, out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.api import Hardware
    from lossless.interfaces.api.reference import (
        Hwsku,
        NicProfile,
        OfferedChoices,
        PacketReorder,
        PortNaming,
        SwitchProfile,
    )

_UNKNOWN = "unknown"


@click.command("profiles", short_help=COMMANDS["profiles"])
@click.argument("name", required=False)
@profiles
def command(name: str | None, profile_dirs: tuple[str, ...]) -> None:
    """Show the known hardware, with sources.

    Without NAME, all switches and network adapters by the names that an intent uses, those of InfiniBand last; with
    NAME, all facts about that product.
    """
    from lossless import api

    hardware = api.hardware(name, profile_dirs)
    out("\n".join(overview(hardware) if name is None else details(hardware)))
    if name is None:
        next_step("lossless profiles NAME  # shows all that is known of one")


def overview(hardware: Hardware) -> Iterator[str]:
    """Yield one line for each product, by kind."""
    yield "switches"
    yield laid_out([(s.name, f"{s.vendor} {s.product}", s.asic.name, _hwskus(s)) for s in hardware.switches])
    yield ""
    yield "network adapters"
    yield laid_out(
        [(n.name, f"{n.vendor} {n.product}", f"up to {_rates(n.rates_bps[-1:])}") for n in hardware.nics]
    )
    yield from infiniband_overview(hardware)


def details(hardware: Hardware) -> Iterator[str]:
    """Yield the facts of each product, with sources."""
    for switch in hardware.switches:
        yield from _switch(switch)
    for nic in hardware.nics:
        yield from _nic(nic)
    for infiniband_switch in hardware.infiniband_switches:
        yield from infiniband_switch_lines(infiniband_switch)
    for hca in hardware.hcas:
        yield from hca_lines(hca)


def _hwskus(switch: SwitchProfile) -> str:
    return f"{len(switch.hwskus)} HWSKU{'s' if len(switch.hwskus) != 1 else ''}"


def _switch(switch: SwitchProfile) -> Iterator[str]:
    asic = switch.asic
    yield f"{switch.name}: {switch.vendor} {switch.product}"
    yield laid_out(
        [
            ("platform", switch.platform),
            ("ASIC", asic.name),
            ("packet buffer", _bytes(asic.buffer_bytes)),
            ("buffer parts", _known(asic.buffer_parts)),
            ("cell", _bytes(asic.cell_bytes)),
            ("headroom", f"{asic.formula} formula" if asic.formula else "rows only, no formula"),
            ("cages", f"{len(switch.cages)} at {_rates(switch.speeds_bps)}"),
            ("queues", _known(switch.queues)),
            ("priority groups", _known(switch.priority_groups)),
            ("largest MTU", _bytes(switch.max_mtu)),
            ("formats", ", ".join(_format(name, switch.formats.get(name)) for name in switch.runs)),
            ("load balancing", "; ".join(_choices(*of) for of in switch.load_balancing.items()) or _UNKNOWN),
        ]
    )
    for hwsku in switch.hwskus:
        yield from _hwsku(hwsku, is_default=hwsku.name == switch.default_hwsku)
    asic_sources = {
        "ASIC": asic.source,
        "packet buffer": asic.buffer_source,
        "buffer parts": asic.buffer_parts_source,
        "cell": asic.cell_source,
    }
    formats = {name: names.source for name, names in switch.formats.items()}
    balancing = {"balancing": "; ".join(of.source for of in switch.load_balancing.values())}
    yield from _sources(asic_sources | dict(switch.sources) | formats | balancing)


def _choices(system: str, known: OfferedChoices) -> str:
    offered = [
        f"{choice} at {_rates(known.speeds_bps[choice])}" if choice in known.speeds_bps else choice
        for choice in known.offers
    ]
    lacks = f" (not {', '.join(known.lacks)})" if known.lacks else ""
    return f"{system}: {', '.join(offered)}{lacks}"


def _format(name: str, names: PortNaming | None) -> str:
    if names is None:
        return name
    whole, split = (
        pattern.format(index=1, lane=1, number=0, part=1) for pattern in (names.whole, names.split)
    )
    return f"{name} (ports {whole}, {split})" if whole != split else f"{name} (ports {whole})"


def _hwsku(hwsku: Hwsku, *, is_default: bool) -> Iterator[str]:
    speeds = sorted({port.speed_bps for port in hwsku.ports})
    ports = f"{len(hwsku.ports)} at {_rates(speeds)}" if hwsku.ports else _UNKNOWN
    lengths = sorted({row.cable_m for row in hwsku.headroom})
    headroom = f"{_rates(hwsku.speeds())}; cables {', '.join(f'{m}m' for m in lengths)}"
    places = ", ".join(defaults.template for defaults in hwsku.buffers)
    yield ""
    yield f"HWSKU {hwsku.name}{' (default)' if is_default else ''}"
    yield laid_out(
        [
            ("ports", ports),
            ("headroom rows", headroom if hwsku.headroom else "none"),
            ("buffer defaults", places or "none"),
            ("source", hwsku.source or _UNKNOWN),
        ]
    )


def _nic(nic: NicProfile) -> Iterator[str]:
    stall = nic.stall_prevention
    yield f"{nic.name}: {nic.vendor} {nic.product}"
    yield laid_out(
        [
            ("driver", nic.driver),
            ("rates", _rates(nic.rates_bps)),
            ("InfiniBand", ", ".join(nic.infiniband) or "none"),
            ("ports", f"up to {nic.ports}" if nic.ports else _UNKNOWN),
            ("PCI id", _known(nic.pci_id)),
            ("Ultra Ethernet", "yes" if nic.ultra_ethernet else _UNKNOWN),
            ("CNP", f"DSCP {_known(nic.cnp_dscp)}, priority {_known(nic.cnp_priority)}"),
            ("stall prevention", f"{stall.tunable}, {stall.default_ms} ms" if stall else _UNKNOWN),
            ("out of order", _order(nic.reorder)),
        ]
    )
    if nic.dcqcn:
        rows = [("parameter", "default", "unit", "source")]
        rows += [(key, str(p.default), p.unit, p.source) for key, p in nic.dcqcn.items()]
        yield ""
        yield "DCQCN defaults of the firmware"
        yield laid_out(rows)
    further = {"stall prevention": stall, "out of order": nic.reorder}
    yield from _sources(dict(nic.sources) | {key: of.source for key, of in further.items() if of})


def _order(known: PacketReorder | None) -> str:
    if known is None or not known.able:
        return _UNKNOWN if known is None else "no, it takes packets in order"
    frames = f"up to {known.frames:,} frames ahead" if known.frames else "how many is unknown"
    return f"yes, {frames}" + (f"; by {known.setting}" if known.setting else "")


def _sources(sources: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "sources"
    yield laid_out([(key, source) for key, source in sources.items() if source])


def _rates(rates_bps: Iterable[int]) -> str:
    from lossless.ground.basics.units import format_rate

    return ", ".join(map(format_rate, rates_bps))


def _bytes(size_bytes: int | None) -> str:
    from lossless.ground.basics.units import format_bytes

    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _known(value: int | str | None) -> str:
    return _UNKNOWN if value is None else str(value)
