"""Differences between running and rendered configurations, of a switch or of a fabric, and updates that remove them.

A configuration is compared with the switch of the intent that the caller names or that has its hostname. Without a
hostname, the name of its folder counts (SONiC), or that of its file or folder (other systems). A switch of another
system is compared by its attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.base_merge import change_of, update_of
from lossless.formats.device_files.switches import contents, losses_of
from lossless.formats.inputs.devices import hostname_of, name_in_intent
from lossless.formats.inputs.switches import read_switch
from lossless.formats.sonic.changes.json_patch import FieldDifference, RowDifference, differences, patch_text
from lossless.formats.sonic.from_model import chassis_rows, tables
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.formats.switches.contract import PORT_TABLE, differences as differences_of_system
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.errors import InputError, Problem, RenderError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, listed, suggestion
from lossless.model.fabric.attributes import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.lint.run import CheckedReport
    from lossless.formats.device_files.base_merge import UpdatePlan
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.attributes import Attribute
    from lossless.model.fabric.model import Fabric, Switch


class NotCompared(NamedTuple):
    """A setting of an intent that the files of the switch's system do not carry, and the reason."""

    what: str
    why: str


class SwitchDrift(NamedTuple):
    """The differences of one switch without its file and intent; its fields are described at :class:`Drift`."""

    rows: tuple[RowDifference, ...]
    respelled: int = 0
    change: UpdatePlan | None = None
    patch: tuple[dict[str, Any], ...] | None = None
    problems: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()


class Drift(NamedTuple):
    """The differences between a switch's running configuration and the one rendered for it.

    ``rows`` differ in meaning. ``change`` is the update of a SONiC switch and ``patch`` the same as RFC 6902
    operations, None if the switch's updater would refuse it; other systems have neither. The patch also rewrites values
    in an old spelling; ``respelled`` counts the operations if there are no other differences. ``problems`` are the
    reasons why a render onto the file would be refused, or that it is of another system: there is no change and no
    patch then. ``not_compared`` are settings of the intent that files of the switch's system do not carry, none for
    SONiC. ``report`` contains the findings of the rules on the intent.
    """

    device: str
    file: str
    intent: str
    rows: tuple[RowDifference, ...]
    respelled: int
    change: UpdatePlan | None
    patch: tuple[dict[str, Any], ...] | None
    problems: tuple[str, ...]
    not_compared: tuple[NotCompared, ...]
    report: CheckedReport

    @property
    def patch_text(self) -> str | None:
        """The patch as a file for ``config apply-patch``, None where there is no patch."""
        return None if self.patch is None else patch_text(self.patch)


def drift_of(switch: Switch, running: Document) -> SwitchDrift:
    """Return the differences between the running CONFIG_DB of a SONiC switch and the one rendered for it."""
    deployed = Tables(running.file, running.data)
    rows = differences(deployed, chassis_rows(tables(switch), running.data), _read(deployed, switch))
    # Who names the device knows whose file it is; the name in it is then no reason to refuse it.
    named = switch._replace(name=hostname_of(running) or switch.name)
    try:
        _, target = contents(named, running)
    except RenderError as error:
        return SwitchDrift(rows, problems=error.lines)
    update = update_of(switch, running.data, target)
    patch = None if update.refusals else tuple(step.as_json() for step in update.operations)
    respelled = 0 if rows else len(update.operations)
    return SwitchDrift(rows, respelled, change_of(switch, update), patch)


def _read(deployed: Tables, like: Switch) -> Switch:
    """Return the switch of a configuration; if its HWSKU is that of ``like``, with the hardware profile of ``like``."""
    known = (like.profile, like.hwsku) if like.profile and like.hwsku else None
    return read_fabric([deployed], lambda name, _: known if name == like.hwsku_name else None).switches[0]


class FabricDrift(NamedTuple):
    """The differences between the running configurations of switches and those that one intent renders for them.

    ``drifts`` has one entry a switch that was compared, in the order of the files; ``missing`` names the switches of
    the intent without a file. ``errors`` are the problems of files that were not compared. ``report`` contains the
    findings of the rules on the intent.
    """

    intent: str
    drifts: tuple[Drift, ...]
    missing: tuple[str, ...]
    errors: tuple[Problem, ...]
    report: CheckedReport


def drift_between(switch: Switch, running: Document) -> SwitchDrift:
    """Return the differences between the configuration of a switch of any system and its intent."""
    if switch.runs_sonic and not running.dialect:
        return drift_of(switch, running)
    return drift_of_system(switch, running)


def switch_of(
    fabric: Fabric, running: Document, device: str | None, remedy: str = "; name one with --device"
) -> Switch:
    """Return the switch of the intent of a file: the one called ``device``, else by hostname, folder or file.

    The folder counts for a file of SONiC without a hostname, the file or its folder for one of another system.

    Raises:
        InputError: the intent has no such switch.
    """
    switches = {switch.name: switch for switch in fabric.switches}
    if running.dialect:
        hostname = read_switch(running).read.switch.name
        name = device or hostname
    else:
        hostname = hostname_of(running)
        name = device or name_in_intent(Tables(running.file, running.data), hostname)
    if name in switches:
        return switches[name]
    hint = suggestion(device or hostname, switches)
    if device:
        message = f"the intent has no switch {device!r}{hint}"
    elif hostname:
        message = f"is the file of {hostname!r}, and the intent has no such switch{hint}{remedy}"
    else:
        message = f"does not say whose it is (DEVICE_METADATA|localhost|hostname){hint}{remedy}"
    raise InputError([Problem(running.file, None, None, message)])


