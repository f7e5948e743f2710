"""docs/guides/jobs.md names what there is."""

from __future__ import annotations

from lossless.model.hardware.clouds import NETWORKS
from tests.conftest import ROOT

GUIDE = (ROOT / "docs" / "guides" / "jobs.md").read_text()
G = 10**9


def test_the_guide_has_every_machine_with_its_figures() -> None:
    _, table = GUIDE.split("| machine | GPUs |")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert rows == [
        [
            f"`{machine.name}`",
            f"{machine.gpus} {machine.gpu}",
            str(machine.nics),
            str(machine.nic_bps // G),
            f"{machine.rate_bps // G:,}",
            str(machine.rate_bps // machine.gpus // G),
            str(machine.nvlink or "none"),
            str(machine.domain_gpus),
        ]
        for networks in NETWORKS.values()
        for network in networks
        for machine in network.machines
    ]
