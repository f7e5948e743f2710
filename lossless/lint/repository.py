"""Judges all files of a run together: intents first, since they say what devices are meant to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lossless.lint.collect import devices_in, is_json, read, split
from lossless.lint.devices import Settings, compare, finder, judge_document
from lossless.lint.run import Verdicts, run, together
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from lossless.errors import Problem
    from lossless.fabric.model import Fabric, Switch
    from lossless.facts.text import Facts
    from lossless.lint.collect import Candidate
    from lossless.lint.devices import Outcome
    from lossless.source.document import Document
    from lossless.source.excerpts import Shown
    from lossless.source.layout import Layout

FEWEST_FOR_WORKERS = 32
"""From how many configurations on several processes judge them; fewer are done before those would start."""


class Intents(NamedTuple):
    """The fabrics that intents declare, and what could not be read of them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]


class Judged(NamedTuple):
    """What is said of all files of a run, and what reports need of each file.

    Origins name documents; where those are parts of files, ``layouts`` say where things stand, by their names.
    """

    verdicts: Verdicts
    errors: tuple[Problem, ...]
    documents: Mapping[str, Shown]
    layouts: Mapping[str, Layout]


Declare = Callable[[Sequence["Document"]], Intents]
"""Makes fabrics of those documents that are intents."""


def judge_documents(
    documents: Sequence[Document], declare: Declare, settings: Settings, facts: Sequence[Facts] = ()
) -> Judged:
    """Judge documents that are already read, and ``facts``, what hosts say of themselves."""
    problems = [problem for document in documents for problem in devices_in(document).problems]
    documents = split(documents)
    intents = declare(documents)
    deployed = [document for document in documents if is_json(document.file)]
    settings = _completed(settings, intents, [document.file for document in deployed], facts)
    find = finder(settings.profile_dirs)
    outcomes = [judge_document(document, settings, find) for document in deployed]
    shown = {document.file: document.whole for document in documents}
    judged = _judged(intents, outcomes, shown, settings, facts)
    return judged._replace(errors=(*problems, *judged.errors)) if problems else judged


def judge_files(candidates: Sequence[Candidate], declare: Declare, settings: Settings) -> Judged:
    """Judge files: in several processes where there are many devices among them."""
    devices = _for_workers(candidates)
    among = set(devices)
    found = [read(candidate) for candidate in candidates if candidate not in among]
    documents = [document for one in found for document in one.documents]
    facts = [one for each in found for one in each.facts]
    judged = _judge_apart(devices, documents, declare, settings, facts) if devices else None
    judged = judged or judge_documents(documents, declare, settings, facts)
    problems = tuple(problem for one in found for problem in one.problems)
    return judged._replace(errors=(*problems, *judged.errors))


def _for_workers(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the devices' files where they are so many that other processes are worth their start."""
    devices = [candidate for candidate in candidates if is_json(candidate.file)]
    if len(devices) < FEWEST_FOR_WORKERS:
        return []
    from lossless.lint.workers import usable

    return devices if usable() else []


def _judge_apart(
    devices: Sequence[Candidate],
    documents: Sequence[Document],
    declare: Declare,
    settings: Settings,
    facts: Sequence[Facts],
) -> Judged:
    from lossless.lint.workers import judge_in_processes

    intents = declare(documents)
    settings = _completed(settings, intents, [candidate.file for candidate in devices], facts)
    work = judge_in_processes(devices, settings)
    facts = [*facts, *(one for candidate in work.facts for one in read(candidate).facts)]
    shown = {d.file: d.whole for d in documents} | dict(work.excerpts)
    judged = _judged(intents, work.outcomes, shown, settings, facts)
    return judged._replace(errors=(*work.problems, *judged.errors))


def _completed(
    settings: Settings, intents: Intents, deployed: Sequence[str], facts: Sequence[Facts]
) -> Settings:
    """Return settings with the switches that intents name, and whether devices are compared.

    A switch that two intents name is not intended.
    """
    intended: dict[str, Switch | None] = {}
    for switch in (switch for fabric in intents.fabrics for switch in fabric.switches):
        intended[switch.name] = None if switch.name in intended else switch
    known = {name: switch for name, switch in intended.items() if switch is not None}
    compared = bool(deployed) and len(deployed) + len(facts) > 1 and _compares(settings, deployed)
    return settings._replace(intended=known, compared=compared)


def _compares(settings: Settings, deployed: Sequence[str]) -> bool:
    """Return whether a rule that needs all devices is chosen for any of them."""
    from lossless.rules.table import ACROSS

    choices = {settings.chosen(file) for file in deployed}
    return any(chosen is None or not chosen.isdisjoint(ACROSS) for chosen in choices)


def _judged(
    intents: Intents,
    outcomes: Sequence[Outcome],
    documents: Mapping[str, Shown],
    settings: Settings,
    facts: Sequence[Facts],
) -> Judged:
    verdicts = [*_of_intents(intents, settings), *(outcome.verdicts for outcome in outcomes)]
    summaries = [outcome.summary for outcome in outcomes if outcome.summary is not None]
    errors = [error for outcome in outcomes for error in outcome.errors]
    if facts:
        from lossless.lint.hosts import judge_hosts, unsaid

        hosts = judge_hosts(facts, intents.fabrics, summaries, settings)
        verdicts += [unsaid(one, verdicts) for one in hosts.verdicts]
        errors += hosts.problems
        summaries += hosts.summaries
        documents = {**documents, **{one.document.file: one.document for one in facts}}
    verdicts.append(compare(summaries, settings))
    layouts = {outcome.name: outcome.layout for outcome in outcomes if outcome.layout is not None}
    return Judged(together(verdicts), (*intents.errors, *errors), documents, layouts)


def _of_intents(intents: Intents, settings: Settings) -> list[Verdicts]:
    if not intents.fabrics:
        return []
    from lossless.fabric.view import View
    from lossless.rules.table import for_intents

    chosen = [settings.chosen(fabric.sources[0]) for fabric in intents.fabrics]
    return [
        run(View(fabric), for_intents(codes, managed=fabric.managed is not None), "intent")
        for fabric, codes in zip(intents.fabrics, chosen, strict=True)
    ]
