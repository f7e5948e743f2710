"""Import: deployed configurations to an intent that renders back to the same QoS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from pathlib import Path as FilePath

    from lossless.formats.importing.differences import Figures, ImportDifference
    from lossless.formats.importing.model import Claim, Draft, ImportDevice
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.ground.documents.document import Document
    from lossless.model.hardware.nic import NicProfile

    Path = str | PathLike[str]


INTENT_FILE = "fabric.yaml"
"""What an imported intent is called before it is written."""


class ImportResult(NamedTuple):
    """An imported intent: its text, and how what it renders compares with what is deployed.

    ``cells`` are all fields of the tables that rendering owns, by device; ``differences`` those that do not come
    back, each with its kind. ``refused`` says why ``render`` refuses this intent: what it cannot express, and
    then nothing could be compared, or what lint reports as errors. ``bases`` are the devices' own files as ``render``
    wants them, by path below a folder.
    """

    text: str
    devices: tuple[str, ...]
    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]
    refused: tuple[Problem, ...]
    bases: dict[str, str]

    @property
    def figures(self) -> Figures:
        """How much of what is deployed comes back the same, all devices together."""
        from lossless.formats.importing.differences import figures, total

        return total(map(figures, self.cells.values()))

    @property
    def reasons(self) -> Mapping[str, str]:
        """What each kind of difference means."""
        from lossless.formats.importing.differences import KINDS

        return KINDS


def import_configs(
    paths: Sequence[Path],
    *,
    cabling: Path | None = None,
    lldp: Sequence[Path] = (),
    nic: str | None = None,
    name: str = "imported",
    switches: Sequence[str] = (),
    cable: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> ImportResult:
    """Return the intent that deployed devices amount to.

    ``switches`` name the profiles of switches whose files do not: ``leaf1=PROFILE``, ``leaf*=PROFILE``, or ``PROFILE``
    for all that it can be. ``cable`` is the length of cables that nothing states, as ``30m``. ``cabling`` is a CSV file
    with a cable a line, ``lldp`` are outputs of ``show lldp table`` or of ``lldpctl -f json``, one a device. ``nic``
    names the adapter of the hosts, which no switch knows.

    Raises:
        InputError: a file cannot be read, or a device is of no HWSKU that a profile knows.
    """
    from lossless.formats.inputs.collect import collect
    from lossless.formats.inputs.intents import is_intent
    from lossless.formats.inputs.subnet_manager import is_managers

    every, problems = collect(paths)
    documents = [d for d in every if d.dialect or not is_managers(d.file)]
    problems += [Problem(d.file, 1, 1, "is an intent already") for d in documents if is_intent(d)]
    if problems or not documents:
        raise InputError(
            problems or [Problem(str(path), None, None, "nothing here to import") for path in paths]
        )
    return import_documents(
        documents,
        cabling=cabling,
        lldp=lldp,
        nic=nic,
        name=name,
        switches=switches,
        cable=cable,
        options=options,
    )


def import_documents(
    documents: Sequence[Document],
    *,
    cabling: Path | None = None,
    lldp: Sequence[Path] = (),
    nic: str | None = None,
    name: str = "imported",
    switches: Sequence[str] = (),
    cable: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> ImportResult:
    """Return the intent that devices already read amount to; see :func:`import_configs`."""
    from lossless.formats.importing.devices import devices_of, require_name
    from lossless.formats.importing.draft import draft_of
    from lossless.ground.basics.units import parse_length
    from lossless.interfaces.api.import_systems import other_devices

    require_name(name)
    problems: list[Problem] = []
    others = other_devices([d for d in documents if d.dialect], switches, options, problems)
    devices = devices_of([d for d in documents if not d.dialect], options.profile_dirs, others, problems)
    cable_m = None if cable is None else parse_length(cable)
    draft = draft_of(devices, _claims(devices, cabling, lldp), _nics(nic, options), nic, name, cable_m)
    best = _best(draft, options)
    bases = {f"{d.name}/config_db.json": d.document.text for d in devices if d.switch.runs_sonic}
    names = tuple(device.name for device in devices)
    refused = best.refused or _errors(best.text, options)
    return ImportResult(best.text, names, best.cells, best.differences, refused, bases)


def _errors(text: str, options: Options) -> tuple[Problem, ...]:
    """Return the findings for which ``render`` refuses an intent."""
    from lossless.formats.inputs.collect import located
    from lossless.ground.documents import load_text
    from lossless.interfaces.api.lint import lint_intent

    document = load_text(text, INTENT_FILE)
    report, _ = lint_intent(document, Options(profile_dirs=options.profile_dirs))
    return (
        *report.errors,
        *(
            located(document, finding.origin.path, f"{finding.code} {finding.message}")
            for finding in report.findings
            if finding.severity == "error"
        ),
    )


class _Attempt(NamedTuple):
    """What an intent renders, compared with the devices it was imported from."""

    text: str
    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]
    refused: tuple[Problem, ...]


def _best(draft: Draft, options: Options) -> _Attempt:
    """Return the intent of a draft, with what gives pools their sizes where they are not those that are computed."""
    from lossless.formats.importing.pools import with_sizes

    first = _attempt(draft, options)
    if not _pools_differ(first):
        return first
    best = _better(first, _with_best_ratio(draft, options))
    sized = _attempt(with_sizes(draft, first.cells), options) if _pools_differ(best) else best
    # Sizes that were computed otherwise are not declared where they make a fabric that is refused.
    refuses = sized is not best and bool(_errors(sized.text, options)) and not _errors(best.text, options)
    return best if refuses else _better(best, sized)


def _pools_differ(attempt: _Attempt) -> bool:
    return any(difference.cell.table == "BUFFER_POOL" for difference in attempt.differences)


def _better(first: _Attempt, second: _Attempt) -> _Attempt:
    return second if not second.refused and len(second.differences) < len(first.differences) else first


def _with_best_ratio(draft: Draft, options: Options) -> _Attempt:
    """Return the intent of a draft with the ratio of the shared headroom that gives most pools their size."""
    from lossless.formats.importing.headroom_oversubscription import ratio_of, shared_sizes
    from lossless.formats.importing.pools import with_ratio

    whole = _attempt(with_ratio(draft, 1.0), options)
    ratio = ratio_of(size for cells in whole.cells.values() for size in shared_sizes(cells))
    return whole if ratio is None else _attempt(with_ratio(draft, ratio), options)


def _claims(devices: Sequence[ImportDevice], cabling: Path | None, lldp: Sequence[Path]) -> list[Claim]:
    import os

    from lossless.formats.importing.cabling.csv_lines import read_cabling
    from lossless.formats.importing.cabling.lldp import device_of, read_lldp
    from lossless.formats.importing.links import lldp_claims
    from lossless.ground.documents.text import read_text

    claims: list[Claim] = []
    if cabling is not None:
        claims += read_cabling(read_text(cabling), os.fspath(cabling))
    names = [device.name for device in devices]
    for file in (os.fspath(path) for path in lldp):
        claims += lldp_claims(device_of(file, names), read_lldp(read_text(file), file), devices)
    return claims


def _nics(nic: str | None, options: Options) -> list[NicProfile]:
    """Return the adapters to choose from.

    Raises:
        InputError: the one that the user names is not known.
    """
    from lossless.model.hardware.load import load_nic, nic_profiles

    if nic is not None:
        return [load_nic(nic, options.profile_dirs)]
    return list(nic_profiles(options.profile_dirs))


def _attempt(draft: Draft, options: Options) -> _Attempt:
    """Render the intent of a draft and compare each device with it."""
    from lossless.formats.importing.intent_text import intent_text
    from lossless.formats.importing.round_trip import round_trip
    from lossless.formats.inputs.intents import intent_fabric
    from lossless.ground.documents import load_text

    text = intent_text(draft)
    errors: list[Problem] = []
    fabric = intent_fabric(load_text(text, INTENT_FILE), options.profile_dirs, errors)
    if fabric is None:
        return _Attempt(text, {}, (), tuple(errors))
    cells, differences = round_trip(draft, fabric)
    others = [device for device in draft.devices if not device.switch.runs_sonic]
    if not others:
        return _Attempt(text, cells, differences, ())
    from lossless.interfaces.api.import_systems import compare_others

    other_cells, more, refused = compare_others(others, fabric)
    return _Attempt(text, cells | other_cells, (*differences, *more), refused)


def write_import(imported: ImportResult, output: Path | None, base_dir: Path | None) -> None:
    """Write an imported intent to ``output``, and the devices' own files below ``base_dir``, each where it is given.

    The intent comes last: where it is, its bases are too.

    Raises:
        InputError: a file that is there already says something else; nothing is overwritten.
        RenderError: the file system refuses, or there is a link below ``base_dir``; then nothing new is there.
    """
    from pathlib import Path as FilePath

    from lossless.ground.documents.atomic import write_all

    bases = imported.bases.items() if base_dir is not None else ()
    files = {FilePath(base_dir or "") / path: text for path, text in bases}
    if output is not None:
        files[FilePath(output)] = imported.text
    problems = [
        Problem(str(path), None, None, why)
        for path, text in files.items()
        if (why := _in_the_way(path, text))
    ]
    if problems:
        raise InputError(problems)
    within = None if base_dir is None else str(base_dir)
    write_all({str(path): text for path, text in files.items()}, make_folders=True, within=within)


def _in_the_way(path: FilePath, text: str) -> str | None:
    """Return why a file may not be written."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        same = path.is_file() and path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        same = False
    return None if same else "is there already and says something else; it is not overwritten"
