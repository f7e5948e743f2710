"""Options for quantities with units, simulated traffic, and the cluster that simulates settings.

Bounds of cables, frames and delays catch a wrong unit: 40 km in place of 40 m is a possible link, 40,000 km is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.errors import ProfileError, QuantityError
from lossless.ground.basics.limits import FRAMES_AHEAD
from lossless.ground.basics.units import (
    BLANKS,
    LONGEST_QUANTITY,
    format_bytes,
    format_duration,
    parse_duration,
    parse_length,
    parse_percent,
    parse_rate,
    parse_size,
    parse_work_time,
    unsigned_number,
)
from lossless.interfaces.api.simulate import (
    LEAST_NICS,
    LOAD_BALANCING,
    MOST_EVENTS,
    PATTERN,
    PATTERNS,
    RAIL_TRAFFIC,
    SEEDS,
    Limits,
    Question,
    SimulationRequest,
)
from lossless.interfaces.cli.options import Number, OneOf
from lossless.interfaces.cli.progress import ProgressBar, compiling
from lossless.interfaces.cli.terminal import problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.interfaces.api.reference import NicProfile


_LONGEST_CABLE_M = 1_000_000
_LONGEST_DELAY_NS = 1_000_000
_LONGEST_WORK_S = 7 * 24 * 3600
LEAST_MTU_BYTES, MOST_MTU_BYTES = 68, 9216
"""Range of PORT|mtu (sonic-port.yang @086b03b)."""
MOST_LOSSLESS_MTU_BYTES = 9216
"""Maximum of LOSSLESS_TRAFFIC_PATTERN|mtu (sonic-lossless-traffic-pattern.yang @086b03b)."""
_SMALLEST_PACKET_BYTES = 64


class Quantity(click.ParamType):  # type: ignore[type-arg]
    """A parameter that takes a quantity with its unit, such as ``400G`` or ``3m``."""

    def __init__(self, name: str, parse: Callable[[str], int]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the quantity in its base unit; an integer, such as a default, is returned as it is."""
        if isinstance(value, int):
            return value
        if len(value) > LONGEST_QUANTITY:
            self.fail(f"{value[:20]!r}... is no quantity: it has {len(value):,} characters", param, ctx)
        try:
            return self._parse(value)
        except QuantityError as error:
            self.fail(str(error), param, ctx)


def _cable(text: str) -> int:
    length_m = parse_length(text)
    if not 0 < length_m <= _LONGEST_CABLE_M:
        raise QuantityError(f"{text!r} is no cable: it has 1 m to {_LONGEST_CABLE_M // 1000:,} km")
    return length_m


def _rate(text: str) -> int:
    rate_bps = parse_rate(text)
    if rate_bps == 0:
        raise QuantityError(f"{text!r} is no speed")
    return rate_bps


def _bytes(text: str, what: str) -> int:
    """Return the size of a frame from a number of bytes, or a size with its unit.

    Raises:
        QuantityError: the text is neither; the message names it ``what``.
    """
    size_bytes = unsigned_number(text)
    if size_bytes is not None:
        return size_bytes
    try:
        return parse_size(text)
    except QuantityError as error:
        raise QuantityError(f"{text!r} is no {what}; write bytes, like 9100 or 4 KiB") from error


