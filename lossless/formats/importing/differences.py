"""Compares imported switches with their render, and explains fields that differ: one kind each, with its reason.

Switches of other systems than SONiC are imported from documents and compared by their behavior and that of their
rendered files.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.device_files.switches import read_back
from lossless.formats.importing.configured import ProductChoice, configured_device, most
from lossless.formats.importing.model import second_priorities
from lossless.formats.inputs.switches import read_switch
from lossless.formats.sonic.changes.meaning import LISTS, OBJECTS, REFERENCES, Cell
from lossless.formats.sonic.read.tables import PORT_MAPS
from lossless.formats.sonic.to_model.trimming import DISCARD_ACTION, TRIM, TRIM_TABLE
from lossless.formats.switches.contract import PORT_TABLE, meaning
from lossless.formats.switches.registry import dialect
from lossless.ground.basics.errors import Problem, RenderError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.attributes import BY_KEY
from lossless.model.hardware.buffers import PG_PROFILE_PREFIX, QUEUE_LOSSY_PROFILE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from lossless.formats.importing.model import Draft, ImportDevice
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric, Port, Switch
    from lossless.model.hardware.load import Folder


KINDS = {
    "unused port": "it carries no classes; its buffers and its cable length are not declared",
    "one end": "the port carries no classes, the other end of its link does; a link has them at both ends",
    "pool size": "computed for the ports that are up: the device's own no intent can state, or lint refuses it",
    "vendor profile": "rendered from the HWSKU's own template; the device has other values, or others",
    "no such port": "the HWSKU has no port of that name and speed, so that nothing is rendered for it",
    "headroom row": "rendered from the row of the HWSKU; the device has another, or makes none",
    "class without DSCP": "no DSCP leads to this TC: it has no class, or none with a group of its own",
    "no PFC": "no class pauses, so that there is nothing to map PFC priorities for",
    "another queue": "a class has the queue of its priority; the device has another for this TC",
    "queue without class": "no class has this queue or group; only those of classes are rendered",
    "row of a class": "every class gets a queue, a scheduler and buffers; the device has none here",
    "unlike most": "this port differs from what most ports have, which is declared for all",
    "colours": "no intent can state this curve of yellow or red; they are declared as all others",
    "scheduler": "declared as shares in percent, or strict; the device says it in another way",
    "beyond TC 7": "a TC beyond 7 is no class that an intent can declare",
    "dual ToR": "second priorities and maps of the tunnel need the spines between the ToRs",
    "chassis": "a card has rows for the ports of others; the device has none, or others",
    "no place": "an intent has no word for this field of PORT_QOS_MAP",
    "global map": "rendered for ports that bind no map of their own",
    "watched priorities": "the watchdog gets every priority that pauses; the device names others, or none",
    "watchdog": "no intent can state this watchdog, or other switches poll at another interval",
    "trimming": "an intent trims classes that may drop into one, by its DSCP and queue; the device has it otherwise",
    "profile list": "profile lists are those of the HWSKU's own template",
    "not bound": "nothing on the device refers to it",
    "dynamic buffers": "rows that the dynamic buffer model computes or is told",
    "auto": "PFC is left to DCBX there; an intent has it on or off",
    "trust": "an intent trusts DSCP on every port; this one does not",
    "cable": "configured is the next longer length that the HWSKU has a row for",
}
"""The reason of each kind of difference between a device and its render."""
UNEXPLAINED = "unexplained"
_MAPS_OF_PFC = ("MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP")


class ImportDifference(NamedTuple):
    """A field or setting of a device that differs after import and render, and the kind of the difference."""

    device: str
    kind: str
    cell: Cell


class Explainer:
    """Assigns a kind to each field of CONFIG_DB in which a device differs from its render."""

    def __init__(self, device: ImportDevice, rendered: Switch, draft: Draft) -> None:
        self._device = device
        self._switch = rendered
        self._draft = draft
        self._tcs = {str(cls.priority) for cls in draft.classes}
        self._with_dscp = {str(cls.priority) for cls in draft.classes if cls.dscps != ()}
        self._placed = {port.name for port in rendered.ports if port.placed}
        ends = {end for link in draft.links for end in (link.a, link.b)}
        self._linked = {end.port for end in ends if end.device == device.name}
        self._groups = self._rendered_groups()
        profiles = device.tables.table("BUFFER_PROFILE").items()
        self._trims = {name for name, row in profiles if row.fields.get(DISCARD_ACTION) == TRIM}
        self._bound = _bound(device)
        tunnelled = device.tables.data.get("TC_TO_DSCP_MAP")
        remapped = (
            {name for name, port in device.used.items() if second_priorities(port)} if tunnelled else set()
        )
        self._remapped: set[str] = remapped

    def _rendered_groups(self) -> set[tuple[str, int]]:
        ports = ((port.name, port.qos) for port in self._switch.ports if port.qos)
        return {(name, group.number) for name, qos in ports for group in qos.groups if group is not None}

    def differences(self, cells: Iterable[Cell]) -> list[ImportDifference]:
        """Return the fields in which a device differs from its render, each with its kind; ``cells`` are all fields."""
        return [
            ImportDifference(self._device.name, self._kind(cell), cell)
            for cell in cells
            if cell.state != "same"
        ]

    def _kind(self, cell: Cell) -> str:
        if cell.key.count("|") > 1:
            return "chassis"
        if cell.table in ("DEVICE_METADATA", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN"):
            return "dynamic buffers"
        if cell.table == "BUFFER_POOL":
            return "pool size" if cell.field in ("size", "xoff") else "vendor profile"
        if self._is_of_trimming(cell):
            return "trimming"
        if self._is_remapped(cell):
            return "dual ToR"
        if cell.table in OBJECTS:
            return self._object(cell)
        if cell.port == "global":
            return "global map"
        if cell.port not in self._device.used and cell.key != "GLOBAL":
            return "one end" if cell.port in self._linked else "unused port"
        return self._row(cell)

    def _is_of_trimming(self, cell: Cell) -> bool:
        """Return whether a field belongs to trimming, or to a trimming profile while the draft has no trimming."""
        if cell.table == TRIM_TABLE or cell.field == DISCARD_ACTION:
            return True
        of = {"BUFFER_PROFILE": cell.key, "BUFFER_QUEUE": cell.deployed}.get(cell.table)
        return self._draft.trimming is None and of in self._trims

    def _is_remapped(self, cell: Cell) -> bool:
        """Return whether a field belongs to tunnels between dual ToRs."""
        if not self._remapped or cell.table in ("BUFFER_POOL", "BUFFER_PROFILE", "SCHEDULER", "WRED_PROFILE"):
            return False
        if cell.table in OBJECTS:
            ports = self._bound.get((cell.table, cell.key), set())
            beyond = cell.field == "8" or cell.deployed == "8"
            return not beyond and (not ports or bool(ports & self._remapped) or cell.field in self._second())
        return cell.port in self._remapped or str(cell.number) in self._second()

    def _second(self) -> set[str]:
        ports = (self._device.used[name] for name in self._remapped)
        return {str(priority) for port in ports for priority in second_priorities(port)}

    def _object(self, cell: Cell) -> str:
        if cell.state == "gone" and (cell.table, cell.key) not in self._bound:
            return "not bound"
        if cell.table == "BUFFER_PROFILE":
            return self._profile(cell)
        if cell.table == "WRED_PROFILE":
            coloured = cell.field.startswith(("yellow", "red", "wred_yellow", "wred_red"))
            return "colours" if coloured and cell.state == "changed" else "unlike most"
        if cell.table == "SCHEDULER":
            return "scheduler"
        return self._map(cell)

    def _profile(self, cell: Cell) -> str:
        if cell.key.startswith(PG_PROFILE_PREFIX):
            return "headroom row"
        is_of_unused = cell.state != "new" and self._only_unused(cell.key)
        return "unused port" if is_of_unused else "vendor profile"

    def _only_unused(self, name: str) -> bool:
        return self._bound.get(("BUFFER_PROFILE", name), set()).isdisjoint(self._device.used)

    def _map(self, cell: Cell) -> str:
        if "8" in (cell.deployed, cell.field):
            return "beyond TC 7"
        if cell.table == "TC_TO_QUEUE_MAP" and cell.deployed != cell.field:
            return "another queue"
        if cell.table in _MAPS_OF_PFC and not any(cls.lossless for cls in self._draft.classes):
            return "no PFC"
        if cell.table != "DSCP_TO_TC_MAP" and cell.field not in self._with_dscp:
            return "class without DSCP"
        ports = self._bound.get((cell.table, cell.key), set())
        differ = len(ports) < len(self._device.used) or cell.state == "changed"
        return "unlike most" if differ else UNEXPLAINED

    def _row(self, cell: Cell) -> str:
        if cell.key != "GLOBAL" and cell.port not in self._placed:
            return "no such port"
        if cell.table == "PORT_QOS_MAP":
            return self._port_row(cell)
        if cell.table == "CABLE_LENGTH":
            return "cable"
        if cell.table == "PFC_WD":
            return "watchdog"
        if cell.table == "PORT":
            return "unlike most"
        if cell.table in LISTS:
            return "profile list"
        return self._numbered(cell)

    def _port_row(self, cell: Cell) -> str:
        if cell.field == "pfcwd_sw_enable":
            return "watched priorities"
        return "unlike most" if cell.field == "pfc_enable" or cell.field in PORT_MAPS else "no place"

    def _numbered(self, cell: Cell) -> str:
        number = cell.number
        if cell.table == "BUFFER_PG":
            return self._group(cell, number)
        if cell.state == "gone" and str(number) not in self._tcs:
            return "queue without class"
        if cell.state == "new":
            return "row of a class"
        if cell.field == "scheduler":
            return "scheduler"
        is_unused = ("BUFFER_PROFILE", QUEUE_LOSSY_PROFILE) not in self._bound
        return "vendor profile" if is_unused and cell.rendered == QUEUE_LOSSY_PROFILE else "unlike most"

    def _group(self, cell: Cell, number: int | None) -> str:
        if cell.deployed in ("NULL", ""):
            return "dynamic buffers"
        if cell.state == "gone" and (cell.port, number) not in self._groups:
            return "queue without class"
        if (cell.rendered or "").startswith(PG_PROFILE_PREFIX):
            return "headroom row"
        return "row of a class" if cell.state == "new" else "unlike most"


def _bound(device: ImportDevice) -> dict[tuple[str, str], set[str]]:
    """Return the rows of CONFIG_DB that others refer to, by table and key, each with the ports that refer to it."""
    ports_of: dict[tuple[str, str], set[str]] = {}
    for (table, field), target in REFERENCES.items():
        for key, row in device.tables.table(table).items():
            ports_of.setdefault((target, row.reference(field)), set()).add(key.partition("|")[0])
    for table in LISTS:
        for key, row in device.tables.table(table).items():
            for name in row.fields.get("profile_list", "").split(","):
                ports_of.setdefault(("BUFFER_PROFILE", name.strip()), set()).add(key)
    return ports_of


class Figures(NamedTuple):
    """Counts of tables of either side, of deployed rows and fields, and of those that import and render reproduce.

    ``fields`` and ``rows`` count those of the device, ``added`` fields that only the render has.
    """

    tables: int
    tables_same: int
    rows: int
    rows_same: int
    fields: int
    fields_same: int
    added: int


def figures(cells: Iterable[Cell]) -> Figures:
    """Return the counts of one device's fields. A row or table is the same if no field is missing, changed or added."""
    tables: dict[str, bool] = {}
    rows: dict[tuple[str, str], tuple[bool, bool]] = {}
    states: Counter[str] = Counter()
    for cell in cells:
        same = cell.state == "same"
        states[cell.state] += 1
        tables[cell.table] = tables.get(cell.table, True) and same
        deployed, all_same = rows.get((cell.table, cell.key), (False, True))
        rows[cell.table, cell.key] = deployed or cell.deployed is not None, all_same and same
    there = [all_same for deployed, all_same in rows.values() if deployed]
    fields = states["same"] + states["changed"] + states["gone"]
    return Figures(
        len(tables), sum(tables.values()), len(there), sum(there), fields, states["same"], states["new"]
    )


