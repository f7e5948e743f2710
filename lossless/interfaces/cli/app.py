"""The group of commands, and the end of every run: errors become messages without a traceback, and an exit code."""

from __future__ import annotations

from contextvars import copy_context
from os.path import isdir
from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.errors import InputError, LosslessError, Problem
from lossless.ground.basics.foreign_text import visible
from lossless.interfaces.cli.terminal import (
    ClosedPipeError,
    UnwritableError,
    expected_document,
    finish,
    gated_streams,
    last_words,
    out,
    problem,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from click.shell_completion import CompletionItem

GROUPS: dict[str, dict[str, str]] = {
    "Declare": {
        "import": "Write the intent that deployed configurations amount to.",
        "render": "Write the configuration of every switch and host of an intent.",
        "schema": "Print the JSON Schema of intents, settings or output.",
        "profiles": "Show the known hardware, with sources.",
        "formats": "List the systems of switches that are read and written.",
    },
    "Check": {
        "lint": "Check intents, config_db.json files and folders of them.",
        "simulate": "Say whether the buffers of a fabric are safe, and why.",
        "headroom": "Show the headroom calculation beside what is configured.",
        "opensm": "Let a real opensm check an InfiniBand subnet.",
        "baseline": "Record a baseline of current findings.",
    },
    "Understand": {
        "trace": "Follow a packet hop by hop, and say where the chain breaks.",
        "topology": "Show the devices, links and capacity of a fabric, and draw it.",
        "workload": "Estimate the traffic and the time of a collective.",
        "storm": "Show the blast radius of a PFC storm from one dead or slow host.",
        "sweep": "Try many thresholds, and say which are safe, silent and best.",
        "tune": "Choose thresholds by simulation: safe, then silent, then fast.",
        "rule": "Explain one rule.",
        "rules": "List all rules.",
    },
    "Change": {
        "diff": "Say how running switches have drifted from their intent.",
        "plan": "Plan a change of a fabric in service, each step safe.",
    },
    "Operate": {
        "acceptance": "Write the test of a new fabric, and evaluate its results.",
        "verify": "Check captures of running switches and hosts.",
        "collector": "Print the script that reports the state of a host or a switch.",
        "exporter": "Serve the counters of a SONiC switch to Prometheus.",
        "completion": "Print the shell completion of commands, options and rules.",
        "lsp": "Check files in an editor while they are edited.",
    },
}
"""The first line of each command's help, by the purpose of the command; ``--help`` imports none for it."""
COMMANDS = {name: text for texts in GROUPS.values() for name, text in texts.items()}
"""The first line of each command's help, in the order of the help."""

_COMMONEST = ("lint", "render", "plan", "verify", "diff")
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
OK, FINDINGS, FAILED = 0, 1, 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141


_MODULES = {
    "import": "import_",
    "collector": "exporter",
    "storm": "workload",
    **dict.fromkeys(("rule", "rules", "profiles", "formats", "schema", "completion"), "reference"),
}


def module_of(command: str) -> str:
    """Return the name of a command's module: the command's own, except ``import_`` and modules of several commands."""
    return _MODULES.get(command, command)


class Commands(click.Group):
    """Commands by name, each of which imports its module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command, None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        members = vars(import_module(f"lossless.interfaces.cli.{module_of(cmd_name)}")).values()
        command = next(x for x in members if isinstance(x, click.Command) and x.name == cmd_name)
        command.context_class = _Context
        if _PLUGIN not in command.params:
            if any(isinstance(each.type, click.Path) for each in command.params):
                command.params += (_ROOT, _PLUGIN)
            elif cmd_name in _NAMING_RULES:
                command.params.append(_PLUGIN)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name, the command and its arguments.

        Raises:
            UsageError: no such command; the message has the nearest names.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from lossless.ground.basics.units import suggestion

            hint = suggestion(name, dict.fromkeys((*_COMMONEST, *COMMANDS)), see="lossless --help")
            raise click.UsageError(f"no command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands or options that begin with the typed word, without importing a command."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return super(click.Group, self).shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the lists of commands without importing one, all in the same columns."""
        width = max(map(len, COMMANDS))
        for purpose, texts in GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl([(name.ljust(width), text) for name, text in texts.items()])


class _HelpFormatter(click.HelpFormatter):
    """Help that is not wrapped at a hyphen: an option in two pieces is hard to read and to copy."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options or commands, each with its help."""
        whole = [(name, text.replace("-", _HYPHEN)) for name, text in rows]
        super().write_dl(whole, col_max, col_spacing)

    def getvalue(self) -> str:
        """Return the written help text."""
        return super().getvalue().replace(_HYPHEN, "-")


def _widen(_context: click.Context, _option: click.Parameter, roots: Sequence[str]) -> None:
    """Let inputs name, and links lead to, the paths of ``--root`` and files below them, for all later options."""
    if roots:
        from lossless.ground.documents.folder import widen

        widen(roots)


_ROOT = click.Option(
    ["--root"],
    metavar="PATH",
    multiple=True,
    type=click.Path(exists=True),
    is_eager=True,
    expose_value=False,
    callback=_widen,
    help="File or folder outside of the repository that inputs may name, and links lead to; may be repeated.",
)
"""An option that every command with a path among its parameters gets."""


PLUGINS = "lossless.plugins"
"""The key of the plugins' names in the ``meta`` of a click context."""


def _add_plugins(context: click.Context, _option: click.Parameter, names: Sequence[str]) -> None:
    """Add the rules of the plugins that ``--plugin`` or the environment names, before options that name rules."""
    if names:
        from lossless.interfaces.api.reference import add_plugins

        add_plugins(names)
        context.meta[PLUGINS] = names


_PLUGIN = click.Option(
    ["--plugin"],
    metavar="PACKAGE",
    multiple=True,
    is_eager=True,
    expose_value=False,
    envvar="LOSSLESS_PLUGINS",
    callback=_add_plugins,
    help="Installed package with further rules, whose code is run; may be repeated (default: LOSSLESS_PLUGINS).",
)
"""An option that every command with a path among its parameters gets, and those of :data:`_NAMING_RULES`."""
_NAMING_RULES = ("rule", "rules", "schema")


class _Context(click.Context):
    formatter_class = _HelpFormatter

    def invoke(self, callback: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a command; if several paths or a folder are named, inputs may name these and files below them."""
        paths = [
            kwargs.get(each.name or "") for each in self.command.params if isinstance(each.type, click.Path)
        ]
        named = [*_texts_in(paths)]
        # One file that is checked needs no leave to name itself.
        if len(named) > 1 or any(map(isdir, named)):
            from lossless.ground.documents.folder import widen

            widen((), named)
        return super().invoke(callback, *args, **kwargs)


def _texts_in(values: Iterable[Any]) -> Iterator[str]:
    """Yield the texts among values of arguments and options, those that are given several times too."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _texts_in(value)


def _show_version(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        from lossless.ground.basics.files import build_version

        out(f"lossless {build_version()}")
        context.exit()


@click.group(
    cls=Commands,
    help="Check, render and simulate the configuration of lossless RDMA fabrics.",
    epilog="Exit codes: 0 clean, 1 findings (of lint: errors, or as --fail-on says), 2 something could not be read or "
    "done.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def group() -> None:
    """Hold the commands; there is nothing to do before them."""


def run(argv: Sequence[str] | None) -> int:
    """Run one command with gated output streams, and return the exit code."""
    with gated_streams():
        try:
            # What one run may read is not left to the next of a process.
            code = copy_context().run(_run, argv)
            finish()
        except ClosedPipeError:
            return _PIPE_CLOSED
        except UnwritableError as error:
            last_words(f"lossless: {error}")
            return FAILED
        return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        code = group.main(argv, prog_name="lossless", standalone_mode=False)
    except click.ClickException as error:
        _tell(error)
        return FAILED
    except click.Abort:
        return _INTERRUPTED
    except LosslessError as error:
        return _refused(error)
    return code if isinstance(code, int) else OK


def _refused(error: LosslessError) -> int:
    """Write an error to standard error, and into the document that ``--format`` asks for; return exit code 2."""
    problems: tuple[Problem, ...]
    if isinstance(error, InputError):
        problems = error.problems
        for entry in problems:
            problem(str(entry))
    else:
        problems = (Problem(".", None, None, str(error)),)
        for number, line in enumerate(error.lines):
            problem(line if number else f"lossless: {line}")
    document = expected_document()
    if document is not None:
        from lossless.interfaces.cli.reports import add_errors

        add_errors(document, problems)
    return FAILED


def _tell(error: click.ClickException) -> None:
    """Write an error of click, with the usage of the command."""
    from io import StringIO

    # A line break in an argument starts no line.
    vars(error)["message"] = visible(error.message)
    shown = StringIO()
    error.show(shown)
    for line in shown.getvalue().splitlines():
        problem(line)
