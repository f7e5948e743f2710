"""The command line: modules of commands, each imported only when it is needed.

No other package writes to the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_GARBAGE_THRESHOLD = 200_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    That is 0 clean, 1 findings (of lint: errors, or as ``--fail-on`` says), 2 failed, 130 interrupted, 141 output pipe
    closed. Without ``argv`` the arguments of the process are taken, and its garbage collector is kept from walking
    over modules that live as long as the process, which costs as much as starting Python. Plugins of pydantic that
    other packages install are left out then: they must not see the inputs read here.
    """
    import gc
    import os

    if argv is None:
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        # Before anything else is imported: that alone would set off a dozen collections.
        gc.set_threshold(_GARBAGE_THRESHOLD)
    from lossless.interfaces.cli.app import run

    code = run(argv)
    if argv is None:
        gc.freeze()
    return code