def total(each: Iterable[Figures]) -> Figures:
    """Return the sum of the figures of devices, zeros without any."""
    all_figures = list(each)
    return Figures(*map(sum, zip(*all_figures, strict=True))) if all_figures else Figures(0, 0, 0, 0, 0, 0, 0)


def port_cells(device: ImportDevice, rendered: Switch) -> Iterator[tuple[str, Cell]]:
    """Yield the settings of shared tables that import declares, on both sides, each after the key of its attribute.

    They are MTU, speed and asymmetric PFC of ports in use, and the buffer model. Rendering keeps all others of a
    base, so that rows are compared by their meaning.
    """
    by_name = {port.name: port for port in rendered.ports if port.placed}
    table = "PORT" if device.switch.runs_sonic else PORT_TABLE
    for port in device.used.values():
        own = by_name.get(port.name)
        for part, field, read in _OF_PORTS:
            deployed, declared = read(port), None if own is None else read(own)
            if deployed is not None and (part != "asymmetric" or "on" in (deployed, declared)):
                yield part, Cell(table, port.name, field, deployed, declared)
    models = tuple("dynamic" if s.qos.buffer_model == "dynamic" else None for s in (device.switch, rendered))
    if any(models):
        yield "model", Cell("DEVICE_METADATA", "localhost", "buffer_model", *models)


