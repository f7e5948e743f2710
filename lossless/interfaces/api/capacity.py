"""Capacity of a fabric: its topology and cables, headroom of its links, workloads, and the storm from one host.

A workload is the traffic of a collective, its duration, and whether buffers are safe. Headroom of a link is computed
by the vendor's table, by SONiC's formula and by physics, beside the configured headroom. A topology is a fabric in
numbers, its capacity and its picture; two intents are compared by devices renamed and cables moved. Cabling files
become the topology of an intent, or are compared with a declared one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.comparison import (
    HeadroomInputs as HeadroomInputs,
    Headrooms as Headrooms,
    SourcedTraffic,
    hwsku_for,
    named_port,
    of_link,
    of_ports,
)
from lossless.analysis.topology.subnet import (
    COMPUTE,
    Topology as Topology,
    subnet_fabric,
    topology_of,
    topology_of_subnet,
)
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declares_subnet, intent_of_switches, subnet_of
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.fabrics import any_fabric_at, fabrics_at, intent_fabric_at
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, Report, as_configured
from lossless.model.fabric.cluster import ALGORITHMS, COLLECTIVE, COLLECTIVES, STORM_TRAFFIC, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.storm.blast_radius import BlastRadius
    from lossless.analysis.storm.paths import ShapeGroups
    from lossless.analysis.topology.recabling import DeclaredCabling, Pins, RecablingPlan
    from lossless.analysis.workloads.placement import Estimate
    from lossless.analysis.workloads.verdict import WorkloadVerdict
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.cluster import StormTraffic
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

__all__ = [
    "ALGORITHMS",
    "COLLECTIVE",
    "COLLECTIVES",
    "STORM_TRAFFIC",
    "Workload",
    "evaluate_workload",
    "storm",
    "workload",
]


def workload(path: str | PathLike[str], asked: Workload, options: Options = DEFAULT_OPTIONS) -> Estimate:
    """Return the traffic that a collective puts on the fabric of an intent, and its duration at line rate.

    On machines of a cloud it is that of their NICs and NVLink.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: the fabric lacks the requested GPUs, they are no whole number of domains or too many, no path
            joins them, storage has a network of its own, or the type or number of a cloud's machines is unknown.
        QuantityError: the collective does not have the algorithm.
    """
    from lossless.analysis.workloads.placement import estimate

    document = intent_at(path)
    if declares_subnet(document):
        subnet = subnet_of(document, options.profile_dirs)
        return _of_sharp(estimate(subnet_fabric(subnet, COMPUTE), asked), subnet)
    return _of_sharp(estimate(any_fabric_at(path, options), asked), None)


def _of_sharp(found: Estimate, subnet: Subnet | None) -> Estimate:
    """Return an estimate whose first assumption is SHARP where its algorithm needs it and the fabric lacks it."""
    if found.algorithm != "sharp" or (subnet is not None and subnet.sharp is not None and subnet.sharp.on):
        return found
    if found.placement.cloud:
        reduces = "switches reduce, which the provider does not say of its own"
        return found._replace(assumed=(reduces, *found.assumed))
    if subnet is None:
        lacking = "SHARP is of InfiniBand, and this is Ethernet"
    else:
        lacking = "no aggregation manager is declared" if subnet.sharp is None else "sharp is off"
    return found._replace(
        assumed=(f"switches reduce, which those of this fabric do not: {lacking}", *found.assumed)
    )


def evaluate_workload(
    path: str | PathLike[str], asked: Workload, ask: SimulationRequest, options: Options = DEFAULT_OPTIONS
) -> tuple[Estimate, WorkloadVerdict]:
    """Return the estimate of :func:`workload`, and the verdict on the buffers under its traffic.

    ``ask`` sets the effort of the simulation; its scenario is replaced by that of the workload.

    Raises:
        InputError: as :func:`workload`, or the intent declares an InfiniBand subnet or a cloud runs its switches.
        ScenarioError: as :func:`workload`, or ``ask`` cannot be simulated.
        QuantityError: as :func:`workload`.
    """
    from lossless.analysis.workloads.placement import estimate
    from lossless.analysis.workloads.verdict import workload_verdict
    from lossless.model.fabric.view import View

    fabric = intent_fabric_at(path, options)
    line_rate = _of_sharp(estimate(fabric, asked), None)
    return line_rate, workload_verdict(View(fabric), line_rate, ask)


def storm(
    path: str | PathLike[str],
    end: str,
    traffic: StormTraffic = STORM_TRAFFIC[0],
    drain_bps: int = 0,
    traffic_class: str | None = None,
    *,
    options: Options = DEFAULT_OPTIONS,
) -> BlastRadius:
    """Return the blast radius of a PFC storm from a host (``host1``, ``host1:port2``) that drains ``drain_bps`` a port.

    Raises:
        InputError: the intent cannot be read or declares a subnet, there is not exactly one, or a cloud runs its
            switches.
        ScenarioError: no such host, port or class, or buffers or routes that are not known.
    """
    from lossless.analysis.storm.blast_radius import StormSource, blast_radius
    from lossless.model.fabric.view import View

    fabric = intent_fabric_at(path, options)
    groups = _groups(path) if fabric.managed is None else None
    return blast_radius(View(fabric), StormSource(end, traffic, drain_bps, traffic_class), groups)


_WITHOUT_PODS = ("dragonfly", "dragonfly_plus")
"""Shapes of topology whose groups cannot be derived from which switch is above which."""


def _groups(path: str | PathLike[str]) -> ShapeGroups | None:
    """Return the groups of switches of a dragonfly intent; None for other shapes, whose pods the links show."""
    from lossless.analysis.storm.paths import ShapeGroups
    from lossless.analysis.topology.folding import groups_of
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.shapes import plan

    loaded = load_intent(intent_at(path))
    shape = loaded.intent.topology.shape_key
    name, of = groups_of(plan(loaded), shape) if shape in _WITHOUT_PODS else ("", {})
    return ShapeGroups(name, of) if of else None


NOTHING_STATED = HeadroomInputs()


def headroom_of_link(
    profile: str,
    speed_bps: int,
    cable_m: int,
    *,
    hwsku: str | None = None,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Return the headroom of a lossless PG by three methods, as far as known, for a profile, speed and cable.

    ``hwsku`` defaults to the HWSKU that an intent would use; ``stated`` overrides inputs of the formula.

    Raises:
        ProfileError: no such profile or HWSKU, or the switch does not support the speed.
    """
    from lossless.model.hardware.load import load_switch

    switch = load_switch(profile, options.profile_dirs)
    chosen = hwsku_for(switch, hwsku, speed_bps)
    return Headrooms((of_link(switch, chosen, speed_bps, cable_m, stated, _assumed()),))


