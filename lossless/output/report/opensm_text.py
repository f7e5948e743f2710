"""The result of checking a subnet with opensm, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import spelled_out
from lossless.output.report.columns import PLAIN, TextStyle, facts, wrapped
from lossless.output.report.lint.summary import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.opensm.check import ConfigurationKeys, OpensmResult

_STATES = {"free": "none", "loop": "found", "unproven": "unproven"}


def opensm_text(result: OpensmResult, style: TextStyle = PLAIN) -> str:
    """Return the result of opensm for one subnet: verdict, configuration keys, simulated subnet and credit loops."""
    result = spelled_out(result)
    file, subnet = result.file, result.subnet
    head = file if subnet == file else f"{file}: subnet {subnet}"
    return "\n".join([wrapped(head, style), *_verdict(result, style), facts([*_facts(result)], style, "  ")])


def _facts(result: OpensmResult) -> Iterator[tuple[str, str]]:
    keys, simulated, loops = result.configuration, result.simulated, result.credit_loops
    yield ("configuration", f"{keys.read} keys read, {keys.changed} read with another value")
    if keys.not_checked:
        yield "not checked", counted(len(keys.not_checked), "option")
        for reason, names in grouped((one.reason, one.option) for one in keys.not_checked).items():
            yield "", f"{', '.join(names)}: {reason}"
    if simulated is not None:
        nodes = f"{simulated.switches} switches, {simulated.hcas} HCAs"
        state = f"up in {simulated.seconds:.2f} s" if simulated.up else "not up"
        yield "simulated subnet", f"{nodes}: {state}"
        yield "routing engine", _engine(result.intended_engine, simulated.engine, keys)
        yield "partitions", simulated.partitions
        for note in simulated.notes:
            yield "", note
    yield "credit loops", f"{_STATES[loops.state]}: {loops.why}"
    for hop in loops.loop:
        yield "", hop


def _engine(intended: str, engine: str | None, keys: ConfigurationKeys) -> str:
    if engine == intended:
        return engine
    if f"routing_engine {intended}" in {one.option for one in keys.not_checked}:
        return f"{engine} here; {intended} is intended"
    return (
        f"none; {intended} is intended" if engine is None else f"{engine}, a fallback; {intended} is intended"
    )


def _verdict(result: OpensmResult, style: TextStyle) -> Iterator[str]:
    if result.complaints:
        yield "  not as intended:"
        for complaint in result.complaints:
            yield wrapped(complaint, style, "    ")
    elif result.configuration.not_checked:
        yield "  opensm accepts every option that it was given"
    elif result.credit_loops.state == "unproven":
        yield "  opensm accepts it as intended; credit loops stay unproven"
    else:
        yield "  opensm accepts it as intended"
