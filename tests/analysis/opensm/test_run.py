"""Running opensm: bounded in time, several at once, nothing left, and plain words where it cannot be had."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lossless.analysis.opensm import run
from lossless.analysis.opensm.check import check_with_opensm
from lossless.analysis.opensm.run import Tools, find_tools, ibsim_fabric, read_configuration
from lossless.ground.basics.errors import ProgramError, SubnetManagerError
from tests.analysis.opensm.test_routes import files_for
from tests.subnets import Cabling, fat_tree, torus


def running() -> set[str]:
    """The process numbers of simulators and managers that work for this process."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"IBSIM_SOCKNAME=lossless-{os.getpid()}-".encode() in environment:
                found.add(entry.name)
    return found


def test_four_simulations_run_beside_each_other_and_leave_nothing(tools: Tools) -> None:
    subnets = [
        torus((5, 5), 1, "dor"),
        fat_tree(4, 2, 4),
        torus((3, 3), 2, "minhop"),
        fat_tree(2, 2, 2, "ftree"),
    ]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda subnet: check_with_opensm(tools, subnet, files_for(subnet)), subnets))
    assert [one.credits.state for one in found] == ["loop", "free", "free", "free"]
    assert [one.swept.sweep.engine for one in found if one.swept] == ["dor", "updn", "minhop", "ftree"]
    assert running() == set()


def test_an_opensm_that_never_finishes_is_stopped_and_that_is_said(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No engine can route this, and no other may: opensm then never ends its sweep.
    subnet = torus((5, 5), 1, "ftree,no_fallback")
    monkeypatch.setattr(run, "SWEEP_S", 1.0)
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert "opensm had to be stopped: it did not finish its first sweep in time" in found.complaints
    assert found.credits.state == "unproven"
    assert running() == set()


def test_what_is_cut_off_leaves_no_folder_behind(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(run, "SWEEP_S", 1.0)
    subnet = torus((5, 5), 1, "ftree,no_fallback")
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.swept is not None
    assert not found.swept.ended
    assert [*here.iterdir(), *temporary.iterdir()] == []


def test_a_simulator_that_refuses_its_topology_is_said_with_its_last_words(
    tools: Tools, tmp_path: Path
) -> None:
    simulation = ibsim_fabric(fat_tree(2, 2, 2))._replace(text="Switch\n")
    (tmp_path / "opensm.conf").touch()
    with pytest.raises(
        SubnetManagerError, match=r"ibsim\.log never said 'simulator ready'; its last words: \S"
    ):
        run.sweep(tools, simulation, tmp_path / "opensm.conf", tmp_path, "leaf0h0:mlx5_0")
    assert running() == set()


def test_where_opensm_is_not_installed_that_is_said_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lossless.analysis.opensm.run.find_program", lambda _name: None)
    with pytest.raises(SubnetManagerError, match=r"not installed: opensm, ibsim.*apt-get install"):
        find_tools()


def test_a_thousand_hosts_are_checked(tools: Tools) -> None:
    subnet = fat_tree(32, 16, 32, "updn")
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert found.complaints == ()
    assert found.credits.state == "free"


def test_a_speed_that_the_simulator_does_not_know_is_replaced_and_said(tools: Tools) -> None:
    made = Cabling(rate="XDR")
    made.hosts(made.switch("leaf", 0), 2)
    subnet = made.subnet("fat-tree", "minhop")
    found = check_with_opensm(
        tools, subnet._replace(routing=subnet.routing._replace(roots=None)), {"opensm.conf": "\n"}
    )
    assert found.swept is not None
    assert found.swept.notes == ("ibsim does not know XDR: those links are simulated as NDR",)
    assert found.complaints == ()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "#!/bin/sh\necho ' Reading Cached Option File: sm.conf'\nsleep 60\n",
            "opensm gave no answer in 0.5 s",
        ),
        ("#!/no/such/program\n", "opensm does not start"),
    ],
    ids=["hangs", "damaged"],
)
def test_an_opensm_that_does_not_end_by_itself_has_read_nothing(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "READ_S", 0.5)
    opensm, conf = tmp_path / "opensm", tmp_path / "sm.conf"
    opensm.write_text(script)
    opensm.chmod(0o755)
    conf.write_text("")
    with pytest.raises(ProgramError, match=said):
        read_configuration(Tools(str(opensm), "", ""), conf, tmp_path)
