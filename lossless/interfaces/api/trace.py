"""Trace: follows the path of one packet, hop by hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.lint import (
    DEFAULT_OPTIONS,
    Options,
    as_configured,
    configurations_of,
    settings_of,
)
from lossless.interfaces.api.running import captured_state, intended_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.checks.rules.registry import Codes
    from lossless.checks.trace.model import Trace
    from lossless.checks.trace.running import RunningTrace
    from lossless.formats.inputs.fabrics import Fabrics
    from lossless.formats.inputs.intents import Declarations
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.running import CapturedState
    from lossless.model.fabric.model import Fabric


class TraceResult(NamedTuple):
    """A trace, and the documents of its files and captures, by file name.

    ``configurations_beside`` are files of devices that lie in the folder of the intent and are not followed.
    ``problems`` are those of the captures: unreadable, missing, or not comparable.
    """

    trace: Trace
    documents: Mapping[str, DocumentView]
    configurations_beside: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def trace(
    path: str | PathLike[str],
    source: str,
    target: str,
    dscp: int,
    *,
    via: str | None = None,
    captures: Sequence[str | PathLike[str]] = (),
    since: Sequence[str | PathLike[str]] = (),
    options: Options = DEFAULT_OPTIONS,
) -> TraceResult:
    """Trace a packet with a DSCP between two hosts or ports: each hop, and where the chain breaks.

    ``source`` and ``target`` are names like ``host1``, ``host1:port2`` or ``leaf1:Ethernet0``, on a single
    device ``Ethernet0``; ``via`` is a switch that the path must cross.
    ``captures`` are files or folders of running state: hops and hosts then have the counters of the packet's class, and
    the findings of rules on them; ``since`` are captures of the same devices at an earlier time: counters count from
    there.

    Raises:
        InputError: the intent or a configuration cannot be read, there is not exactly one fabric, or a cloud runs its
            switches.
        LosslessError: no such host, switch or port, no DSCP, no path, two ends that are one port, or two files with the
            same hostname.
    """
    from lossless.analysis.buffers.dynamic_model import with_computed_buffers
    from lossless.checks.lint.files import check_inputs
    from lossless.checks.trace import running as follow
    from lossless.checks.trace.findings import UNSTATED
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.devices import rewrites_of
    from lossless.formats.inputs.fabrics import (
        configurations_beside,
        fabrics_of,
        with_other_systems,
    )
    from lossless.formats.inputs.intents import is_intent, require_own_switches
    from lossless.interfaces.api.fabrics import documents_at
    from lossless.model.fabric.view import View

    options = as_configured(options)
    documents, errors = documents_at(path, options)
    lookup = None if all(map(is_intent, documents)) else configurations_of(options)
    # Which rules a report is of has no say in what happens to a packet.
    chosen = _own_rules()
    report, declared = check_inputs(
        Inputs(tuple(documents)), settings_of(options, lookup)._replace(chosen=lambda _file: chosen)
    )
    fabrics, unread = _resolved(documents, declared) or fabrics_of(
        documents, options.profile_dirs, options.rdma_dscps, lookup
    )
    fabrics = with_other_systems(fabrics, documents, options.rdma_dscps, lookup)
    fabrics = follow.fabrics_of_ends(fabrics, source, target)
    errors += lookup.problems() if lookup else []
    if errors or unread or len(fabrics) != 1:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, follow.not_one(fabrics))])
    require_own_switches(fabrics)
    findings, rewrites = report.findings, rewrites_of(fabrics[0], documents)
    view = View(with_computed_buffers(fabrics[0]))
    captured = captured_state(captures, since, "show") if captures else None
    path_trace = follow.trace(
        view,
        source,
        target,
        dscp,
        via=via,
        findings=findings,
        rewrites=rewrites,
        running=_running(captured, fabrics, options) if captured else None,
    )
    unstated = tuple(one for one in report.not_checked if one.code in UNSTATED)
    path_trace = path_trace._replace(not_checked=unstated)
    if lookup is not None:
        path_trace = follow.with_ports_outside(path_trace, _outside(fabrics[0], lookup))
    if report.layouts:
        from lossless.ground.documents.layout import as_written

        path_trace = as_written(path_trace, report.layouts)
    beside = configurations_beside(path)
    if captured is None:
        return TraceResult(path_trace, report.documents, beside)
    return TraceResult(path_trace, {**captured.documents, **report.documents}, beside, captured.problems)


def _outside(fabric: Fabric, lookup: ConfigurationLookup) -> dict[str, frozenset[str]]:
    """Return the ports that a ``lossless.toml`` lists as without RDMA, by switch; an empty set for other switches."""
    from lossless.formats.inputs.fabrics import ports_outside

    by_file = ports_outside(fabric, lookup)
    return {switch.name: by_file.get(switch.origin.file, frozenset()) for switch in fabric.switches}


def _running(captured: CapturedState, fabrics: Sequence[Fabric], options: Options) -> RunningTrace:
    """Return the captured devices, each with its part of the traced fabrics, and the findings of rules on them."""
    from lossless.checks.lint.running import verified
    from lossless.checks.trace.running import RunningTrace

    intended = intended_by(fabrics)
    devices = captured.devices(intended, options)
    findings = verified(devices, intended, _own_rules()).findings
    return RunningTrace({device.name: device for device in devices}, findings)


def _own_rules() -> Codes | None:
    """Return the codes of all rules but those of plugins, which are not about a packet; None for all rules."""
    from lossless.checks.rules.registry import RULES, added

    return frozenset(RULES) if added.get() else None


def _resolved(documents: Sequence[Document], declared: Declarations) -> Fabrics | None:
    """Return the fabrics of intents as lint resolved them; None if the inputs include a subnet or a JSON file."""
    from lossless.formats.inputs.collect import is_json
    from lossless.formats.inputs.fabrics import Fabrics

    if declared.subnets or any(is_json(document.file) for document in documents):
        return None
    return Fabrics(declared.fabrics, declared.errors)
