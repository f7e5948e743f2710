"""``lossless lint --watch``: files are checked again whenever one changes; the exit code is that of the last time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lossless.interfaces.cli.app import OK
from lossless.interfaces.cli.terminal import clear, finish, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.api import Options, Report

_LEAST_PAUSE_S = 0.2
_SHARE = 20
"""A look at all files is followed by a pause of so many times its length: little is taken from other work."""


def watched(
    paths: tuple[str, ...], options: Options, tell: Callable[[Report, Mapping[str, str]], int]
) -> int:
    """Check and report again and again until Ctrl-C; return the exit code of the last time."""
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
    """Return once something has changed."""
    took_s = 0.0
    while True:
        time.sleep(max(_LEAST_PAUSE_S, _SHARE * took_s))
        started = time.perf_counter()
        if changed():
            return
        took_s = time.perf_counter() - started


def _clock() -> str:
    return time.strftime("%H:%M:%S")
