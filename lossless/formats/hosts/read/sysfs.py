"""Reads files below /sys, one line each: ``/sys/class/net/eth2/mtu = 9000``, or with a colon; and ``cat`` of them.

Sources: Linux Documentation/ABI (class-net), drivers/infiniband/hw/mlx5/cong.c @03826bc (cc_params, by PCI address),
drivers/infiniband/core/cma_configfs.c (rdma_cm), drivers/infiniband/core/sysfs.c (gid_attrs); MLNX_OFED
net/ethernet/mellanox/mlx5 ecn sysfs and its traffic_class (``Global tclass=106``, empty where unset); bnxt_re
configfs.c in lykeioner/driver @bcef51d (numbers in hexadecimal).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.nvidia import PARAMETERS
from lossless.formats.hosts.read.facts import ROCE_VERSIONS, HostFact, SectionFlaw, driver_of, parameter_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine

    Values = Iterator[tuple[str, object]]
    Parse = Callable[[re.Match[str], str], Values]

ASSIGNED = re.compile(r"(/sys/\S+?)\s*+(?:=|:\s)\s*+(.*)")
_BY_FILE = {f"ecn/{sysfs}": name for name, (sysfs, _) in PARAMETERS.items()}
_BY_DEBUGFS = {debugfs: name for name, (_, debugfs) in PARAMETERS.items()}
_TCLASS = re.compile(r"Global tclass=([0-9]{1,9})")


def read(section: Section) -> Reading:
    """Yield the facts in lines of supported files below /sys; others are skipped, and invalid values are flaws."""
    points: dict[tuple[str, str], list[tuple[int, bool, SectionLine]]] = {}
    gids: dict[str, list[tuple[int, str, SectionLine]]] = {}
    for line in section.lines:
        match = ASSIGNED.match(line.text)
        if match is None:
            continue
        value = match[2].rstrip()
        if enabled := _ENABLED.fullmatch(match[1]):
            points.setdefault((enabled[1], enabled[2]), []).append((int(enabled[3]), value == "1", line))
        elif gid := _GID.fullmatch(match[1]):
            if value:
                gids.setdefault(gid[1], []).append((int(gid[2]), value, line))
        else:
            yield from _known(section, match[1], value, line)
    yield from _running(section, points)
    for device, entries in gids.items():
        types = tuple((index, kind) for index, kind, _ in sorted(entries))
        yield HostFact(
            device, "gid_types", types, (section.title, f"{device} gid types"), entries[0][2].place
        )


_ENABLED = re.compile(r"/sys/class/net/([^/]+)/ecn/roce_(rp|np)/enable/([0-7])")
_GID = re.compile(r"/sys/class/infiniband/([^/]+)/ports/1/gid_attrs/types/([0-9]{1,9})")


def _known(section: Section, path: str, value: str, line: SectionLine) -> Reading:
    for pattern, parse in _FILES:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        try:
            for key, meaning in parse(match, value):
                rank = 1 if key.startswith("bnxt.") else 0
                yield HostFact(match[1], key, meaning, (section.title, path), line.place, rank)
        except ValueError:
            yield SectionFlaw(f"{path}: {value!r} is not what the kernel writes there", line.place)
        return


def _running(
    section: Section, points: dict[tuple[str, str], list[tuple[int, bool, SectionLine]]]
) -> Iterator[HostFact]:
    """Yield the priorities whose DCQCN reaction and notification points are on, of interfaces that list all eight.

    DCQCN is enabled where a reaction point is.
    """
    for (interface, point), states in points.items():
        if len({priority for priority, _, _ in states}) < 8:
            continue
        on = tuple(sorted(priority for priority, enabled, _ in states if enabled))
        place, path = states[0][2].place, (section.title, f"{interface} roce_{point}/enable")
        if point == "rp":
            yield HostFact(interface, "dcqcn.enabled", bool(on), path, place)
        key = "dcqcn.priorities" if point == "rp" else "dcqcn.notifying"
        yield HostFact(interface, key, on, path, place)


def _number(key: str, scale: int = 1) -> Parse:
    def parse(_match: re.Match[str], value: str) -> Values:
        number = int(value, 0)
        # A link that is down has a speed of -1.
        if number >= 0:
            yield key, number * scale

    return parse


def _word(key: str, meaning: Callable[[str], object]) -> Parse:
    def parse(_match: re.Match[str], value: str) -> Values:
        if value:
            yield key, meaning(value)

    return parse


def _parameter(names: dict[str, str]) -> Parse:
    def parse(match: re.Match[str], value: str) -> Values:
        if match[2] in names:
            yield parameter_key(names[match[2]]), int(value, 0)

    return parse


def _traffic_class(_match: re.Match[str], value: str) -> Values:
    tclass = _TCLASS.match(value)
    yield "traffic_class", int(tclass[1]) if tclass else int(value) if value else None


def _roce_mode(_match: re.Match[str], value: str) -> Values:
    if value not in ROCE_VERSIONS:
        raise ValueError(value)
    yield "roce_version", ROCE_VERSIONS[value]


def _broadcom(match: re.Match[str], value: str) -> Values:
    """Yield the value last written to a file of bnxt_re; until ``apply`` the firmware may have another one."""
    if match[2] in BROADCOM:
        yield BROADCOM[match[2]], int(value, 0)


def _profiles(_match: re.Match[str], value: str) -> Values:
    """Yield whether the firmware has service profiles: then DCB instead of these files classifies RDMA and CNPs."""
    yield "bnxt.profiles", value.rpartition(":")[2].strip() == "1"


def _files(*rows: tuple[str, Parse]) -> tuple[tuple[re.Pattern[str], Parse], ...]:
    return tuple((re.compile(pattern), parse) for pattern, parse in rows)


BROADCOM = {
    "ecn_enable": "bnxt.enabled",
    "cnp_dscp": "bnxt.cnp_dscp",
    "cnp_prio": "bnxt.cnp_priority",
    "roce_prio": "bnxt.priority",
}
_NET = "/sys/class/net/([^/]+)/"
_FILES = _files(
    (f"{_NET}mtu", _number("mtu")),
    (f"{_NET}speed", _number("rate", 10**6)),
    (f"{_NET}device", _word("pci", str)),
    (f"{_NET}device/driver", _word("driver", driver_of)),
    (f"{_NET}device/vendor", _word("vendor", str)),
    (f"{_NET}device/device", _word("device", str)),
    (f"{_NET}device/infiniband", _word("rdma_device", str)),
    (f"{_NET}(ecn/roce_[rn]p/[a-z0-9_]+)", _parameter(_BY_FILE)),
    ("/sys/kernel/debug/mlx5/([^/]+)/cc_params/([a-z0-9_]+)", _parameter(_BY_DEBUGFS)),
    ("/sys/class/infiniband/([^/]+)/tc/1/traffic_class", _traffic_class),
    ("/sys/kernel/config/rdma_cm/([^/]+)/ports/1/default_roce_tos", _number("cma_tos")),
    ("/sys/kernel/config/rdma_cm/([^/]+)/ports/1/default_roce_mode", _roce_mode),
    ("/sys/kernel/debug/bnxt_re/([^/]+)/info", _profiles),
    ("/sys/kernel/config/bnxt_re/([^/]+)/ports/1/cc/([a-z_]+)", _broadcom),
)
_SHOWN = re.compile(r".*\(([a-z_]+)\)\s*:\s*(\S+)")
_APPLIED = re.compile(r"/sys/kernel/config/bnxt_re/([^/]+)/ports/1/cc/apply")


def shown(section: Section) -> Reading:
    """Yield the facts in what ``cat`` prints of files below /sys, a line for each file that it names."""
    paths = [word for word in section.words[1:] if word.startswith("/sys/")]
    lines = [line for line in section.lines if line.text.strip()]
    if not paths or len(paths) != len(lines):
        yield from applied(section)
        return
    places = {line.start: line.place for line in lines}
    stated = (
        line._replace(text=f"{path}={line.text.strip()}") for path, line in zip(paths, lines, strict=True)
    )
    for item in read(section._replace(lines=tuple(stated))):
        at = item.place.start if item.place else 0
        yield item._replace(place=places.get(at, item.place)) if isinstance(item, HostFact) else item


def applied(section: Section) -> Iterator[HostFact]:
    """Yield the supported values of the firmware of a bnxt_re device, as ``cat .../cc/apply`` prints them."""
    device = next((match[1] for word in section.words if (match := _APPLIED.fullmatch(word))), None)
    for line in section.lines:
        match = _SHOWN.match(line.text)
        if device is None or match is None or match[1] not in BROADCOM:
            continue
        value = {"Enabled": 1, "Disabled": 0}.get(match[2])
        if value is None and re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,19}", match[2]):
            value = int(match[2], 16) if match[2].startswith("0x") else int(match[2])
        if value is not None:
            yield HostFact(device, BROADCOM[match[1]], value, (section.title, match[1]), line.place)
