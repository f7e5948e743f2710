"""The Bad and Good snippets of a rule's documentation: read, merged over a named base, and checked.

A snippet is a fenced block whose first line says what it is::

    ```yaml intent base=leaf-spine
    ```json config_db base=leaf rdma-dscp=26
    ```json config_db base=wired-leaf beside=wired-spine
    ```json config_db base=leaf simulate=yes
    ```yaml intent base=none today=2026-12-31
    ```json baseline base=none beside=leaf-spine.yaml
    ```text switch base=switch-leaf
    ```text facts file=nccl.conf beside=leaf-spine.yaml
    ```yaml facts file=nics.yaml beside=leaf-spine.yaml
    ```conf opensm base=none beside=partitions.conf
    ```conf partitions base=none beside=opensm.conf
    ```json capture beside=leaf.json
    ```text earlier
    ```csv cabling beside=leaf-spine.yaml
    ```json lldp file=leaf1.json
    ```yaml intent base=leaf-spine beside=cables.csv

``base=none`` takes the snippet as it is. Any other is merged over the base as a JSON merge patch (RFC 7396:
null removes a key). ``beside`` names bases that are checked together with it, of the other kind with their suffix
(``leaf-spine.yaml``); ``simulate=yes`` says that traffic is run too, ``today`` which day it is. A baseline is not
checked but counts for what is beside it. A conf file stands for ``opensm.conf`` or ``partitions.conf`` of a folder, its
companions for the other files there. A switch is one that runs another system than SONiC; its commands stand behind
those of the base. A csv file is compared with the intent beside it, as an intent is with a csv file; so is what LLDP
says on a switch, with the intent before it in a scenario. Facts are a file of host1, of the name that ``file`` gives,
and are never merged. A capture is one of leaf1, with its configuration or an intent beside it; an
earlier one of the same devices stands before it, and is nothing by itself.
The line that ends in ``<- here`` (behind ``#`` in YAML, conf files and texts, ``//`` in JSON) is where the finding must
point; ``at`` names the last key of what is meant where a line has several.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.api import Options, lint, lint_documents, verify
from lossless.formats.infiniband.to_model import SubnetFile, document_of, kind_of
from lossless.formats.inputs.switches import configuration_in
from lossless.ground.documents import load_text
from lossless.ground.documents.json.document import load_json
from lossless.interfaces.api.capacity import compare_cabling

if TYPE_CHECKING:
    from lossless.api import Report
    from lossless.ground.documents.text import Document

BASES = Path(__file__).parent / "bases"
_KINDS = (
    "yaml intent|json config_db|json baseline|text switch|text facts|yaml facts|conf opensm|conf partitions"
    "|conf qos-policy|csv cabling|json lldp|text capture|json capture|text earlier"
)
_FENCE = re.compile(rf"^```({_KINDS})([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\s*(?:#|//) <- here\s*$")


class Snippet(NamedTuple):
    """One snippet: its kind of file, base, options, text without marks, and the marked line (None: none)."""

    kind: str
    base: str
    beside: tuple[str, ...]
    rdma_dscps: tuple[int, ...]
    simulate: bool
    today: str
    text: str
    marked_line: int | None
    named: str = ""
    at: str = ""
    earlier: str = ""

    @property
    def suffix(self) -> str:
        """The suffix of the file that it represents."""
        return {"yaml": ".yaml", "json": ".json", "conf": ".conf", "text": ".txt", "csv": ".csv"}[
            self.kind.split()[0]
        ]

    @property
    def file(self) -> str:
        """The file that it represents."""
        name = self.kind.split()[1] if self.suffix == ".conf" or self.is_capture else "fabric"
        return self.named or f"{name}{self.suffix}"

    @property
    def is_facts(self) -> bool:
        """Whether it represents what was read on a device, and has no keys of its own."""
        return self.kind.endswith(("facts", "capture"))

    @property
    def is_capture(self) -> bool:
        """Whether it represents running state."""
        return self.kind.endswith("capture")

    @property
    def is_cabling(self) -> bool:
        """Whether it represents cables, as a sheet lists them or a device hears of them."""
        return self.kind in ("csv cabling", "json lldp")

    def document(self) -> Document:
        """Return the snippet merged over its base, as a file of its own."""
        if self.base == "none":
            return read_text(self.text, self.file)
        if self.kind == "text switch":
            return read_text((BASES / f"{self.base}.txt").read_text() + self.text, self.file)
        base = base_document(f"{self.base}{self.suffix}")
        # JSON is YAML: one writer serves both.
        return load_text(json.dumps(merge(base.data, self.own().data)), self.file)

    def companions(self) -> list[Document]:
        """Return the files that are checked together with it."""
        return [base_document(name if Path(name).suffix else f"{name}{self.suffix}") for name in self.beside]

    def marked_path(self) -> tuple[str | int, ...]:
        """Return the path that the marked line writes."""
        if self.suffix == ".csv":
            return (f"line {self.marked_line}",)
        own = self.own()
        at_line = [path for path in _paths(own.data) if own.locate(path, "key").line == self.marked_line]
        if self.at:
            return next(path for path in at_line if path[-1] == self.at)
        return max(at_line, key=len) if len(at_line) == 1 else min(at_line, key=len)

    def own(self) -> Document:
        """Return the snippet by itself."""
        return read_text(self.text, self.file)


@cache
def base_document(name: str) -> Document:
    """Return a base as the document of a file of its name; documents are never changed."""
    return read_text((BASES / name).read_text(), name)


def document_of_data(data: Any, file: str) -> Document:
    """Return plain data as the document of a file, an intent too as the JSON that it can be written as.

    That is read in a fraction of the time of YAML, and has the same findings: examples themselves are read as YAML.
    """
    return load_json(json.dumps(data), file)


def read_text(text: str, file: str) -> Document:
    """Return the document of a text that represents a file, by its name."""
    if file.endswith(".txt"):
        document = configuration_in(text, file)
        assert document is not None, "a configuration that no dialect recognizes"
        return document
    if not file.endswith((".conf", ".cfg")):
        return load_text(text, file)
    # A file that defines nothing does not look like one of partitions, and is read as such by its name alone.
    return document_of(kind_of(text) or "partitions", SubnetFile(file, text))


def merge(base: Any, patch: Any) -> Any:
    """Return ``base`` with a JSON merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def _paths(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return found + [inner for key, value in items for inner in _paths(value, (*path, key))]


def snippets(documentation: str, heading: str) -> list[Snippet]:
    """Return the snippets under one heading of a rule's documentation."""
    match = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", documentation, re.MULTILINE | re.DOTALL)
    return read_snippets(match[1]) if match else []


def read_snippets(text: str) -> list[Snippet]:
    """Return the snippets in a text."""
    read: list[Snippet] = []
    earlier = ""
    for kind, options, block in _FENCE.findall(text):
        if kind.endswith("earlier"):
            earlier = block
        else:
            read.append(_snippet(kind, options, block)._replace(earlier=earlier))
            earlier = ""
    return read


def _snippet(kind: str, options: str, text: str) -> Snippet:
    given = dict(option.split("=", 1) for option in options.split())
    lines = text.splitlines()
    marked = [number for number, line in enumerate(lines, 1) if _MARK.search(line)]
    assert len(marked) <= 1, f"one line is marked, not {len(marked)}"
    return Snippet(
        kind=kind,
        base=given.pop("base", "none"),
        beside=tuple(name for name in given.pop("beside", "").split(",") if name),
        rdma_dscps=tuple(int(dscp) for dscp in given.pop("rdma-dscp", "").split(",") if dscp),
        simulate=given.pop("simulate", "no") == "yes",
        today=given.pop("today", ""),
        text="\n".join(_MARK.sub("", line) for line in lines) + "\n",
        marked_line=marked[0] if marked else None,
        named=given.pop("file", ""),
        at=given.pop("at", ""),
    )


def check(snippet: Snippet, *codes: str) -> Report:
    """Return what the linter says of a snippet on its base; of rules that are named, only what these say."""
    options = _options(snippet, codes)
    if snippet.kind == "json baseline":
        with TemporaryDirectory() as folder:
            file = Path(folder) / "baseline.json"
            file.write_text(snippet.text)
            return lint_documents(snippet.companions(), options._replace(baseline=str(file)))
    if snippet.is_facts:
        return _check_facts(snippet, options)
    if snippet.suffix == ".csv":
        (intent,) = snippet.companions()
        return compare_cabling(intent, {snippet.file: snippet.text})
    return report_on(snippet, snippet.document(), *codes)


def report_on(snippet: Snippet, document: Document, *codes: str) -> Report:
    """Return what the linter says of a document in the place of a snippet's own, with what is beside it."""
    cables = [name for name in snippet.beside if name.endswith(".csv")]
    if cables:
        return compare_cabling(document, {name: (BASES / name).read_text() for name in cables})
    return lint_documents([document, *snippet.companions()], _options(snippet, codes))


def _options(snippet: Snippet, codes: tuple[str, ...]) -> Options:
    # Whether a suppression is of use shows only where all rules are run.
    chosen = tuple(code for code in codes if not code.startswith("SUP"))
    return Options(
        rdma_dscps=snippet.rdma_dscps,
        simulate=snippet.simulate,
        select=chosen,
        today=snippet.today,
        configured=False,
    )


def check_together(members: list[Snippet], code: str) -> Report:
    """Return what one rule says of the files of several snippets together, or of an intent and its cables."""
    first = members[0]
    if len(members) == 1:
        return check(first, code)
    cables = {member.file: member.text for member in members if member.is_cabling}
    documents = [member.document() for member in members if member.file not in cables]
    if cables:
        return compare_cabling(documents[0], cables)
    return lint_documents([*documents, *first.companions()], _options(first, (code,)))


def _check_facts(snippet: Snippet, options: Options) -> Report:
    """Return what the linter says of a folder with a file of host1 and what lies beside it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        if snippet.is_capture:
            return _verify(folder, snippet, options)
        (folder / "host1").mkdir()
        (folder / "host1" / snippet.file).write_text(snippet.text)
        for companion in snippet.companions():
            (folder / companion.file).write_text(companion.text)
        return lint([folder], options)


def _verify(folder: Path, snippet: Snippet, options: Options) -> Report:
    """Return what is said of a capture of leaf1, with its configuration or an intent beside it."""
    now, before = folder / "now", folder / "before"
    for place, text in ((now, snippet.text), (before, snippet.earlier)):
        (place / "leaf1").mkdir(parents=True)
        (place / "leaf1" / snippet.file).write_text(text)
    for companion in snippet.companions():
        in_folder = companion.file.endswith(".json")
        name = "leaf1/config_db.json" if in_folder else companion.file
        (now / name).write_text(companion.text)
    return verify([now], since=[before] if snippet.earlier else [], options=options)
