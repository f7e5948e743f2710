"""Pages of reports in a real browser: one start opens one of each command, and one with hostile names in all places."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lossless import api
from lossless.checks.lint.run import CheckedReport
from lossless.checks.rules.storms.culprit import Culprit, CulpritEvidence
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, SkippedFile, UncheckedRule
from tests.output.report.samples import finding, lint_run, oversubscribed
from tests.paths import EXAMPLES

pytestmark = [pytest.mark.tools("chromium"), pytest.mark.xdist_group("site")]
HERE = Path(__file__).parent
INTENT = EXAMPLES / "roce-256" / "fabric.yaml"
HOSTILE = (
    "<script>window.hostile=1</script>"
    '"onload="window.hostile=1" style="width:9000px'
    "]]><img src=https://evil.example/x onerror=window.hostile=1>"
    "&quot;'</style><style>@import 'https://evil.example/y';</style>" + "w" * 300
)


def pages(folder: Path) -> dict[str, str]:
    """Return a page of each command, and hostile ones."""
    found = oversubscribed(elements=("leaf1:Ethernet0", "spine2"), places=2)
    warned = (
        finding(Origin("fabric.yaml", ("a", at)), severity="warning", message=f"{at}") for at in range(13)
    )
    lint = lint_run(
        findings=(found, *warned),
        not_checked=(UncheckedRule("WD001", "the release is not known", 3),),
        documents={str(INTENT): api.load(INTENT)},
    )
    target = folder / "target.yaml"
    target.write_text(INTENT.read_text().replace("detection: 1200ms", "detection: 1800ms"))
    plan = api.plan([INTENT], target)
    results = folder / "results"
    (results / "mtu").mkdir(parents=True)
    failed = "".join(f"{line.id}\tFAIL\t{HOSTILE}\n" for line in api.acceptance(INTENT).lines[:2])
    (results / "mtu" / "lines.tsv").write_text(failed)
    return {
        "lint": api.report_as(lint, "html").text,
        "nothing": api.report_as(api.lint([INTENT]), "html").text,
        "verify": api.report_as(every_part("plain"), "html").text,
        "hostile": api.report_as(every_part(HOSTILE), "html").text,
        "simulate": api.simulation_page(api.simulate(INTENT), INTENT),
        "plan": api.plan_page(plan, [INTENT], target),
        "acceptance": api.acceptance_page(INTENT),
        "outcomes": api.acceptance_page(INTENT, results),
    }


def every_part(text: str) -> CheckedReport:
    """Return a report that has all parts, with a text as each name and message; the fabric is named so too."""
    named = INTENT.read_text().replace("fabric: roce-256", f"fabric: {json.dumps(text)}")
    evidence = (CulpritEvidence(text, Origin(text)),)
    return lint_run(
        findings=(
            finding(
                Origin(text, ("a", text)), message=text, note=text, help=text, elements=(text,), places=2
            ),
        ),
        errors=(Problem(text, 1, 1, text),),
        not_checked=(UncheckedRule("WD001", text, 2),),
        skipped=(SkippedFile(text, text, named=True),),
        excluded=(text,),
        culprits=(Culprit("host", text, text, text, evidence, text, against=(text,), missing=(text,)),),
        documents={"x.yaml": api.load_text(named, "x.yaml")},
    )


def test_a_browser_and_axe_find_nothing_wrong_with_pages_of_reports(tmp_path: Path) -> None:
    made = pages(tmp_path)
    files = {str(tmp_path / f"{name}.html"): text for name, text in made.items()}
    for file, text in files.items():
        Path(file).write_text(text, encoding="utf-8")
    chromium = shutil.which("chromium") or "chromium"
    done = subprocess.run(
        ["node", HERE / "report_pages.mjs", chromium, tmp_path / "profile"],
        input=json.dumps([*files]),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert json.loads(done.stdout) == {file: [] for file in files}
