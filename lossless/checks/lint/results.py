"""The report of a run, joined from those of rules on intents, subnets, devices and hosts.

Where the switches of a fabric run several systems, each rule of fabrics sees the switches to which it applies.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.checks.lint.devices import compare
from lossless.checks.lint.run import CheckedReport, run, together
from lossless.formats.inputs.subnet_manager import manager_files
from lossless.model.fabric.model import of_switches
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.lint.devices import DeviceResult
    from lossless.checks.lint.run import Settings
    from lossless.checks.rules.registry import Codes, LoadedRule
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.intents import Declarations
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.model.fabric.deployed_devices import DeviceSummary
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric, Switch


def run_by_format(view: View, rules: Sequence[LoadedRule]) -> Iterator[CheckedReport]:
    """Yield the reports of rules on the fabric of an intent; a rule sees the switches to whose system it applies."""
    formats = {switch.format for switch in view.fabric.switches if not switch.runs_sonic}
    if not formats:
        yield run(view, rules, "intent")
        return
    from lossless.formats.inputs.switches import rules_without_meaning

    silent = {name: rules_without_meaning(name) for name in formats}
    groups: dict[frozenset[str], list[LoadedRule]] = {}
    for rule in rules:
        groups.setdefault(frozenset(name for name in formats if rule.code in silent[name]), []).append(rule)
    for left_out, group in groups.items():
        part = of_switches(view.fabric, partial(_runs_none_of, left_out))
        yield run(view if part is view.fabric else View(part), group, "intent")


def _runs_none_of(formats: frozenset[str], switch: Switch) -> bool:
    return switch.format not in formats


def completed(settings: Settings, intents: Declarations, deployed: Sequence[str], hosts: int) -> Settings:
    """Return settings with the switches that intents declare, and whether devices are compared with others or hosts.

    A switch that two intents name is left out. With ``apart`` the settings stay as they are.
    """
    if settings.apart:
        return settings
    intended: dict[str, Switch | None] = {}
    for switch in (switch for fabric in intents.fabrics for switch in fabric.switches):
        intended[switch.name] = None if switch.name in intended else switch
    declared_once = {name: switch for name, switch in intended.items() if switch is not None}
    compared = bool(deployed) and len(deployed) + hosts > 1 and _compares(settings, deployed)
    return settings._replace(intended=declared_once, compared=compared)


def _compares(settings: Settings, deployed: Sequence[str]) -> bool:
    """Return whether a rule that compares devices is chosen for any of the files in ``deployed``."""
    from lossless.checks.rules.registry import codes_for

    choices = {settings.chosen(file) for file in deployed}
    return any(chosen is None or not chosen.isdisjoint(codes_for("devices")) for chosen in choices)


def joined(
    inputs: Inputs,
    intents: Declarations,
    devices: Sequence[DeviceResult],
    documents: Mapping[str, DocumentView],
    settings: Settings,
) -> CheckedReport:
    """Return one report of rules on intents, devices, hosts and subnet managers.

    Of ``inputs`` the facts of hosts and the files of subnet managers and of switches without SONiC are checked here.
    """
    managers = manager_files(inputs.documents)
    subnets = (*intents.subnets, *(deployed.subnet for deployed in managers.subnets))
    reports = [
        CheckedReport(errors=(*inputs.problems, *intents.errors)),
        *of_intents(intents, settings),
        *of_subnets(subnets, settings),
        *of_all_subnets(subnets, settings),
        CheckedReport(errors=managers.problems, not_checked=managers.not_checked),
        *(device.report for device in devices),
    ]
    summaries = [summary for device in devices for summary in device.summaries]
    switches = [document for document in inputs.documents if document.dialect]
    of_other_systems: tuple[DeviceSummary, ...] = ()
    if switches:
        from lossless.checks.lint.hosts import check_switches

        checked = check_switches(switches, settings)
        reports.append(checked.report)
        of_other_systems = () if settings.apart else checked.summaries
    if inputs.facts:
        from lossless.checks.lint.hosts import (
            check_hosts,
            hosts_against,
            ports_at_hosts_without_rdma,
            without_repeated,
        )
        from lossless.model.fabric.deployed_devices import DeployedDevices

        fabrics = () if settings.apart else intents.fabrics
        attached = () if settings.apart else (*summaries, *of_other_systems)
        hosts = check_hosts(inputs, fabrics, attached, settings)
        reports += hosts_against(hosts.summaries, of_other_systems, settings)
        reports.append(without_repeated(hosts.report, reports))
        facing = ports_at_hosts_without_rdma(DeployedDevices((*attached, *hosts.summaries)))
        reports.append(CheckedReport(ports_without_rdma=facing))
        summaries += hosts.summaries
        documents = {**documents, **{facts.document.file: facts.document for facts in inputs.facts}}
    reports.append(compare(summaries, settings))
    declared = frozenset(switch.name for fabric in intents.fabrics for switch in fabric.switches)
    return together(reports)._replace(documents=documents, declared=declared)


def of_intents(intents: Declarations, settings: Settings) -> list[CheckedReport]:
    """Return the reports of rules on the fabrics of intents, each by itself."""
    if not intents.fabrics:
        return []
    return [
        report
        for fabric in intents.fabrics
        for report in _of_fabric(fabric, settings.chosen(fabric.sources[0]))
    ]


def _of_fabric(fabric: Fabric, chosen: Codes | None) -> Iterator[CheckedReport]:
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import computing_buffers

    view = View(fabric)
    if fabric.managed is not None:
        yield run(view, rules_for("cloud", chosen=chosen), "intent")
        return
    yield from run_by_format(view, rules_for("fabric", "intent", chosen=chosen))
    yield from run_by_format(computing_buffers(view), rules_for("buffers", chosen=chosen))


def of_subnets(subnets: Sequence[Subnet], settings: Settings) -> list[CheckedReport]:
    """Return the reports of rules on subnets, each by itself."""
    if not subnets:
        return []
    from lossless.checks.rules.registry import rules_for

    chosen = [settings.chosen(subnet.files[0]) for subnet in subnets]
    return [
        run(subnet, rules_for("subnet", chosen=codes), "intent")
        for subnet, codes in zip(subnets, chosen, strict=True)
    ]


def of_all_subnets(subnets: Sequence[Subnet], settings: Settings) -> list[CheckedReport]:
    """Return the reports of rules on all subnets together: a rule runs if it is chosen for any of them."""
    if not subnets:
        return []
    from lossless.checks.rules.registry import rules_for

    choices = [settings.chosen(subnet.files[0]) for subnet in subnets]
    everywhere = None if None in choices else frozenset().union(*(codes or () for codes in choices))
    return [run(tuple(subnets), rules_for("subnets", chosen=everywhere), "intent")]
