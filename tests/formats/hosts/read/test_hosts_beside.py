"""More information never weakens: what lint says of a host or a switch is no milder beside the other and the intent."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lossless import api
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.documents import load_text
from tests.checks.lint.test_more_information import is_explained
from tests.formats.hosts.read.test_hosts_linted import CHANGES, changed
from tests.interfaces.cli.inputs import INTENT
from tests.output.render.test_render_laws import one_value_changed
from tools.example_base import base_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

pytestmark = pytest.mark.laws


class Site(NamedTuple):
    """The sound intent, what is rendered of it on a base, and the facts of a host that is set up as it says."""

    intent: Path
    tree: Path
    facts: Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, sound_snapshot: str) -> Site:
    """Return the files of a fabric in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("site")
    at = Site(folder / "fabric.yaml", folder / "tree", folder / "host1.facts")
    at.intent.write_text(INTENT)
    at.facts.write_text(sound_snapshot)
    fabric = resolve(load_intent(load_text(INTENT, "fabric.yaml")))
    for switch in fabric.switches:
        base = folder / "base" / switch.name / "config_db.json"
        base.parent.mkdir(parents=True)
        base.write_text(json.dumps(base_of(fabric, switch)))
    api.render(at.intent, at.tree, base_dir=folder / "base")
    return at


def worst_by_row(paths: Iterable[Path], file: Path) -> dict[tuple[str | int, ...], int]:
    """Return how severe the worst finding of each row of a file is, 0 for an error or what an intent explains."""
    rows = [
        (finding.origin.path[:2], 0 if is_explained(finding) else SEVERITIES.index(finding.severity))
        for finding in api.lint(list(paths)).findings
        if finding.origin.file == str(file)
    ]
    return {row: min(rank for other, rank in rows if other == row) for row, _ in rows}


def assert_never_milder(file: Path, *more: Path) -> None:
    """Assert that no row of a file is checked milder with any further path than without it, from either end."""
    alone = worst_by_row([file], file)
    for order in (more, more[::-1]):
        growing = ([file, *order[:count]] for count in range(1, len(order) + 1))
        for before, after in pairwise([alone, *(worst_by_row(paths, file) for paths in growing)]):
            never_milder = {row: after.get(row, 9) <= rank for row, rank in before.items()}
            assert never_milder == dict.fromkeys(before, True)


@pytest.mark.parametrize("what", CHANGES)
def test_a_wrong_host_is_as_wrong_beside_its_switches_and_its_intent(
    site: Site, tmp_path: Path, what: str
) -> None:
    facts = tmp_path / site.facts.name
    facts.write_text(changed(site.facts.read_text(), *CHANGES[what]))
    assert_never_milder(facts, site.tree, site.intent)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.data())
def test_a_wrong_switch_is_as_wrong_beside_its_hosts_and_its_intent(
    site: Site, tmp_path: Path, choice: st.DataObject
) -> None:
    wrong, _ = one_value_changed(json.loads((site.tree / "leaf1" / "config_db.json").read_text()), choice)
    config = tmp_path / "config_db.json"
    config.write_text(json.dumps(wrong))
    assert_never_milder(config, site.facts, site.intent)
