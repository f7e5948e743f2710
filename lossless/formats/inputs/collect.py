"""Finds the files at paths and reads them into documents: named files, and folders searched for files to lint."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import HELM, fits, is_helm_template, is_skipped, seems_ours
from lossless.formats.inputs.subnet_manager import documents_in, is_managers as is_text
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.formats.switches.registry import TITLES
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple, Record
from lossless.ground.basics.units import one_of
from lossless.ground.documents import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.formats.hosts.read.facts import Facts
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.folder import Reach
    from lossless.ground.documents.text import Document

    Excludes = Callable[[str, str | None], bool]

_NO_LIST = "a list, and none of its items is a CONFIG_DB"
_UNKNOWN = (
    f"unknown kind of file; expected .json, .yaml or .yml, a configuration of {one_of(TITLES.values())}, "
    "a file of a subnet manager, or facts of a host (docs/guides/host-facts.md)"
)


class Candidate(NamedTuple):
    """A file that may be an input; ``expected``: it is named or looks like one, and is reported if it is not."""

    file: str
    expected: bool


class FoundFiles(Record):
    """The files at the paths of a run that may be inputs, each once even if it is reached by several names.

    ``problems`` are folders that cannot be read, ``others`` files in folders without the suffix of an input,
    ``excluded`` files that the user left out. A link that leads outside of the searched folder, its repository and the
    other paths is a problem too.
    """

    candidates: tuple[Candidate, ...]
    problems: tuple[Problem, ...]
    others: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


class Inputs(NamedTuple):
    """The contents of files: a document for each device, intent and file of a subnet manager, and problems.

    It is empty for a file in a folder that is no input. ``facts`` are facts that hosts print about themselves.
    """

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    facts: tuple[Facts, ...] = ()


def collect(
    paths: Sequence[str | os.PathLike[str]], *, lenient: bool = False, excludes: Excludes | None = None
) -> tuple[list[Document], list[Problem]]:
    """Return the documents to check, each file once, and the problems of those that cannot be read.

    A file that is named must be an input; in a directory, and everywhere if ``lenient``, other files are skipped, but
    for those with names like ``config_db.json``. A file of several devices gives a document for each.
    """
    inputs = gather(paths, lenient=lenient, excludes=excludes)
    return list(inputs.documents), list(inputs.problems)


def gather(
    paths: Sequence[str | os.PathLike[str]], *, lenient: bool = False, excludes: Excludes | None = None
) -> Inputs:
    """Return the documents, host facts and problems of the files at paths; see :func:`collect`."""
    found = search(paths, lenient=lenient, excludes=excludes)
    return merged([Inputs(problems=found.problems), *map(read, found.candidates)])


def merged(parts: Sequence[Inputs]) -> Inputs:
    """Return the documents, problems and host facts of several files as those of one."""
    return Inputs(
        tuple(document for part in parts for document in part.documents),
        tuple(problem for part in parts for problem in part.problems),
        tuple(facts for part in parts for facts in part.facts),
    )


def search(
    paths: Sequence[str | os.PathLike[str]], *, lenient: bool = False, excludes: Excludes | None = None
) -> FoundFiles:
    """Return the files at paths that may be inputs, and those that are left out.

    With ``lenient``, named files need not be inputs, like those in a folder. ``excludes`` returns whether the user
    excludes a file below a folder (its second argument), or one that is itself named (None).
    """
    problems: list[Problem] = []
    candidates: dict[str, Candidate] = {}
    others: dict[str, None] = {}
    excluded: dict[str, None] = {}
    refused: dict[str, Problem] = {}
    every = [os.fspath(path) for path in paths]
    for path in every:
        named = not os.path.isdir(path)
        within = None if named else path
        reach = None if named else reach_in(path, every)
        unreadable: list[Problem] = []
        for file in [path] if named else _files_below(path, unreadable):
            if excludes is not None and excludes(file, within):
                excluded[file] = None
                continue
            if not named and not fits(file):
                # As folders of such names: they are settings of other tools.
                if not os.path.basename(file).startswith("."):
                    others[file] = None
                continue
            identity = os.path.realpath(file)
            why = "" if reach is None else reach.refusal(file, identity)
            if why:
                refused.setdefault(identity, Problem(file, None, None, why))
                continue
            expected = (named and not lenient) or _looks_like_ours(file)
            # One that was met in a folder can still be named.
            if identity not in candidates or (expected and not candidates[identity].expected):
                candidates[identity] = Candidate(file, expected)
        problems += [each for each in unreadable if excludes is None or not excludes(each.file, within)]
    problems += [problem for identity, problem in refused.items() if identity not in candidates]
    left_out = tuple(file for file in excluded if os.path.realpath(file) not in candidates)
    named_too = {candidate.file for candidate in candidates.values()}
    unfit = tuple(file for file in others if file not in named_too)
    return FoundFiles(tuple(candidates.values()), tuple(problems), unfit, left_out)


def reach_in(folder: str, named: Sequence[str]) -> Reach:
    """Return the files that links in a searched folder may lead to: its own, its repository's, and named ones."""
    from lossless.ground.documents.folder import Reach

    return Reach([folder], named)


