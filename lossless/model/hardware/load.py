"""Finds and reads hardware profiles, the shipped ones and those in the user's folders, and builds them.

A user's folder has the layout of the shipped one, ``switches/NAME.toml`` and ``nics/NAME.toml``; a profile there adds
to the shipped ones or replaces the one of the same name, and the first folder named wins. Shipped files are checked by
the tests and read from one compiled file, a user's are checked when they are read. A profile is built once in a
process. Large tables stay text until they are used.
"""

from __future__ import annotations

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.files import beginning, data_dir
from lossless.ground.basics.limits import FILE_BYTES
from lossless.ground.basics.units import parse_length, parse_rate, suggestion
from lossless.model.hardware.model import (
    SONIC,
    Asic,
    AsicCages,
    BufferDefaults,
    Hwsku,
    OfferedChoices,
    PacketReorder,
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
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from lossless.model.hardware.buffers import HeadroomRow
    from lossless.model.hardware.devices import NicProfile
    from lossless.model.hardware.model import Cage, PortSpec


if TYPE_CHECKING:
    Folder = str | PathLike[str]
    FindHardware = Callable[[str, str | None], tuple[SwitchProfile, Hwsku] | None]
    """A function that returns the hardware of a device by its HWSKU and platform, None where no profile has it."""


COMPILED = "compiled.json"
"""Our own profiles in one file, written by ``tools/compile_profiles.py``."""


def switch_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of all switch profiles, sorted.

    Raises:
        ProfileError: a user's profile is a link that leads outside of its folder and repository.
    """
    return tuple(sorted({*_own()["switches"], *_files("switches", extra_dirs)}))


def nic_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of all network adapter profiles, sorted.

    Raises:
        ProfileError: a user's profile is a link that leads outside of its folder and repository.
    """
    return tuple(sorted({*_own()["nics"], *_files("nics", extra_dirs)}))


def load_switch(name: str, extra_dirs: Sequence[Folder] = ()) -> SwitchProfile:
    """Return the switch profile of that name.

    Raises:
        ProfileError: no such profile (with the nearest name), or a user's file that is unreadable or wrong.
    """
    return _switch(name, _find("switches", name, extra_dirs))


def load_nic(name: str, extra_dirs: Sequence[Folder] = ()) -> NicProfile:
    """Return the network adapter profile of that name.

    Raises:
        ProfileError: no such profile (with the nearest name), or a user's file that is unreadable or wrong.
    """
    return _nic(name, _find("nics", name, extra_dirs))


def nic_profiles(extra_dirs: Sequence[Folder] = ()) -> tuple[NicProfile, ...]:
    """Return all network adapter profiles, by name.

    Raises:
        ProfileError: a user's file that is unreadable or wrong.
    """
    return tuple(load_nic(name, extra_dirs) for name in nic_names(extra_dirs))


def switch_for_hwsku(
    hwsku: str, platform: str | None = None, extra_dirs: Sequence[Folder] = ()
) -> tuple[SwitchProfile, Hwsku] | None:
    """Return the profile and HWSKU of a device, by the words of its DEVICE_METADATA; None where unknown.

    The platform distinguishes two products with the same HWSKU; without it, or with another one, such a
    HWSKU is unknown. A HWSKU of a single product is that of the product on any platform: virtual switches
    have the HWSKU of a real one.

    Raises:
        ProfileError: a user's file that is unreadable or wrong.
    """
    candidates = list(_switches_with(hwsku, extra_dirs))
    for profile, known_hwsku in candidates:
        if platform in known_hwsku.platforms:
            return profile, known_hwsku
    return candidates[0] if len(candidates) == 1 else None


def shared_headroom(
    hwsku: str, extra_dirs: Sequence[Folder] = ()
) -> tuple[tuple[HeadroomRow, ...], bool] | None:
    """Return the headroom rows that all products with a HWSKU share, and whether these are all rows of each.

    None where no product has it, or the rows of one are unknown.

    Raises:
        ProfileError: a user's file that is unreadable or wrong.
    """
    known = [found for _, found in _switches_with(hwsku, extra_dirs)]
    if not known or not all(found.headroom_source for found in known):
        return None
    common = tuple(row for row in known[0].headroom if all(row in other.headroom for other in known))
    return common, all(found.headroom == common for found in known)


def hardware_finder(extra_dirs: Sequence[Folder] = ()) -> FindHardware:
    """Return :func:`switch_for_hwsku` with the given folders; it looks up each pair of HWSKU and platform once."""

    @cache
    def find(hwsku: str, platform: str | None) -> tuple[SwitchProfile, Hwsku] | None:
        return switch_for_hwsku(hwsku, platform, extra_dirs)

    return find


def _switches_with(hwsku: str, extra_dirs: Sequence[Folder]) -> Iterable[tuple[SwitchProfile, Hwsku]]:
    files = _files("switches", extra_dirs)
    for name in switch_names(extra_dirs):
        if _mentions(name, files.get(name), hwsku):
            profile = load_switch(name, extra_dirs)
            known_hwsku = profile.hwsku(hwsku)
            if known_hwsku is not None:
                yield profile, known_hwsku


def _mentions(name: str, path: str | None, hwsku: str) -> bool:
    """Return whether a profile may have a HWSKU; a user's file is only searched for the HWSKU's name in quotes."""
    if path is None:
        return any(entry["name"] == hwsku for entry in _own()["switches"][name]["hwsku"])
    # The quotes keep a name from being found in a longer one.
    text = _read(path)
    return f'"{hwsku}"' in text or f"'{hwsku}'" in text


@cache
def _own() -> dict[str, dict[str, Any]]:
    """Return the shipped profiles in the form of their TOML files, from JSON, which is read faster (ADR 7)."""
    import json

    own: dict[str, dict[str, Any]] = json.loads(_read(os.path.join(data_dir("profiles"), COMPILED)))
    return own


def _files(kind: str, extra_dirs: Sequence[Folder]) -> dict[str, str]:
    files: dict[str, str] = {}
    for folder in reversed(extra_dirs):
        files |= profiles_in(folder, kind)
    return files


def profiles_in(folder: Folder, kind: str) -> dict[str, str]:
    """Return the files of the profiles of one kind in a folder, by their names.

    Raises:
        ProfileError: one is a link that leads outside of the folder, and of its repository.
    """
    place = os.path.join(folder, kind)
    try:
        with os.scandir(place) as entries:
            found = [entry for entry in entries if entry.name.endswith(".toml")]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    links = [entry.path for entry in found if entry.is_symlink()]
    if links or os.path.islink(place):
        from lossless.ground.documents.folder import link_refusal

        for file in (place, *links):
            if why := link_refusal(file, os.fspath(folder)):
                raise ProfileError(f"{file}: {why}")
    return {entry.name.removesuffix(".toml"): entry.path for entry in found}


def _find(kind: str, name: str, extra_dirs: Sequence[Folder]) -> str | None:
    """Return the user's file of a switch or adapter profile, None for a shipped profile.

    Raises:
        ProfileError: no such profile, or a user's one is a link that leads outside of its folder.
    """
    files = _files(kind, extra_dirs)
    if name in files:
        return files[name]
    own = _own()[kind]
    if name not in own:
        known = sorted({*files, *own})
        raise ProfileError(
            unknown_profile("switch" if kind == "switches" else "network adapter", name, known)
        )
    return None


def unknown_profile(what: str, name: str, known: list[str]) -> str:
    """Return the message for a profile that does not exist, with the nearest name."""

    return f"no {what} profile is called {name!r}{suggestion(name.lower(), known, see='lossless profiles')}"


@cache
def _switch(name: str, path: str | None) -> SwitchProfile:

    if path is None:
        return build_switch(name, _own()["switches"][name])
    from lossless.model.hardware.schema import check_switch

    raw = read_profile(path)
    check_switch(path, raw)
    return build_switch(name, raw)


@cache
def _nic(name: str, path: str | None) -> NicProfile:

    if path is None:
        return build_nic(name, _own()["nics"][name])
    from lossless.model.hardware.schema import check_nic

    raw = read_profile(path)
    check_nic(path, raw)
    return build_nic(name, raw)


def read_profile(path: str) -> dict[str, Any]:
    """Return the contents of a profile's file, unchecked.

    Raises:
        ProfileError: the file cannot be read, is too large, is not TOML, or is nested too deep.
    """
    import tomllib

    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{path}: not TOML: {error}") from error
    except RecursionError:
        raise ProfileError(f"{path}: nested too deep") from None


def _read(path: str) -> str:
    try:
        raw = beginning(path, FILE_BYTES + 1)
        if len(raw) > FILE_BYTES:
            raise ProfileError(f"{path}: larger than {FILE_BYTES} bytes, the most that is read from one file")
        return raw.decode()
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path}: cannot be read: {error}") from error


