"""Other programs are started in one place: with few variables, without a terminal, for a bounded time and output."""

from __future__ import annotations

import ast
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lossless.ground.basics import programs
from lossless.ground.basics.errors import LosslessError, ProgramError
from lossless.ground.basics.programs import Done, environment, find_program, run, running
from tools.architecture import modules

_STARTS = re.compile(
    r"(subprocess|multiprocessing|concurrent\.futures\.(process|ProcessPool)|pty$|webbrowser|asyncio\.(subprocess|create_subprocess)"
    r"|shutil\.which|os\.(system|popen|startfile|fork|exec|spawn|posix_spawn)|__import__\(|exec\(|eval\()"
)
_MAY = {
    "lossless.ground.basics.programs": {"subprocess"},
    # Copies of this very process that share its work; no program is started.
    "lossless.ground.basics.processes": {
        "multiprocessing",
        "concurrent.futures.process",
        "concurrent.futures.ProcessPool",
    },
    # The names of a class's own fields are compiled, as namedtuple does it.
    "lossless.ground.basics.records": {"eval("},
    # Types that this project's own modules state for type checkers alone, for JSON Schemas.
    "lossless.output.report.plain": {"eval(", "exec("},
    # Python's own tracker of resources, before workers are started by dask.
    "lossless.analysis.simulation.study.cluster": {"multiprocessing"},
}
"""Which module may name what, of all that could start a program."""


def _names(path: Path) -> Iterator[str]:
    """Yield what a module imports and which functions of other modules it names, in full."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield f"{node.func.id}()"


def test_one_module_starts_programs() -> None:
    found: dict[str, set[str]] = {}
    for module, path in modules().items():
        starting = {match[0] for match in map(_STARTS.match, _names(path)) if match}
        if starting:
            found[module] = starting
    assert found == _MAY


def python(code: str, **options: object) -> Done:
    return run((sys.executable, "-c", code), environment(), **options)  # type: ignore[arg-type]


def test_what_it_says_and_its_exit_code_are_returned() -> None:
    code = "import sys; print(sys.stdin.read()); print('no', file=sys.stderr); sys.exit(3)"
    assert python(code, given=b"yes") == Done(3, b"yes\n", b"no\n")


def test_it_is_given_no_input_and_no_terminal() -> None:
    code = "import os, sys; print(sys.stdin.read() == '', os.getsid(0) == os.getpid())"
    assert python(code).out == b"True True\n"


def test_more_goes_in_and_out_than_pipes_hold() -> None:
    given = os.urandom(3_000_000)
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert python(code, given=given).out == given
    assert python("import sys; sys.stdin.close()", given=given) == Done(0, b"", b"")


def test_of_the_environment_it_has_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "LD_PRELOAD", "PYTHONPATH", "SECRET"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f".::bin:/usr/bin:{tmp_path}")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/opt/lib:.")
    monkeypatch.delenv("TMPDIR", raising=False)
    assert environment(OWN="1") == {
        "HOME": str(tmp_path),
        "PATH": f"/usr/bin:{tmp_path}",
        "LD_LIBRARY_PATH": "/opt/lib",
        "LC_ALL": "C",
        "OWN": "1",
    }
    assert environment(("SECRET",))["SECRET"] == "x"


def test_a_program_where_one_works_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "::.:")
    assert find_program("git") is None
    assert find_program("git", [str(tmp_path)]) == str(tmp_path / "git")


def test_one_that_is_not_there_is_said() -> None:
    with pytest.raises(ProgramError, match="no-such-program is not installed here, or not on PATH"):
        run(("no-such-program",), environment())
    assert issubclass(ProgramError, LosslessError)


def test_one_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/at/all\n")
    broken.chmod(0o755)
    with pytest.raises(ProgramError, match="broken does not start: "):
        run((str(broken),), environment())
    with pytest.raises(ProgramError, match="does not start: embedded null byte"):
        run((sys.executable, "a\0b"), environment())


@pytest.mark.tools("hanging")
def test_one_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"import subprocess, time; subprocess.Popen(['sh', '-c', 'echo $$ >{mark}; sleep 600']); time.sleep(600)"
    with pytest.raises(ProgramError, match="gave no answer in 2 s, and was ended"):
        python(code, longest_s=2.0)
    assert any(map(has_ended, [mark.read_text().strip()] * 600))


def has_ended(pid: str) -> bool:
    """Return whether a process has ended, a tenth of a second from now; one that nobody waits for has no command."""
    time.sleep(0.1)
    try:
        return not Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return True


def test_one_that_leaves_something_behind_is_not_waited_for() -> None:
    done = python(
        "import subprocess; print('done', flush=True); subprocess.Popen(['sleep', '60'])", longest_s=30.0
    )
    assert done.out == b"done\n"


def test_one_that_says_too_much_is_ended() -> None:
    with pytest.raises(ProgramError, match=r"said more than 1,000,000 bytes, and was ended"):
        python("while True: print('x' * 1000)", most_bytes=1_000_000)


def test_one_beside_which_we_work_is_bounded_too(tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = (sys.executable, "-c", "while True: print('x' * 1000)")
    with (
        pytest.raises(ProgramError, match="more than 100,000 bytes went into out"),
        running(
            command, environment(), folder=str(tmp_path), output=str(output), most_bytes=100_000
        ) as process,
    ):
        process.wait()


def test_one_beside_which_we_work_is_ended_when_we_are_done(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    with running(command, environment(), folder=str(tmp_path), output=str(tmp_path / "out")) as process:
        while not (tmp_path / "out").read_text().endswith("\n"):
            assert not process.ended()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "out").read_text()), 0)


DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    while not os.path.exists({mark!r}):
        time.sleep(0.01)
    {parent}
os.setsid()
os.environ.clear()
if os.fork():
    os._exit(0)
os.chdir("/")
with open({mark!r}, "w") as file:
    file.write(str(os.getpid()))
while True:
    time.sleep(600)
"""
"""A program that leaves its session as daemons do, takes no request to end, and forgets its environment."""
PARENTS = {
    "ends": "os._exit(0)",
    "waits": "time.sleep(600)",
    "takes no request": "while True: time.sleep(600)",
    "stops its whole group": "os.kill(0, signal.SIGSTOP)",
}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="daemons are found by /proc")
@pytest.mark.parametrize("parent", PARENTS.values(), ids=PARENTS)
def test_a_contained_one_is_ended_with_the_daemon_that_it_made(
    parent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_GRACE_S", 0.2)
    mark = tmp_path / "mark"
    command = (sys.executable, "-c", DAEMON.format(parent=parent, mark=str(mark)))
    with running(command, environment(), folder=str(tmp_path), output=str(tmp_path / "out")):
        while not mark.exists() or not mark.read_text():
            time.sleep(0.01)
    assert has_ended(mark.read_text())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="daemons are found by /proc")