def load_configuration(file: str) -> Document:
    """Return the document of a JSON or YAML file, whose top level may be a list; raises InputError."""
    return load(file, lists=True)


def read(
    candidate: Candidate,
    load: Callable[[str], Document] = load_configuration,
    text_of: Callable[[str], str] | None = None,
) -> Inputs:
    """Return the inputs in one file. A file without any is reported if inputs are expected, or likely in a broken file.

    ``load`` reads JSON and YAML, ``text_of`` the text of other files; None reads them from disk.
    """
    file, expected = candidate
    try:
        if is_text(file):
            return _read_text(candidate, text_of)
        document = load(file)
    except InputError as error:
        text = _yaml_of(file, text_of)
        if resources := _resources(text, file):
            return Inputs(facts=resources)
        if expected and is_helm_template(text):
            return Inputs(problems=(Problem(file, None, None, HELM),))
        return Inputs(problems=tuple(error.problems) if expected or seems_ours(file) else ())
    if _has_host_facts(document) and (expected or not _is_rendered(document.text, file)):
        from lossless.formats.hosts.read.manifests import read_document

        return Inputs(facts=read_document(document))
    if _is_of_switch(document):
        return Inputs((document,))
    reason = foreign(document) if expected or _holds_rows(document) else ""
    if reason is not None:
        return Inputs(problems=(Problem(file, 1, 1, reason),) if expected else ())
    return devices_in(document)


def _yaml_of(file: str, text_of: Callable[[str], str] | None) -> str:
    """Return the text of a YAML file without a byte order mark; empty for another or unreadable file."""
    if not file.lower().endswith((".yaml", ".yml")):
        return ""
    from lossless.ground.documents.marked_document import BYTE_ORDER_MARK, read_as_written

    try:
        return (text_of or read_as_written)(file).removeprefix(BYTE_ORDER_MARK)
    except InputError:
        return ""


def _resources(text: str, file: str) -> tuple[Facts, ...]:
    """Return the facts of hosts and jobs in a YAML text of several Kubernetes resources, which is no one document."""
    if "apiVersion" not in text:
        return ()
    from lossless.formats.hosts.read.manifests import resources_in

    try:
        return resources_in(text, file)
    except InputError:
        return ()


