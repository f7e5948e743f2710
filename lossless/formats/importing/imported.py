"""Deployed devices to the intent that renders back most of what they have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.importing.buffers import with_ratio, with_sizes
from lossless.formats.importing.cabling.cables import device_of, read_cabling, read_lldp
from lossless.formats.importing.differences import KINDS, compare_others, figures, other_devices, total
from lossless.formats.importing.draft import draft_of
from lossless.formats.importing.headroom_oversubscription import ratio_of, shared_sizes
from lossless.formats.importing.intent_text import intent_text
from lossless.formats.importing.links import lldp_claims
from lossless.formats.importing.model import devices_of, require_name
from lossless.formats.importing.round_trip import round_trip
from lossless.formats.inputs.intents import intent_fabric
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import parse_length
from lossless.ground.documents import load_text
from lossless.ground.documents.text import read_text
from lossless.model.hardware.load import load_nic, nic_profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from lossless.formats.importing.differences import Figures, ImportDifference
    from lossless.formats.importing.model import Claim, Draft, ImportDevice
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.ground.documents.text import Document
    from lossless.model.hardware.load import Folder
    from lossless.model.hardware.nic import NicProfile

    Path = str | PathLike[str]
    Refusals = Callable[[str], tuple[Problem, ...]]
    """The findings for which ``render`` refuses the text of an intent."""


INTENT_FILE = "fabric.yaml"
"""What an imported intent is called before it is written."""


class ImportRequest(NamedTuple):
    """What is known of devices beside their files; see :func:`lossless.api.import_configs`."""

    cabling: Path | None = None
    lldp: Sequence[Path] = ()
    nic: str | None = None
    name: str = "imported"
    switches: Sequence[str] = ()
    cable: str | None = None
    profile_dirs: Sequence[Folder] = ()


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
        return total(map(figures, self.cells.values()))

    @property
    def reasons(self) -> Mapping[str, str]:
        """What each kind of difference means."""
        return KINDS


def intent_of_devices(
    documents: Sequence[Document], asked: ImportRequest, refusals: Refusals
) -> ImportResult:
    """Return the intent that devices amount to.

    Raises:
        InputError: a file cannot be read, or a device is of no HWSKU that a profile knows.
    """
    require_name(asked.name)
    problems: list[Problem] = []
    others = other_devices([d for d in documents if d.dialect], asked.switches, asked.profile_dirs, problems)
    devices = devices_of([d for d in documents if not d.dialect], asked.profile_dirs, others, problems)
    cable_m = None if asked.cable is None else parse_length(asked.cable)
    claims, nics = _claims(devices, asked.cabling, asked.lldp), _nics(asked.nic, asked.profile_dirs)
    draft = draft_of(devices, claims, nics, asked.nic, asked.name, cable_m)
    best = _best(draft, asked.profile_dirs, refusals)
    bases = {f"{d.name}/config_db.json": d.document.text for d in devices if d.switch.runs_sonic}
    names = tuple(device.name for device in devices)
    refused = best.refused or refusals(best.text)
    return ImportResult(best.text, names, best.cells, best.differences, refused, bases)


class _Attempt(NamedTuple):
    """What an intent renders, compared with the devices it was imported from."""

    text: str
    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]
    refused: tuple[Problem, ...]


def _best(draft: Draft, profile_dirs: Sequence[Folder], refusals: Refusals) -> _Attempt:
    """Return the intent of a draft, with what gives pools their sizes where they are not those that are computed."""
    first = _attempt(draft, profile_dirs)
    if not _pools_differ(first):
        return first
    best = _better(first, _with_best_ratio(draft, profile_dirs))
    sized = _attempt(with_sizes(draft, first.cells), profile_dirs) if _pools_differ(best) else best
    # Sizes that were computed otherwise are not declared where they make a fabric that is refused.
    refuses = sized is not best and bool(refusals(sized.text)) and not refusals(best.text)
    return best if refuses else _better(best, sized)


def _pools_differ(attempt: _Attempt) -> bool:
    return any(difference.cell.table == "BUFFER_POOL" for difference in attempt.differences)


def _better(first: _Attempt, second: _Attempt) -> _Attempt:
    return second if not second.refused and len(second.differences) < len(first.differences) else first


def _with_best_ratio(draft: Draft, profile_dirs: Sequence[Folder]) -> _Attempt:
    """Return the intent of a draft with the ratio of the shared headroom that gives most pools their size."""
    whole = _attempt(with_ratio(draft, 1.0), profile_dirs)
    ratio = ratio_of(size for cells in whole.cells.values() for size in shared_sizes(cells))
    return whole if ratio is None else _attempt(with_ratio(draft, ratio), profile_dirs)


def _claims(devices: Sequence[ImportDevice], cabling: Path | None, lldp: Sequence[Path]) -> list[Claim]:
    claims: list[Claim] = []
    if cabling is not None:
        claims += read_cabling(read_text(cabling), os.fspath(cabling))
    names = [device.name for device in devices]
    for file in (os.fspath(path) for path in lldp):
        claims += lldp_claims(device_of(file, names), read_lldp(read_text(file), file), devices)
    return claims


def _nics(nic: str | None, profile_dirs: Sequence[Folder]) -> list[NicProfile]:
    """Return the adapters to choose from.

    Raises:
        InputError: the one that the user names is not known.
    """
    if nic is not None:
        return [load_nic(nic, profile_dirs)]
    return list(nic_profiles(profile_dirs))


def _attempt(draft: Draft, profile_dirs: Sequence[Folder]) -> _Attempt:
    """Render the intent of a draft and compare each device with it."""
    text = intent_text(draft)
    errors: list[Problem] = []
    fabric = intent_fabric(load_text(text, INTENT_FILE), profile_dirs, errors)
    if fabric is None:
        return _Attempt(text, {}, (), tuple(errors))
    cells, differences = round_trip(draft, fabric)
    others = [device for device in draft.devices if not device.switch.runs_sonic]
    if not others:
        return _Attempt(text, cells, differences, ())
    other_cells, more, refused = compare_others(others, fabric)
    return _Attempt(text, cells | other_cells, (*differences, *more), refused)