def test_a_contained_one_that_is_run_leaves_no_daemon(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = DAEMON.format(parent=PARENTS["ends"], mark=str(mark))
    assert python(code, contained=True).code == 0
    # It is killed while it writes, or later.
    assert not mark.read_text() or has_ended(mark.read_text())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="daemons are found by /proc")
def test_a_daemon_that_a_listing_of_processes_misses_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listing misses what is forked while it is made, and what forked it may end before it is looked at."""
    listed, listings = programs._processes, []

    def missing_the_daemon() -> list[int]:
        listings.append(listed())
        daemon = int(mark.read_text() or 0)
        return [pid for pid in listings[-1] if len(listings) > 2 or pid != daemon]

    mark = tmp_path / "mark"
    command = (sys.executable, "-c", DAEMON.format(parent=PARENTS["ends"], mark=str(mark)))
    with running(command, environment(), folder=str(tmp_path), output=str(tmp_path / "out")):
        while not mark.exists() or not mark.read_text():
            time.sleep(0.01)
        monkeypatch.setattr(programs, "_processes", missing_the_daemon)
    assert has_ended(mark.read_text())


@pytest.mark.tools("hanging")
def test_one_that_stops_itself_and_what_bounds_it_is_ended_in_its_time(tmp_path: Path) -> None:
    code = "import os, signal; os.kill(0, signal.SIGSTOP)"
    command = ("timeout", "600", sys.executable, "-c", code)
    with running(
        command, environment(), folder=str(tmp_path), output=str(tmp_path / "out"), longest_s=1.0
    ) as process:
        assert process.wait() != 0
