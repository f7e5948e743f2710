"""Check switches of systems other than SONiC.

Their configurations are read into the same model and checked by the rules of fabrics that apply to them; findings are
written in the commands of that system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.devices import DeviceResult
from lossless.checks.lint.report import Report
from lossless.checks.lint.run import gathered, run
from lossless.ground.basics.findings import Finding, UncheckedRule
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.checks.lint.settings import Settings
    from lossless.checks.rules.registry import LoadedRule
    from lossless.formats.inputs.switches import SwitchInput
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words


def check_switches(documents: Sequence[Document], settings: Settings) -> DeviceResult:
    """Check switches, each by itself."""
    from lossless.checks.rules.device_summary import summary_of_switch
    from lossless.formats.inputs.switches import read_switch

    systems = [(document, read_switch(document, settings.dscps_of(document.file))) for document in documents]
    return DeviceResult(
        gathered(report for each in systems for report in _check(*each, settings)),
        tuple(summary_of_switch(system.read.switch, document.name) for document, system in systems),
    )


def _check(document: Document, system: SwitchInput, settings: Settings) -> Iterator[Report]:
    from lossless.checks.rules.registry import rules_for
    from lossless.checks.rules.subjects import SwitchConfiguration
    from lossless.formats.inputs.fabrics import without_class
    from lossless.formats.inputs.switches import fabric_of_switches

    read = system.read
    intended = settings.intended_switch(read.switch.name)
    switch = read.switch if intended is None else read.switch._replace(classes=intended.classes)
    stated = settings.without_rdma(document.file, switch)
    view = View(fabric_of_switches((without_class(switch, stated),), (document.name,)))
    chosen = settings.chosen(document.file)
    for report in (
        run(view, _applicable(rules_for("fabric", "buffers", chosen=chosen), system), "commands"),
        run(SwitchConfiguration(read, view, intended), rules_for("switch", chosen=chosen), "commands"),
    ):
        yield report._replace(findings=tuple(_said(finding, system.words) for finding in report.findings))
    unread = tuple(UncheckedRule("", f"{document.shown}: {note}") for note in read.unread)
    yield Report(not_checked=unread, ports_without_rdma=_outside(read, stated))


def _outside(read: ReadSwitch, stated: Collection[str]) -> int:
    """Return how many ports in service are outside of the RDMA domain; ``stated`` are those declared outside.

    If no port is inside, only declared ports count.
    """
    inside = read.inside - set(stated)
    up = [port for port in read.switch.ports if port.qos is not None and port.admin_up is not False]
    others = [port for port in up if port.name not in inside and port != read.rest]
    return len(others) if inside else sum(port.name in stated for port in up)


def _applicable(rules: Sequence[LoadedRule], system: SwitchInput) -> list[LoadedRule]:
    return [rule for rule in rules if rule.code not in system.not_applicable]


def _said(finding: Finding, words: Mapping[str, Words]) -> Finding:
    """Return a finding in the words of a dialect; edits are those of SONiC's files."""
    own = words.get(f"{finding.code} {finding.severity}") or words.get(finding.code)
    plain = finding._replace(fix=(), fixable="no")
    if own is None:
        return plain
    return plain._replace(
        message=own.message or finding.message, note=own.note or finding.note, help=own.help or finding.help
    )
