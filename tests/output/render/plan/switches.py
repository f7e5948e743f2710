"""Pretended switches in folders, on which ``run.sh`` is run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lossless.checks.plan.plan import Plan
from lossless.output.render.plan.files import plan_run_files
from tests.output.render.plan import fake_switch, processes
from tests.output.render.plan.made_plans import RUNNING, Config
from tests.tool_server import ApartError, run_served

_TOOLS = ("config", "show", "sonic-db-cli")
DONE_HERE = frozenset({"fail", "half", "late", "lie", "outdated", "race"})
"""Faults that end no process and send no signal."""
_FAKE_TIMEOUT = """#!/bin/bash
# timeout without a clock: what has hung says so, and is ended at once.
shift 2
trap 'kill -KILL -- -$!; exit 124' USR1
FAKE_TIMEOUT=$$ setsid "$@" <&0 &
wait $!
"""


def write_plan(plan: Plan, folder: Path) -> Path:
    """Write the files of a plan, and return their folder."""
    for file in plan_run_files(plan):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
        path.chmod(0o755 if file.executable else 0o644)
    return folder


def write_tools(folder: Path, *, clock: bool = False) -> Path:
    """Write the commands of a switch; without a ``clock``, a command has as long as it takes unless it hangs."""
    folder.mkdir()
    fakes = Path(__file__).with_name("fake_switch.py")
    site = [path for path in sys.path if path.endswith("site-packages")]
    body = f"import os, sys; sys.path[:0] = {[str(fakes.parent), *site]!r}; import fake_switch"
    calls = "fake_switch.at(os.environ); fake_switch.main(*sys.argv[1:])"
    for tool in _TOOLS:
        python = f'exec {sys.executable} -IS -c "{body}; {calls}" {tool} "$@"'
        write_script(folder / tool, f"#!/bin/sh\n{python}\n")
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    write_script(folder / "id", "#!/bin/sh\necho 0\n")
    # What a machine that is busy takes longest for.
    write_script(folder / "sync", "#!/bin/sh\n")
    if not clock:
        write_script(folder / "timeout", _FAKE_TIMEOUT)
    return folder


def write_script(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(text)
    path.chmod(0o755)


class FakeSwitch:
    """A switch: what it runs, what it has saved, and what was called."""

    def __init__(self, folder: Path, tools: Path, running: Config = RUNNING) -> None:
        self._state, self.etc, run_dir = folder / "state", folder / "etc", folder / "run"
        for made in (self._state, self.etc, run_dir):
            made.mkdir(parents=True)
        self.lock = run_dir / "lossless-plan.lock"
        self.environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "FAKE_STATE": str(self._state),
            "SONIC_ETC": str(self.etc),
            "LOSSLESS_RUN_DIR": str(run_dir),
            "LOSSLESS_PAUSE_S": "0",
        }
        for name, value in {
            "faults": {},
            "down": 0,
            "down_for": 1,
            "not_ready": 0,
            "disconnected_for": 3,
        }.items():
            self.set(name, value)
        self.set("start.json", running)
        self.running = running
        self.saved = running

    def set(self, name: str, value: Any) -> None:
        """Set a part of the state: ``faults``, ``down_for``, ``not_ready`` or ``disconnected_for``."""
        (self._state / name).write_text(json.dumps(value))

    @property
    def running(self) -> Config:
        """What runs."""
        return _config(self._state / "running.json")

    @running.setter
    def running(self, config: Config) -> None:
        self.set("running.json", config)

    @property
    def saved(self) -> Config:
        """What the switch boots with."""
        return _config(self.etc / "config_db.json")

    @saved.setter
    def saved(self, config: Config) -> None:
        (self.etc / "config_db.json").write_text(json.dumps(config))

    @property
    def calls(self) -> list[str]:
        """The calls of commands since the last :meth:`forget`."""
        path = self._state / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def forget(self) -> None:
        """Forget calls and faults."""
        (self._state / "calls").unlink(missing_ok=True)
        self.set("faults", {})

    def run(
        self,
        files: Path,
        *arguments: str,
        faults: Mapping[str, str] | None = None,
        apart: bool = False,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run the script of a plan on this switch, with faults at some of its calls.

        A command is a process of its own where it has to be ended, and where the script gets a signal meanwhile; all
        are where a test wants it so, with the interpreter of ``rows.py``. Else this process does them.
        """
        self.forget()
        self.set("faults", faults or {})
        own = {**self.environment, **environment}
        if apart:
            return processes.run(["/bin/bash", str(files / "run.sh"), *arguments], env=own)
        fake_switch.at(own)
        return run_served(
            "/bin/bash",
            files / "run.sh",
            arguments,
            own,
            main=_do,
            tools=(*_TOOLS, "python3", "sh"),
            file=self._state / "answer",
        )


def _do(tool: str, *words: str) -> None:
    """Do a call of ``run.sh``, which may be a line for a shell, or of ``rows.py``; or leave it to a process."""
    if tool == "python3":
        sys.argv[:], before = words[words.index("-S") + 1 :], sys.argv[:]
        try:
            exec(_program(Path(sys.argv[0]).read_text()), {"__name__": "__main__"})
        finally:
            sys.argv[:] = before
    call = [tool, *words] if tool != "sh" else shlex.split(words[1])
    if fake_switch.due(" ".join(call)) not in (None, *DONE_HERE):
        raise ApartError
    fake_switch.main(*call)


@cache
def _program(text: str) -> types.CodeType:
    """Return a program that is run over and over."""
    return compile(text, "rows.py", "exec")


def _config(path: Path) -> Config:
    found: Config = json.loads(path.read_text())
    return found