def _read_text(candidate: Candidate, text_of: Callable[[str], str] | None) -> Inputs:
    """Return the switch configuration, subnet manager's files or host facts in a text file.

    Another file is a problem if expected, else skipped.
    """
    from lossless.ground.documents.marked_document import BYTE_ORDER_MARK, read_as_written

    file, expected = candidate
    text = (text_of or read_as_written)(file)
    from lossless.formats.inputs.switches import configuration_in

    configured = configuration_in(text, file)
    if configured is not None:
        return Inputs((configured,))
    managers = documents_in(file, text, near=text_of is None)
    if managers:
        return Inputs(managers)
    from lossless.formats.hosts.read.facts import is_facts, read_facts

    text = text.removeprefix(BYTE_ORDER_MARK)
    if not expected and _is_rendered(text, file):
        return Inputs()
    if is_facts(text):
        return Inputs(facts=(read_facts(text, file),))
    if expected:
        from lossless.formats.hosts.read.scripts import is_script

        # Scripts of one folder may be for different hosts: only one that is named is read.
        if is_script(text):
            return Inputs(facts=(read_facts(text, file, is_script=True),))
    return Inputs(problems=(Problem(file, None, None, _unknown(text)),) if expected else ())


def _unknown(text: str) -> str:
    from lossless.formats.switches.other_systems import other_system

    system = other_system(text)
    return f"a configuration of {system}, a system that is not read" if system else _UNKNOWN


def _is_rendered(text: str, file: str) -> bool:
    """Return whether a file that names this program as its renderer is in a rendered tree: intended, not deployed."""
    if not text.startswith("# Rendered by lossless"):
        return False
    from lossless.formats.inputs.skipped import is_in_rendered_tree

    return is_in_rendered_tree(file)


def _has_host_facts(document: Document) -> bool:
    """Return whether a document that is no device's, and no intent, holds facts of a host."""
    data = document.data
    if READ_TABLES & data.keys() or "lossless" in data or _is_list(document):
        return False
    from lossless.formats.hosts.read.manifests import speaks_of_hosts

    return speaks_of_hosts(document)


def _is_of_switch(document: Document) -> bool:
    """Return whether a file is no intent and no CONFIG_DB, but the configuration of a switch of another system."""
    if "lossless" in document.data or READ_TABLES & document.data.keys():
        return False
    from lossless.formats.inputs.switches import is_structured

    return is_structured(document)


def devices_in(document: Document) -> Inputs:
    """Return the documents of a file, one for each device, and problems of it; an intent is its own document."""
    if not is_device(document) or document.part:
        return Inputs((document,))
    if READ_TABLES & document.data.keys() or (not document.data and not _is_list(document)):
        return Inputs((_beside_host(document),))
    from lossless.formats.sonic.read.forms import devices_of, unread_sections

    devices = devices_of(document)
    if devices:
        problems = tuple(located(document, path, why) for path, why in unread_sections(document))
        return Inputs(devices, problems)
    # An object without tables that this tool reads is checked as it is; a list is not a configuration.
    return (
        Inputs(problems=(Problem(document.file, 1, 1, _NO_LIST),))
        if _is_list(document)
        else Inputs((document,))
    )


def device_in(document: Document) -> Document:
    """Return the CONFIG_DB of the one device in a file, in any form that SONiC's tools write.

    Raises:
        InputError: the file is invalid, or has no device or several.
    """
    from lossless.formats.sonic.read.forms import devices_of

    if document.problems:
        raise InputError(document.problems)
    devices = devices_of(document)
    if len(devices) == 1:
        return devices[0]
    several = (
        f"holds the configurations of {len(devices)} devices or ASICs; compare each by a file of its own"
    )
    message = several if devices else "holds no configuration of a device"
    raise InputError([Problem(document.file, None, None, message)])


def split(documents: Iterable[Document]) -> list[Document]:
    """Return documents, with one document for each device in place of a file of several or in another form."""
    return [device for document in documents for device in devices_in(document).documents]


def located(document: Document, path: Path, message: str) -> Problem:
    """Return a problem located at a path in a document."""
    span = document.locate(path)
    return Problem(document.file, span.line, span.column, message)


def is_json(file: str) -> bool:
    """Return whether a file has the suffix of a device's configuration, ``.json``; intents are YAML."""
    return file.lower().endswith(".json")


def is_device(document: Document) -> bool:
    """Return whether a document is the configuration of a device with SONiC, by its suffix and dialect."""
    return is_json(document.file) and not document.dialect


