"""The Jinja environment of the project's own templates: strict, plain text, the same bytes every time.

Templates only lay values out; what a value is, is decided where the values are made. They are ours and part
of the installation, so they are not sandboxed, and what they make is no HTML, so nothing is escaped: values
that become shell words pass through the filter ``shell``, JSON through ``json``.
"""

from __future__ import annotations

import json
from functools import cache
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

from lossless.datafiles import data_dir
from lossless.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment


@cache
def environment() -> Environment:
    """Return the one environment: an undefined name is an error, a block tag leaves no empty line behind.

    Raises:
        LosslessError: the installation is damaged.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(data_dir("templates")),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters["shell"] = _shell
    made.filters["json"] = _json
    return made


def render_template(name: str, context: Mapping[str, object]) -> str:
    """Return the text of one template, named by its path below ``templates/``: ``sonic/qos.json.j2``.

    Raises:
        RenderError: there is no such template, it is malformed, or it uses a name that ``context`` lacks.
    """
    from jinja2 import TemplateError

    try:
        return environment().get_template(name).render(context)
    except TemplateError as error:
        raise RenderError(f"template {name}: {error.message or type(error).__name__}") from error


def _shell(value: object) -> str:
    from shlex import quote

    return quote(str(value))


def _json(value: object, indent: int | None = None) -> str:
    """Return JSON as SONiC writes it, continued at the indentation of the template."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return _indented(value, " " * indent, " " * indent)


def _indented(value: object, step: str, margin: str) -> str:
    """Return what ``json.dumps(indent=...)`` does for CONFIG_DB's objects of strings, twice as fast."""
    if isinstance(value, str):
        return _quoted(value)
    if not isinstance(value, dict) or not value:
        return json.dumps(value, indent=len(step), ensure_ascii=False).replace("\n", "\n" + margin)
    inner = margin + step
    members = [f"{inner}{_quoted(key)}: {_indented(member, step, inner)}" for key, member in value.items()]
    return "{\n" + ",\n".join(members) + "\n" + margin + "}"
