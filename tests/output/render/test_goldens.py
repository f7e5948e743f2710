"""What is rendered for every product, buffer model and release, row by row, and that SONiC and our rules accept it.

``LOSSLESS_GOLDEN=write`` writes the goldens again instead of comparing; look at the difference before it is kept.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint_documents
from lossless.formats.intent.resolve.layout import MONITORED
from lossless.formats.sonic.capabilities.releases import releases
from lossless.formats.sonic.from_model import OWNED
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.formats.sonic.validate.conformity import validate
from lossless.ground.documents import load_text
from lossless.model.hardware.load import load_switch, switch_for_hwsku, switch_names
from lossless.model.hardware.model import SONIC
from tests.output.render.golden_cases import (
    FOLDER,
    Case,
    cases,
    golden,
    intent,
    on_base,
    rendered,
    write_goldens,
)
from tests.output.render.sonic_schema import violations
from tests.output.render.test_render_schema import schema
from tests.strategies import fabric_of
from tests.switch_view import switch_view

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch

CASES = [pytest.param(case, id=case.name) for case in cases()]
RELEASES = releases().names
NAMES = ("leaf1", "spine1")


@pytest.fixture(scope="module", autouse=True)
def _written_again_where_asked_for() -> None:
    if os.environ.get("LOSSLESS_GOLDEN") == "write":
        write_goldens()
        golden.cache_clear()


def declared(switch: Switch) -> Any:
    return switch_view(switch, frozenset(MONITORED))


def read_back(tables: dict[str, Any]) -> Any:
    (switch,) = read_fabric([Tables("config_db.json", tables)], switch_for_hwsku).switches
    return switch_view(switch, frozenset(MONITORED))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("case", CASES)
def test_what_is_rendered_is_what_it_was(case: Case, release: str) -> None:
    assert rendered(case, release) == golden(case.name, release)


@pytest.mark.parametrize("case", CASES)
def test_what_is_rendered_reads_back_as_it_was_declared_and_draws_nothing(case: Case) -> None:
    fabric = fabric_of(intent(case, "202411"))
    for switch in fabric.switches:
        assert read_back(on_base(fabric, switch.name, "202411")) == declared(switch)
    documents = [
        load_text(json.dumps(on_base(fabric, name, "202411")), f"{name}/config_db.json") for name in NAMES
    ]
    report = lint_documents(documents)
    assert report.errors == ()
    found = [finding for finding in report.findings if finding.severity != "info"]
    assert found == [], [(finding.code, finding.message) for finding in found]


@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("case", CASES)
def test_the_models_of_a_release_accept_what_is_rendered_for_it(case: Case, release: str) -> None:
    fabric = fabric_of(intent(case, release))
    for name in NAMES:
        tables = on_base(fabric, name, release)
        findings = validate(tables)
        assert findings.context.release == release
        # No database is of a release called master, and the models say so.
        assert [problem for problem in findings.problems if problem.table != "VERSIONS"] == []
        assert list(violations(schema(), tables, {*OWNED, "FLEX_COUNTER_TABLE"})) == []


@pytest.mark.parametrize("case", CASES)
def test_everything_rendered_is_in_the_table_of_what_releases_know(case: Case) -> None:
    known = releases().tables
    for tables in golden(case.name, "master").values():
        for table, rows in tables.items():
            fields = {field for row in rows.values() for field in row}
            assert known[table].fields == ("*",) or fields <= {*known[table].fields}, table


def test_there_is_a_golden_for_every_product_and_none_without_a_case() -> None:
    on_sonic = {name for name in switch_names() if SONIC in load_switch(name).runs}
    # No HWSKU of these ships buffers for lossless groups, and an intent that names one is refused.
    assert {path.name for path in FOLDER.iterdir()} == on_sonic - {
        "micas-m2-w6950-128oc",
        "nexthop-5010",
        "nokia-ixr7250e-36x400g",
        "nvidia-sn5640",
    }
    assert {str(path.parent.relative_to(FOLDER)) for path in FOLDER.rglob("*.json")} == {
        c.name for c in cases()
    }
    assert {path.stem for path in FOLDER.rglob("*.json")} == {*RELEASES}
