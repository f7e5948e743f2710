"""``lossless schema``: what editors complete and check intents by."""

from __future__ import annotations

import json

import click

from lossless.cli.app import COMMANDS
from lossless.cli.terminal import out


@click.command("schema", short_help=COMMANDS["schema"])
def command() -> None:
    """Print the JSON Schema of an intent, for editors.

    For the YAML language server, save it and begin the intent with
    "# yaml-language-server: $schema=FILE".
    """
    from lossless.intent.document import json_schema

    out(json.dumps(json_schema(), indent=2))
