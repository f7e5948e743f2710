"""Trace: the path of one packet, hop by hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.results import LintResult
    from lossless.checks.trace.model import Trace
    from lossless.formats.inputs.fabrics import Fabrics
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.excerpts import DocumentView


class TraceResult(NamedTuple):
    """A trace, and the documents that its findings point into, by file name.

    ``configurations_beside`` are files of devices that lie in the folder of the intent and are not followed.
    """

    trace: Trace
    documents: Mapping[str, DocumentView]
    configurations_beside: tuple[str, ...] = ()


def trace(
    path: str | PathLike[str],
    source: str,
    target: str,
    dscp: int,
    *,
    via: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> TraceResult:
    """Trace a packet with a DSCP between two hosts or ports: each hop, and where the chain breaks.

    ``source`` and ``target`` are names like ``host1``, ``host1:port2`` or ``leaf1:Ethernet0``, on a single
    device ``Ethernet0``; ``via`` is a switch that the path must cross.

    Raises:
        InputError: the intent or a configuration cannot be read, or there is not exactly one fabric.
        LosslessError: no such host, switch or port, no DSCP, or no path.
    """
    from lossless.analysis.buffers.dynamic_model import with_computed_buffers
    from lossless.checks.trace import follow
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.devices import rewrites_of
    from lossless.formats.inputs.fabrics import configurations_beside, documents_at
    from lossless.formats.inputs.intents import require_own_switches
    from lossless.interfaces.api.fabrics import load_fabrics
    from lossless.interfaces.api.lint import check
    from lossless.model.fabric.view import View

    documents, errors = documents_at(path)
    result = check(Inputs(tuple(documents)), options)
    fabrics, unread = _resolved(documents, result) or load_fabrics(documents, options)
    if errors or unread or len(fabrics) != 1:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, follow.not_one(fabrics))])
    require_own_switches(fabrics)
    findings, rewrites = result.verdicts.findings, rewrites_of(fabrics[0], documents)
    view = View(with_computed_buffers(fabrics[0]))
    path_trace = follow.trace(view, source, target, dscp, via=via, findings=findings, rewrites=rewrites)
    if result.layouts:
        from lossless.ground.documents.layout import as_written

        path_trace = as_written(path_trace, result.layouts)
    return TraceResult(path_trace, result.documents, configurations_beside(path))


def _resolved(documents: Sequence[Document], result: LintResult) -> Fabrics | None:
    """Return the fabrics of intents as lint resolved them, None where there are others than these."""
    from lossless.formats.inputs.collect import is_json
    from lossless.formats.inputs.fabrics import Fabrics

    declared = result.declarations
    if declared is None or declared.subnets or any(is_json(document.file) for document in documents):
        return None
    return Fabrics(declared.fabrics, declared.errors)
