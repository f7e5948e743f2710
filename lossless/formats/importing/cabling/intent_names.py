"""Translates the names of devices and ports in files of cables to those of an intent.

A switch port is matched by its name, its alias, and its position on the front panel. The files are
documents, so that findings can refer to lines of any kind of file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.importing.cabling.cables import merge_cables
from lossless.formats.importing.cabling.sheets import read_files
from lossless.formats.importing.cabling.topology import is_excluded
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Origin, natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.ground.documents.marked_document import Marks
from lossless.ground.documents.text import Lines
from lossless.model.fabric.cabling import CableEnd, CableReport, DeviceNames, ReportedCable, claimed_twice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.importing.cabling.cables import FileCable
    from lossless.formats.importing.cabling.sheets import CableFiles
    from lossless.ground.basics.findings import Finding, Path
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.cabling import PlannedCable
    from lossless.model.fabric.model import Switch
    from lossless.model.hardware.model import PortSpec


def line_path(line: int) -> Path:
    """Return the path by which findings refer to a line of a file of cables."""
    return (f"line {line}",)


def cable_documents(texts: Mapping[str, str], findings: Iterable[Finding]) -> dict[str, Document]:
    """Return files of cables as documents that have only the lines that findings refer to."""
    wanted: dict[str, set[Path]] = {file: set() for file in texts}
    for finding in findings:
        for origin in (finding.origin, *(place.origin for place in finding.related)):
            if origin.file in wanted:
                wanted[origin.file].add(origin.path)
    return {file: _document(file, text, wanted[file]) for file, text in texts.items()}


def _document(file: str, text: str, paths: Iterable[Path]) -> Document:
    marks, lines = Marks(file, text), Lines(text)
    data: dict[str | int, str] = {}
    for path in paths:
        number = int(str(path[0]).removeprefix("line "))
        start, words = lines.start(number), lines.line_text(number)
        data[path[0]] = words
        marks.mark(path, start + len(words) - len(words.lstrip()), start + len(words.rstrip()))
    return marks.document(data)


_FRONT = (
    # NVIDIA's aliases and Cumulus Linux count cages from 1; parts of a split one have letters, or numbers from 0.
    re.compile(r"etp(?P<cage>[0-9]+)(?P<letter>[a-h])?"),
    re.compile(r"swp(?P<cage>[0-9]+)(?:s(?P<number>[0-9]))?"),
    # SONiC's standard naming has the slot, the cage and, of a split one, the part from 1.
    re.compile(r"eth1/(?P<cage>[0-9]+)(?:/(?P<one>[0-9]))?"),
)
"""Patterns of port names by their position on the front panel.

Sources: sonic-buildimage device/mellanox port_config.ini @086b03b (etp1a), NVIDIA Cumulus Linux manual, Switch Port
Attributes (swp1s0), docs.ansible.com, dellemc.enterprise_sonic, sonic_port_breakout (Eth1/1, and parts of it).
"""
OUT_OF_BAND = re.compile(r"(?i)(eth|mgmt|management|ma|bmc|ipmi|ilo|idrac|oob|em|usb|console)[-_ ]?[0-9/]*")
"""The pattern of switch ports that carry no traffic of the fabric, such as management ports."""


class PortNames:
    """Finds the ports of one switch by names that people, LLDP and other systems use."""

    def __init__(self, specs: Iterable[PortSpec]) -> None:
        self._names: dict[str, str] = {}
        self._cages: dict[int, list[str]] = {}
        for spec in specs:
            # Where the alias of one port is the name of another, it means that.
            self._names.setdefault(spec.alias.lower(), spec.name)
            self._cages.setdefault(spec.index, []).append(spec.name)
        for names in self._cages.values():
            self._names |= {name.lower(): name for name in names}
        self._from_one = min(self._cages, default=1) == 1

    def find(self, word: str) -> str | None:
        """Return the switch's own name of a port, None where no port of the switch matches."""
        low = word.lower()
        return self._names.get(low) or (self._on_front(low) if self._from_one else None)

    def _on_front(self, low: str) -> str | None:
        match = next(filter(None, (form.fullmatch(low) for form in _FRONT)), None)
        if match is None:
            return None
        ports = self._cages.get(int(match["cage"]), [])
        part = _part(match.groupdict())
        if part is None:
            return ports[0] if len(ports) == 1 else None
        return ports[part] if 0 <= part < len(ports) and len(ports) > 1 else None


def _part(groups: dict[str, str | None]) -> int | None:
    """Return the number of a part of a split cage, counted from 0; None for the whole cage."""
    letter, number, from_one = groups.get("letter"), groups.get("number"), groups.get("one")
    if letter:
        return ord(letter) - ord("a")
    if number:
        return int(number)
    return int(from_one) - 1 if from_one else None


_MANY = 5