Raw = dict[str, Any]


class CageTable:
    """The cages of one product, parsed once for the profile and all its HWSKUs."""

    __slots__ = ("_cages", "_modes", "_table")

    def __init__(self, table: str, modes: Mapping[str, list[str]]) -> None:
        self._table = table
        self._modes = modes
        self._cages: tuple[Cage, ...] | None = None

    def __call__(self) -> tuple[Cage, ...]:
        """Return the cages, parsed at the first call.

        Raises:
            ProfileError: the table is not valid.
        """
        if self._cages is None:
            self._cages = parse_cages(self._table, self._modes)
        return self._cages


def build_switch(name: str, raw: Raw) -> SwitchProfile:
    """Return the switch profile of a file's contents, which must have the shape of schema.SwitchFile.

    Raises:
        QuantityError: a speed of its load balancing that is not a rate.
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
        voq=raw.get("voq", False),
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
    from lossless.model.hardware.devices import NicProfile, ShippedControl, StallPrevention

    dcqcn = raw.get("dcqcn")
    stall = raw.get("stall_prevention")
    reorder = raw.get("reorder")
    shipped = raw.get("shipped_control")
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
        shipped_control=None
        if shipped is None
        else ShippedControl(shipped.get("algorithm"), shipped.get("defaults_of"), shipped["source"]),
    )
