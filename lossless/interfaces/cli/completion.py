"""``lossless completion``: the code that makes a shell complete commands, options, files and rules."""

from __future__ import annotations

import sys

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import OneOf
from lossless.interfaces.cli.terminal import next_step, out

VARIABLE = "_LOSSLESS_COMPLETE"
"""The environment variable with which a shell requests the completions of a line."""

_LASTING = {
    "bash": """echo 'eval "$(lossless completion bash)"' >> ~/.bashrc  # for every new shell""",
    "zsh": """echo 'eval "$(lossless completion zsh)"' >> ~/.zshrc  # for every new shell; after compinit""",
    "fish": "lossless completion fish > ~/.config/fish/completions/lossless.fish  # for every new shell",
}
"""What makes each shell complete from now on."""


@click.command("completion", short_help=COMMANDS["completion"])
@click.argument("shell", type=OneOf([*_LASTING]))
def command(shell: str) -> None:
    """Print the shell completion of commands, options and rules.

    \b
    bash:  eval "$(lossless completion bash)"        in ~/.bashrc
    zsh:   eval "$(lossless completion zsh)"         in ~/.zshrc, after compinit
    fish:  lossless completion fish > ~/.config/fish/completions/lossless.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from lossless.interfaces.cli.app import group

    kind = get_completion_class(shell)
    assert kind is not None
    # The class for bash starts bash first, to ask for its version.
    out(ShellComplete.source(kind(group, {}, "lossless", VARIABLE)).strip())
    # A shell that evaluates it as it starts shall print nothing.
    next_step(_LASTING[shell], quiet=not sys.stdout.isatty())
