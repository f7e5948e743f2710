"""Judges deployed devices: each file by itself, in several processes where there are many, then all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.run import Verdicts, run
from lossless.formats.inputs.collect import located
from lossless.ground.basics.errors import Problem, ProfileError
from lossless.ground.basics.findings import NotJudged, Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lossless.checks.rules.device import Device
    from lossless.checks.rules.registry import Codes, LoadedRule
    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.layout import Layout
    from lossless.model.fabric.across import Summary
    from lossless.model.fabric.model import Fabric, RepeatedKey, Switch
    from lossless.model.hardware.model import Hwsku, SwitchProfile

    FindHardware = Callable[[str, str | None], tuple[SwitchProfile, Hwsku] | None]


def every_rule(_file: str) -> Codes | None:
    """Choose all rules for every file."""
    return None


class Settings(NamedTuple):
    """What a run over devices depends on; ``intended`` are switches of intents judged with them, by name.

    ``chosen`` says which rules to run on a file. ``apart``: no file is judged by what another one says. ``tell`` is
    told how many files are done, of how many.
    """

    rdma_dscps: tuple[int, ...]
    profile_dirs: tuple[str, ...]
    intended: Mapping[str, Switch]
    compared: bool
    chosen: Callable[[str], Codes | None] = every_rule
    apart: bool = False
    tell: Callable[[int, int], None] | None = None


class Outcome(NamedTuple):
    """What is said of one device; ``summary`` is None where nothing is to be compared.

    Origins name the document of the device; ``layout`` says where its file has them, None where that is the same.
    """

    file: str
    verdicts: Verdicts
    errors: tuple[Problem, ...]
    summary: Summary | None
    name: str = ""
    layout: Layout | None = None


def judge_document(document: Document, settings: Settings, find: FindHardware) -> Outcome:
    """Judge one device by itself."""
    from lossless.checks.rules.device import Device
    from lossless.checks.rules.registry import rules_for
    from lossless.formats.sonic.read.tables import Tables
    from lossless.model.fabric.view import View

    tables = Tables.of(document)
    errors = (*document.problems, *(located(document, (name,), why) for name, why in tables.unreadable))
    try:
        fabric = device_fabric(document, tables, settings.rdma_dscps, find)
    except ProfileError as error:
        return Outcome(
            document.file, Verdicts(), (*errors, Problem(document.file, None, None, str(error))), None
        )
    view = View(fabric)
    device = Device(tables, view, settings.intended.get(fabric.switches[0].name))
    chosen = settings.chosen(document.file)
    verdicts = (
        run(view, rules_for("fabric", chosen=chosen), "config_db"),
        run(device, _rules_for(device, chosen), "config_db"),
        Verdicts(not_judged=tuple(NotJudged("", note) for note in fabric.unread)),
    )
    summary = _summary(device) if settings.compared else None
    layout = document.part.layout if document.part else None
    return Outcome(document.file, _joined(verdicts), errors, summary, document.name, layout)


def _rules_for(device: Device, chosen: Codes | None) -> tuple[LoadedRule, ...]:
    """Return the rules that can have something to say of a device."""
    from lossless.checks.rules.registry import codes_for, rules_for

    schema = codes_for("device", needs="refusals")
    has = {*device.tables.data}
    wanted = chosen is None or not chosen.isdisjoint(schema)
    if wanted and (device.conformity.problems or device.conformity.unknown_tables):
        has.add("refusals")
    if device.tables.remarks or device.tables.numbers:
        has.add("normalised forms")
    if device.intended is not None:
        has.add("intent")
    return rules_for("device", chosen=chosen, has=has)


def device_fabric(
    document: Document, tables: Tables, rdma_dscps: tuple[int, ...], find: FindHardware
) -> Fabric:
    """Return the fabric of one device."""
    from lossless.formats.sonic.to_model.devices import read_fabric

    return read_fabric([tables], find, rdma_dscps)._replace(repeated_keys=repeated_keys(document))


def finder(profile_dirs: tuple[str, ...]) -> FindHardware:
    """Return what finds the hardware of a device, each kind once."""
    from functools import cache

    from lossless.model.hardware.load import switch_for_hwsku

    @cache
    def find(hwsku: str, platform: str | None) -> tuple[SwitchProfile, Hwsku] | None:
        return switch_for_hwsku(hwsku, platform, profile_dirs)

    return find


def repeated_keys(document: Document) -> tuple[RepeatedKey, ...]:
    """Return the keys that stand twice in an object of a document."""
    from lossless.model.fabric.model import RepeatedKey

    return tuple(
        RepeatedKey(Origin(document.file, duplicate.path, "key"), duplicate.first_line)
        for duplicate in document.duplicates
    )


def compare(summaries: Sequence[Summary], settings: Settings) -> Verdicts:
    """Judge all devices together; one alone has nothing to be compared with.

    A rule that was chosen for some of the files only has nothing to say of the others.
    """
    if len(summaries) < 2:
        return Verdicts()
    from lossless.checks.rules.registry import codes_for, rules_for
    from lossless.model.fabric.across import Across

    choices = {settings.chosen(summary.file) for summary in summaries}
    union = frozenset().union(*(codes_for("devices") if chosen is None else chosen for chosen in choices))
    verdicts = run(Across(summaries), rules_for("devices", chosen=union), "config_db")
    wanted = (f for f in verdicts.findings if (c := settings.chosen(f.origin.file)) is None or f.code in c)
    return verdicts._replace(findings=tuple(wanted))


def _summary(device: Device) -> Summary:
    from lossless.checks.rules.summary import summary_of

    return summary_of(device)


def _joined(verdicts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        tuple(finding for v in verdicts for finding in v.findings),
        tuple(gap for v in verdicts for gap in v.not_judged),
    )


def deployed_fabric(documents: Sequence[Document], settings: Settings, errors: list[Problem]) -> Fabric:
    """Return one fabric of all devices together; what cannot be read of them is added to ``errors``.

    Raises:
        ProfileError: a hardware profile cannot be read.
    """
    from lossless.formats.sonic.read.tables import Tables
    from lossless.formats.sonic.to_model.devices import read_fabric

    devices = []
    for document in documents:
        tables = Tables.of(document)
        errors.extend(document.problems)
        errors.extend(located(document, (name,), message) for name, message in tables.unreadable)
        devices.append(tables)
    repeated = tuple(key for document in documents for key in repeated_keys(document))
    found = read_fabric(devices, finder(settings.profile_dirs), settings.rdma_dscps)
    return found._replace(repeated_keys=repeated)
