"""Import: makes an intent of deployed configurations, and lists the differences after rendering it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.importing.imported import (
    INTENT_FILE,
    ImportRequest,
    ImportResult as ImportResult,
    intent_of_devices,
)
from lossless.formats.inputs.collect import collect, located
from lossless.formats.inputs.intents import is_intent
from lossless.formats.inputs.subnet_manager import is_managers
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.files import beginning
from lossless.ground.basics.limits import FILE_BYTES
from lossless.ground.documents import load_text
from lossless.ground.documents.atomic import write_all
from lossless.ground.documents.folder import link_refusal
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, lint_intent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document

    AnyPath = str | PathLike[str]


def import_configs(
    paths: Sequence[AnyPath],
    *,
    cabling: AnyPath | None = None,
    lldp: Sequence[AnyPath] = (),
    nic: str | None = None,
    name: str = "imported",
    switches: Sequence[str] = (),
    cable: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> ImportResult:
    """Return the intent that describes deployed devices.

    ``switches`` assigns profiles to switches whose files do not name theirs: ``leaf1=PROFILE``, ``leaf*=PROFILE``, or
    ``PROFILE`` for every switch that it fits. ``cable`` is the default cable length, as ``30m``. ``cabling`` is a CSV
    file with a cable a line, ``lldp`` are outputs of ``show lldp table`` or of ``lldpctl -f json``, one a device.
    ``nic`` names the adapter of the hosts, which switch configurations do not contain.

    Raises:
        InputError: a file cannot be read or is an intent, there is nothing to import, no profile has the hardware of a
            device, a cable has no length, or no port carries classes.
        LosslessError: the name of the fabric or the cable length is not valid, or a profile is missing or wrong.
    """
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
    cabling: AnyPath | None = None,
    lldp: Sequence[AnyPath] = (),
    nic: str | None = None,
    name: str = "imported",
    switches: Sequence[str] = (),
    cable: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> ImportResult:
    """Return the intent that describes devices whose configurations are already read; see :func:`import_configs`."""
    asked = ImportRequest(cabling, lldp, nic, name, switches, cable, options.profile_dirs)
    return intent_of_devices(documents, asked, lambda text: _errors(text, options))


def _errors(text: str, options: Options) -> tuple[Problem, ...]:
    """Return the problems for which ``render`` refuses an intent: those of reading it, and findings that are errors."""
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


def write_import(imported: ImportResult, output: AnyPath | None, base_dir: AnyPath | None) -> None:
    """Write an imported intent to ``output`` and the devices' own files below ``base_dir``, whichever is given.

    The intent is written last: with ``base_dir``, one that was not there before implies that its base files exist.

    Raises:
        InputError: a file exists with other content, or is a link that leads outside; nothing is overwritten.
        RenderError: the file system refuses, or there is a link below ``base_dir``; then no new file is left behind.
    """
    bases = imported.bases.items() if base_dir is not None else ()
    files = {Path(base_dir or "") / path: text for path, text in bases}
    if output is not None:
        files[Path(output)] = imported.text
    problems = [
        Problem(str(path), None, None, why)
        for path, text in files.items()
        if (why := _in_the_way(path, text))
    ]
    if problems:
        raise InputError(problems)
    within = None if base_dir is None else str(base_dir)
    write_all({str(path): text for path, text in files.items()}, make_folders=True, within=within)


def _in_the_way(path: Path, text: str) -> str | None:
    """Return the reason why a file may not be written: a link that leads outside, or another text; else None."""
    if not path.exists() and not path.is_symlink():
        return None
    if why := link_refusal(str(path)):
        return why
    try:
        same = beginning(str(path), FILE_BYTES) == text.encode()
    except OSError:
        same = False
    return None if same else "is there already and says something else; it is not overwritten"