_OF_PORTS: tuple[tuple[str, str, Callable[[Port], str | None]], ...] = (
    ("mtu", "mtu", lambda port: str(port.mtu_bytes) if isinstance(port.mtu_bytes, int) else None),
    ("speed", "speed", lambda port: str(port.speed_bps // 10**6) if port.speed_bps else None),
    ("asymmetric", "pfc_asym", lambda port: "on" if port.asymmetric else "off"),
)
"""Settings of PORT that import declares: the key of the attribute, the field, and its value of a port."""


if TYPE_CHECKING:
    Parts = dict[tuple[str, str], Any]


def cells_of_system(rendered: Switch, running: Switch, ports: Collection[str]) -> Iterator[tuple[str, Cell]]:
    """Yield the settings of ports that files carry, deployed and read back from the render, each after its key.

    Raises:
        RenderError: a declared setting cannot be rendered for the system of the switch.
    """
    before, after = _by_port(running, ports), _by_port(read_back(rendered), ports)
    for port in ports:
        own, back = before.get(port, {}), after.get(port, {})
        for part, what in dict.fromkeys((*own, *back)):
            field = BY_KEY[part].shown(what)
            said = (_text(side.get((part, what))) for side in (own, back))
            yield part, Cell(PORT_TABLE, port, field, *said)


def same_on_ports(one: Switch, other: Switch, ports: Collection[str]) -> bool:
    """Return whether two configurations of a switch give these ports the same behavior."""
    return _by_port(one, ports) == _by_port(other, ports)


def _by_port(switch: Switch, names: Collection[str]) -> dict[str, Parts]:
    own = tuple(port for port in switch.ports if port.name in names and port.placed and port.qos is not None)
    parts = meaning(switch._replace(ports=own), dialect(switch.format).losses)
    return {port.name: said for port, said in zip(own, parts, strict=True)}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, bool | str | int):
        return None if value is None else str(value)
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else repr(value)


KINDS_BY_PART = {
    "dscp": "another queue",
    "paused": "another queue",
    "pfc": "auto",
    "scheduler": "scheduler",
    "ecn": "row of a class",
    "cable": "cable",
}


def other_differences(
    cells: Mapping[str, Sequence[tuple[str, Cell]]],
) -> Iterator[ImportDifference]:
    """Yield the port settings of other systems that differ after import and render, with the kind of each."""
    said = grouped((cell.field, cell.deployed) for of in cells.values() for _, cell in of)
    usual = {field: most(values)[0] for field, values in said.items()}
    for device, of in cells.items():
        for part, cell in of:
            if cell.state != "same":
                differs = cell.deployed != usual[cell.field]
                yield ImportDifference(device, "unlike most" if differs else _kind(part, cell), cell)


def _kind(part: str, cell: Cell) -> str:
    if part.startswith("watchdog"):
        return "watchdog"
    if part == "scheduler" and cell.state == "gone":
        return "queue without class"
    if part in ("scheduler", "dscp") and cell.state == "new":
        return "row of a class" if part == "scheduler" else "trust"
    return KINDS_BY_PART.get(part, UNEXPLAINED)


def other_devices(
    documents: Sequence[Document],
    switches: Sequence[str],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> list[ImportDevice]:
    """Return the devices of configurations of other systems than SONiC.

    ``switches`` state profiles, see ``import_configs``. Of files in a folder for one switch with the same behavior the
    first is used. ``problems`` gets those of a file left out, unless another file of its folder has the switch.

    Raises:
        ProfileError: a profile does not exist, or a user's file is unreadable or wrong.
    """
    if not documents:
        return []
    pairs = [text.rpartition("=") for text in switches]
    products = [ProductChoice(pattern.strip() or "*", profile.strip()) for pattern, _, profile in pairs]
    devices: dict[tuple[str, str], ImportDevice] = {}
    every: list[ImportDevice] = []
    refused: dict[tuple[str, str], list[Problem]] = {}
    for document in documents:
        read, own = read_switch(document).read, list[Problem]()
        key = (str(Path(document.file).parent), read.switch.name)
        device = configured_device(document, read, products, profile_dirs, own)
        if device is None or own:
            refused.setdefault(key, own)
        elif (first := devices.get(key)) is None or not _same(first, device):
            devices.setdefault(key, device)
            every.append(device)
    # A file in the same folder that says all makes up for one that says a part.
    problems += [problem for key, of in refused.items() if key not in devices for problem in of]
    return every


def _same(first: ImportDevice, other: ImportDevice) -> bool:
    """Return whether two files of a name are one switch in two forms: same system, ports and port behavior."""
    if first.switch.format != other.switch.format or first.used.keys() != other.used.keys():
        return False
    return same_on_ports(first.switch, other.switch, first.used)


def compare_others(
    devices: Sequence[ImportDevice], fabric: Fabric
) -> tuple[dict[str, tuple[Cell, ...]], tuple[ImportDifference, ...], tuple[Problem, ...]]:
    """Return the port settings of devices of other systems than SONiC by device, and those that differ in their render.

    The last element are the problems of devices that cannot be rendered.
    """
    rendered = {switch.name: switch for switch in fabric.switches}
    parts: dict[str, list[tuple[str, Cell]]] = {}
    refused: list[Problem] = []
    for device in devices:
        try:
            own = cells_of_system(rendered[device.name], device.switch, device.used)
            parts[device.name] = [*own, *port_cells(device, rendered[device.name])]
        except RenderError as error:
            refused += [Problem("fabric.yaml", None, None, line) for line in error.lines]
    cells = {name: tuple(cell for _, cell in of) for name, of in parts.items()}
    return cells, tuple(other_differences(parts)), tuple(refused)
