"""The result of opensm for a subnet, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.output.report.columns import PLAIN, TextStyle, facts, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.opensm.check import OpensmResult

_STATES = {"free": "none", "loop": "found", "unproven": "unproven"}


def opensm_text(result: OpensmResult, style: TextStyle = PLAIN) -> str:
    """Return the result of opensm for one subnet: its configuration, the sweep, credit loops, and errors."""
    result = spelled_out(result)
    file, subnet = result.file, result.subnet
    head = file if subnet == file else f"{file}: subnet {subnet}"
    return "\n".join([wrapped(head, style), *_verdict(result, style), facts([*_facts(result)], style, "  ")])


def _facts(result: OpensmResult) -> Iterator[tuple[str, str]]:
    keys, simulated, loops = result.configuration, result.simulated, result.credit_loops
    yield ("configuration", f"{keys.read} keys read, {keys.changed} read with another value")
    if keys.left_out:
        yield ("", f"left out (only NVIDIA's opensm knows them): {', '.join(keys.left_out)}")
    if simulated is not None:
        nodes = f"{simulated.switches} switches, {simulated.hcas} HCAs"
        state = f"up in {simulated.seconds:.2f} s" if simulated.up else "not up"
        yield "simulated subnet", f"{nodes}: {state}"
        yield "routing engine", _engine(result.intended_engine, simulated.engine, keys.left_out)
        yield "partitions", simulated.partitions
        for note in simulated.notes:
            yield "", note
    yield "credit loops", f"{_STATES[loops.state]}: {loops.why}"
    for hop in loops.loop:
        yield "", hop


def _engine(intended: str, engine: str | None, left_out: Sequence[str]) -> str:
    if engine == intended:
        return engine
    if f"routing_engine {intended}" in left_out:
        return f"{engine} here; {intended} is intended"
    return (
        f"none; {intended} is intended" if engine is None else f"{engine}, a fallback; {intended} is intended"
    )


def _verdict(result: OpensmResult, style: TextStyle) -> Iterator[str]:
    if result.complaints:
        yield "  not as intended:"
        for complaint in result.complaints:
            yield wrapped(complaint, style, "    ")
    elif result.configuration.left_out:
        yield "  upstream opensm accepts every key that it knows"
    elif result.credit_loops.state == "unproven":
        yield "  opensm accepts it as intended; credit loops stay unproven"
    else:
        yield "  opensm accepts it as intended"
