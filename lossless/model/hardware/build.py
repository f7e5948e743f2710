"""Builds a profile from the contents of its file; large tables stay text until they are used."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.units import parse_length, parse_rate
from lossless.model.hardware.load_balancing import OfferedChoices, PacketReorder
from lossless.model.hardware.model import (
    SONIC,
    Asic,
    AsicCages,
    BufferDefaults,
    Hwsku,
    PortNaming,
    SwitchProfile,
    ZeroBuffers,
)
from lossless.model.hardware.tables import (
    parse_cages,
    parse_dcqcn,
    parse_headroom,
    parse_layout,
    parse_pools,
    parse_profiles,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.hardware.model import Cage, PortSpec
    from lossless.model.hardware.nic import NicProfile

Raw = dict[str, Any]


class CageTable:
    """The cages of one product, parsed once for the profile and all its HWSKUs."""

    __slots__ = ("_cages", "_modes", "_table")

    def __init__(self, table: str, modes: Mapping[str, list[str]]) -> None:
        self._table = table
        self._modes = modes
        self._cages: tuple[Cage, ...] | None = None

    def __call__(self) -> tuple[Cage, ...]:
        """Return the cages.

        Raises:
            ProfileError: the table is not valid.
        """
        if self._cages is None:
            self._cages = parse_cages(self._table, self._modes)
        return self._cages


def build_switch(name: str, raw: Raw) -> SwitchProfile:
    """Return the switch profile of a file's contents, which must have the shape of schema.SwitchFile.

    Raises:
        ProfileError: later, at the first use of an invalid table.
    """
    cages = CageTable(raw["cages"]["rows"], raw["cages"]["modes"])
    zero = raw.get("zero_buffers")
    return SwitchProfile(
        name=name,
        product=raw["product"],
        vendor=raw["vendor"],
        platform=raw["platform"],
        asic=_asic(raw["asic"]),
        cages=cages,
        hwskus=tuple(_hwsku(entry, raw, cages) for entry in raw["hwsku"]),
        default_hwsku=raw["default_hwsku"],
        queues=raw.get("queues"),
        priority_groups=raw.get("priority_groups"),
        max_mtu=raw.get("max_mtu"),
        split_alias=raw["split_alias"],
        sources=raw["sources"],
        zero_buffers=None if zero is None else partial(_zero_buffers, zero),
        asics=tuple(
            AsicCages(asic["name"], range(asic["first_cage"], asic["last_cage"] + 1))
            for asic in raw.get("asics", ())
        ),
        modes_complete=raw["cages"].get("complete", True),
        default_format=raw.get("default_format", SONIC),
        formats={key: _port_names(of) for key, of in raw.get("formats", {}).items()},
        load_balancing={key: _choices(of) for key, of in raw.get("load_balancing", {}).items()},
    )


def _choices(raw: Raw) -> OfferedChoices:
    speeds_bps = {choice: tuple(map(parse_rate, rates)) for choice, rates in raw.get("speeds", {}).items()}
    return OfferedChoices(tuple(raw["offers"]), tuple(raw.get("lacks", ())), speeds_bps, raw["source"])


def _port_names(raw: Raw) -> PortNaming:
    return PortNaming(raw["port"], raw["split"], raw.get("single") or raw["port"], raw["source"])


def _zero_buffers(raw: Raw) -> ZeroBuffers:
    return ZeroBuffers(parse_pools(raw["pools"]), parse_profiles(raw["profiles"]), raw["source"])


def _asic(raw: Raw) -> Asic:
    return Asic(
        name=raw["name"],
        formula=raw.get("formula"),
        cell_bytes=raw.get("cell_bytes"),
        pipeline_latency_bytes=raw.get("pipeline_latency_bytes"),
        mac_phy_delay_bytes=raw.get("mac_phy_delay_bytes"),
        peer_response_bytes=raw.get("peer_response_bytes"),
        gearbox_delay_ns=raw.get("gearbox_delay_ns"),
        tile=raw["tile"],
        pfc_to_pg_map=raw["pfc_to_pg_map"],
        buffer_bytes=raw.get("buffer_bytes"),
        buffer_source=raw.get("buffer_source", ""),
        source=raw["source"],
        cell_source=raw.get("cell_source", ""),
        buffer_parts=raw.get("buffer_parts"),
        buffer_parts_source=raw.get("buffer_parts_source", ""),
    )


def _hwsku(entry: Raw, raw: Raw, cages: CageTable) -> Hwsku:
    layout = entry.get("layout")
    headroom = entry.get("headroom")
    return Hwsku(
        entry["name"],
        ports=() if layout is None else partial(_ports, layout, cages, raw["split_alias"]),
        headroom=() if headroom is None else partial(parse_headroom, raw["headroom"][headroom]["rows"]),
        buffers=partial(_buffers, entry.get("buffers", {}), raw.get("buffers", {})),
        source=entry["source"],
        platforms=tuple(entry.get("platforms", (raw["platform"],))),
        headroom_source=entry.get("no_headroom", "")
        if headroom is None
        else raw["headroom"][headroom]["source"],
    )


def _ports(layout: str, cages: CageTable, split_alias: str) -> tuple[PortSpec, ...]:
    return parse_layout(layout, cages(), split_alias)


def _buffers(chosen: Mapping[str, str], tables: Mapping[str, Raw]) -> tuple[BufferDefaults, ...]:
    return tuple(_defaults(template, tables[name]) for template, name in chosen.items())


def _defaults(template: str, raw: Raw) -> BufferDefaults:
    cable = raw.get("default_cable")
    cable_m = None if cable is None else parse_length(cable)
    return BufferDefaults(template, parse_pools(raw["pools"]), parse_profiles(raw["profiles"]), cable_m)


def build_nic(name: str, raw: Raw) -> NicProfile:
    """Return the adapter profile of a file's contents, which must have the shape of schema.NicFile.

    Raises:
        ProfileError: an invalid table.
        QuantityError: a text that is not a rate.
    """
    from lossless.model.hardware.nic import NicProfile, StallPrevention

    dcqcn = raw.get("dcqcn")
    stall = raw.get("stall_prevention")
    reorder = raw.get("reorder")
    return NicProfile(
        name=name,
        product=raw["product"],
        vendor=raw["vendor"],
        driver=raw["driver"],
        rates_bps=tuple(map(parse_rate, raw["rates"])),
        ports=raw.get("ports"),
        pci_id=raw.get("pci_id"),
        dcqcn={} if dcqcn is None else parse_dcqcn(dcqcn["rows"]),
        cnp_dscp=raw.get("cnp_dscp"),
        cnp_priority=raw.get("cnp_priority"),
        stall_prevention=None if stall is None else StallPrevention(**stall),
        sources=raw["sources"],
        infiniband=tuple(raw.get("infiniband", ())),
        reorder=None
        if reorder is None
        else PacketReorder(reorder["able"], reorder.get("setting"), reorder.get("frames"), reorder["source"]),
        ultra_ethernet=raw.get("ultra_ethernet", False),
    )
