"""Options that several commands share, and the date of the run, which no other module reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from lossless.interfaces.cli.terminal import expect_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    from lossless.api import Options

_DSCPS = range(64)
Command = TypeVar("Command", bound="Callable[..., Any]")


class OneOf(click.Choice):  # type: ignore[type-arg]
    """A parameter that takes one of a few words; the error for another word lists all, the nearest first."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word, or refuse one that is not among the choices."""
        if value not in self.choices:
            from lossless.ground.basics.units import ranked

            words = ", ".join(map(repr, ranked(str(value), map(str, self.choices))))
            self.fail(f"{value!r} is not one of {words}", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(click.types.IntParamType):
    """A whole number of the digits 0 to 9, also with a minus sign.

    Python also takes digits of other scripts, blanks, and ``1_000``.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if isinstance(value, int):
            return value
        from lossless.ground.basics.units import unsigned_number

        number = unsigned_number(value.removeprefix("-"))
        if number is None:
            self.fail(f"{value!r} is no whole number of the digits 0 to 9", param, ctx)
        return -number if value.startswith("-") else number


class Number(click.IntRange, WholeNumber):
    """A whole number within a range."""


class InputPath(click.Path):
    """A parameter for the path of a file or folder to read. A pipe is read at once; its name stands for its content."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; the name of a pipe without a suffix gets that of its content, if that is known."""
        path = str(super().convert(value, param, ctx))
        from lossless.ground.basics.files import hold_pipe, release_pipe

        name = hold_pipe(path)
        if name is None:
            return path
        if ctx is not None:
            ctx.call_on_close(lambda: release_pipe(name))
        return name


def _dscps(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Return the DSCPs of one or more comma lists, each once, ascending.

    Raises:
        BadParameter: a part of a list is not a number from 0 to 63.
    """
    if not values:
        return ()
    from lossless.ground.basics.units import BLANKS, unsigned_number

    dscps = set()
    for text in (part.strip(BLANKS) for value in values for part in value.split(",")):
        dscp = unsigned_number(text)
        if dscp is None or dscp not in _DSCPS:
            raise click.BadParameter(f"{text!r} is not a DSCP; expected a number from 0 to 63")
        dscps.add(dscp)
    return tuple(sorted(dscps))


def complete_rules(_context: click.Context, option: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the codes and names of rules, and for options families, that complete the last word of a comma list."""
    from click.shell_completion import CompletionItem

    from lossless.interfaces.api.reference import families, rule_names

    before, comma, word = begun.rpartition(",")
    prefixes = () if isinstance(option, click.Argument) else families()
    names = rule_names()
    words = [(family, "a family") for family in prefixes if family.startswith(word.upper())]
    words += [(code, name) for code, name in names.items() if code.startswith(word.upper())]
    words += [(name, code) for code, name in names.items() if word and name.startswith(word.lower())]
    return [CompletionItem(f"{before}{comma}{value}", help=summary) for value, summary in words]


rdma_dscp = click.option(
    "--rdma-dscp",
    "rdma_dscps",
    metavar="N[,N...]",
    multiple=True,
    callback=_dscps,
    help="DSCPs that must be lossless on devices without an intent; may be repeated.",
)
profiles = click.option(
    "--profiles",
    "profile_dirs",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder of hardware profiles that add to the shipped ones; may be repeated, the first wins.",
)
earlier_captures = click.option(
    "--since",
    "earlier",
    metavar="BEFORE",
    multiple=True,
    type=InputPath(),
    help="Captures of the same devices at an earlier time: counters count from there.",
)


def captures_for(purpose: str) -> Callable[[Command], Command]:
    """Return the option ``--captures``; its help text begins with ``purpose``."""
    return click.option(
        "--captures", metavar="PATH", multiple=True, type=InputPath(), help=f"{purpose}; may be repeated."
    )


def how_much(what: str) -> Callable[[Command], Command]:
    """Return the options ``--verbose`` and ``--quiet``, given to a command under these names.

    ``what`` names the content that ``-v`` adds to the report.
    """
    verbose = click.option("-v", "--verbose", is_flag=True, help=f"Also show {what}.")
    quiet = click.option("-q", "--quiet", is_flag=True, help="No progress, and no hint at what to run next.")
    return lambda command: verbose(quiet(command))


def written_as(
    what: str, forms: Sequence[str] = ("text", "json"), more: str = "", *, is_report: bool = False
) -> Callable[[Command], Command]:
    """Return the option ``--format``, given to a command as ``output_format``; the first form is the default.

    ``what`` is the subject of the help text with its verb (``the trace is``); ``more`` comes after the help. The form
    is known before most other options are read, so that refusals of these have it too: that of a report of findings, or
    JSON with the key ``errors``.
    """

    def expect(_context: click.Context, _option: click.Parameter, form: str) -> str:
        if form != forms[0]:
            expect_document(form, is_report=is_report)
        return form

    words = f"How {what} written (default: {forms[0]}){more}."
    return click.option(
        "--format",
        "output_format",
        type=OneOf(forms),
        default=forms[0],
        is_eager=True,
        callback=expect,
        help=words,
    )


Outputs = tuple[tuple[str, str], ...]
"""The formats and paths of ``--output``."""


def outputs_option(forms: Sequence[str], help_text: str) -> Callable[[Command], Command]:
    """Return the option ``--output FORMAT=FILE`` for some formats, given to a command as ``outputs``.

    It is refused before long work is done for it: an unknown format, no path, the same path twice (BadParameter), or a
    path that cannot be written (RenderError).
    """

    def checked(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> Outputs:
        return writable([output_pair(value, forms) for value in values])

    return click.option(
        "--output", "outputs", metavar="FORMAT=FILE", multiple=True, callback=checked, help=help_text
    )


_PAGE = "html="


def folder_and_pages_option(help_text: str) -> Callable[[Command], Command]:
    """Return the option ``--output`` for a folder and pages ``html=FILE``, given to a command as ``outputs``.

    That is the folder, None without one, and the formats and paths of the pages. It is refused before long work is
    done: two folders, a page without a path, the same path twice (BadParameter), or a page that cannot be written
    (RenderError).
    """

    def checked(
        _context: click.Context, _option: click.Parameter, values: Sequence[str]
    ) -> tuple[str | None, Outputs]:
        folders = [value for value in values if not value.startswith(_PAGE)]
        if len(folders) > 1:
            raise click.BadParameter(
                f"two folders, {folders[0]} and {folders[1]}; files are written below one"
            )
        pages = writable([output_pair(value, ("html",)) for value in values if value.startswith(_PAGE)])
        return next(iter(folders), None), pages

    return click.option(
        "-o", "--output", "outputs", metavar="DIR", multiple=True, callback=checked, help=help_text
    )


def writable(pairs: Sequence[tuple[str, str]]) -> Outputs:
    """Return the formats and paths of ``--output``; each path can be written.

    Raises:
        BadParameter: the same path twice.
        RenderError: a path that cannot be written.
    """
    if not pairs:
        return ()
    from os.path import realpath

    from lossless.ground.documents.atomic import require_writable

    seen: set[str] = set()
    for _, path in pairs:
        if realpath(path) in seen:
            raise click.BadParameter(f"{path} is named twice")
        seen.add(realpath(path))
        require_writable(path)
    return tuple(pairs)


def output_pair(value: str, forms: Sequence[str]) -> tuple[str, str]:
    """Return the format and the path of a value of ``--output``.

    Raises:
        BadParameter: an unknown format, or no path.
    """
    form, equals, path = value.partition("=")
    if not equals or not path:
        example = "sarif=lint.sarif" if "sarif" in forms else f"{forms[0]}=FILE"
        raise click.BadParameter(f"{value!r} is not FORMAT=FILE, as in {example}")
    if form not in forms:
        from lossless.ground.basics.units import suggestion

        raise click.BadParameter(f"no format {form!r}{suggestion(form, forms, most=None)}")
    return form, path


def api_options(rdma_dscps: Sequence[int], profile_dirs: Sequence[str]) -> Options:
    """Return the options of the API with the values of ``--rdma-dscp`` and ``--profiles``, and today's date."""
    from lossless.api import Options

    return Options(rdma_dscps=tuple(rdma_dscps), profile_dirs=tuple(profile_dirs), today=today())


def today() -> str:
    """Return the date here and now, as 2026-12-31."""
    # datetime costs a tenth of an interpreter's start.
    from time import strftime

    return strftime("%Y-%m-%d")
