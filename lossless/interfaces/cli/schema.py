"""``lossless schema``: what editors complete and check intents and configurations by."""

from __future__ import annotations

from typing import Any

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
    out_json(_configuration() if config else _intent())


def _intent() -> dict[str, Any]:
    from lossless.formats.intent.schema import intent_schema

    return intent_schema()


def _configuration() -> dict[str, Any]:
    from lossless.interfaces.api.configuring import configuration_schema

    return configuration_schema()
