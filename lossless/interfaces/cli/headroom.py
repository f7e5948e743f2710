"""``lossless headroom``: the headroom calculation, term by term, beside the configured headroom."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from lossless.interfaces.cli.app import COMMANDS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import (
    InputPath,
    Number,
    api_options,
    how_much,
    profiles,
    rdma_dscp,
    written_as,
)
from lossless.interfaces.cli.options.quantities import (
    CABLE,
    DELAY,
    LOSSLESS_MTU,
    PERCENT,
    PORT_MTU,
    RATE,
)
from lossless.interfaces.cli.options.rules import configuration_options
from lossless.interfaces.cli.terminal import notice, out, out_json, style_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import HeadroomInputs, Headrooms, Options
    from lossless.interfaces.cli.options.rules import LintSelection

_VERSION = 1
"""The version of the keys in the JSON object."""
_OF_A_LINK = {
    "hwsku": "--hwsku",
    "speed_bps": "--speed",
    "cable_m": "--cable",
    "port_mtu_bytes": "--mtu",
    "lanes": "--lanes",
    "shared_headroom": "--shared-headroom",
}
"""Options that describe a link without a file, by their parameter: with a file they are refused."""


@click.command("headroom", short_help=COMMANDS["headroom"])
@click.argument("path", metavar="[PATH]", required=False, type=InputPath())
@click.option("--port", "ports", metavar="PORT", multiple=True, help="A port in PATH; may be repeated.")
@click.option("--profile", metavar="NAME", help="Instead of PATH: a switch (see profiles).")
@click.option("--hwsku", metavar="NAME", help="Its HWSKU (default: the profile's own).")
@click.option("--speed", "speed_bps", type=RATE, help="Speed of the link.")
@click.option("--cable", "cable_m", type=CABLE, help="Length of the cable.")
@click.option("--mtu", "port_mtu_bytes", type=PORT_MTU, help="Largest frame of the port.")
@click.option("--lanes", type=Number(1, 8), metavar="N", help="Lanes of the port; 8 change xon and size.")
@click.option(
    "--shared-headroom/--no-shared-headroom", default=None, help="Whether groups share a headroom pool."
)
@click.option("--lossless-mtu", "lossless_mtu_bytes", type=LOSSLESS_MTU, help="Largest lossless packet.")
@click.option(
    "--small-packets", "small_packet_percent", type=PERCENT, help="Part of the packets that have 64 bytes."
)
@click.option("--gearbox", "gearbox_ns", type=DELAY, help="Delay of a gearbox, one way.")
@click.option(
    "--peer-response", "peer_response_ns", type=DELAY, help="How long the peer takes to stop sending."
)
@rdma_dscp
@profiles
@configuration_options
@written_as("the headroom is")
@how_much("the sources of the methods, and every kind of port")
def command(
    path: str | None,
    ports: tuple[str, ...],
    profile: str | None,
    rdma_dscps: tuple[int, ...],
    profile_dirs: tuple[str, ...],
    selection: LintSelection,
    output_format: str,
    verbose: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Show the headroom calculation beside what is configured.

    Three independent methods: the vendor's row, SONiC's formula, and a floor by physics. With PATH, an intent,
    a config_db.json or a folder of them: every kind of lossless port with its margins; --port adds the calculation.
    With --profile, --speed and --cable: the calculation for a link that is in no file. Exit codes: 0 shown, 2 not
    shown.
    """
    _check_question(path, ports, profile, given)
    if profile is None:
        options = selection.added_to(api_options(rdma_dscps, profile_dirs))
        kinds = _of_ports(path or "", ports, options, given).kinds()
    else:
        kinds = _of_link(profile, profile_dirs, given).kinds()
    sums = profile is not None or bool(ports)
    _say_unused({given_input.name for kind in kinds for given_input in kind.inputs}, given)
    if output_format == "json":
        from lossless.output.report.plain import plain

        out_json({"version": _VERSION, "kinds": plain(kinds)})
    else:
        from lossless.output.report.quantities import headroom_text

        out(headroom_text(kinds, style_for(sys.stdout, verbose=verbose), sums=sums))
        _go_on(path, profile, kinds[0].elements if kinds else (), sums=sums, quiet=quiet)
    return OK


def _go_on(path: str | None, profile: str | None, ports: Sequence[str], *, sums: bool, quiet: bool) -> None:
    if path is None:
        then("profiles", profile or "", quiet=quiet, because="shows all that is known of the switch")
    elif ports and not sums:
        then("headroom", path, "--port", ports[0], quiet=quiet, because="shows the calculation")
    elif ports:
        then("simulate", path, quiet=quiet, because="runs traffic through the buffers")


def _check_question(
    path: str | None, ports: Sequence[str], profile: str | None, given: dict[str, Any]
) -> None:
    if path is not None and profile is not None:
        raise click.UsageError("PATH or --profile, not both: a file says itself which switch it is")
    if path is None and profile is None:
        raise click.UsageError("name a PATH, or a switch with --profile, --speed and --cable")
    if profile is None:
        extra = [option for name, option in _OF_A_LINK.items() if given[name] is not None]
        if extra:
            raise click.UsageError(f"{', '.join(extra)}: a file says this itself; it belongs to --profile")
        return
    if ports:
        raise click.UsageError("--port names a port in PATH; --profile is for a link that is in no file")
    missing = [
        option
        for option in ("--speed", "--cable")
        if given[next(name for name, known in _OF_A_LINK.items() if known == option)] is None
    ]
    if missing:
        raise click.UsageError(f"--profile also needs {' and '.join(missing)}")


def _of_ports(path: str, ports: Sequence[str], options: Options, given: dict[str, Any]) -> Headrooms:
    from lossless import api

    return api.headroom_of_ports(path, ports, stated=_stated(given), options=options)


def _of_link(profile: str, profile_dirs: Sequence[str], given: dict[str, Any]) -> Headrooms:
    from lossless import api

    return api.headroom_of_link(
        profile,
        given["speed_bps"],
        given["cable_m"],
        hwsku=given["hwsku"],
        stated=_stated(given),
        options=api_options((), profile_dirs),
    )


def _stated(given: dict[str, Any]) -> HeadroomInputs:
    from lossless.api import HeadroomInputs

    return HeadroomInputs(**{name: given[name] for name in HeadroomInputs._fields})


def _say_unused(asked: set[str], given: dict[str, Any]) -> None:
    """Report given options without an effect: SONiC has no formula for the chip, or its formula does not use them."""
    unused = [option for name, option, of in _OF_THE_FORMULA if given[name] is not None and of not in asked]
    if unused:
        notice(f"{', '.join(unused)}: not used here, by any method")


_OF_THE_FORMULA = (
    ("lossless_mtu_bytes", "--lossless-mtu", "lossless MTU"),
    ("small_packet_percent", "--small-packets", "small packets"),
    ("gearbox_ns", "--gearbox", "gearbox"),
    ("lanes", "--lanes", "lanes"),
    ("shared_headroom", "--shared-headroom", "shared headroom"),
)
"""Options that only SONiC's formula uses: parameter, option, and the name of the input of the formula."""
