"""``lossless lsp``: a language server on standard input and output, for editors."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.programs import install_command
from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.options import api_options, profiles, rdma_dscp
from lossless.interfaces.cli.options.rules import selection_options
from lossless.interfaces.cli.terminal import BytesWriter, standard_input, unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.interfaces.cli.options.rules import LintSelection


@click.command("lsp", short_help=COMMANDS["lsp"])
@rdma_dscp
@profiles
@selection_options
@click.option(
    "--stdio",
    is_flag=True,
    help="Accepted since many editors pass it; standard input and output are always used.",
)
def command(
    rdma_dscps: Sequence[int],
    profile_dirs: Sequence[str],
    selection: LintSelection,
    stdio: bool,  # noqa: ARG001
) -> int:
    """Check files in an editor while they are edited.

    Intents and config_db.json files. Speaks the Language Server Protocol on standard input and output:
    diagnostics, quick fixes, hovers that explain a rule or a key, and completion of keys. An editor starts
    it; there is nothing to type here.
    """
    from importlib.util import find_spec

    if find_spec("pygls") is None:
        raise LosslessError(f"the language server needs pygls: {install_command('lsp')}")
    from lossless.interfaces.lsp.server import server

    options = api_options(rdma_dscps, profile_dirs)
    # Asked for again each time: an editor stays open for days.
    made = server(lambda: selection.added_to(options))
    # It closes what it writes to; ours is flushed once more at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stdout:
        writer = BytesWriter(stdout)
        made.serve(standard_input(), writer)
    if writer.failure is not None:
        raise unwritable(writer.failure, "standard output")
    # As the protocol has it: 1 where a client leaves without a word.
    return OK if made.dismissed else FINDINGS
