"""``lossless schema``: what editors complete and check intents and configurations by."""

from __future__ import annotations

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import out_json


@click.command("schema", short_help=COMMANDS["schema"])
@click.option("--config", is_flag=True, help="That of lossless.toml instead.")
def command(config: bool) -> None:
    """Print the JSON Schema of intents or lossless.toml, for editors.

    For the YAML language server, save it and begin the intent with
    "# yaml-language-server: $schema=FILE". With --config, that of lossless.toml: for editors with Even Better TOML,
    save it and begin the file with "#:schema FILE".
    """
    from lossless import api

    out_json(api.configuration_schema() if config else api.intent_schema())
