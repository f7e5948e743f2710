"""``lossless opensm``: checks an InfiniBand subnet with a real opensm; that of an intent on a simulated fabric."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import is_intent, then
from lossless.interfaces.cli.options import InputPath, api_options, profiles, written_as
from lossless.interfaces.cli.terminal import out, out_json, style_for

_VERSION = 1
"""The version of the keys in the JSON object."""


@click.command("opensm", short_help=COMMANDS["opensm"])
@click.argument("path", metavar="PATH", type=InputPath())
@profiles
@written_as("the result is")
@click.option("-q", "--quiet", is_flag=True, help="No hint at what to run next.")
def command(path: str, profile_dirs: tuple[str, ...], output_format: str, quiet: bool) -> int:
    """Let a real opensm check an InfiniBand subnet.

    PATH is the intent of a subnet, or a folder that holds fabric.yaml. The files that render would write are read by
    the opensm that is installed here; ibsim simulates the same fabric, and opensm brings it up. The result says which
    engine routes it, whether opensm read every value as written, whether the routing tables have a credit loop (lane
    by lane), which lanes have no weight, and the members of each partition. PATH may also be an opensm.conf: it is
    read without a fabric.

    Needs opensm, ibsim and the extra sim; neither root nor a network. Exit codes: 0 accepted as intended, 1 not so,
    2 not checked.
    """
    from lossless import api

    result = api.check_with_opensm(path, api_options((), profile_dirs))
    if output_format == "json":
        from lossless.output.report.plain import plain

        out_json({"version": _VERSION, **plain(result)})
    else:
        from lossless.output.report.topology.text import opensm_text

        out(opensm_text(result, style_for(sys.stdout)))
        if is_intent(path) and result.accepted:
            then("render", path, "-o", "out", quiet=quiet, because="writes the files")
        else:
            then("lint", path, quiet=quiet, because="checks the subnet by rules")
    return OK if result.accepted else FINDINGS