class IntentNames(NamedTuple):
    """Names of devices and ports in an intent. ``ports`` are those of switches, by device.

    ``host_ports`` are ports that the intent names of devices other than its switches; ``should`` maps each planned port
    of a switch to the device at the other end of its cable.
    """

    devices: frozenset[str]
    ports: Mapping[str, PortNames]
    host_ports: Mapping[str, frozenset[str]]
    should: Mapping[CableEnd, str]


def names_of_intent(
    devices: Iterable[str], switches: Iterable[Switch], planned: Iterable[PlannedCable]
) -> IntentNames:
    """Return the names of devices and ports in an intent; identical switches share their port names."""
    ports, shared = dict[str, PortNames](), dict[tuple[int, int], PortNames]()
    for switch in switches:
        key = (id(switch.ports), id(switch.unused))
        if key not in shared:
            specs = [port.spec for port in switch.ports if port.spec is not None]
            shared[key] = PortNames([*specs, *switch.unused])
        if not switch.asic or switch.device not in ports:
            ports[switch.device] = shared[key]
    named: dict[str, set[str]] = {}
    should = {}
    for cable in planned:
        should[CableEnd(*cable.a)] = cable.b.device
        if cable.b.device in ports:
            should[CableEnd(*cable.b)] = cable.a.device
        elif cable.b.port is not None:
            named.setdefault(cable.b.device, set()).add(cable.b.port)
    return IntentNames(
        frozenset(devices),
        ports,
        {host: frozenset(ports_of_host) for host, ports_of_host in named.items()},
        should,
    )


def read_cables(texts: Mapping[str, str], declared: IntentNames, exclude: Sequence[str] = ()) -> CableReport:
    """Return the cables in files with a declared device at one end or both, without excluded ones and management ports.

    Raises:
        InputError: files of an unsupported kind, contradictions, two names of one device, a switch of which no port
            name matches, LLDP of an unknown device, or files without a declared device.
    """
    cable_files = read_files(texts, declared.devices)
    if cable_files.problems:
        raise InputError(cable_files.problems)
    return _CableMapper(cable_files, declared, exclude).told()


