"""A pretended fabric for ansible-playbook: switches and hosts in folders, which a program in the place of ssh runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from tests.formats.hosts.from_model.fake_nic import TOOLS, FakeHost
from tests.output.render.plan import fork_server, processes
from tests.output.render.plan.manager_host import ManagerHost
from tests.output.render.plan.switches import FakeSwitch, write_script

_SSH = """#!/bin/bash
# ssh to a folder: the last two arguments are the device and its command.
[[ $1 != -O ]] || exit 0
arguments=("$@")
device={fabric}/${{arguments[-2]}}
left=$(cat "$device/unreachable" 2>/dev/null)
if [[ -n $left && $left != 0 ]]; then
    echo $((left - 1)) >"$device/unreachable"
    echo 'ssh: Connection timed out' >&2
    exit 255
fi
cd "$device" || exit 255
set -a
. ./environment
exec /bin/sh -c "${{arguments[-1]}}"
"""
_SYSTEMCTL = """#!/bin/sh
# systemctl of a host: it knows one unit, and whether that is enabled.
echo "systemctl $*" >>"$HOME/systemctl.calls"
case $1 in
    is-enabled) [ -e "$HOME/enabled" ] && echo enabled || { echo disabled; exit 1; } ;;
    enable) touch "$HOME/enabled" ;;
    show) printf 'Id=lossless-roce.service\\nLoadState=loaded\\nActiveState=inactive\\n' ;;
esac
"""
_LONGEST_S = 900.0
"""How long a playbook may take: longer than a pretended command that hangs."""
_RECAP = re.compile(r"^(\S+) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", re.MULTILINE)


class Recap(NamedTuple):
    """What became of a device in a run."""

    ok: int
    changed: int
    unreachable: int
    failed: int


class Played(NamedTuple):
    """A run of a playbook: its exit status, what it printed, and the recap of each device."""

    status: int
    output: str
    recap: dict[str, Recap]


class FakeFabric:
    """Switches and hosts of a plan whose files are in a folder."""

    def __init__(self, folder: Path, files: Path, tools: Path) -> None:
        self._folder, self._files, self._tools = folder, files, tools
        folder.mkdir()
        self._ssh = folder / "ssh"
        write_script(self._ssh, _SSH.format(fabric=shlex.quote(str(folder))))
        self._roots = folder / "roots.yml"
        root = f"{folder}/{{{{ inventory_hostname }}}}"
        self._roots.write_text(json.dumps({"all": {"vars": {"lossless_root": root}}}))
        self._python = folder / "python"
        program = [sys.executable, "-I", "-S", Path(fork_server.__file__).with_name("fake_python.py")]
        given = [sysconfig.get_paths()["purelib"], fork_server.started("module")]
        write_script(self._python, f'#!/bin/sh\nexec {shlex.join(map(str, program + given))} "$@"\n')

    def switch(self, name: str) -> FakeSwitch:
        """Add a switch."""
        made = FakeSwitch(self._folder / name, self._tools)
        self._environment(name, made.environment)
        return made

    def host(self, name: str) -> FakeHost:
        """Add a host with one NIC, fresh from the factory."""
        nic = self._folder / name / "nic"
        made = FakeHost(nic, tuple(tool for tool in TOOLS if tool not in ("systemctl", "mkdir", "rmdir")))
        made.add_nic("eth0", "mlx5_0")
        write_script(nic / "bin" / "systemctl", _SYSTEMCTL)
        for place in ("etc/systemd/system", "etc/udev/rules.d", "usr/local/sbin", "run"):
            (self._folder / name / place).mkdir(parents=True)
        path = f"{nic / 'bin'}:{os.environ['PATH']}"
        self._environment(name, {"PATH": path, "SYSFS_ROOT": str(made.sysfs)})
        return made

    def manager(self, name: str, *, state: str, conf: str) -> ManagerHost:
        """Add the host of a subnet manager."""
        made = ManagerHost(self._folder / name, state=state, conf=conf)
        self._environment(name, made.environment)
        return made

    def place(self, name: str) -> Path:
        """Return the folder that is the root of a device."""
        return self._folder / name

    def cut_off(self, name: str, times: int) -> None:
        """Let a device be unreachable so many times."""
        (self._folder / name / "unreachable").write_text(str(times))

    def play(
        self,
        step: str,
        *,
        forked: bool = True,
        check: bool = False,
        limit: str = "",
        **variables: str | int | list[str],
    ) -> Played:
        """Run the playbook of a step, by a server that has imported Ansible or by the program itself."""
        extra = {
            "ansible_become": False,
            "ansible_python_interpreter": str(self._python) if forked else sys.executable,
            "lossless_poll_s": 1,
            **variables,
        }
        program = shutil.which("ansible-playbook", path=str(Path(sys.executable).parent))
        assert program, "ansible-core is part of the development environment"
        inventories = ["-i", "inventory.yml", "-i", str(self._roots)]
        options = [*(["--check"] if check else []), *(["--limit", limit] if limit else [])]
        command = [program, *inventories, f"{step}/playbook.yml", "-e", json.dumps(extra), *options]
        run = fork_server.play if forked else processes.run
        done = run(command, cwd=self._files, env=self._controller(), within_s=_LONGEST_S)
        recap = {name: Recap(*map(int, numbers)) for name, *numbers in _RECAP.findall(done.stdout)}
        return Played(done.returncode, done.stdout + done.stderr, recap)

    def _controller(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(fork_server.settings()),
            "ANSIBLE_SSH_EXECUTABLE": str(self._ssh),
        }

    def _environment(self, name: str, variables: dict[str, str]) -> None:
        lines = (f"{key}={shlex.quote(value)}\n" for key, value in variables.items())
        home = f"HOME={shlex.quote(str(self._folder / name))}\n"
        (self._folder / name / "environment").write_text("".join((home, *lines)))
