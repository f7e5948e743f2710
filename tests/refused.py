"""What the command line prints under ``--format json`` where it refuses its input: one document, or nothing."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from lossless.interfaces.cli import main


def refused_as_json(*arguments: str, stdin: bytes = b"") -> None:
    """Run a command with ``--format json``; fails where it prints anything but one document."""
    told, beside = io.StringIO(), io.StringIO()
    given = patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with redirect_stdout(told), redirect_stderr(beside), given:
        main([*arguments, "--format", "json"])
    if told.getvalue():
        json.loads(told.getvalue())


def refused_intent_as_json(text: str) -> None:
    """Do the same by checking the text of an intent."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "fabric.yaml")
        file.write_text(text, encoding="utf-8")
        refused_as_json("lint", str(file))
