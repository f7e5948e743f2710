"""Plan, diff and acceptance: the steps to a target intent, differences from it, and the test of a new fabric.

A plan has an order of safe steps, and the files that carry them out; between two intents of an InfiniBand subnet each
step replaces whole configuration files. A diff compares running configurations with an intent, and has the update of
each switch. Errors of an intent refuse a plan and a test, and are in the report of a diff.
"""

from __future__ import annotations

from os.path import isdir, isfile, join
from shlex import quote
from typing import TYPE_CHECKING

from lossless.checks.drift.drift import (
    Drift as Drift,
    FabricDrift as FabricDrift,
    drift_between,
    fabric_drift,
    switch_of,
)
from lossless.checks.plan.assemble import PlanLimits as PlanLimits, plan_of
from lossless.checks.plan.plan import Plan as Plan, stored_plan
from lossless.checks.plan.search import DeviceProgress as DeviceProgress, devices_of, progress
from lossless.formats.inputs.collect import Candidate, device_in, gather, is_json, read, search
from lossless.formats.inputs.fabrics import documents_at, intent_at
from lossless.ground.basics.errors import InputError, Problem, UnreadableError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load
from lossless.interfaces.api.lint import (
    DEFAULT_OPTIONS,
    Options,
    as_configured,
    configurations_of,
    drawn,
    exclusions_of,
    hashed,
)
from lossless.interfaces.api.render import sound, sound_fabric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from lossless.checks.lint.run import CheckedReport
    from lossless.checks.plan.acceptance import AcceptancePlan, AcceptanceResults, Growth
    from lossless.checks.plan.kinds_of_switches import InService
    from lossless.formats.inputs.intents import Declaration
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


