"""The public API: functions and records to load, lint, render, plan, verify, simulate and more. A test pins the names.

Nothing here prints or exits; only :func:`render`, :func:`fix`, :func:`baseline`, :func:`write_import`,
:func:`write_acceptance`, :func:`write_plan`, :func:`write_thresholds` and :func:`write_tuned` write the user's files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.analysis.simulation.study.answer import SimulationResult as SimulationResult
    from lossless.analysis.simulation.study.sweep import Sweep as Sweep
    from lossless.checks.lint.run import Change as Change, PlacedFinding as PlacedFinding
    from lossless.checks.plan.acceptance import (
        AcceptancePlan as AcceptancePlan,
        AcceptanceResults as AcceptanceResults,
    )
    from lossless.checks.plan.assemble import NoPlan as NoPlan
    from lossless.checks.rules.documentation import using_plugins as using_plugins
    from lossless.checks.thresholds.tuned_intent import TuneResult as TuneResult
    from lossless.formats.intent.class_changes import StatedThresholds as StatedThresholds
    from lossless.ground.basics.errors import (
        InputError as InputError,
        LosslessError as LosslessError,
        OutsideError as OutsideError,
        Problem as Problem,
        ProfileError as ProfileError,
        ProgramError as ProgramError,
        QuantityError as QuantityError,
        RenderError as RenderError,
        ScenarioError as ScenarioError,
    )
    from lossless.ground.basics.findings import Edit as Edit, Finding as Finding, Origin as Origin
    from lossless.ground.documents import load as load, load_text as load_text
    from lossless.ground.documents.folder import reaching as reaching
    from lossless.ground.documents.text import Document as Document
    from lossless.interfaces.api.baseline import (
        BaselineResult as BaselineResult,
        FixResult as FixResult,
        baseline as baseline,
        fix as fix,
    )
    from lossless.interfaces.api.capacity import (
        Cabling as Cabling,
        HeadroomInputs as HeadroomInputs,
        Headrooms as Headrooms,
        Topology as Topology,
        Workload as Workload,
        cabled_as_declared as cabled_as_declared,
        cabled_topology as cabled_topology,
        evaluate_workload as evaluate_workload,
        headroom_of_link as headroom_of_link,
        headroom_of_ports as headroom_of_ports,
        moves as moves,
        pins as pins,
        storm as storm,
        topology as topology,
        workload as workload,
    )
    from lossless.interfaces.api.exporter import (
        Exporter as Exporter,
        collector as collector,
        exporter as exporter,
    )
    from lossless.interfaces.api.fabrics import Fabrics as Fabrics, load_fabrics as load_fabrics
    from lossless.interfaces.api.import_ import (
        ImportResult as ImportResult,
        import_configs as import_configs,
        write_import as write_import,
    )
    from lossless.interfaces.api.lint import (
        Options as Options,
        Report as Report,
        lint as lint,
        lint_documents as lint_documents,
        lint_text as lint_text,
        report_as as report_as,
    )
    from lossless.interfaces.api.lint_changes import lint_patch as lint_patch, lint_since as lint_since
    from lossless.interfaces.api.opensm import (
        OpensmResult as OpensmResult,
        check_with_opensm as check_with_opensm,
    )
    from lossless.interfaces.api.plan import (
        DeviceProgress as DeviceProgress,
        Drift as Drift,
        FabricDrift as FabricDrift,
        Plan as Plan,
        PlanLimits as PlanLimits,
        acceptance as acceptance,
        acceptance_page as acceptance_page,
        acceptance_results as acceptance_results,
        diff as diff,
        diff_fabric as diff_fabric,
        plan as plan,
        plan_page as plan_page,
        plan_progress as plan_progress,
        write_acceptance as write_acceptance,
        write_plan as write_plan,
    )
    from lossless.interfaces.api.reference import (
        Format as Format,
        Hardware as Hardware,
        Rule as Rule,
        configuration_schema as configuration_schema,
        document_schema as document_schema,
        formats as formats,
        hardware as hardware,
        intent_schema as intent_schema,
        rule as rule,
        rules as rules,
    )
    from lossless.interfaces.api.render import (
        RenderedFiles as RenderedFiles,
        RenderResult as RenderResult,
        render as render,
        render_to_memory as render_to_memory,
    )
    from lossless.interfaces.api.running import Watch as Watch, verify as verify
    from lossless.interfaces.api.simulate import (
        Limits as Limits,
        Question as Question,
        SimulationRequest as SimulationRequest,
        simulate as simulate,
        simulation_page as simulation_page,
    )
    from lossless.interfaces.api.trace import trace as trace
    from lossless.interfaces.api.tune import (
        Grid as Grid,
        TuneAsk as TuneAsk,
        TuneProgress as TuneProgress,
        parse_grid as parse_grid,
        state_thresholds as state_thresholds,
        sweep as sweep,
        tune as tune,
        write_thresholds as write_thresholds,
        write_tuned as write_tuned,
    )
    from lossless.model.fabric.model import Fabric as Fabric

_MODULES = {
    "baseline": "BaselineResult FixResult baseline fix",
    "capacity": (
        "Cabling HeadroomInputs Headrooms Topology Workload cabled_as_declared cabled_topology "
        "evaluate_workload headroom_of_link headroom_of_ports moves pins storm topology workload"
    ),
    "exporter": "Exporter collector exporter",
    "plan": (
        "DeviceProgress Drift FabricDrift Plan PlanLimits acceptance acceptance_page acceptance_results diff "
        "diff_fabric plan plan_page plan_progress write_acceptance write_plan"
    ),
    "fabrics": "Fabrics load_fabrics",
    "reference": "Format Hardware Rule configuration_schema document_schema formats hardware intent_schema rule rules",
    "import_": "ImportResult import_configs write_import",
    "lint": "Options Report lint lint_documents lint_text report_as",
    "lint_changes": "lint_patch lint_since",
    "opensm": "OpensmResult check_with_opensm",
    "render": "RenderResult RenderedFiles render render_to_memory",
    "..checks.lint.run": "Change PlacedFinding",
    "..checks.plan.acceptance": "AcceptancePlan AcceptanceResults",
    "..checks.plan.assemble": "NoPlan",
    "..checks.rules.documentation": "using_plugins",
    "..ground.basics.errors": (
        "InputError LosslessError OutsideError Problem ProfileError ProgramError QuantityError RenderError "
        "ScenarioError"
    ),
    "..ground.basics.findings": "Edit Finding Origin",
    "..ground.documents": "load load_text",
    "..ground.documents.folder": "reaching",
    "..ground.documents.text": "Document",
    "..model.fabric.model": "Fabric",
    "..analysis.simulation.study.answer": "SimulationResult",
    "simulate": "Limits Question SimulationRequest simulate simulation_page",
    "..formats.intent.class_changes": "StatedThresholds",
    "..analysis.simulation.study.sweep": "Sweep",
    "tune": "Grid TuneAsk TuneProgress parse_grid state_thresholds sweep tune write_thresholds write_tuned",
    "trace": "trace",
    "..checks.thresholds.tuned_intent": "TuneResult",
    "running": "Watch verify",
}
"""The public names of each module of ``interfaces/api``, which is imported when one of them is first used. A module of
another package has its path from there."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_WITH_NUMPY = ("..analysis.simulation.study.sweep", "..checks.thresholds.tuned_intent")
"""The modules of records that need numpy to be imported; functions name a missing extra when they are called."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _importable()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        module = import_module(f".{_HOMES[name]}", "lossless.interfaces.api")
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        from lossless.ground.basics.errors import LosslessError
        from lossless.ground.basics.programs import install_command

        raise LosslessError(f"{name} needs numpy: {install_command('sim')}") from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def _importable() -> list[str]:
    """Return the names that ``from lossless.api import *`` binds: without numpy, those that need none."""
    from importlib.util import find_spec

    left_out = () if find_spec("numpy") else _WITH_NUMPY
    return [name for name in __dir__() if _HOMES[name] not in left_out]


def __dir__() -> list[str]:
    return sorted(_HOMES)
