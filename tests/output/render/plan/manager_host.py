"""A pretended host of a subnet manager in a folder: opensm is a state, a log and the files that it has read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lossless.checks.plan.plan import FileChange, FileGroup, Plan, PlanStep
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.output.render.plan.files import plan_run_files
from tests.output.render.plan.switches import write_script

OLD = "sm_priority 13\nqos_sl2vl 0\n"
NEW = "sm_priority 13\nqos_sl2vl 1\n"
CONF = FileChange("opensm.conf", "/etc/opensm/opensm.conf", OLD, NEW)
POLICY = FileChange("qos-policy.conf", "/etc/opensm/qos-policy.conf", None, "qos-levels\n")
ROOTS = FileChange("root_guid.conf", "/etc/opensm/root_guid.conf", "0x1\n", None)
M_KEY = "m_key 0x0000000000001234\n"

# What opensm does: it reads its files, says so, and is in the state that it is meant to be in.
_OPENSM = """
reads() {
    cat "$LOSSLESS_ROOT"/etc/opensm/* >"$FAKE/read"
    cat "$FAKE/becomes" >"$FAKE/state"
    [ -e "$FAKE/silent" ] || echo "SUBNET UP" >>"$LOSSLESS_ROOT/var/log/opensm.log"
    [ ! -e "$FAKE/errors" ] || echo "Errors during initialization" >>"$LOSSLESS_ROOT/var/log/opensm.log"
}
echo "$(basename "$0") $*" >>"$FAKE/calls"
fault=$FAKE/fault-$(basename "$0")-$1
if [ -e "$fault" ]; then
    cat "$fault" >&2
    [ -e "$FAKE/always" ] || rm "$fault"
    exit 1
fi
"""
_TOOLS = {
    "systemctl": """case $1 in
    stop) echo none >"$FAKE/state"; echo "$(ls "$LOSSLESS_ROOT/etc/opensm")" >"$FAKE/at-stop" ;;
    start) reads ;;
esac
""",
    "pkill": "reads\n",
    "sminfo": """case $(cat "$FAKE/state") in
    none) echo "sminfo: iberror: query failed" >&2; exit 1 ;;
    *) echo "sminfo: sm lid 1 sm guid 0x1, activity count 5 priority 14 state 3 SMINFO_$(cat "$FAKE/state")" ;;
esac
""",
    "id": "echo 0\n",
    "sync": "",
}


def group(
    *files: FileChange, how: str = "hup", states: tuple[str, str] | None = ("master", "master")
) -> FileGroup:
    """Return a group of one host."""
    return FileGroup("sm1", ("sm1",), files, how, states, "mlx5_0", (), "/var/log/opensm.log")  # type: ignore[arg-type]


def plan(*groups: FileGroup) -> Plan:
    """Return a plan of one step, without a rollback."""
    step = PlanStep(1, "change", "files", (), (), (0,), TimeRange(), (), (), groups)
    return Plan("p1", "now", "then", (0,), (0,), (step,), ((),), 1, "1", (), {"sm1": ("sm1",)}, "infiniband")


class ManagerHost:
    """A host, its files, and what was called on it."""

    def __init__(self, folder: Path, *, state: str = "MASTER", conf: str = OLD) -> None:
        self.root, self.fake, self.tree = folder / "root", folder / "fake", folder / "plan"
        for path in (self.root / "etc/opensm", self.root / "var/log", self.fake, folder / "bin", self.tree):
            path.mkdir(parents=True)
        self.write("opensm.conf", conf)
        (self.root / "var/log/opensm.log").write_text("SUBNET UP\n")
        self.set("state", state)
        self.set("becomes", state)
        for tool, text in _TOOLS.items():
            write_script(
                folder / "bin" / tool, f"#!/bin/sh\n{_OPENSM if tool not in ('id', 'sync') else ''}{text}"
            )
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "FAKE": str(self.fake),
            "LOSSLESS_ROOT": str(self.root),
            "LOSSLESS_RUN_DIR": str(self.fake),
            "LOSSLESS_LIMIT_S": "1",
            "LOSSLESS_PAUSE_S": "0.1",
        }

    def set(self, name: str, text: str = "") -> None:
        """Write a file of the fakes."""
        (self.fake / name).write_text(f"{text}\n")

    def write(self, name: str, text: str) -> None:
        """Write a file of opensm."""
        (self.root / "etc/opensm" / name).write_text(text)

    def files(self) -> dict[str, str]:
        """Return the files of opensm."""
        return {path.name: path.read_text() for path in (self.root / "etc/opensm").iterdir()}

    def calls(self) -> list[str]:
        """Return what was called but for questions about the state, which are asked any number of times."""
        calls = self.fake / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if not line.startswith("sminfo")]

    def run(self, what: Plan, *flags: str) -> subprocess.CompletedProcess[str]:
        """Run the script of the step."""
        for file in plan_run_files(what):
            path = self.tree / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
        name = next(path.name for path in (self.tree / "step-01").iterdir() if path.is_dir())
        command = ["bash", str(self.tree / "run.sh"), *flags, "step-01", name]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
