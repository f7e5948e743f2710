"""The Jinja environment of the project's own templates: strict, plain text, the same bytes every time.

Templates only lay values out; the code that prepares a template's values decides them. Templates are ours and part
of the installation, so they are not sandboxed. Output is not escaped for HTML: free text that becomes a shell word
passes through the filter ``shell``, YAML through ``yaml``, and JSON through ``json``, but for the document of NX-OS,
which passes through Jinja's ``tojson``.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.files import data_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

_TEXT = frozenset({str})
_FEW_FIELDS = 16
"""The most fields of a row whose text is cached: a map of 64 DSCPs or a table of all ports is not met again."""


@cache
def environment() -> Environment:
    """Return the one Jinja environment: an undefined name is an error, a block tag leaves no empty line behind.

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
    made.filters["yaml"] = _yaml
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
    """Return JSON as SONiC writes it, continued at the indentation of the template; on one line without ``indent``.

    The one serializer of config_db.json: its template writes no key and no value by other means.
    """
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return _indented(value, " " * indent, " " * indent)


def _yaml(value: object) -> str:
    """Return data as YAML in block style, with mapping keys in their own order."""
    from io import StringIO

    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 4096
    text = StringIO()
    writer.dump(value, text)
    return text.getvalue().rstrip("\n")


def _indented(value: object, step: str, margin: str) -> str:
    """Return the text of ``json.dumps(value, indent=len(step), ensure_ascii=False)``, with a margin.

    ``margin`` stands before each line but the first. CONFIG_DB's objects of strings are written faster.
    """
    if isinstance(value, str):
        return _quoted(value)
    if not isinstance(value, dict) or not value:
        return json.dumps(value, indent=len(step), ensure_ascii=False).replace("\n", "\n" + margin)
    if _TEXT.issuperset(map(type, value.values())) and len(value) <= _FEW_FIELDS:
        return _row(tuple(value.items()), step, margin)
    inner = margin + step
    members = [f"{inner}{_quoted(key)}: {_indented(member, step, inner)}" for key, member in value.items()]
    return "{\n" + ",\n".join(members) + "\n" + margin + "}"


@lru_cache(maxsize=8192)
def _row(fields: tuple[tuple[str, str], ...], step: str, margin: str) -> str:
    """Return the JSON of a row whose fields are all text; cached, since most rows of switches are identical."""
    inner = margin + step
    members = [f"{inner}{_quoted(field)}: {_quoted(text)}" for field, text in fields]
    return "{\n" + ",\n".join(members) + "\n" + margin + "}"
