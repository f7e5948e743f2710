"""``lossless topology``: a fabric in numbers and as a picture; cabling files as the topology of an intent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.units import parse_length, parse_rate
from lossless.interfaces.cli.app import COMMANDS, FINDINGS, OK
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import InputPath, api_options, how_much, profiles, written_as
from lossless.interfaces.cli.reports import draw, write_report
from lossless.interfaces.cli.terminal import next_step, notice, out, out_json, problem, style_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_VERSION = 1
"""The version of the keys in the JSON objects."""
_ROLES = ("leaf", "spine", "super-spine", "switch", "host")
_TIERS = ("hosts", "uplinks", "spine_uplinks", "links")


def _pairs(values: Sequence[str], words: Sequence[str], what: str) -> list[tuple[str, str]]:
    """Return the word before the equals sign of each value, and the text after it.

    Raises:
        BadParameter: a value has no equals sign, nothing after it, or a word before it that is none of ``words``.
    """
    pairs = []
    for text in values:
        word, sign, rest = text.partition("=")
        if not sign or not rest or word not in words:
            raise click.BadParameter(f"{text!r} is not {what}, with one of {', '.join(words)}")
        pairs.append((word, rest))
    return pairs


def _roles(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> list[tuple[str, str]]:
    pairs = _pairs(values, _ROLES, "ROLE=PATTERN")
    return [(pattern, role) for role, patterns in pairs for pattern in patterns.split(",")]


def _by_tier(parse: Callable[[str], int], what: str) -> Callable[..., dict[str, int]]:
    def read(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, int]:
        quantities = {}
        for tier, text in _pairs(values, _TIERS, what):
            try:
                quantities[tier] = parse(text)
            except QuantityError as error:
                raise click.BadParameter(str(error)) from None
            if not quantities[tier]:
                raise click.BadParameter(f"{text!r} is nothing")
        return quantities

    return read


@click.command("topology", short_help=COMMANDS["topology"])
@click.argument("path", metavar="[INTENT]", required=False, type=InputPath())
@click.option("--svg", metavar="FILE", help="Also draw the fabric; a large one is folded.")
@click.option(
    "--against",
    metavar="INTENT",
    type=InputPath(),
    help="The current intent: instead of numbers, show which of its devices are renamed and which cables move.",
)
@click.option(
    "--pin",
    is_flag=True,
    help="With --against: print the names and ports to state beside the shape, so that no device or cable changes.",
)
@written_as("the numbers are")
@click.option(
    "--from",
    "files",
    metavar="FILE",
    type=InputPath(),
    multiple=True,
    help="Cables as CSV, LLDP of a device (DEVICE.txt, DEVICE.json), or an export of NetBox: with an intent what is "
    "cabled otherwise than it declares, without one the topology of an intent; may be repeated.",
)
@click.option(
    "--role",
    "roles",
    metavar="ROLE=PATTERN",
    multiple=True,
    callback=_roles,
    help="With --from: what devices are, by patterns of names, or of roles of the export: leaf='tor*', host=role:gpu.",
)
@click.option(
    "--speed",
    "speeds",
    metavar="TIER=RATE",
    multiple=True,
    callback=_by_tier(parse_rate, "TIER=RATE"),
    help="With --from: speed of links for which no file has one, as uplinks=800G.",
)
@click.option(
    "--cable",
    "cables",
    metavar="TIER=LENGTH",
    multiple=True,
    callback=_by_tier(parse_length, "TIER=LENGTH"),
    help="With --from: length of links for which no file has one, as hosts=3m.",
)
@click.option(
    "--exclude", metavar="PATTERN", multiple=True, help="With --from: devices to leave out, by their names."
)
@click.option("-o", "--output", metavar="FILE", help="With --from: file to write (default: it is printed).")
@how_much("the rows that long tables leave out")
@profiles
def command(
    path: str | None,
    svg: str | None,
    against: str | None,
    pin: bool,
    output_format: str,
    files: tuple[str, ...],
    roles: list[tuple[str, str]],
    speeds: dict[str, int],
    cables: dict[str, int],
    exclude: tuple[str, ...],
    output: str | None,
    verbose: bool,
    quiet: bool,
    profile_dirs: tuple[str, ...],
) -> int:
    """Show the devices, links and capacity of a fabric, and draw it.

    INTENT is a file, or a folder that holds fabric.yaml. With INTENT and --from, the cabling files are compared with
    the intent: cables that are missing, not declared, crossed, too long or of another speed. With --from alone they
    become the section `topology` of an intent; if they contradict each other or are incomplete, that is reported and
    nothing is written. Exit codes: 0 done, or no difference; 1 the cabling differs from the intent, or the intent
    changes devices or cables of the one given by --against; 2 something cannot be read.
    """
    alone = None if files else exclude
    stated = {"--role": roles, "--speed": speeds, "--cable": cables, "--exclude": alone, "-o": output}
    given = [name for name, value in stated.items() if value]
    _check_question(path, files, given, pins_alone=pin and against is None)
    if path is not None and files:
        if svg is not None or against is not None:
            raise click.UsageError("--svg and --against are for an intent alone; leave --from out")
        return _checked(path, files, exclude, output_format, profile_dirs)
    if path is None:
        if svg is not None or against is not None or output_format == "json":
            raise click.UsageError("--svg, --against and --format are for an intent")
        return _cabled(files, roles, speeds, cables, exclude, output, quiet=quiet)
    if against is not None:
        if svg is not None:
            raise click.UsageError("--svg draws one fabric; it does not go with --against")
        if pin:
            return _pins(path, against, output_format, profile_dirs)
        return _compared(path, against, output_format, profile_dirs, verbose=verbose, quiet=quiet)
    return _described(path, svg, output_format, profile_dirs, verbose=verbose, quiet=quiet)


def _check_question(
    path: str | None, files: Sequence[str], given: Sequence[str], *, pins_alone: bool
) -> None:
    if path is None and not files:
        raise click.UsageError("name an intent, or files with --from, or both to compare them")
    if pins_alone:
        raise click.UsageError("--pin is for --against")
    if path is not None and given:
        raise click.UsageError(f"{given[0]} is for --from" + (" without an intent" if files else ""))


def _compared(
    path: str,
    against: str,
    output_format: str,
    profile_dirs: tuple[str, ...],
    *,
    verbose: bool,
    quiet: bool,
) -> int:
    from lossless import api

    moves = api.moves(path, against, api_options((), profile_dirs))
    if output_format == "json":
        from lossless.output.report.topology.text import recabling_data

        out_json({"version": _VERSION, "intent": path, "against": against, **recabling_data(moves)})
    else:
        from lossless.output.report.topology.text import recabling_text

        out(recabling_text(moves, path, against, style_for(sys.stdout, verbose=verbose)))
        if moves.stays:
            then("render", path, "-o", "out", quiet=quiet, because="writes the configurations")
        else:
            pin = (path, "--against", against, "--pin")
            then("topology", *pin, quiet=quiet, because="prints what to state so that nothing moves")
    return OK if moves.stays else FINDINGS


def _pins(path: str, against: str, output_format: str, profile_dirs: tuple[str, ...]) -> int:
    from lossless import api

    pins = api.pins(path, against, api_options((), profile_dirs))
    if output_format == "json":
        from lossless.output.report.plain import plain

        out_json({"version": _VERSION, "intent": path, "against": against, **plain(pins)})
    elif any(pins):
        from lossless.output.report.topology.text import pins_yaml

        out(pins_yaml(pins.names, pins.ports), "json")
        notice(f"stated beside the shape of {path}, this keeps all devices and cables of {against}")
    else:
        problem("nothing to state: no device is renamed, and no cable moves")
    return OK


def _described(
    path: str,
    svg: str | None,
    output_format: str,
    profile_dirs: tuple[str, ...],
    *,
    verbose: bool,
    quiet: bool,
) -> int:
    from lossless import api
    from lossless.ground.documents.atomic import require_writable

    if svg is not None:
        require_writable(svg)
    topology = api.topology(path, api_options((), profile_dirs))
    if output_format == "json":
        from lossless.output.report.plain import plain

        out_json({"version": _VERSION, **plain(topology.summary)})
    else:
        from lossless.output.report.topology.text import capacity_text, topology_text

        style = style_for(sys.stdout, verbose=verbose)
        texts = topology_text(topology.summary, style), capacity_text(topology.summary.capacity, style)
        out("\n\n".join(filter(None, texts)))
    if svg is not None:
        from lossless.output.report.topology.svg import topology_svg

        draw(svg, topology_svg(topology.picture))
    elif output_format == "text":
        then("topology", path, "--svg", "fabric.svg", quiet=quiet, because="draws it")
    return OK


def _checked(
    path: str,
    files: tuple[str, ...],
    exclude: tuple[str, ...],
    output_format: str,
    profile_dirs: tuple[str, ...],
) -> int:
    from lossless import api
    from lossless.interfaces.cli.options.lint import DEFAULT_REPORT

    report = api.cabled_as_declared(path, files, exclude=exclude, options=api_options((), profile_dirs))
    write_report(report, {}, DEFAULT_REPORT._replace(form=output_format, verbose=True), ("error", "warning"))
    return FINDINGS if any(finding.severity != "info" for finding in report.findings) else OK


def _cabled(
    files: tuple[str, ...],
    roles: list[tuple[str, str]],
    speeds: dict[str, int],
    cables: dict[str, int],
    exclude: tuple[str, ...],
    output: str | None,
    *,
    quiet: bool,
) -> int:
    from lossless import api
    from lossless.ground.documents.atomic import require_writable, write_all

    if output is not None:
        require_writable(output)
    cabling = api.cabled_topology(files, roles=roles, speeds=speeds, cables=cables, exclude=exclude)
    if output is None:
        out(cabling.text.rstrip("\n"), "json")
    else:
        write_all({output: cabling.text})
    devices = f"{cabling.devices:,} device{'' if cabling.devices == 1 else 's'}"
    links = f"{cabling.links:,} link{'' if cabling.links == 1 else 's'}"
    problem(f"{devices} and {links}" + (f" in {output}" if output else ""))
    next_step(f"state it in an intent{f', from {output}' if output else ''}, then lossless lint", quiet=quiet)
    return OK
