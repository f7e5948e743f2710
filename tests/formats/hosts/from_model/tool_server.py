"""Runs a script whose pretended tools this process answers for, so that no call of one starts a process.

In place of ``timeout``, which has no clock then, the script's shell has a function: it reads a file by itself, and
writes the words of a call of a tool to a pipe. :mod:`fake_tool` does the call here, and leaves what the tool prints
and its status as a file of commands, which the shell reads once another pipe says so.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.formats.hosts.from_model import fake_tool

_SHELL = """\
exec 8>"/dev/fd/$FAKE_ASK" 9<"/dev/fd/$FAKE_ANSWER"
timeout() {
    fake_limit="$1 $2"
    [ "$1" = -k ] && fake_limit="-k $2 $3" && shift
    shift 2
    case "$*" in $FAKE_CLOCKED) command timeout $fake_limit "$@"; return ;; esac
    case $1:${2-} in
        cat:*/cc/apply) ;;
        cat:?*) fake_cat "$2"; return ;;
        *) [ "$1" != cat ] && [ -x "$FAKE_BIN/$1" ] || { command "$@"; return; } ;;
    esac
    printf '%s\\0' "$@" '
' >&8
    read -r fake_line <&9
    . "$FAKE_BIN/../answer"
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


def run_served(
    shell: str,
    script: Path,
    arguments: Sequence[str],
    environment: dict[str, str],
    *,
    tools: Path,
    clocked: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a script on the pretended host that has its tools in a folder, and return what it printed.

    ``clocked`` is a pattern of calls that are processes, and end when their time is over.
    """
    asked, ask = os.pipe()
    answered, answer = os.pipe()
    pipes = {"FAKE_ASK": str(ask), "FAKE_ANSWER": str(answered)}
    own = {"FAKE_BIN": str(tools), "FAKE_CLOCKED": clocked, **pipes}
    command = [shell, "-c", _SHELL, str(script), *arguments]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, env=environment | own, stdout=output, stderr=errors, pass_fds=(ask, answered)
        )
        os.close(ask)
        os.close(answered)
        try:
            _serve(asked, answer, tools.parent)
        finally:
            os.close(asked)
            os.close(answer)
            status = process.wait()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, output.read(), errors.read())


def _serve(asked: int, answer: int, folder: Path) -> None:
    """Answer calls until the script has ended."""
    text = b""
    while part := os.read(asked, 1 << 16):
        text += part
        if text.endswith(_END):
            words = text.removesuffix(_END).decode().split("\0")
            (folder / "answer").write_text(_called(folder, *words))
            os.write(answer, b"\n")
            text = b""


def _called(folder: Path, tool: str, *words: str) -> str:
    """Return a call's output, errors and status as commands of a shell."""
    status = 0
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        try:
            fake_tool.main(str(folder), tool, *words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                errors.write(f"{end.code}\n")
    printed = (shlex.quote(stream.getvalue()) for stream in (output, errors))
    return "printf %s {}\nprintf %s {} >&2\nfake_status={}\n".format(*printed, status)
