"""A size of trimmed packets that changes is patched; trimming that goes needs switches to start again."""

from __future__ import annotations

import pytest

from tests.checks.plan.test_expert_orders import planned
from tests.paths import ROOT

EXAMPLE = (ROOT / "examples" / "ultra-ethernet-128" / "fabric.yaml").read_text(encoding="utf-8")
PLAIN = "\n".join(line for line in EXAMPLE.splitlines() if not line.startswith("trimming:"))


@pytest.mark.parametrize(
    ("after", "how"),
    [(EXAMPLE.replace("size: 206 B", "size: 256 B"), "patch"), (PLAIN, "reload")],
    ids=["another size", "none"],
)
def test_what_orchagent_keeps_is_not_patched_away(after: str, how: str) -> None:
    found = planned(EXAMPLE, after)
    batches = [batch for step in found.steps for group in step.switches for batch in group.batches]
    assert {batch.how for batch in batches} == {how}
    if how == "reload":
        assert all("orchagent does not take it away" in batch.why for batch in batches)
