"""``lossless lint --watch``, ``--fix`` and ``--diff``: checks files again when they change, or edits them.

The exit code of ``--watch`` is that of the last check. ``--fix`` fixes findings by editing files, and ``--diff`` shows
the edits.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lossless.interfaces.cli.app import FAILED, FINDINGS, OK
from lossless.interfaces.cli.terminal import clear, finish, out, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.api import FixResult, Options, Report


_LEAST_PAUSE_S = 0.2
_SHARE = 20
"""The least pause after a search for changed files, as a multiple of the search's length."""


def watched(
    paths: tuple[str, ...], options: Options, tell: Callable[[Report, Mapping[str, str]], int]
) -> int:
    """Check and report again and again until Ctrl-C; return the exit code of the last check."""
    from lossless import api
    from lossless.output.report.lint.summary import counted

    watch = api.Watch(paths, options)
    code = OK
    try:
        while True:
            report = watch.lint()
            clear()
            code = tell(report, {})
            problem(f"{_clock()}: watching {counted(watch.files, 'file')}; Ctrl-C ends")
            finish()
            _wait(watch.changed)
    except KeyboardInterrupt:
        problem("")
        return code


def _wait(changed: Callable[[], bool]) -> None:
    """Wait until ``changed`` returns true."""
    took_s = 0.0
    while True:
        time.sleep(max(_LEAST_PAUSE_S, _SHARE * took_s))
        started = time.perf_counter()
        if changed():
            return
        took_s = time.perf_counter() - started


def _clock() -> str:
    return time.strftime("%H:%M:%S")


def fixed(paths: tuple[str, ...], options: Options, *, unsafe: bool) -> Report:
    """Fix files, print the number of fixed findings, and return the report of the remaining ones."""
    from lossless import api

    done = api.fix(paths, options, unsafe=unsafe)
    for file in done.changed:
        problem(f"wrote {file}")
    problem(_count(done))
    _tell_refused(done)
    return done.report


def show_diff(paths: tuple[str, ...], options: Options, *, unsafe: bool) -> int:
    """Print the changes of a fix as a unified diff; return 2 for a problem in the input, 1 for any change, else 0."""
    from difflib import unified_diff

    from lossless import api

    done = api.fix(paths, options, unsafe=unsafe, write=False)
    for file, (before, after) in done.shown.items():
        lines = unified_diff(before.splitlines(), after.splitlines(), file, f"{file} (fixed)", lineterm="")
        out("\n".join(lines))
    problem(_count(done, would=True))
    _tell_refused(done)
    for error in done.report.errors:
        problem(str(error))
    return FAILED if done.report.errors else FINDINGS if done.changed else OK


def _count(done: FixResult, *, would: bool = False) -> str:
    many, files = len(done.findings), len(done.changed)
    verb = "would fix" if would else "fixed"
    return f"{verb} {many} finding{'' if many == 1 else 's'} in {files} file{'' if files == 1 else 's'}"


def _tell_refused(done: FixResult) -> None:
    for finding, drawn in done.refused:
        problem(
            f"not fixed: {finding.code} at {finding.object} of {finding.origin.file}: that would cause {drawn}"
        )