def fabric_drift(
    running: Sequence[Document],
    fabric: Fabric,
    intent: str,
    report: CheckedReport,
    progress: Callable[[int, int], None] | None = None,
) -> FabricDrift:
    """Return the differences of configurations, each from its switch of a fabric.

    ``intent`` is the file that declares the fabric.
    """
    devices, problems = _matched(fabric, running)
    drifts = tuple(_compared(devices, fabric, intent, report, progress))
    missing = tuple(switch.name for switch in fabric.switches if switch.name not in devices)
    return FabricDrift(intent, drifts, missing, tuple(problems), report)


def _matched(fabric: Fabric, running: Sequence[Document]) -> tuple[dict[str, Document], list[Problem]]:
    """Return the first configuration of each switch by its name in the intent, and the problems of other files."""
    devices: dict[str, Document] = {}
    problems: list[Problem] = []
    for document in running:
        try:
            name = switch_of(fabric, document, None, remedy="").name
        except InputError as error:
            problems += error.problems
            continue
        if name in devices:
            message = f"is the file of {name!r}, and so is {devices[name].file}; keep the one that runs"
            problems.append(Problem(document.file, None, None, message))
        devices.setdefault(name, document)
    return devices, problems


def _compared(
    devices: dict[str, Document],
    fabric: Fabric,
    intent: str,
    report: CheckedReport,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Drift]:
    switches = {switch.name: switch for switch in fabric.switches}
    for number, (name, running) in enumerate(devices.items(), 1):
        yield Drift(name, running.file, intent, *drift_between(switches[name], running), report)
        if progress is not None:
            progress(number, len(devices))


def drift_of_system(switch: Switch, running: Document) -> SwitchDrift:
    """Return the differences between a configuration and its intent, in the attributes that files of its system carry.

    A file of another system than the intent's is a problem, and not compared.
    """
    if running.dialect != switch.format:
        runs, declared = (TITLES.get(name, "SONiC") for name in (running.dialect, switch.format))
        return SwitchDrift((), problems=(f"{running.shown}: is of {runs}; {switch.name} runs {declared}",))
    system = dialect(running.dialect)
    read = system.read(running, ()).switch
    ports = {port.name: port for port in read.ports if port.qos is not None}
    absent = [port.name for port in switch.ports if port.placed and port.qos and port.name not in ports]
    present = [d for d in differences_of_system(switch, read, system.losses) if d.port in ports]
    moved = {difference.port for difference in present if difference.part == "dscp"}
    # Which DSCPs a pause stops follows from where they go.
    own = [d for d in present if not (d.part == "paused" and d.port in moved)]
    fields = grouped((d.port, field) for d in own for field in _fields(d.part, d.what, d.read, d.declared))
    return SwitchDrift(
        (
            *(RowDifference(PORT_TABLE, port, "added", ()) for port in absent),
            *(RowDifference(PORT_TABLE, port, "changed", tuple(of)) for port, of in fields.items()),
        ),
        not_compared=tuple(NotCompared(BY_KEY[key].title, why) for key, why in losses_of(switch).items()),
    )


def _fields(part: str, what: str, before: Any, after: Any) -> Iterator[FieldDifference]:
    """Yield the differing fields of an attribute: moved DSCPs, differing values of two WRED curves, else the value."""
    if part == "dscp" and before is not None:
        yield from _moved(before, after)
    elif part == "ecn" and before is not None and after is not None:
        for (name, unit), old, new in zip(_CURVE, before, after, strict=True):
            if old != new:
                yield FieldDifference(f"{name} of {what}", _number(old, unit), _number(new, unit))
    else:
        attribute = BY_KEY[part]
        label = (attribute.label or attribute.title).format(what)
        yield FieldDifference(label, _text(attribute, before), _text(attribute, after))


_CURVE = (("marks", ""), ("Kmin", "B"), ("Kmax", "B"), ("Pmax", "%"))


def _number(value: Any, unit: str) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else "yes" if value else "no"
    return format_bytes(value) if unit == "B" else f"{value} {unit}"


def _moved(before: tuple[int, ...], after: tuple[int, ...]) -> Iterator[FieldDifference]:
    moved = grouped(
        (ends, str(dscp)) for dscp, ends in enumerate(zip(before, after, strict=True)) if ends[0] != ends[1]
    )
    for (old, new), dscps in moved.items():
        yield FieldDifference(f"the queue of DSCP {listed(dscps)}", str(old), str(new))


def _text(attribute: Attribute, value: Any) -> str | None:
    """Return the value of an attribute in words; None if it is unset, or ``no marking`` if it is that of ECN."""
    if value is None:
        return "no marking" if attribute.key == "ecn" else None
    if attribute.key == "ecn":
        return f"marking from {_number(value[1], 'B')} to {_number(value[2], 'B')}, {value[3]} %"
    if attribute.key == "scheduler":
        kind, weight = value
        return kind if weight is None else f"{kind} {weight} %"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value} {attribute.unit}".rstrip()
