"""Reads JSON patches (RFC 6902) for SONiC's config updater, and texts that replace files: of editors, standard input.

The operations of a patch are divided by ASIC among configurations. On a switch of several ASICs each path begins with
``/localhost`` or ``/asicN``, and the updater applies the operations of each by themselves (sonic-utilities
generic_config_updater, generic_updater.py extract_scope, and config/main.py apply-patch @691b1bb).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.inputs.collect import Inputs, foreign, located
from lossless.formats.inputs.subnet_manager import documents_in, is_managers
from lossless.formats.sonic.changes.json_patch import parts
from lossless.formats.sonic.read.forms import HOST
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined, suggestion
from lossless.ground.documents import load_bytes, load_text
from lossless.ground.documents.layout import PartLayout
from lossless.ground.documents.marked_document import part
from lossless.ground.documents.text import DocumentPart, decode, read_text as text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.documents.text import Document


_ASIC = re.compile(r"asic[0-9]{1,3}", re.IGNORECASE)
_NEEDED = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "test": ("path", "value"),
    "remove": ("path",),
    "move": ("from", "path"),
    "copy": ("from", "path"),
}
"""The operations of a JSON patch, and the members that each must have beside ``op``."""


class PatchOperation(NamedTuple):
    """An operation of a JSON patch without the ASIC in its paths, which is ``scope``, empty if there is none.

    ``number`` counts from 0 in the file.
    """

    number: int
    scope: str
    operation: Mapping[str, Any]

    @property
    def path(self) -> tuple[str, ...]:
        """The table, row and field that the operation changes, as far as its path names them."""
        return parts(self.operation["path"])


class PatchFile(NamedTuple):
    """The document of a JSON patch, and its operations."""

    document: Document
    operations: tuple[PatchOperation, ...]

    def problem(self, index: int, message: str, *below: str) -> Problem:
        """Return a problem located at the operation of an index, or at a member below it."""
        return located(self.document, (index, *below), message)


class PatchShare(NamedTuple):
    """The configuration of a device or ASIC, and the operations of a patch that are for it."""

    document: Document
    operations: tuple[PatchOperation, ...]


def read_patch(file: str) -> PatchFile:
    """Return the JSON patch in a file.

    Raises:
        InputError: it cannot be read, or is no list of operations.
    """
    from lossless.ground.documents.json.document import load_json

    document = load_json(text_at(file), file, lists=True)
    if not document.text.lstrip().startswith("["):
        message = "not a patch: expected a list of operations, as in RFC 6902"
        raise InputError([Problem(file, 1, 1, message)])
    patch = PatchFile(document, ())
    problems = [problem for index, item in document.data.items() for problem in _mistakes(patch, index, item)]
    if problems:
        raise InputError(problems)
    return patch._replace(operations=tuple(_scoped(index, item) for index, item in document.data.items()))


def _mistakes(patch: PatchFile, index: int, item: Any) -> Iterator[Problem]:
    """Yield the problems for which an item of a JSON patch is no operation of the config updater."""
    if not isinstance(item, dict):
        yield patch.problem(index, "not an operation: expected an object with op and path")
        return
    op = item.get("op")
    if not isinstance(op, str) or op not in _NEEDED:
        hint = suggestion(op, tuple(_NEEDED), most=None) if isinstance(op, str) else ""
        yield patch.problem(index, f"op is {op!r}{hint or f'; expected one of {joined(_NEEDED)}'}", "op")
        return
    for name in _NEEDED[op]:
        if name not in item:
            yield patch.problem(index, f"{op} has no {name}")
        elif name != "value":
            yield from _mistakes_of_path(patch, index, name, item[name])
    places = [_split(item[name])[0] for name in ("path", "from") if isinstance(item.get(name), str)]
    if op in ("move", "copy") and len(set(places)) > 1:
        yield patch.problem(index, "from and path are of two ASICs; each ASIC is patched by itself", "from")


def _mistakes_of_path(patch: PatchFile, index: int, name: str, pointer: Any) -> Iterator[Problem]:
    try:
        names = parts(pointer) if isinstance(pointer, str) else None
    except ValueError:
        names = None
    if names is None:
        yield patch.problem(index, f"{pointer!r} is no JSON pointer, as in /PORT/Ethernet0/mtu", name)
        return
    if not _split(pointer)[1].strip("/"):
        what = f"all of {names[0]}" if names else "the whole configuration"
        yield patch.problem(index, f"a patch changes tables, rows and fields, not {what}", name)


def _split(pointer: str) -> tuple[str, str]:
    """Return the ``asicN`` or ``localhost`` that a path begins with, empty without one, and the rest of the path."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    return (first, f"/{rest}") if first == HOST or _ASIC.fullmatch(first) else ("", pointer)