def headroom_of_ports(
    path: str | PathLike[str],
    ports: Sequence[str] = (),
    *,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Return the configured headroom of ports, and that required by each method, as far as they are known.

    ``path`` has an intent or configurations. ``ports`` are names such as ``leaf1:Ethernet0``, on a single device
    ``Ethernet0``. Without names, each kind of lossless port is reported.

    Raises:
        InputError: the intent or a configuration cannot be read, or there is none.
        LosslessError: no such switch or port, a hostname of two files, or a port without QoS.
    """
    from lossless.model.fabric.view import View

    fabrics = fabrics_at(path, as_configured(options), "compute headroom for")
    views = [View(fabric) for fabric in fabrics]
    sets = [named_port(views, name) for name in ports] or [
        port_set for view in views for port_set in view.lossless_sets
    ]
    assumed = _assumed()
    return Headrooms(tuple(each for port_set in sets for each in of_ports(port_set, stated, assumed)))


def _assumed() -> SourcedTraffic:
    """Return the default MTUs and share of small packets of the formula, each with its source."""
    from lossless.analysis.buffers.headroom.methods import SourcedValue
    from lossless.formats.intent.resolve.class_buffers import LOSSLESS_MTU_BYTES, SMALL_PACKET_PERCENT
    from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES

    return SourcedTraffic(
        SourcedValue(DEFAULT_SWITCH_MTU_BYTES, "SONiC's default"),
        SourcedValue(LOSSLESS_MTU_BYTES, "SONiC's default"),
        SourcedValue(SMALL_PACKET_PERCENT, "SONiC's default until 2024-10"),
    )


def topology(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Topology:
    """Return a summary of the fabric of an intent: devices by product, links by tier, ports used and free, capacity.

    Raises:
        InputError: there is not exactly one intent, it cannot be read or resolved, or a cloud runs its switches.
    """
    from lossless.formats.intent.resolve.fabric import resolve_wired

    document = intent_at(path)
    if declares_subnet(document):
        return topology_of_subnet(subnet_of(document, options.profile_dirs))
    loaded = intent_of_switches(document)
    fabric, plan, _ = resolve_wired(loaded, options.profile_dirs)
    return topology_of(fabric, plan, loaded.intent.topology.shape_key)


def moves(
    path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS
) -> RecablingPlan:
    """Return the devices renamed, added and removed, and the cables moved, from the intent ``against`` to ``path``.

    Raises:
        InputError: as :func:`topology` for one of the two, or one declares a subnet.
    """
    from lossless.analysis.topology.recabling import recabling_plan

    return recabling_plan(_cabling(_loaded(against), options), _cabling(_loaded(path), options))


def pins(path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Pins:
    """Return the names and ports to state in the intent at ``path``, so that devices and cables of ``against`` stay.

    Raises:
        InputError: as :func:`moves`; or the intent lists devices and links, with their names and ports.
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
    from lossless.formats.intent.resolve.fabric import resolve_wired

    wired = resolve_wired(loaded, options.profile_dirs)
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
        InputError: the intent or a file cannot be read, the intent has no Ethernet switches of its own, files
            contradict each other, a switch of the intent has more links than ports, or a name matches no device of the
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
    """Return the differences of :func:`cabled_as_declared` for an intent's document and the texts of cabling files."""
    from lossless.analysis.topology.cabling_comparison import cabling_comparison
    from lossless.checks.lint.run import run, together
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import FabricCabling
    from lossless.formats.importing.cabling.intent_names import cable_documents, names_of_intent, read_cables
    from lossless.formats.intent.resolve.fabric import resolve_wired
    from lossless.formats.intent.resolve.managed import planned_cables
    from lossless.model.fabric.view import View

    loaded = intent_of_switches(document)
    wired = resolve_wired(loaded, options.profile_dirs)
    _require_ports(wired.fabric, document)
    planned = tuple(planned_cables(wired, loaded))
    nodes = (node.name for node in wired.plan.nodes)
    cables = read_cables(texts, names_of_intent(nodes, wired.fabric.switches, planned), exclude)
    cabling = FabricCabling(View(wired.fabric), cabling_comparison(planned, cables))
    report = together([run(cabling, rules_for("cabling"), "intent")])
    shown = {document.file: document, **cable_documents(texts, report.findings)}
    return Report._make(report._replace(documents=shown))


def _require_ports(fabric: Fabric, document: Document) -> None:
    """Refuse a fabric in which a switch has more links than ports: the ports of those cables are unknown.

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
    """Return the text of each file, by its path.

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