class _CableMapper:
    def __init__(self, cable_files: CableFiles, declared: IntentNames, exclude: Sequence[str]) -> None:
        self._declared = declared
        self._cable_files = cable_files
        self._problems: list[Problem] = []
        self._said = [cable for cable in cable_files.cables if not is_excluded(cable, exclude)]
        names = DeviceNames(declared.devices)
        words = {end.device for cable in self._said for end in (cable.a, cable.b)} | cable_files.listed
        self._meant = {
            word: device for word in {*words, *cable_files.listening.values()} if (device := names.find(word))
        }
        self._host_words = self._words_of_hosts()
        self._speeds = self._set_speeds()

    def told(self) -> CableReport:
        self._refuse_names()
        cables = [cable for cable in map(self._renamed, self._said) if self._concerns(cable)]
        self._refuse_ports(cables)
        if self._problems:
            raise InputError(self._problems)
        cables = list(_one_a_port(map(self._with_ports, cables), self._declared.should))
        merged = tuple(self._found_cable(cable) for cable in merge_cables(cables, self._problems))
        if self._problems:
            raise InputError(sorted(set(self._problems), key=lambda p: (p.file, p.line or 0, p.message)))
        heard = {end.device for cable in cables if cable.heard for end in (cable.a, cable.b)}
        listening = {self._meant.get(name, name) for name in self._cable_files.listening.values()}
        listed = {self._meant.get(name, name) for name in self._cable_files.listed}
        return CableReport(merged, frozenset(listed), frozenset(heard), frozenset(listening))

    def _refuse_names(self) -> None:
        """Add problems for two names of one device, LLDP of an unknown device, and files of another fabric."""
        for device, first, second in claimed_twice(self._meant):
            place = next(c.place for c in self._said if first in (c.a.device, c.b.device))
            says = f"{first} and {second} may both be {device} of the intent; leave one out: --exclude {second!r}"
            self._problems.append(place.problem(says))
        for file, word in self._cable_files.listening.items():
            if word not in self._meant:
                says = (
                    f"is LLDP of {word!r}, which the intent does not have; name the file DEVICE.txt or DEVICE.json, "
                    "or put it in DEVICE/"
                )
                self._problems.append(Problem(file, None, None, says))
        if not self._meant:
            file = next(iter(self._cable_files.listening), None) or _first_file(self._cable_files)
            words = _some({end.device for cable in self._said for end in (cable.a, cable.b)})
            says = f"none of its devices is in the intent: it has {words}, the intent {_some(self._declared.devices)}"
            self._problems.append(Problem(file, None, None, says))

    def _renamed(self, cable: FileCable) -> FileCable:
        a, b = (end._replace(device=self._meant.get(end.device, end.device)) for end in (cable.a, cable.b))
        return cable._replace(a=a, b=b)

    def _concerns(self, cable: FileCable) -> bool:
        """Return whether a cable has an end at a declared device, and none at a management port."""
        if not {cable.a.device, cable.b.device} & self._declared.devices:
            return False
        return not any(self._is_out_of_band(end) for end in (cable.a, cable.b))

    def _is_out_of_band(self, end: CableEnd) -> bool:
        names = self._declared.ports.get(end.device)
        return (
            names is not None
            and end.port is not None
            and OUT_OF_BAND.fullmatch(end.port) is not None
            and names.find(end.port) is None
        )

    def _refuse_ports(self, cables: Iterable[FileCable]) -> None:
        """Add problems for switches none of whose port names in the files matches one of the intent."""
        unknown: dict[str, list[FileCable]] = {}
        known = set()
        for cable in cables:
            for end, words in ((cable.a, (cable.a.port,)), (cable.b, cable.b_words or (cable.b.port,))):
                names = self._declared.ports.get(end.device)
                if names is None or not any(words):
                    continue
                if any(names.find(word) for word in words if word):
                    known.add(end.device)
                elif not cable.heard or end is cable.a:
                    unknown.setdefault(end.device, []).append(cable)
        for device in unknown.keys() - known:
            self._problems.append(self._no_such_ports(device, unknown[device]))

    def _no_such_ports(self, device: str, cables: Sequence[FileCable]) -> Problem:
        ports = {
            end.port for cable in cables for end in (cable.a, cable.b) if end.device == device and end.port
        }
        example = next((end.port for end in self._declared.should if end.device == device), "Ethernet0")
        says = f"{device} has no port called {_some(ports)}; write them as SONiC calls them, {example}, or by alias"
        return cables[0].place.problem(says)

    def _with_ports(self, cable: FileCable) -> FileCable:
        """Return a cable with the intent's names for its ports where it has them.

        The far port of a cable that LLDP reports is None where it is a switch's and no name of the intent fits; a
        host's port is None where files call none of the ports of that host as the intent does.
        """
        a = cable.a._replace(port=self._port(cable.a))
        if not cable.heard:
            return cable._replace(a=a, b=cable.b._replace(port=self._port(cable.b)))
        names = self._declared.ports.get(cable.b.device)
        if names is not None:
            port = next((name for word in cable.b_words if (name := names.find(word))), None)
            return cable._replace(a=a, b=cable.b._replace(port=port), b_words=())
        words = tuple(filter(None, (self._port(CableEnd(cable.b.device, word)) for word in cable.b_words)))
        return cable._replace(a=a, b=cable.b._replace(port=next(iter(words), None)), b_words=words)

    def _port(self, end: CableEnd) -> str | None:
        if end.port is None:
            return None
        names = self._declared.ports.get(end.device)
        if names is not None:
            return names.find(end.port) or end.port
        own = {name.lower(): name for name in self._declared.host_ports.get(end.device, ())}
        # Where files call none of its ports as the intent does, they have other names for them, and none is wrong.
        if own and not any(name in own for name in self._host_words.get(end.device, ())):
            return None
        return own.get(end.port.lower(), end.port)

    def _words_of_hosts(self) -> dict[str, set[str]]:
        """Return the names in files, in lower case, of the ports of devices in ``host_ports``, by device."""
        by_host: dict[str, set[str]] = {}
        for cable in map(self._renamed, self._said):
            for end, words in ((cable.a, (cable.a.port,)), (cable.b, cable.b_words or (cable.b.port,))):
                if end.device in self._declared.host_ports:
                    by_host.setdefault(end.device, set()).update(word.lower() for word in words if word)
        return by_host

    def _found_cable(self, cable: FileCable) -> ReportedCable:
        a, b = (CableEnd(*end) for end in (cable.a, cable.b))
        speed_bps = cable.speed_bps or self._speeds.get(cable.a) or self._speeds.get(cable.b)
        return ReportedCable(
            a, b, speed_bps, cable.cable_m, Origin(cable.place.file, line_path(cable.place.line))
        )

    def _set_speeds(self) -> dict[CableEnd, int]:
        """Return the configured speeds of interfaces, by the names of the intent."""
        ends = (
            (end._replace(device=self._meant.get(end.device, end.device)), speed_bps)
            for file in self._cable_files.files
            for end, speed_bps in file.speeds
        )
        return {end._replace(port=self._port(end)): speed_bps for end, speed_bps in ends}


def _one_a_port(cables: Iterable[FileCable], should: Mapping[CableEnd, str]) -> Iterator[FileCable]:
    """Yield cables; of several LLDP neighbors of one port, only the one that the intent has there, if among them."""
    kept = list(cables)
    expected = {
        (cable.place.file, cable.a) for cable in kept if cable.heard and should.get(cable.a) == cable.b.device
    }
    for cable in kept:
        if (
            not cable.heard
            or (cable.place.file, cable.a) not in expected
            or should[cable.a] == cable.b.device
        ):
            yield cable


def _first_file(cable_files: CableFiles) -> str:
    places = [cable.place for cable in cable_files.cables] + [
        place for file in cable_files.files for _, _, place in file.roles
    ]
    return places[0].file if places else "cables"


def _some(names: Iterable[str]) -> str:

    ordered = sorted(names, key=natural_key)
    return listed(ordered, _MANY) if ordered else "none"
