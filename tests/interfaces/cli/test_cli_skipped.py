"""Every file that is named or found is checked, or accounted for with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF

EOS = """hostname sw1
!
interface Ethernet9/1
   mtu 9214
   priority-flow-control on
   priority-flow-control priority 3 no-drop
"""
SHARED = "  priority-flow-control priority 3 no-drop\n"
"""A line of EOS that operators of other systems write too."""
VENDORS = {
    "Dell OS10": f"dcbx enable\ninterface ethernet1/1/1-1/1/32\n  priority-flow-control mode on\n{SHARED}",
    "Dell OS9": f"dcb-map ROCE\n priority-group 0 bandwidth 50 pfc on\ninterface fortyGigE 0/1\n{SHARED}",
    "Huawei VRP": f"drop-profile ecn\ninterface 25GE1/0/5\n dcb pfc enable mode manual\n{SHARED}",
    "H3C Comware": f"sysname L1\ninterface Twenty-FiveGigE1/0/1\n qos wred queue 3 ecn\n{SHARED}",
    "Juniper Junos": "class-of-service {\n    classifiers {\n    }\n}\n",
    "MikroTik RouterOS": "# RouterOS 7.24\n/interface ethernet switch\nset switch1 qos-hw-offloading=yes\n",
    "Cisco IOS XE": f"interface TwentyFiveGigE1/0/1\n class-map type network-qos A\n{SHARED}",
    "the Enterprise SONiC command line": f"qos map dscp-tc ROCE\n dscp 24 traffic-class 3\ninterface Eth1/1\n{SHARED}",
}
OF_TYPE_QOS = "class-map type network-qos A\n match qos-group 3\n"
FURTHER = (
    ("Juniper Junos", f"set interfaces et-0/0/1 mtu 9216\n{SHARED}"),
    ("the Enterprise SONiC command line", f"interface Ethernet4\n queue 3 wred-policy ROCE\n{SHARED}"),
    ("the Enterprise SONiC command line", f"{SHARED}  priority-flow-control asymmetric\n"),
    ("Dell OS10", f"{OF_TYPE_QOS}policy-map type network-qos P\n class A\n  pfc-cos 3\n"),
    ("Dell OS10", "policy-map type application P\n class iscsi\n  set qos-group 4\n"),
    ("H3C Comware", f"sysname L\ninterface X\n priority-flow-control enable\n{SHARED}"),
)
"""Texts that are known by one line of their own."""


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def skipped(cli: Cli, *arguments: str) -> dict[str, str]:
    """Return the files that a run skips, with the reasons."""
    report = json.loads(cli("lint", "--format", "json", *arguments).out)
    assert report["summary"]["skipped"] == len(report["skipped"])
    return {each["file"]: each["reason"] for each in report["skipped"]}


def test_of_six_files_one_is_checked_and_five_are_named_with_the_reason(wide: Cli) -> None:
    write(
        {
            "sw1.cfg": EOS,
            "sw2.cfg": VENDORS["Huawei VRP"],
            "sw3.rsc": VENDORS["MikroTik RouterOS"],
            "setup.sh": "#!/bin/bash\nmlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n",
            "ibstat.txt": "CA 'mlx5_5'\n        CA type: MT4129\n        Number of ports: 1\n",
            "both.yaml": "kind: NicConfigurationTemplate\n---\nkind: NicConfigurationTemplate\n",
        }
    )
    err = wide("lint", ".").err
    assert "in 1 file (0 suppressed, 0 baselined, 1 not checked; 5 files skipped)" in err
    assert [line for line in err.splitlines() if line.startswith("skipped: ")] == [
        "skipped: both.yaml: a Kubernetes resource that is not read",
        "skipped: ibstat.txt: a capture (ibstat): lossless verify reads it",
        "skipped: sw2.cfg: a configuration of Huawei VRP, a system that is not read",
        "skipped: sw3.rsc: a configuration of MikroTik RouterOS, a system that is not read",
        "skipped: setup.sh: a script that sets up hosts or a job: name the file, and lossless lint reads what "
        "it sets",
    ]


@pytest.mark.parametrize(("vendor", "text"), [*VENDORS.items(), *FURTHER])
def test_a_system_that_is_not_read_is_not_taken_for_one_that_shares_a_line(
    vendor: str, text: str, cli: Cli
) -> None:
    name = "leaf1.rsc" if "MikroTik" in vendor else "leaf1.cfg"
    write({name: text, "fabric.yaml": INTENT})
    assert skipped(cli) == {name: f"a configuration of {vendor}, a system that is not read"}
    ran = cli("lint", name)
    assert ran.code == 2
    assert vendor in ran.err


def test_a_repository_with_files_of_other_tools_prints_one_count(wide: Cli) -> None:
    Path(".git").mkdir()
    write(
        {
            "fabric.yaml": INTENT,
            "configs/leaf1/config_db.json": LEAF,
            "README.md": "# lab\n",
            "scripts/deploy.sh": "#!/bin/sh\nrsync configs/ host:\n",
            "scripts/tool.py": "print('mlnx')\n",
            "compose.yaml": "services: {web: {image: nginx}}\n",
            "chart.yaml": "{{ template }}\n",
            "package.json": '{"name": "x"}',
            "nginx.conf": "server { listen 80; }\n",
            "notes.txt": "Call the vendor about the interface errors.\n",
            "logo.png": "\x00",
            ".editorconfig": "root = true\n",
            ".github/workflows/ci.yaml": "on: push\n",
        }
    )
    err = wide("lint").err
    assert "skipped: " not in err
    assert "; 9 files skipped)" in err
    told = wide("lint", "-v").err
    assert "skipped: README.md, logo.png: a kind of file that is not read" in told
    assert set(skipped(wide)) == {
        *("README.md", "scripts/deploy.sh", "scripts/tool.py", "compose.yaml", "chart.yaml", "package.json"),
        *("nginx.conf", "notes.txt", "logo.png"),
    }


def test_files_skipped_for_one_reason_share_a_line(wide: Cli) -> None:
    write({f"sw{number}.cfg": VENDORS["Huawei VRP"] for number in range(1, 10)} | {"fabric.yaml": INTENT})
    (line,) = (line for line in wide("lint").err.splitlines() if line.startswith("skipped"))
    why = "a configuration of Huawei VRP, a system that is not read"
    assert line == f"skipped: sw1.cfg, sw2.cfg, sw3.cfg, sw4.cfg and 5 more: {why}"


def test_every_file_is_checked_skipped_excluded_or_a_problem(wide: Cli) -> None:
    write(
        {
            "fabric.yaml": INTENT,
            "leaf1.json": LEAF,
            "config_db.json": "{",
            "patch.json": '[{"op": "add", "path": "/PORT/Ethernet0/mtu", "value": "9100"}]',
            "old/leaf2.json": LEAF,
            "README": "x\n",
        }
    )
    report = json.loads(wide("lint", "--exclude", "old", "--format", "json").out)
    summary = report["summary"]
    assert (summary["files"], summary["excluded"], len(report["errors"])) == (2, 1, 1)
    assert {each["file"]: each["reason"] for each in report["skipped"]} == {
        "README": "a kind of file that is not read",
        "patch.json": "a JSON patch: lossless lint --patch FILE CONFIG checks what it makes of a configuration",
    }
