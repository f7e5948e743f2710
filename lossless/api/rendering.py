"""Render: an intent to the files of its switches and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.api.linting import Report, lint_documents
from lossless.api.loading import DEFAULT_OPTIONS, Options, load_fabrics, one_intent
from lossless.errors import InputError
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from lossless.fabric.model import Fabric
    from lossless.source.document import Document


class RenderResult(NamedTuple):
    """What a render did: the files below the output folder, and what the rules said first.

    ``files`` is empty where errors refused the render; ``changed`` names what differs from what was there,
    ``notes`` what is not rendered and why.
    """

    files: tuple[str, ...]
    changed: tuple[str, ...]
    notes: tuple[str, ...]
    report: Report


def render(
    intent: str | PathLike[str],
    out_dir: str | PathLike[str],
    *,
    base_dir: str | PathLike[str] | None = None,
    options: Options = DEFAULT_OPTIONS,
    check: bool = False,
) -> RenderResult:
    """Write the configuration of every switch and host of an intent below ``out_dir``.

    ``base_dir`` holds each switch's own file, ``DIR/<device>/config_db.json``; the result is then complete.
    Without it only the owned tables are written, as ``qos.json``. With ``check`` nothing is written. A fabric
    with errors is refused: its findings are in the report and no file is written.

    Raises:
        InputError: the intent or a base cannot be read.
        RenderError: a base does not fit, or the output cannot be written; the old tree is then as it was.
    """
    from pathlib import Path

    from lossless.render.fabric import plan_fabric
    from lossless.render.tree import changes, write_tree

    document = one_intent(intent)
    report = lint_documents([document], options)
    if report.errors:
        raise InputError(report.errors)
    if any(finding.severity == "error" for finding in report.findings):
        return RenderResult((), (), (), report)
    (fabric,) = load_fabrics([document], options).fabrics
    plan = plan_fabric(fabric, _bases(fabric, Path(base_dir)) if base_dir is not None else None)
    changed = changes(Path(out_dir), plan.files)
    written = () if check else write_tree(Path(out_dir), plan.files)
    return RenderResult(written, changed, plan.notes, report)


def _bases(fabric: Fabric, folder: Path) -> dict[str, Document]:
    from lossless.source import load

    found = {switch.name: folder / switch.name / "config_db.json" for switch in fabric.switches}
    return {name: load(path) for name, path in found.items() if path.exists()}
