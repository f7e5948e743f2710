"""docs/guides/jobs.md names what there is."""

from __future__ import annotations

import re

from lossless.model.hardware.clouds import TRANSPORTS, machines_of
from tests.conftest import ROOT

GUIDE = (ROOT / "docs" / "guides" / "jobs.md").read_text()


def test_the_guide_names_every_machine_that_is_known() -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[2])}
    assert named == {machine for transport in TRANSPORTS for machine in machines_of(transport)}