def _frame(what: str, least_bytes: int, most_bytes: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        size_bytes = _bytes(text, what)
        if not least_bytes <= size_bytes <= most_bytes:
            limits = f"{least_bytes} to {format_bytes(most_bytes)}"
            raise QuantityError(f"{text!r} is no {what}: it has {limits}")
        return size_bytes

    return read


def _delay(text: str) -> int:
    delay_ns = parse_duration(text)
    if delay_ns > _LONGEST_DELAY_NS:
        raise QuantityError(
            f"{text!r} is no delay on a link: it has at most {format_duration(_LONGEST_DELAY_NS)}"
        )
    return delay_ns


def _work_time(text: str) -> int:
    """Return the time that a work step takes, in whole seconds, rounded up."""
    seconds = -(-parse_work_time(text) // 10**9)
    if not 0 < seconds <= _LONGEST_WORK_S:
        raise QuantityError(f"{text!r} is no time for a step: it takes 1 s to {_LONGEST_WORK_S // 3600} h")
    return seconds


RATE = Quantity("RATE", _rate)
CABLE = Quantity("LENGTH", _cable)
PORT_MTU = Quantity("BYTES", _frame("MTU of a port", LEAST_MTU_BYTES, MOST_MTU_BYTES))
LOSSLESS_MTU = Quantity("BYTES", _frame("lossless packet", _SMALLEST_PACKET_BYTES, MOST_LOSSLESS_MTU_BYTES))
PERCENT = Quantity("PERCENT", parse_percent)
DELAY = Quantity("TIME", _delay)
WORK_TIME = Quantity("TIME", _work_time)


def parse_frames(text: str) -> int:
    """Return the number of frames that a NIC accepts ahead of the next in order, 0 for ``any``.

    Raises:
        QuantityError: the text is neither ``any`` nor a number in range.
    """
    if text.strip().lower() == "any":
        return 0
    frames = unsigned_number(text.strip(BLANKS))
    if frames is None or not 1 <= frames <= FRAMES_AHEAD:
        raise QuantityError(f"{text!r} is no number of frames; expected 1 to {FRAMES_AHEAD:,}, or any")
    return frames


traffic_option = click.option(
    "--traffic", type=OneOf(RAIL_TRAFFIC), default=Question().traffic, show_default=True,
    help="Where NIC ports send to in a fabric with rails: to their own rail, or to any.",
)  # fmt: skip
_OPTIONS = (
    click.option(
        "--workload", type=OneOf(PATTERNS), default=Question().pattern, show_default=True, help="Traffic pattern."
    ),
    click.option(
        "--size", type=Quantity("SIZE", parse_size), default=PATTERN.size, show_default=True,
        help="What each NIC sends in one step.",
    ),
    traffic_option,
    click.option("--nics", type=Number(LEAST_NICS), metavar="N", help="How many NIC ports take part at most."),
    click.option(
        "--target", metavar="NAME", help="NIC port that an incast goes to, or that is dead or slow: host1:port1."
    ),
    click.option(
        "--class", "traffic_class", metavar="NAME", help="Lossless class, by name or priority (default: the first)."
    ),
    click.option(
        "--storage", type=Quantity("PERCENT", parse_percent), default="0%",
        help="Part of each NIC's traffic that is storage, in its own class.",
    ),
    click.option(
        "--storage-class", metavar="NAME",
        help="Class of that storage (default: that of the storage network, else that of all other DSCPs).",
    ),
    click.option(
        "--load-balancing", type=OneOf(LOAD_BALANCING),
        help="How switches choose among equal paths (default: as the intent says, else ecmp).",
    ),
    click.option(
        "--reorder", type=Quantity("FRAMES", parse_frames), help="Frames that NICs take ahead of the one due, or any."
    ),
    click.option(
        "--link-down", "failed", metavar="SWITCH:PORT", multiple=True, help="Port whose link is down; may be repeated."
    ),
    click.option("--dead-nic", is_flag=True, help="The target pauses its switch permanently."),
    click.option(
        "--slow-nic", type=Quantity("RATE", parse_rate), help="The target takes in no more than this."
    ),
    click.option("--nic", metavar="PROFILE", help="NIC to assume where the fabric names none (see profiles)."),
    click.option(
        "--seeds", type=Number(1), metavar="N", show_default=f"{SEEDS}, fewer in large fabrics",
        help="Number of random seeds.",
    ),
    click.option(
        "--max-events", type=Number(1), metavar="N", default=MOST_EVENTS, show_default=True,
        help="Refuse what would take more events than this.",
    ),
)  # fmt: skip


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of simulated traffic to a command: those of the scenario, and the limits of the simulation."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def question_of(given: dict[str, Any], profile_dirs: tuple[str, ...]) -> tuple[Question, Limits]:
    """Return the traffic to simulate and the limits of the simulation, from the values of the options by name."""
    question = Question(
        pattern=given["workload"],
        size_bytes=given["size"],
        nics=given["nics"],
        traffic=given["traffic"],
        target=given["target"],
        traffic_class=given["traffic_class"],
        storage=given["storage"] / 100,
        storage_class=given["storage_class"],
        failed=given["failed"],
        load_balancing=given["load_balancing"],
        ahead_frames=given["reorder"],
        dead_nic=given["dead_nic"],
        slow_nic_bps=given["slow_nic"],
        nic=_nic(given["nic"], profile_dirs),
    )
    return question, seed_limits(given["seeds"])._replace(events=given["max_events"])


def seed_limits(seeds: int | None) -> Limits:
    """Return the limits of simulations for ``--seeds``; with that option a report has no budget of events."""
    return Limits() if seeds is None else Limits(seeds=seeds, budget=None)


def _nic(name: str | None, profile_dirs: tuple[str, ...]) -> NicProfile | None:
    if name is None:
        return None
    from lossless.interfaces.api.reference import load_nic

    try:
        return load_nic(name, profile_dirs)
    except ProfileError as error:
        raise ProfileError(f"--nic: {error}") from None


def ask_of(question: Question, limits: Limits, bar: ProgressBar) -> SimulationRequest:
    """Return a simulation request that reports compilation, and its progress on a bar."""
    return SimulationRequest(question, limits, compiling, bar)


cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS|local[:N]",
    help="Try settings on the workers of a dask scheduler, or in N processes of this machine (default: all cores).",
)


def waiting() -> None:
    """Report that the scheduler of the cluster has no worker yet."""
    problem("no worker has registered with the scheduler yet: waiting for one")
