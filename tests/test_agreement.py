"""No command passes what another refuses: laws between lint, render, diff, import, headroom and trace.

Lint is meant before selection, suppression and baselines. Fabrics are drawn (``tests/strategies.py``) and written as
files, which the commands read as a user's.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import assume, given, strategies as st

from lossless.api import diff, lint, render, trace
from lossless.ground.basics.errors import LosslessError
from tests.checks.lint.test_more_information import EXPLAINED_BY_INTENT
from tests.output.render.test_render_laws import one_value_changed
from tests.strategies import fabric_of, intents, written
from tools.example_base import base_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.api import Report
    from lossless.model.fabric.model import Fabric

Data = dict[str, Any]
pytestmark = pytest.mark.laws


class Files(NamedTuple):
    """A fabric in a folder: its intent, the base of each switch, and the tree that is rendered on them."""

    intent: Path
    base: Path
    tree: Path
    fabric: Fabric

    def config(self, switch: str) -> Path:
        """Return the rendered configuration of a switch."""
        return self.tree / switch / "config_db.json"

    def draw_change(self, choice: st.DataObject, folder: Path | None = None) -> tuple[Path, str]:
        """Change or take away a value in the file of a switch, the rendered one by default; return file and change."""
        switch = choice.draw(st.sampled_from(sorted(it.name for it in self.fabric.switches)))
        file = (folder or self.tree) / switch / "config_db.json"
        changed, what = one_value_changed(json.loads(file.read_text()), choice)
        file.write_text(json.dumps(changed))
        return file, what


@contextmanager
def files(data: Data) -> Iterator[Files]:
    """Write the intent and the bases of a fabric without multi-ASIC switches to a folder of its own."""
    fabric = fabric_of(data)
    assume(all(not switch.asic for switch in fabric.switches))
    with tempfile.TemporaryDirectory() as folder:
        at = Files(Path(folder, "fabric.yaml"), Path(folder, "base"), Path(folder, "tree"), fabric)
        at.intent.write_text(written(data))
        for switch in fabric.switches:
            place = at.base / switch.name / "config_db.json"
            place.parent.mkdir(parents=True)
            place.write_text(json.dumps(base_of(fabric, switch)))
        yield at


@contextmanager
def rendered(data: Data) -> Iterator[Files]:
    """Write a fabric that lint has no errors for, and render it."""
    with files(data) as at:
        assume(not errors(lint([at.intent])))
        render(at.intent, at.tree, base_dir=at.base)
        yield at


def errors(report: Report) -> list[str]:
    """Return the errors of a report, those of reading first."""
    unread = [str(problem.message) for problem in report.errors]
    return unread + [
        f"{finding.code} {Path(finding.origin.file).parent.name} {finding.origin.path}: {finding.message}"
        for finding in report.findings
        if finding.severity == "error"
    ]


def wrong_rows(report: Report) -> set[tuple[str, tuple[str | int, ...]]]:
    """Return the files and rows that some rule calls an error or the intent explains; those of intents left out."""
    return {
        (finding.origin.file, finding.origin.path[:2])
        for finding in report.findings
        if finding.origin.file.endswith(".json")
        and (finding.severity == "error" or finding.code in EXPLAINED_BY_INTENT)
    }


@given(intents())
def test_render_refuses_what_lint_calls_an_error_and_nothing_else(data: Data) -> None:
    with files(data) as at:
        wrong = errors(lint([at.intent]))
        for base in (None, at.base):
            result = render(at.intent, at.tree / str(base is None), base_dir=base)
            assert bool(result.files) == (not wrong), (wrong, errors(result.report))


@given(intents(renderable=True))
def test_what_is_rendered_lints_and_compares_as_the_intent_does(data: Data) -> None:
    with rendered(data) as at:
        assert [
            error for error in errors(lint([at.tree])) if error.split()[0] not in EXPLAINED_BY_INTENT
        ] == []
        beside = lint([at.intent, at.tree])
        assert errors(beside) == []
        assert [finding for finding in beside.findings if finding.code == "CFG004"] == []
        for switch in at.fabric.switches[:2]:
            drift = diff(at.config(switch.name), at.intent, device=switch.name)
            assert (drift.rows, drift.problems, drift.patch) == ((), (), ())


@given(intents(renderable=True), st.data())
def test_a_changed_switch_is_as_wrong_beside_its_neighbors_and_its_intent_as_alone(
    data: Data, choice: st.DataObject
) -> None:
    with rendered(data) as at:
        config, change = at.draw_change(choice)
        alone = lint([config])
        assert wrong_rows(alone) <= wrong_rows(lint([at.tree])), change
        beside = lint([at.intent, at.tree])
        assert wrong_rows(alone) <= wrong_rows(beside), change


@given(intents(renderable=True), st.data())
def test_a_changed_base_is_as_wrong_beside_its_intent_and_what_is_rendered_on_it_as_alone(
    data: Data, choice: st.DataObject
) -> None:
    with files(data) as at:
        base, change = at.draw_change(choice, at.base)
        alone = wrong_rows(lint([base]))
        assert alone <= wrong_rows(lint([at.intent, at.base])), change
        if render(at.intent, at.tree, base_dir=at.base).files:
            assert alone <= wrong_rows(lint([at.intent, at.base, at.tree])), change


@given(intents(renderable=True), st.data())
def test_a_path_that_a_change_breaks_is_an_error_of_lint(data: Data, choice: st.DataObject) -> None:
    with rendered(data) as at:
        hosts = sorted(host.name for host in at.fabric.hosts)
        dscps = sorted(dscp for cls in at.fabric.classes.lossless for dscp in cls.dscps)
        assume(len(hosts) > 1 and dscps)
        source, target = choice.draw(st.permutations(hosts))[:2]
        dscp = choice.draw(st.sampled_from(dscps))
        assume(not is_broken(at.tree, source, target, dscp))
        _, change = at.draw_change(choice)
        if is_broken(at.tree, source, target, dscp):
            assert errors(lint([at.intent, at.tree])), change


def is_broken(tree: Path, source: str, target: str, dscp: int) -> bool:
    """Return whether a packet may be lost, or finds no way at all."""
    try:
        return trace(tree, source, target, dscp).trace.broken
    except LosslessError:
        return True
