"""``lossless schema``: the JSON Schemas by which editors complete and check intents and configurations."""

from __future__ import annotations

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import next_step, out_json


@click.command("schema", short_help=COMMANDS["schema"])
@click.option("--config", is_flag=True, help="That of lossless.toml instead.")
def command(config: bool) -> None:
    """Print the JSON Schema of intents or lossless.toml, for editors.

    Save it, and name it in the first line of the file that an editor shall check:

    \b
    # yaml-language-server: $schema=FILE   intent, YAML language server
    #:schema FILE                          lossless.toml, Even Better TOML
    """
    from lossless import api

    out_json(api.configuration_schema() if config else api.intent_schema())
    first = "#:schema FILE" if config else "# yaml-language-server: $schema=FILE"
    next_step(
        f"begin {'lossless.toml' if config else 'the intent'} with {first}, where FILE is what you save this as"
    )