def _scoped(index: int, item: Mapping[str, Any]) -> PatchOperation:
    scope, path = _split(item["path"])
    own = {**item, "path": path}
    if isinstance(item.get("from"), str):
        own["from"] = _split(item["from"])[1]
    return PatchOperation(index, scope, own)


def shares_of(patch: PatchFile, documents: Sequence[Document]) -> tuple[PatchShare, ...]:
    """Return the configurations that a JSON patch is for, each with its operations, in the order of the patch.

    Raises:
        InputError: an operation is for no configuration that is given, or for several, or none is given.
    """
    scopes: dict[str, list[Document]] = {}
    for document in documents:
        scopes.setdefault(scope_of(document), []).append(document)
    if not scopes:
        message = "the patch is for a configuration of SONiC, and none is given"
        raise InputError([Problem(patch.document.file, None, None, message)])
    several = any(scope != HOST for scope in scopes)
    problems: list[Problem] = []
    shares: dict[str, list[PatchOperation]] = {}
    for operation in patch.operations:
        scope = operation.scope or HOST
        if not operation.scope and several:
            message = f"the switch has several ASICs: begin the path with /{HOST} or with /asic0, /asic1 ..."
            problems.append(patch.problem(operation.number, message, "path"))
        elif scope not in scopes:
            message = f"no configuration of {scope} is given, only of {joined(sorted(scopes))}"
            problems.append(patch.problem(operation.number, message, "path"))
        elif len(scopes[scope]) > 1:
            files = joined(document.shown for document in scopes[scope])
            message = f"a patch is for one switch, and {files} are given"
            raise InputError([Problem(patch.document.file, None, None, message)])
        else:
            shares.setdefault(scope, []).append(operation)
    if problems:
        raise InputError(problems)
    return tuple(PatchShare(scopes[scope][0], tuple(own)) for scope, own in shares.items())


def scope_of(document: Document) -> str:
    """Return a patch's name for the ASIC of a configuration: ``localhost`` for the host and for a one-ASIC switch."""
    named = [str(document.part.layout.root[-1])] if document.part and document.part.layout.root else []
    if document.part and document.part.device:
        named.append(document.part.device.rpartition(":")[2])
    rows = document.data.get("DEVICE_METADATA")
    row = rows.get(HOST) if isinstance(rows, dict) else None
    if isinstance(row, dict) and "sub_role" in row:
        named.append(str(row.get("asic_name")).lower())
    return next((name for name in named if _ASIC.fullmatch(name)), HOST)


def patched(document: Document, target: Mapping[str, Any]) -> Document:
    """Return a configuration with ``target`` as its data after a patch; its rows are located in the original file."""
    before = document.part or DocumentPart(document, document.file, document.file, PartLayout(document.file))
    of = before._replace(name=f"{before.name} (patched)")
    after = part(dict(target), of)
    after.duplicates = document.duplicates
    return after


_INTENT = re.compile(r"^lossless[ \t]*:", re.MULTILINE)
_TABLE = re.compile(r'"([A-Z][A-Z0-9_]+)"\s*:')


def is_ours(file: str, text: str) -> bool:
    """Return whether a text, even one that cannot be parsed, is meant to be an intent or, in JSON, a CONFIG_DB."""
    if not file.lower().endswith(".json"):
        return _INTENT.search(text) is not None
    return any(match[1] in READ_TABLES for match in _TABLE.finditer(text))


def read_text(file: str, text: str) -> Inputs:
    """Return the document of a text that replaces a file, or the problems for which there is none.

    Both are empty for a file without a suffix of JSON or YAML whose text is not the configuration of a switch.
    """
    try:
        plain = decode(text.encode("utf-8", "surrogatepass"), file)
        if is_managers(file):
            configured = _of_switch(plain, file)
            return Inputs() if configured is None else Inputs((configured,))
        document = load_text(plain, file, lists=True)
    except InputError as error:
        return Inputs(problems=tuple(error.problems))
    return _checked(document)


def _of_switch(text: str, file: str) -> Document | None:
    from lossless.formats.inputs.switches import configuration_in

    return configuration_in(text, file)


def read_bytes(raw: bytes, file: str) -> Inputs:
    """Return the documents in the bytes of a file, or the problems for which there are none.

    Files to which a subnet manager's file refers are not read.
    """
    try:
        if is_managers(file):
            text = decode(raw, file)
            configured = _of_switch(text, file)
            managers = documents_in(file, text, near=False) if configured is None else (configured,)
            if managers:
                return Inputs(managers)
        document = load_bytes(raw, file, lists=True)
    except InputError as error:
        return Inputs(problems=tuple(error.problems))
    return _checked(document)


def _checked(document: Document) -> Inputs:
    reason = foreign(document)
    if reason is None:
        return Inputs((document,))
    return Inputs(problems=(Problem(document.file, 1, 1, reason),))
