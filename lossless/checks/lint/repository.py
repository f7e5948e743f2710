"""Judges all files of a run together: intents first, since they say what devices are meant to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from lossless.checks.lint.devices import Settings, compare, finder, judge_document
from lossless.checks.lint.run import Verdicts, run, together
from lossless.formats.inputs.collect import devices_in, is_json, read, split
from lossless.formats.inputs.subnet_manager import ManagerFiles, is_managers, manager_files
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.lint.devices import Outcome
    from lossless.checks.rules.registry import Subject
    from lossless.formats.hosts.read.text import Facts
    from lossless.formats.inputs.collect import Candidate
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document
    from lossless.ground.documents.excerpts import Shown
    from lossless.ground.documents.layout import Layout
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric, Switch

FEWEST_FOR_WORKERS = 32
"""From how many configurations on several processes judge them; fewer are done before those would start."""

FEWEST_INTENTS = 16
"""From how many intents on several processes judge them: one takes as long as some configurations."""


class Intents(NamedTuple):
    """The fabrics and subnets that intents declare, and what could not be read of them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]
    subnets: tuple[Subnet, ...] = ()


class Judged(NamedTuple):
    """What is said of all files of a run, and what reports need of each file.

    Origins name documents; where those are parts of files, ``layouts`` say where things stand, by their names.
    """

    verdicts: Verdicts
    errors: tuple[Problem, ...]
    documents: Mapping[str, Shown]
    layouts: Mapping[str, Layout]


class Others(NamedTuple):
    """What is judged beside intents and devices: ``facts``, what hosts say of themselves, and subnet managers."""

    facts: Sequence[Facts] = ()
    managers: ManagerFiles = ManagerFiles()


_Counted = TypeVar("_Counted")

Tell = Callable[[int, int], None]
"""Is told how many of how many are done."""

Declare = Callable[[Sequence["Document"], "Tell | None"], Intents]
"""Makes fabrics of those documents that are intents, and tells how many of them are made."""


def judge_documents(
    documents: Sequence[Document], declare: Declare, settings: Settings, facts: Sequence[Facts] = ()
) -> Judged:
    """Judge documents that are already read, and ``facts``, what hosts say of themselves."""
    problems = [problem for document in documents for problem in devices_in(document).problems]
    documents = split(documents)
    intents = declare(documents, settings.tell)
    deployed = [document for document in documents if is_json(document.file)]
    settings = completed(settings, intents, [document.file for document in deployed], len(facts))
    find = finder(settings.profile_dirs)
    outcomes = [judge_document(document, settings, find) for document in counted(deployed, settings.tell)]
    shown = {document.file: document.whole for document in documents}
    judged = joined(intents, outcomes, shown, settings, Others(facts, manager_files(documents)))
    return judged._replace(errors=(*problems, *judged.errors)) if problems else judged


def judge_files(candidates: Sequence[Candidate], declare: Declare, settings: Settings) -> Judged:
    """Judge files: in several processes where there are many devices among them."""
    if _are_many_intents(candidates):
        from lossless.checks.lint.intents import judge_intents

        judged = judge_intents(candidates, declare, settings)
        if judged is not None:
            return judged
    devices = _for_workers(candidates)
    among = set(devices)
    found = [read(candidate) for candidate in candidates if candidate not in among]
    documents = [document for one in found for document in one.documents]
    facts = [one for each in found for one in each.facts]
    judged = _judge_apart(devices, documents, declare, settings, facts) if devices else None
    judged = judged or judge_documents(documents, declare, settings, facts)
    problems = tuple(problem for one in found for problem in one.problems)
    return judged._replace(errors=(*problems, *judged.errors))


def counted(things: Sequence[_Counted], tell: Tell | None) -> Sequence[_Counted] | Iterator[_Counted]:
    """Return things, and say how many of them are done while they are worked on."""
    return things if tell is None else _telling(things, tell)


def _telling(things: Sequence[_Counted], tell: Tell) -> Iterator[_Counted]:
    for done, thing in enumerate(things):
        tell(done, len(things))
        yield thing


def _are_many_intents(candidates: Sequence[Candidate]) -> bool:
    """Return whether there are intents alone, and so many that other processes are worth their start.

    Where there are devices too, these are judged by the fabrics of the intents, which stay in this process then.
    """
    if len(candidates) < FEWEST_INTENTS or not all(_is_yaml(candidate.file) for candidate in candidates):
        return False
    from lossless.checks.lint.workers import usable

    return usable()


def _is_yaml(file: str) -> bool:
    return not is_json(file) and not is_managers(file)


