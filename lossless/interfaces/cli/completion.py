"""``lossless completion``: what makes a shell complete our commands, options, files and rules."""

from __future__ import annotations

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import out

VARIABLE = "_LOSSLESS_COMPLETE"
"""What a shell sets when it asks ``lossless`` how a line can go on."""

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help=COMMANDS["completion"])
@click.argument("shell", type=click.Choice(_SHELLS))
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
