"""Starts Ansible once for all runs of it: a server has imported what they import, and each run is a fork of it.

An import of Ansible takes longer than what a run does with it, on the side of the controller as on that of the
devices, where each module of each task is a program of its own.

    fork_server.py KIND SOCKET    serves runs of KIND, ``playbook`` or ``module``, until its standard input ends
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_CONTROLLER = (
    "ansible.cli.playbook",
    "ansible.executor.process.worker",
    "ansible.plugins.action.assert",
    "ansible.plugins.action.async_status",
    "ansible.plugins.action.command",
    "ansible.plugins.action.copy",
    "ansible.plugins.action.normal",
    "ansible.plugins.callback.default",
    "ansible.plugins.connection.ssh",
    "ansible.plugins.shell.sh",
    "ansible.plugins.strategy.linear",
)
_MODULES = ("async_status", "async_wrapper", "command", "copy", "file", "stat", "systemd_service")
_SETTINGS = """\
[defaults]
nocolor = true
internal_poll_interval = 0.01
[inventory]
enable_plugins = yaml
[connection]
pipelining = true
[ssh_connection]
ssh_args =
transfer_method = piped
"""
_MOST_BYTES = 1 << 20


def _play(arguments: Sequence[str]) -> None:
    """Run ansible-playbook."""
    importlib.import_module("ansible.cli.playbook").PlaybookCLI.cli_executor(list(arguments))


def run_script(arguments: Sequence[str]) -> None:
    """Run a script as the interpreter does: the one that is named first, or the one on standard input."""
    main = types.ModuleType("__main__")
    if arguments:
        main.__file__ = arguments[0]
    sys.modules["__main__"], sys.argv = main, list(arguments or [""])
    text = Path(arguments[0]).read_text("utf-8") if arguments else sys.stdin.read()
    exec(compile(text, arguments[0] if arguments else "<stdin>", "exec"), vars(main))


def preload_modules() -> None:
    """Import what the modules of the playbooks import, but not the modules: each is run as ``__main__``."""
    importlib.import_module("ansible.module_utils._internal._ansiballz._loader")
    for name in _MODULES:
        if name != "async_wrapper":
            importlib.import_module(f"ansible.modules.{name}")
            del sys.modules[f"ansible.modules.{name}"]


def _preload_controller() -> None:
    for name in _CONTROLLER:
        importlib.import_module(name)
    # What is said of the plugins that come with Ansible is read before the first of them is looked for.
    importlib.import_module("ansible.plugins.loader").init_plugin_loader()
    warnings.filterwarnings("ignore", message="AnsibleCollectionFinder has already been configured")
    importlib.import_module("ansible_collections.ansible.builtin")


_KINDS: dict[str, tuple[Callable[[], None], Callable[[Sequence[str]], None]]] = {
    "playbook": (_preload_controller, _play),
    "module": (preload_modules, run_script),
}


def _run(connection: socket.socket, run: Callable[[Sequence[str]], None]) -> None:
    """Be one run: with the streams, the folder and the environment of who asks, who gets the exit status."""
    text, streams, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    asked: dict[str, Any] = json.loads(text)
    for stream, given in enumerate(streams):
        os.dup2(given, stream)
        os.close(given)
    os.setsid()
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    # What the server does at its end is not for a run to do.
    atexit._clear()
    connection.sendall(f"{os.getpid()}\n".encode())
    status = 1
    try:
        run(asked["arguments"])
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(f"{status}\n".encode())


@cache
def settings() -> Path:
    """Write the settings of Ansible for all runs, and return their file."""
    path = Path(tempfile.mkdtemp(prefix="lossless-")) / "ansible.cfg"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    path.write_text(_SETTINGS)
    return path


@cache
def started(kind: str) -> Path:
    """Start the server of a kind, which ends with this process; return its socket."""
    folder = Path(tempfile.mkdtemp(prefix="lossless-"))
    program = [sys.executable, __file__, kind, str(folder / "socket")]
    own = {"HOME": str(folder), "LC_ALL": "C.UTF-8", "ANSIBLE_CONFIG": str(settings())}
    environment = {"PATH": os.environ["PATH"], **own}
    server = subprocess.Popen(
        program, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert server.stdin
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    return folder / "socket"


def play(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], within_s: float
) -> subprocess.CompletedProcess[str]:
    """Run ansible-playbook to its end; where it takes too long, it is ended with all that it started."""
    with (
        socket.socket(socket.AF_UNIX) as connection,
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryFile("w+") as errors,
        Path(os.devnull).open() as nothing,
    ):
        connection.connect(str(started("playbook")))
        asked = json.dumps({"arguments": command, "cwd": str(cwd), "env": dict(env)})
        socket.send_fds(connection, [asked.encode()], [each.fileno() for each in (nothing, output, errors)])
        connection.settimeout(within_s)
        with connection.makefile() as said:
            process = int(said.readline())
            try:
                status = int(said.readline() or 1)
            except TimeoutError:
                os.killpg(process, signal.SIGKILL)
                raise
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, output.read(), errors.read())


def _reap(*_: object) -> None:
    """Wait for the runs that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve(kind: str, path: str) -> None:
    """Fork a run for everyone who connects, until the standard input ends."""
    preload, run = _KINDS[kind]
    preload()
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                _run(connection, run)
                os._exit(0)
            connection.close()
    shutil.rmtree(Path(path).parent)


if __name__ == "__main__":
    serve(*sys.argv[1:])