def _for_workers(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the devices' files where they are so many that other processes are worth their start."""
    devices = [candidate for candidate in candidates if is_json(candidate.file)]
    if len(devices) < FEWEST_FOR_WORKERS:
        return []
    from lossless.checks.lint.workers import usable

    return devices if usable() else []


def _judge_apart(
    devices: Sequence[Candidate],
    documents: Sequence[Document],
    declare: Declare,
    settings: Settings,
    facts: Sequence[Facts],
) -> Judged:
    from lossless.checks.lint.workers import judge_in_processes

    intents = declare(documents, settings.tell)
    settings = completed(settings, intents, [candidate.file for candidate in devices], len(facts))
    work = judge_in_processes(devices, settings)
    facts = [*facts, *(one for candidate in work.facts for one in read(candidate).facts)]
    shown = {d.file: d.whole for d in documents} | dict(work.excerpts)
    judged = joined(intents, work.outcomes, shown, settings, Others(facts, manager_files(documents)))
    return judged._replace(errors=(*work.problems, *judged.errors))


def completed(settings: Settings, intents: Intents, deployed: Sequence[str], hosts: int) -> Settings:
    """Return settings with the switches that intents name, and whether devices are compared, with each other or hosts.

    A switch that two intents name is not intended.
    """
    if settings.apart:
        return settings
    intended: dict[str, Switch | None] = {}
    for switch in (switch for fabric in intents.fabrics for switch in fabric.switches):
        intended[switch.name] = None if switch.name in intended else switch
    known = {name: switch for name, switch in intended.items() if switch is not None}
    compared = bool(deployed) and len(deployed) + hosts > 1 and _compares(settings, deployed)
    return settings._replace(intended=known, compared=compared)


def _compares(settings: Settings, deployed: Sequence[str]) -> bool:
    """Return whether a rule that needs all devices is chosen for any of them."""
    from lossless.checks.rules.registry import codes_for

    choices = {settings.chosen(file) for file in deployed}
    return any(chosen is None or not chosen.isdisjoint(codes_for("devices")) for chosen in choices)


def joined(
    intents: Intents,
    outcomes: Sequence[Outcome],
    documents: Mapping[str, Shown],
    settings: Settings,
    others: Others,
) -> Judged:
    """Return what is said of intents, devices, hosts and subnet managers together."""
    facts, managers = others
    subnets = (*intents.subnets, *(one.subnet for one in managers.subnets))
    verdicts = [
        *of_intents(intents, settings),
        *of_subnets(subnets, settings),
        *of_all_subnets(subnets, settings),
        Verdicts(not_judged=managers.not_judged),
        *(outcome.verdicts for outcome in outcomes),
    ]
    summaries = [outcome.summary for outcome in outcomes if outcome.summary is not None]
    errors = [error for outcome in outcomes for error in outcome.errors]
    if facts:
        from lossless.checks.lint.hosts import judge_hosts, unsaid

        fabrics = () if settings.apart else intents.fabrics
        hosts = judge_hosts(facts, fabrics, () if settings.apart else summaries, settings)
        verdicts += [unsaid(one, verdicts) for one in hosts.verdicts]
        errors += hosts.problems
        summaries += hosts.summaries
        documents = {**documents, **{one.document.file: one.document for one in facts}}
    verdicts.append(compare(summaries, settings))
    layouts = {outcome.name: outcome.layout for outcome in outcomes if outcome.layout is not None}
    return Judged(together(verdicts), (*intents.errors, *managers.problems, *errors), documents, layouts)


def of_intents(intents: Intents, settings: Settings) -> list[Verdicts]:
    """Return what rules say of the fabrics of intents."""
    if not intents.fabrics:
        return []
    from lossless.checks.rules.registry import rules_for
    from lossless.model.fabric.view import View

    chosen = [settings.chosen(fabric.sources[0]) for fabric in intents.fabrics]
    return [
        run(View(fabric), rules_for(*_subjects(fabric), chosen=codes), "intent")
        for fabric, codes in zip(intents.fabrics, chosen, strict=True)
    ]


def _subjects(fabric: Fabric) -> tuple[Subject, ...]:
    return ("fabric", "intent") if fabric.managed is None else ("cloud",)


def of_subnets(subnets: Sequence[Subnet], settings: Settings) -> list[Verdicts]:
    """Return what rules say of subnets, each by itself."""
    if not subnets:
        return []
    from lossless.checks.rules.registry import rules_for

    chosen = [settings.chosen(subnet.files[0]) for subnet in subnets]
    return [
        run(subnet, rules_for("subnet", chosen=codes), "intent")
        for subnet, codes in zip(subnets, chosen, strict=True)
    ]


def of_all_subnets(subnets: Sequence[Subnet], settings: Settings) -> list[Verdicts]:
    """Return what rules say of subnets together: a rule runs where it is chosen for any of them."""
    if not subnets:
        return []
    from lossless.checks.rules.registry import rules_for

    choices = [settings.chosen(subnet.files[0]) for subnet in subnets]
    everywhere = None if None in choices else frozenset().union(*(codes or () for codes in choices))
    return [run(tuple(subnets), rules_for("subnets", chosen=everywhere), "intent")]
