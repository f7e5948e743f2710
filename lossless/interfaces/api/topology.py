"""Topology: a fabric in numbers, its capacity and its picture; the cables that move when its declaration changes.

Files of cables to the topology of an intent, and against one that is declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.subnet import Topology as Topology, topology_of, topology_of_subnet
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declares_subnet, intent_of_switches, subnet_of, wired_of
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.analysis.topology.recabling import DeclaredCabling, Pins, RecablingPlan
    from lossless.checks.lint.run import Report
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric


def topology(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Topology:
    """Return a summary of the fabric of an intent: devices by product, links by tier, ports used and free, capacity.

    Raises:
        InputError: no intent, or one that cannot be resolved.
    """
    document = intent_at(path)
    if declares_subnet(document):
        return topology_of_subnet(subnet_of(document, options.profile_dirs))
    loaded = intent_of_switches(document)
    fabric, plan, _ = wired_of(loaded, options.profile_dirs)
    return topology_of(fabric, plan, loaded.intent.topology.shape_key)


def moves(
    path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS
) -> RecablingPlan:
    """Return the changes from the current intent to another: devices renamed, added and removed, and cables moved.

    Raises:
        InputError: one of the two is no intent, or cannot be resolved.
    """
    from lossless.analysis.topology.recabling import recabling_plan

    return recabling_plan(_cabling(_loaded(against), options), _cabling(_loaded(path), options))


def pins(path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Pins:
    """Return the names and ports to state in an intent, so that all devices and cables of the current one stay.

    Raises:
        InputError: as :func:`moves`; or the intent lists its devices and links, which have the names and ports there.
    """
    from lossless.analysis.topology.recabling import Pins, pins_for, recabling_plan

    loaded = _loaded(path)
    topology = loaded.intent.topology
    if topology.shape_key is None:
        message = "topology: names and ports are stated beside a shape; what is listed states its own"
        raise InputError([loaded.problem(loaded.origin("topology").key(), message)])
    after = _cabling(loaded, options)
    recabling = recabling_plan(_cabling(_loaded(against), options), after)
    return pins_for(after, recabling, Pins(topology.names, topology.ports))


def _loaded(path: str | PathLike[str]) -> LoadedIntent:
    return intent_of_switches(intent_at(path))


def _cabling(loaded: LoadedIntent, options: Options) -> DeclaredCabling:
    from lossless.analysis.topology.recabling import DeclaredCabling

    wired = wired_of(loaded, options.profile_dirs)
    return DeclaredCabling(loaded.intent.topology.frame, wired.plan.nodes, tuple(wired.wires()))


class Cabling(NamedTuple):
    """The section ``topology`` of an intent as text, and how many devices and links it lists."""

    text: str
    devices: int
    links: int


def cabled_topology(
    files: Sequence[str | PathLike[str]],
    *,
    roles: Sequence[tuple[str, str]] = (),
    speeds: Mapping[str, int] | None = None,
    cables: Mapping[str, int] | None = None,
    exclude: Sequence[str] = (),
) -> Cabling:
    """Return the devices and links that cabling files, LLDP outputs and NetBox exports describe.

    ``roles`` maps patterns of device names (or ``role:NAME`` of an export) to roles; the first match counts. ``speeds``
    (b/s) and ``cables`` (meters) are the defaults by tier for links without a value of their own. Devices that match
    ``exclude`` are left out.

    Raises:
        InputError: a file cannot be read or its kind is unknown, files contradict each other, or a fact is missing;
            each problem has its location.
    """
    from lossless.formats.importing.cabling.topology import CablingOptions, read_topology, topology_yaml

    texts = _texts(files)
    topology = read_topology(texts, CablingOptions(tuple(roles), speeds or {}, cables or {}, tuple(exclude)))
    return Cabling(topology_yaml(topology), len(topology.roles), len(topology.links))


def cabled_as_declared(
    intent: str | PathLike[str],
    files: Sequence[str | PathLike[str]],
    *,
    exclude: Sequence[str] = (),
    options: Options = DEFAULT_OPTIONS,
) -> Report:
    """Compare the cables in files with the links of an intent, and return each difference as a finding.

    Files are those of :func:`cabled_topology`. Devices that occur in no file are not checked. Devices that match
    ``exclude`` are left out of the files.

    Raises:
        InputError: the intent or a file cannot be read, files contradict each other, or a name matches no device of the
            intent; each problem has its location.
    """
    return compare_cabling(intent_at(intent), _texts(files), exclude=exclude, options=options)


def compare_cabling(
    document: Document,
    texts: Mapping[str, str],
    *,
    exclude: Sequence[str] = (),
    options: Options = DEFAULT_OPTIONS,
) -> Report:
    """Return the cables that differ from an intent, as :func:`cabled_as_declared`, for parsed documents."""
    from lossless.analysis.topology.cabling_comparison import cabling_comparison
    from lossless.checks.lint.run import run, together
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import FabricCabling
    from lossless.formats.importing.cabling.intent_names import cable_documents, names_of_intent, read_cables
    from lossless.formats.intent.resolve.managed import planned_cables
    from lossless.model.fabric.view import View

    loaded = intent_of_switches(document)
    wired = wired_of(loaded, options.profile_dirs)
    _require_ports(wired.fabric, document)
    planned = tuple(planned_cables(wired, loaded))
    nodes = (node.name for node in wired.plan.nodes)
    cables = read_cables(texts, names_of_intent(nodes, wired.fabric.switches, planned), exclude)
    cabling = FabricCabling(View(wired.fabric), cabling_comparison(planned, cables))
    report = together([run(cabling, rules_for("cabling"), "intent")])
    shown = {document.file: document, **cable_documents(texts, report.findings)}
    return report._replace(documents=shown)


def _require_ports(fabric: Fabric, document: Document) -> None:
    """Refuse a fabric whose switches have more links than ports: the place of those cables is unknown.

    Raises:
        InputError: a switch has links without a port.
    """
    short = next(
        (switch for switch in fabric.switches if not all(port.placed for port in switch.ports)), None
    )
    if short is not None:
        span = document.locate(("topology",), "key")
        message = f"{short.name} has no ports for some of its links, as `lossless lint` says: nothing to compare with"
        raise InputError([Problem(document.file, span.line, span.column, message)])


def _texts(files: Sequence[str | PathLike[str]]) -> dict[str, str]:
    """Return the text of each file.

    Raises:
        InputError: one cannot be read.
    """
    import os

    from lossless.ground.documents.text import read_text

    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for file in (os.fspath(path) for path in files):
        try:
            texts[file] = read_text(file)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return texts
