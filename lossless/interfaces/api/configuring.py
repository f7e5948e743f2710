"""What editors complete and check a ``lossless.toml`` by."""

from __future__ import annotations

from typing import Any


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``lossless.toml``, which is that of ``[tool.lossless]`` in a ``pyproject.toml`` too."""
    from lossless.checks.lint.keys import json_schema

    return json_schema()
