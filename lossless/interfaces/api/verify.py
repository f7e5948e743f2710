"""Verify: compare captures of running switches, hosts and subnets with their configuration and intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.running import captured_state, intended_by

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.checks.lint.report import Report


def verify(
    paths: Sequence[str | PathLike[str]],
    *,
    since: Sequence[str | PathLike[str]] = (),
    options: Options = DEFAULT_OPTIONS,
) -> Report:
    """Compare the captures at some paths with the configurations and the intent among them, and return the findings.

    ``since`` are captures of the same devices at an earlier time: counters then count from there.
    """
    from lossless.checks.lint.running import verified
    from lossless.checks.rules.selectors import RuleChoice, chosen as codes_chosen
    from lossless.formats.inputs.intents import declarations_of

    captured = captured_state(paths, since, "verify")
    intents = captured.now.intents
    fabrics, problems, _ = declarations_of(intents, options.profile_dirs)
    intended = intended_by(fabrics)
    chosen = codes_chosen(RuleChoice(options.select, options.ignore))
    return verified(captured.devices(intended, options), intended, chosen)._replace(
        errors=(*captured.problems, *problems),
        documents=captured.documents,
        beside=len(intents) + len(captured.before.documents),
    )
