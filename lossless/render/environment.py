"""The one template environment. Templates lay out values that were computed; they decide nothing."""

from __future__ import annotations

import json
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.datafiles import data_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment


@cache
def environment() -> Environment:
    """Return the environment: an undefined name is an error, nothing is escaped for HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(data_dir("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 -- configuration, not HTML; values pass the filters below
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    found.filters["json"] = _json
    found.filters["shell"] = shlex.quote
    return found


def render_template(name: str, context: Mapping[str, Any]) -> str:
    """Return a template's text with its values filled in."""
    return environment().get_template(name).render(context)


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON as SONiC writes it, continued at the template's own indentation."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if indent is None else text.replace("\n", "\n" + " " * indent)
