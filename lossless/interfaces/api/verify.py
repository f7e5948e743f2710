"""Verify: captures of running switches, hosts and subnets, compared with what is configured and intended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import Problem
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lossless.checks.lint.running import Intended
    from lossless.formats.inputs.captures import CapturedDevice, CaptureInputs


def verify(
    paths: Sequence[str | PathLike[str]],
    *,
    since: Sequence[str | PathLike[str]] = (),
    options: Options = DEFAULT_OPTIONS,
) -> Report:
    """Return what captures at some paths show, against the configurations and the intent among them.

    ``since`` are captures of the same devices at an earlier time: counters then count from there.
    """
    from lossless.checks.lint.running import running_devices, verified
    from lossless.checks.rules.selectors import RuleChoice, chosen as codes_chosen
    from lossless.formats.inputs.captures import gather_captures
    from lossless.formats.inputs.devices import DeviceReader

    inputs, earlier = gather_captures(paths), gather_captures(since)
    errors: list[Problem] = [*inputs.problems, *earlier.problems]
    errors += _without_captures(paths, inputs) + (_without_captures(since, earlier) if since else [])
    errors += _out_of_order(inputs.devices, earlier.devices)
    intended = _intended(inputs, options, errors)
    reader = DeviceReader(options.profile_dirs, options.rdma_dscps)
    chosen = codes_chosen(RuleChoice(options.select, options.ignore))
    verdicts = verified(
        running_devices(inputs.devices, earlier.devices, intended, reader), chosen, intended.links
    )
    return Report(
        verdicts.findings,
        tuple(errors),
        verdicts.not_checked,
        {**earlier.documents, **inputs.documents},
        beside=len(inputs.intents) + len(earlier.documents),
    )


def _without_captures(paths: Sequence[str | PathLike[str]], inputs: CaptureInputs) -> list[Problem]:
    """Return that nothing at some paths shows running state, where nothing does: silence would look like health."""
    if inputs.devices or inputs.problems:
        return []
    where = ", ".join(map(str, paths))
    return [Problem(where, None, None, "no capture of running state here, and so nothing to verify")]


def _out_of_order(now: Sequence[CapturedDevice], earlier: Sequence[CapturedDevice]) -> Iterator[Problem]:
    """Yield devices of which the capture at an earlier time was taken later, by their own clocks."""
    times = {device.name: device.taken_at for device in now}
    for device in earlier:
        then, later = device.taken_at, times.get(device.name)
        if then is not None and later is not None and then > later:
            message = (
                f"this capture of {device.name} is named as the earlier one and was taken {then - later:,} s after "
                "the other: they are swapped, or the clock was set back between them"
            )
            yield Problem(device.captures[0].file, None, None, message)


def _intended(inputs: CaptureInputs, options: Options, errors: list[Problem]) -> Intended:
    """Return what the intents among captures want, by device."""
    from lossless.checks.lint.running import Intended
    from lossless.formats.inputs.intents import declarations_of

    fabrics, problems, _ = declarations_of(inputs.intents, options.profile_dirs)
    errors += problems
    return Intended(
        {switch.name: switch for fabric in fabrics for switch in fabric.switches},
        {host.name: host.qos for fabric in fabrics for host in fabric.hosts},
        tuple(link for fabric in fabrics for link in fabric.links),
    )
