"""Runs a script whose pretended tools this process answers for, so that no call of one starts a process.

In place of ``timeout``, which has no clock then, the script's shell has a function: it reads a file by itself, and
writes its folder and the words of a call of a tool to a pipe. The call is done here; what the tool prints and its
status are left as a file of commands, which the shell reads once another pipe says so.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

LONGEST_S = 600.0
"""How long a script of a test may take before it is ended, and its test fails."""
_SHELL = """\
exec 6>"/dev/fd/$FAKE_ASK" 7<"/dev/fd/$FAKE_ANSWER"
timeout() {
    fake_limit="$1 $2"
    [ "$1" = -k ] && fake_limit="-k $2 $3" && shift
    shift 2
    case "$*" in $FAKE_CLOCKED) command timeout $fake_limit "$@"; return ;; esac
    case $1:${2-} in
        cat:*/cc/apply) ;;
        cat:?*) fake_cat "$2"; return ;;
        *) case " $FAKE_TOOLS " in *" $1 "*) ;; *) command "$@"; return ;; esac ;;
    esac
    exec 8<&0
    printf '%s\\0' "$PWD" "$@" '
' >&6
    read -r fake_line <&7
    exec 8<&-
    . "$FAKE_FILE"
    return "$fake_status"
}
fake_cat() {
    [ -f "$1" ] && [ -r "$1" ] || { command cat "$1"; return; }
    while IFS= read -r fake_line; do printf '%s\\n' "$fake_line"; done <"$1"
    printf '%s' "$fake_line"
}
. "$0"
"""
_END = b"\0\n\0"
"""What follows the words of a call."""
_APART = (
    'eval "command timeout $fake_limit \\"\\$@\\" 6>&- 7<&- $FAKE_ASK>&- $FAKE_ANSWER<&-"\nfake_status=$?\n'
)


class ApartError(Exception):
    """Raised by what does calls: the shell, which has to be bash, starts a process for this one."""


def run_served(
    shell: str,
    script: Path,
    arguments: Sequence[str],
    environment: dict[str, str],
    *,
    main: Callable[..., None],
    tools: Iterable[str],
    file: Path,
    clocked: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a script, do the calls of its ``tools`` with ``main``, and return what it printed.

    ``file`` is where answers are left; ``clocked`` is a pattern of calls that are processes, and end when their time
    is over.
    """
    asked, ask = os.pipe()
    answered, answer = os.pipe()
    pipes = {"FAKE_ASK": str(ask), "FAKE_ANSWER": str(answered), "FAKE_FILE": str(file)}
    own = {"FAKE_TOOLS": " ".join(tools), "FAKE_CLOCKED": clocked, **pipes}
    command = [shell, "-c", _SHELL, str(script), *arguments]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            env=environment | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            pass_fds=(ask, answered),
            start_new_session=True,
        )
        os.close(ask)
        os.close(answered)
        too_long = threading.Timer(LONGEST_S, os.killpg, (process.pid, signal.SIGKILL))
        too_long.start()
        try:
            _serve(asked, answer, main, file, Path(f"/proc/{process.pid}/fd/8"))
        finally:
            os.close(asked)
            os.close(answer)
            status = process.wait()
            in_time = not too_long.finished.is_set()
            too_long.cancel()
        if not in_time:
            pytest.fail(f"{script} did not end within {LONGEST_S:.0f} s")
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, output.read(), errors.read())


def _serve(asked: int, answer: int, main: Callable[..., None], file: Path, given: Path) -> None:
    """Answer calls until the script has ended; ``given`` is its standard input, as of each call."""
    text = b""
    while part := os.read(asked, 1 << 16):
        text += part
        if text.endswith(_END):
            file.write_text(_called(main, given, *text.removesuffix(_END).decode().split("\0")))
            os.write(answer, b"\n")
            text = b""


def _called(main: Callable[..., None], given: Path, folder: str, *words: str) -> str:
    """Do a call in a folder, and return its output, errors and status as commands of a shell."""
    status = 0
    before, stdin = Path.cwd(), sys.stdin
    os.chdir(folder)
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        try:
            # Only the shell itself has it, and none of its subshells.
            with given.open() if given.exists() else nullcontext(stdin) as sys.stdin:
                main(*words)
        except ApartError:
            return _APART
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                errors.write(f"{end.code}\n")
        except Exception:  # noqa: BLE001  # as an interpreter that ends with it
            status = 1
            traceback.print_exc()
        finally:
            os.chdir(before)
            sys.stdin = stdin
    printed = (shlex.quote(stream.getvalue()) for stream in (output, errors))
    return "printf %s {}\nprintf %s {} >&2\nfake_status={}\n".format(*printed, status)