def _beside_host(document: Document) -> Document:
    """Return the document of a CONFIG_DB file.

    ``config_db0.json`` beside ``config_db.json`` is ASIC 0 of that host if its metadata has ``asic_name`` or
    ``sub_role``.

    Source: sonic-buildimage files/image_config/config-setup/config-setup @07b3e28 names the files so; every ASIC has
    its ``sub_role`` (src/sonic-py-common/sonic_py_common/multi_asic.py @bc57a0c, get_all_namespaces), and a device of
    one ASIC has such a name for other reasons.
    """
    folder, name = os.path.split(document.file)
    number = name[len("config_db") : -len(".json")]
    if not (number.isascii() and number.isdecimal() and name.startswith("config_db")):
        return document
    from lossless.formats.sonic.read.forms import HOST, numbered_device

    rows = document.data.get("DEVICE_METADATA")
    row = rows.get(HOST) if isinstance(rows, dict) else None
    if not isinstance(row, dict) or not {"asic_name", "sub_role"} & row.keys():
        return document
    if not os.path.isfile(os.path.join(folder, "config_db.json")):
        return document
    return numbered_device(document, f"asic{number}")


def _files_below(folder: str, problems: list[Problem]) -> Iterator[str]:
    """Yield the files below a folder, those known to git where git lists them. Links to folders are not entered.

    Folders that cannot be read are added to ``problems``.
    """
    from lossless.formats.inputs.git import known_to_git

    known = known_to_git(folder)
    if known is not None:
        yield from (file for file in known if not _is_special(file))
        return

    def unreadable(error: OSError) -> None:
        why = "no permission to read this folder" if isinstance(error, PermissionError) else error.strerror
        problems.append(Problem(os.fspath(error.filename), None, None, f"{why}"))

    for root, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not is_skipped(f))
        for name in sorted(files):
            file = os.path.join(root, name)
            if not _is_special(file):
                yield file


def _is_special(file: str) -> bool:
    """Return whether a path exists and is not a regular file, such as a pipe, whose reading may never end.

    A dangling link is not special: it is reported when it is read.
    """
    return os.path.exists(file) and not os.path.isfile(file)


def _looks_like_ours(file: str) -> bool:
    name = os.path.basename(file)
    return name.startswith(("fabric.", "config_db", "opensm."))


def _holds_rows(document: Document) -> bool:
    """Return whether a file found in a folder may be an input: any YAML, JSON with a table or devices of CONFIG_DB.

    A table must be a mapping there, because many JSON files have a key PORT or VERSIONS.
    """
    if not is_json(document.file):
        return True
    data = document.data
    if READ_TABLES & data.keys():
        return any(isinstance(data[name], dict) for name in READ_TABLES & data.keys())
    return _holds_devices(document)


def foreign(document: Document) -> str | None:
    """Return why a document is no input of this program, None if it is one."""
    data = document.data
    if not is_json(document.file):
        if _is_list(document):
            return "the top level is a list; expected a mapping (key: value)"
        if {"apiVersion", "kind"} <= data.keys():
            return (
                "a Kubernetes resource without what is read: settings of NICs, variables of NCCL, UCX or MORI"
            )
        return None if "lossless" in data else "not an intent: it does not begin with lossless: v1"
    if READ_TABLES & data.keys() or _holds_devices(document):
        return None
    if _is_list(document):
        return _NO_LIST
    return None if not data else "not a CONFIG_DB: it has none of the tables that this tool reads"


def _is_list(document: Document) -> bool:
    return document.text.lstrip().startswith("[") or any(isinstance(key, int) for key in document.data)


def _holds_devices(document: Document) -> bool:
    """Return whether a JSON file without tables at its top level holds devices in another form."""
    if not any(isinstance(value, dict) for value in document.data.values()):
        return False
    from lossless.formats.sonic.read.forms import devices_of

    return bool(devices_of(document))
