"""The options that choose rules, the configuration, the baseline and the files to leave out."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.cli.options import InputPath, complete_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from lossless.api import Options


class LintSelection(NamedTuple):
    """The chosen rules, configuration, baseline and exclusions of a run.

    ``configured`` is whether configuration files are searched. ``baseline`` is None for the configured one, empty
    for none.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    configured: bool = True
    configuration: str | None = None
    baseline: str | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool | None = None

    def added_to(self, options: Options) -> Options:
        """Return options of the API with the rules, configuration, baseline and exclusions of this selection."""
        return options._replace(**self._asdict())


def _selectors(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the words of one or more comma lists, each the code, name or family of a rule.

    Raises:
        BadParameter: a word matches no rule.
    """
    words = tuple(word.strip() for value in values for word in value.split(","))
    if words:
        from lossless.interfaces.api.reference import unknown_selector

        for reason in filter(None, map(unknown_selector, words)):
            raise click.BadParameter(reason)
    return words


def _patterns(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the file patterns of one or more comma lists.

    Raises:
        BadParameter: a pattern is empty or longer than GLOB_CHARACTERS.
    """
    from lossless.ground.basics.limits import GLOB_CHARACTERS

    patterns = tuple(word.strip() for value in values for word in value.split(","))
    for pattern in patterns:
        if not pattern or len(pattern) > GLOB_CHARACTERS:
            raise click.BadParameter(f"expected patterns of 1 to {GLOB_CHARACTERS:,} characters each")
    return patterns


_FILE = InputPath(exists=True, dir_okay=False)
_CONFIGURATION = (
    click.option(
        "--config", "configuration", metavar="FILE", type=_FILE, help="Use this configuration for all files."
    ),
    click.option("--no-config", is_flag=True, help="Look for no lossless.toml or pyproject.toml."),
)
_RULES = (
    click.option(
        "--select",
        metavar="RULE[,RULE...]",
        multiple=True,
        callback=_selectors,
        shell_complete=complete_rules,
        help="Only these rules: codes, names, families (WD001, watchdog-missing, WD), whatever is configured.",
    ),
    click.option(
        "--ignore",
        metavar="RULE[,RULE...]",
        multiple=True,
        callback=_selectors,
        shell_complete=complete_rules,
        help="Leave out these rules.",
    ),
)
_EXCLUSIONS = (
    click.option(
        "--exclude",
        metavar="PATTERN[,PATTERN...]",
        multiple=True,
        callback=_patterns,
        help="Files and folders not to search, from here, as in .gitignore; in place of the configured ones.",
    ),
    click.option(
        "--extend-exclude",
        metavar="PATTERN[,PATTERN...]",
        multiple=True,
        callback=_patterns,
        help="Files and folders not to search beside those that are excluded already.",
    ),
    click.option(
        "--force-exclude/--no-force-exclude",
        default=None,
        help="Exclude files that are named here too: for hooks that pass file names.",
    ),
)
_OPTIONS = (
    *_RULES,
    *_CONFIGURATION,
    *_EXCLUSIONS,
    click.option(
        "--baseline",
        metavar="FILE",
        type=_FILE,
        help="Baseline of known findings, in place of the configured one.",
    ),
    click.option("--no-baseline", is_flag=True, help="Also show the findings that a baseline lists."),
)


def configuration_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --config and --no-config to a command, which is given ``selection`` in their place."""
    return _with(command, _CONFIGURATION)


def rule_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --select and --ignore to a command, which is given ``selection`` in their place."""
    return _with(command, _RULES)


def selection_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add all options of this module to a command, which is given ``selection`` in their place."""
    return _with(command, _OPTIONS)


def _with(command: Callable[..., int], options: Sequence[Callable[..., Any]]) -> Callable[..., int]:
    @functools.wraps(command)
    def with_selection(
        *,
        configuration: str | None = None,
        no_config: bool = False,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        baseline: str | None = None,
        no_baseline: bool = False,
        exclude: tuple[str, ...] = (),
        extend_exclude: tuple[str, ...] = (),
        force_exclude: bool | None = None,
        **rest: Any,
    ) -> int:
        if no_config and configuration:
            raise click.UsageError("--config and --no-config contradict each other")
        if no_baseline and baseline:
            raise click.UsageError("--baseline and --no-baseline contradict each other")
        known = "" if no_baseline else baseline
        selection = LintSelection(
            select,
            ignore,
            not no_config,
            configuration,
            known,
            exclude or None,
            extend_exclude,
            force_exclude,
        )
        return command(selection=selection, **rest)

    with_options: Callable[..., int] = with_selection
    for option in reversed(options):
        with_options = option(with_options)
    return with_options
