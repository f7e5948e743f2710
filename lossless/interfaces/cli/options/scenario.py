"""Options that describe the simulated traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.units import parse_percent, parse_rate, parse_size
from lossless.interfaces.api.simulate import (
    LEAST_NICS,
    LOAD_BALANCING,
    MOST_EVENTS,
    PATTERN,
    PATTERNS,
    SEEDS,
    Limits,
    Question,
    SimulationRequest,
)
from lossless.interfaces.cli.options import OneOf
from lossless.interfaces.cli.options.quantities import Quantity, parse_frames
from lossless.interfaces.cli.progress import ProgressBar, compiling

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.interfaces.api.profiles import NicProfile


_OPTIONS = (
    click.option(
        "--workload", type=OneOf(PATTERNS), default=Question().pattern, show_default=True, help="Traffic pattern."
    ),
    click.option(
        "--size", type=Quantity("SIZE", parse_size), default=PATTERN.size, show_default=True,
        help="What each NIC sends in one step.",
    ),
    click.option("--nics", type=click.IntRange(LEAST_NICS), metavar="N", help="How many NIC ports take part at most."),
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
        "--seeds", type=click.IntRange(1), metavar="N", default=SEEDS, show_default=True, help="Number of random seeds."
    ),
    click.option(
        "--max-events", type=click.IntRange(1), metavar="N", default=MOST_EVENTS, show_default=True,
        help="Refuse what would take more events than this.",
    ),
)  # fmt: skip


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make a question."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def question_of(given: dict[str, Any], profile_dirs: tuple[str, ...]) -> tuple[Question, Limits]:
    """Return the question and its limits that the options ask for."""
    question = Question(
        pattern=given["workload"],
        size_bytes=given["size"],
        nics=given["nics"],
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
    return question, Limits(seeds=given["seeds"], events=given["max_events"])


def _nic(name: str | None, profile_dirs: tuple[str, ...]) -> NicProfile | None:
    if name is None:
        return None
    from lossless.interfaces.api.profiles import load_nic

    try:
        return load_nic(name, profile_dirs)
    except ProfileError as error:
        raise ProfileError(f"--nic: {error}") from None


def ask_of(question: Question, limits: Limits, bar: ProgressBar) -> SimulationRequest:
    """Return a simulation request, with the progress display for a person."""
    return SimulationRequest(question, limits, compiling, bar)