def plan(
    current: Sequence[str | PathLike[str]],
    target: str | PathLike[str],
    *,
    limits: PlanLimits | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Plan:
    """Return the steps by which a fabric in service becomes the fabric of an intent, and the rollback from each.

    ``current`` is the intent that was rendered into the fabric, or files of its switches and hosts; for an InfiniBand
    subnet it is an intent.
    ``options.rdma_dscps`` names the DSCPs that jobs send now; without it they are taken from ``lossless.toml``, from
    hosts, or from the lossless classes in service.

    Raises:
        InputError: a file cannot be read, an intent has errors, current and target cannot be one fabric, or an option
            does not apply to it.
        NoPlan: the target has a danger, or a simulation between steps a finding, that is not there before; a step
            exceeds the limits, a patch is refused, or jobs of a subnet would find another P_Key than theirs.
    """
    from lossless.checks.plan.evaluation import Evaluator
    from lossless.checks.plan.inputs import change_of
    from lossless.checks.plan.subnet.both import subnet_intents
    from lossless.model.hardware.load import hardware_finder

    options = as_configured(options)
    document = intent_at(target)
    subnets = subnet_intents(current, document)
    if subnets is not None:
        return plan_of_subnet(*subnets, limits or PlanLimits(), options)
    running = _in_service(current, options)
    named = options.rdma_dscps or _named_dscps(options, running)
    change = change_of(running, _fabric(target, options), named, options.profile_dirs)
    if limits is not None and limits.simulated and any(kind.system is not None for kind in change.kinds):
        says = "runs of traffic between steps know SONiC alone: leave --simulate out"
        raise InputError([Problem(running.source, None, None, says)])
    evaluator = Evaluator(hardware_finder(options.profile_dirs))
    return plan_of(change, evaluator, limits or PlanLimits(), (running.source, document.file))


def _named_dscps(options: Options, running: InService) -> tuple[int, ...]:
    """Return the RDMA DSCPs that ``lossless.toml`` files above the files of switches name; none for an intent."""

    lookup = configurations_of(options)
    if running.fabric is not None or lookup is None:
        return ()
    named = {dscp for each in running.documents.values() for dscp in lookup.rdma_dscps(each.file)}
    return tuple(sorted(named))


def _fabric(intent: str | PathLike[str], options: Options) -> Fabric:
    """Return the fabric of an intent without errors.

    Raises:
        InputError: it cannot be read, declares a subnet, or rules find errors in it.
    """
    document = intent_at(intent)
    report, fabric = sound_fabric(document, options)
    require_no_errors(report, document)
    assert fabric is not None
    return fabric


def _in_service(current: Sequence[str | PathLike[str]], options: Options) -> InService:
    """Return the switches and hosts in service, from one intent or from files of devices.

    Raises:
        InputError: a file cannot be read, the intent has errors, two files are of one switch, or none is of a switch.
    """
    from lossless.checks.plan.inputs import deployed, running_of_intent
    from lossless.formats.inputs.intents import is_intent

    if len(current) == 1:
        documents, errors = documents_at(current[0])
        if len(documents) == 1 and not errors and is_intent(documents[0]):
            return running_of_intent(_fabric(current[0], options), documents[0])
    return deployed(current, exclusions_of(options), options.profile_dirs)


def write_plan(plan: Plan, out_dir: str | PathLike[str], pages: Mapping[str, str]) -> tuple[str, ...]:
    """Write a plan below a folder: ``plan.json``, a folder with the files to carry out each step, and pages for people.

    ``pages`` are further texts by their names. All files are written or none; files of an earlier plan that this one
    does not contain are removed. Returns the paths of the files below the folder, without its manifest.

    Raises:
        RenderError: the folder cannot be written, or a name cannot be that of a file or of a device in an inventory.
    """
    import json
    from pathlib import Path

    from lossless.formats.device_files.base_merge import PlannedFile
    from lossless.output.render.fabric import render_files
    from lossless.output.render.plan.files import plan_run_files

    text = json.dumps(plan.to_data(), indent=1, ensure_ascii=False) + "\n"
    told = [PlannedFile("plan.json", text), *(PlannedFile(*page) for page in sorted(pages.items()))]
    made = render_files([*told, *plan_run_files(plan)], Path(out_dir), write=True)
    return tuple(entry.path for entry in made.entries)


def plan_page(
    plan: Plan,
    current: Sequence[str | PathLike[str]],
    target: str | PathLike[str],
    options: Options = DEFAULT_OPTIONS,
) -> str:
    """Return a plan as a page of HTML for people; the other arguments are those of the call of :func:`plan`.

    The files are read again, for the picture of the target's fabric and their hashes.

    Raises:
        InputError: the target cannot be read any more.
    """
    from functools import partial

    from lossless.output.report.pages import plan_html

    document = intent_at(target)
    excludes = exclusions_of(as_configured(options))
    files = [candidate.file for candidate in search(current, excludes=excludes).candidates]
    inputs = hashed([*files, document.file], options.profile_dirs)
    return plan_html(plan, inputs, partial(drawn, [document], options.profile_dirs))


def plan_progress(
    plan_dir: str | PathLike[str], configs: Sequence[str | PathLike[str]]
) -> tuple[tuple[DeviceProgress, ...], tuple[str, ...], int]:
    """Return the progress of each switch with a file, the switches of the plan without a file, and the number of steps.

    Raises:
        InputError: the folder holds no plan of switches, two files are of one switch or none is, or a file cannot be
            read, is of no switch of the plan, or is of a system other than SONiC.
    """
    from lossless.checks.plan.inputs import deployed
    from lossless.ground.documents.folder import file_in

    file = file_in(plan_dir, "plan.json")
    told = stored_plan(load(file))
    running = deployed(configs, exclusions_of(DEFAULT_OPTIONS), DEFAULT_OPTIONS.profile_dirs).documents
    known = devices_of(told)
    _require_known_rows(running)
    strangers = [name for name in running if name not in known]
    if strangers:
        raise InputError(
            Problem(running[name].file, None, None, f"is the file of {name!r}, which is not in {file}")
            for name in strangers
        )
    reached = tuple(progress(told, name, document.data) for name, document in running.items())
    return reached, tuple(name for name in known if name not in running), len(told.steps)


def _require_known_rows(running: Mapping[str, Document]) -> None:
    """Refuse configurations of systems other than SONiC: for those a plan stores behavior, not rows of CONFIG_DB.

    Raises:
        InputError: there is one.
    """
    says = "a switch that takes sessions: the check in the files of its step says whether it is done"
    problems = [Problem(each.file, None, None, says) for each in running.values() if each.dialect]
    if problems:
        raise InputError(problems)


def plan_of_subnet(before: Document, after: Document, limits: PlanLimits, options: Options) -> Plan:
    """Return the plan between two intents of one subnet.

    Raises:
        InputError: an intent cannot be read or has errors, no plan leads from one to the other, a setting cannot be
            written, or DSCPs or limits are stated.
        NoPlan: jobs of the target would find another P_Key than theirs.
    """
    from lossless.checks.plan.subnet.assemble import subnet_plan
    from lossless.checks.plan.subnet.both import subnet_change

    if options.rdma_dscps or limits != PlanLimits():
        says = "an InfiniBand subnet has no DSCPs, and no port goes down in its plan: leave these options out"
        raise InputError([Problem(after.file, None, None, says)])
    old, new = (_sound_subnet(document, options) for document in (before, after))
    return subnet_plan(subnet_change((before, old), (after, new)), (before.file, after.file))


def _sound_subnet(document: Document, options: Options) -> Subnet:

    report, declared = sound(document, options)
    require_no_errors(report, document)
    assert declared.subnet is not None
    return declared.subnet


def require_no_errors(report: CheckedReport, document: Document) -> None:
    """Refuse an intent in which rules find errors.

    Raises:
        InputError: there is one; each has its location.
    """
    errors = [finding for finding in report.findings if finding.severity == "error"]
    spans = {finding.origin: document.locate(finding.origin.path) for finding in errors}
    if errors:
        raise InputError(
            Problem(
                document.file,
                spans[each.origin].line,
                spans[each.origin].column,
                f"{each.code} {each.message}",
            )
            for each in errors
        )


def diff(
    config_db: str | PathLike[str],
    intent: str | PathLike[str],
    *,
    device: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Drift:
    """Compare the running configuration of one switch with the settings that render writes for it from an intent.

    ``device`` names the switch of the intent; left out, it is the file's own hostname, or the name of its folder or
    file where it has none. With errors in the intent nothing is compared: they are in the report.

    Raises:
        InputError: the file or the intent cannot be read, the intent declares a subnet or has no such switch, or
            ``config_db`` is a folder.
    """
    try:
        document, running = intent_at(intent), _running_document(config_db)
    except InputError:
        _require_order(str(config_db), str(intent))
        raise
    report, fabric = sound_fabric(document, as_configured(options))
    if fabric is None:
        return Drift(device or "", running.file, document.file, (), 0, None, None, (), (), report)
    switch = switch_of(fabric, running, device)
    return Drift(switch.name, running.file, document.file, *drift_between(switch, running), report)


def diff_fabric(
    configs: Sequence[str | PathLike[str]],
    intent: str | PathLike[str],
    *,
    options: Options = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
) -> FabricDrift:
    """Compare the configurations at some paths, files or folders, each with its switch of an intent.

    The switch is the one with the file's hostname, for a file without one that named like its folder or file.
    ``progress`` is called with the number of compared switches and their total. With errors in the intent nothing is
    compared: they are in the report.

    Raises:
        InputError: the intent cannot be read, or declares a subnet. A problem with a single configuration is in
            ``errors`` instead.
    """
    try:
        document = intent_at(intent)
    except InputError:
        _require_order(str(configs[0]), str(intent))
        raise
    options = as_configured(options)
    inputs = gather(configs, excludes=exclusions_of(options))
    running = [config for config in inputs.documents if config.dialect or is_json(config.file)]
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return FabricDrift(document.file, (), (), inputs.problems, report)
    drift = fabric_drift(running, fabric, document.file, report, progress)
    return drift._replace(errors=(*inputs.problems, *drift.errors))


def _running_document(config_db: str | PathLike[str]) -> Document:
    _require_one_file(config_db)
    if is_json(str(config_db)):
        return device_in(load(config_db))
    inputs = read(Candidate(str(config_db), expected=True))
    if len(inputs.documents) == 1 and inputs.documents[0].dialect:
        return inputs.documents[0]
    return device_in(load(config_db))


def _require_order(config_db: str, intent: str) -> None:
    """Refuse an intent as first argument of ``diff``, or a JSON file as second: they may be swapped.

    Raises:
        InputError: an intent comes first, or a configuration second.
    """
    intent_first = isfile(join(config_db, "fabric.yaml")) or (
        isfile(config_db) and config_db.endswith((".yaml", ".yml"))
    )
    switch_second = isfile(intent) and intent.endswith(".json")
    if intent_first and switch_second:
        message = f"an intent, which comes second: lossless diff {quote(intent)} {quote(config_db)}"
    elif intent_first:
        message = "an intent; CONFIG_DB, the first argument, is the config_db.json of one switch"
    else:
        message = (
            "a configuration; INTENT, the second argument, is a YAML file or a folder that holds fabric.yaml"
        )
    if intent_first or switch_second:
        raise InputError([Problem(config_db if intent_first else intent, None, None, message)])


def _require_one_file(config_db: str | PathLike[str]) -> None:
    """Refuse a folder, whose files are those of several switches.

    Raises:
        InputError: ``config_db`` is a folder.
    """
    if isdir(config_db):
        raise InputError(
            [Problem(str(config_db), None, None, "a folder; diff_fabric compares all its switches")]
        )


def acceptance(intent: str | PathLike[str], *, options: Options = DEFAULT_OPTIONS) -> AcceptancePlan:
    """Return the acceptance test of the fabric or the subnet of an intent; pass marks are those of ``lossless.toml``.

    Raises:
        InputError: the intent cannot be read, or has errors.
        LosslessError: there are no two hosts to test between, or none of a transport that perftest knows.
    """
    document = intent_at(intent)
    return _acceptance_of(document, options)[0]


def _acceptance_of(document: Document, options: Options) -> tuple[AcceptancePlan, Declaration]:
    from lossless.checks.plan.acceptance import fabric_acceptance, subnet_acceptance

    report, declared = sound(document, options)
    require_no_errors(report, document)
    marks = _pass_marks(document, options)
    if declared.subnet is not None:
        return subnet_acceptance(declared.subnet, marks), declared
    assert declared.fabric is not None
    return fabric_acceptance(declared.fabric, marks), declared


def _pass_marks(document: Document, options: Options) -> Mapping[str, float]:
    lookup = configurations_of(options)
    return {} if lookup is None else lookup.pass_marks(document.file)


def write_acceptance(plan: AcceptancePlan, out_dir: str | PathLike[str]) -> tuple[str, ...]:
    """Write an acceptance test below a folder: README.md, acceptance.json, scripts and what they read.

    All files are written or none; files of an earlier test that this one does not contain are removed. Returns the
    paths of the files below the folder, without its manifest.

    Raises:
        RenderError: the folder cannot be written.
    """
    from pathlib import Path

    from lossless.interfaces.api.exporter import collector
    from lossless.output.render.fabric import render_files
    from lossless.output.render.plan.acceptance import acceptance_files
    from lossless.output.report.plain import plain

    files = acceptance_files(plan, collector(switch=True), {"version": 1, **plain(plan)})
    made = render_files(files, Path(out_dir), write=True)
    return tuple(entry.path for entry in made.entries)


def acceptance_results(
    intent: str | PathLike[str], results: str | PathLike[str], *, options: Options = DEFAULT_OPTIONS
) -> tuple[AcceptanceResults, tuple[Problem, ...]]:
    """Return the outcome of each line of an acceptance test by the folder that its scripts filled, and what is unread.

    Raises:
        InputError: the intent cannot be read or has errors, or the folder is missing.
        LosslessError: the intent has no acceptance test.
    """
    read = read_acceptance(intent, results, options)
    assert read.outcome is not None
    return read.outcome


class ReadAcceptance(NamedTuple):
    """An acceptance test, its outcomes and the problems of its results if they were read, and the files of both."""

    document: Document
    plan: AcceptancePlan
    outcome: tuple[AcceptanceResults, tuple[Problem, ...]] | None
    files: tuple[str, ...]


def read_acceptance(
    intent: str | PathLike[str], results: str | PathLike[str] | None, options: Options
) -> ReadAcceptance:
    """Return the acceptance test of an intent, with outcomes where ``results`` is the folder that its scripts filled.

    Raises:
        InputError: the intent cannot be read or has errors, or the folder is missing.
        LosslessError: the intent has no acceptance test.
    """
    document = intent_at(intent)
    if results is None:
        return ReadAcceptance(document, _acceptance_of(document, options)[0], None, (document.file,))
    from pathlib import Path

    from lossless.checks.lint.running import verified
    from lossless.checks.plan.acceptance import Recorded, evaluated, growth, subnet_links
    from lossless.formats.inputs.captures import gather_captures
    from lossless.interfaces.api.running import captured_state, intended_by

    folder = Path(results)
    if not folder.is_dir():
        raise InputError([Problem(str(folder), None, None, "no such folder")])
    plan, declared = _acceptance_of(document, options)
    steps = ("after", "bandwidth", "collectives", "link-pull")
    present = [folder / name for name in steps if (folder / name).is_dir()]
    before = [folder / "before"] if (folder / "before").is_dir() and folder / "after" in present else []
    state = captured_state(present, before, "evaluate")
    intended = intended_by([declared.fabric] if declared.fabric is not None else [])
    if declared.subnet is not None:
        intended = intended._replace(links=subnet_links(declared.subnet))
    marks = _pass_marks(document, options)
    files = {capture.file for device in state.now.devices for capture in device.captures}
    report = verified(
        state.devices(intended, options), intended, None, dict.fromkeys(files, marks) if marks else None
    )

    read = {document.file, *state.documents}

    def grown(place: Path) -> Growth:
        both = [gather_captures([place / time]) for time in ("before", "after")]
        read.update(file for each in both for file in each.documents)
        return growth(*both)

    classes = {each.dscp: folder / "dscp" / str(each.dscp) for each in plan.classes}
    pauses = folder / "pfc-watchdog"
    problems: list[Problem] = []
    recorded = Recorded(
        report,
        dict(_outcomes(folder, problems, read)),
        {dscp: grown(place) for dscp, place in classes.items() if (place / "after").is_dir()},
        grown(pauses) if (pauses / "after").is_dir() else None,
        bool(before),
    )
    outcome = evaluated(plan, recorded), (*state.problems, *problems)
    return ReadAcceptance(document, plan, outcome, tuple(sorted(read)))


def acceptance_page(
    intent: str | PathLike[str],
    results: str | PathLike[str] | None = None,
    *,
    options: Options = DEFAULT_OPTIONS,
) -> str:
    """Return an acceptance test as a page of HTML for people; with ``results`` the outcome of each of its lines.

    Raises:
        InputError: the intent cannot be read or has errors, or the folder is missing.
        LosslessError: the intent has no acceptance test.
    """
    return page_of_acceptance(read_acceptance(intent, results, options), options)


def page_of_acceptance(read: ReadAcceptance, options: Options) -> str:
    """Return the page of :func:`acceptance_page` of a test that was read; files are read again for their hashes."""
    from functools import partial

    from lossless.output.report.pages import Outcome, acceptance_html

    return acceptance_html(
        read.plan,
        None if read.outcome is None else Outcome(*read.outcome),
        hashed(read.files, options.profile_dirs),
        partial(drawn, [read.document], options.profile_dirs),
    )


def _outcomes(
    folder: Path, problems: list[Problem], read: set[str]
) -> Iterator[tuple[str, tuple[bool, str]]]:
    """Yield the outcomes that scripts recorded: the line, whether it passed, and the reason; add the files to ``read``.

    A link that leads out of the folder, or a file that cannot be read, is a problem.
    """
    from lossless.ground.documents.folder import Reach
    from lossless.ground.documents.text import read_text

    reach = Reach([str(folder)])
    for file in map(str, sorted(folder.glob("*/lines.tsv"))):
        why = reach.refusal(file)
        if why:
            problems.append(Problem(file, None, None, why))
            continue
        try:
            text = read_text(file)
        except UnreadableError as error:
            problems += error.problems
            continue
        read.add(file)
        for line in text.splitlines():
            name, _, rest = line.partition("\t")
            outcome, _, said = rest.partition("\t")
            if outcome in ("PASS", "FAIL"):
                yield name, (outcome == "PASS", said)
