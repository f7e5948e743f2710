"""What the command line prints under ``--format json``: one document, as its schema has it, or nothing."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from jsonschema import Draft202012Validator

from lossless.interfaces.api.reference import document_schema, documents
from lossless.interfaces.cli import main


@cache
def document_validator(command: str) -> Draft202012Validator:
    """Return the validator of the JSON that a command writes."""
    return Draft202012Validator(document_schema(command))


def check_document(arguments: tuple[str, ...], printed: str) -> None:
    """Fail where a command was asked for JSON, and what it printed is no document of its schema."""
    asked = "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
    if asked and printed and arguments[0] in documents():
        document_validator(arguments[0]).validate(json.loads(printed))


def refused_as_json(*arguments: str, stdin: bytes = b"") -> None:
    """Run a command with ``--format json``; fails where it prints anything but one document of its schema."""
    told, beside = io.StringIO(), io.StringIO()
    given = patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with redirect_stdout(told), redirect_stderr(beside), given:
        main([*arguments, "--format", "json"])
    check_document((*arguments, "--format", "json"), told.getvalue())


def refused_intent_as_json(text: str) -> None:
    """Do the same by checking the text of an intent."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "fabric.yaml")
        file.write_text(text, encoding="utf-8")
        refused_as_json("lint", str(file))
