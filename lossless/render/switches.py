"""The file of one switch: its tables laid out by a template, read back and compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.errors import RenderError
from lossless.render.base import onto_base
from lossless.render.environment import render_template
from lossless.render.plan import PlannedFile
from lossless.sonic.read import natural_key
from lossless.sonic.write import tables

if TYPE_CHECKING:
    from lossless.fabric.model import Switch
    from lossless.source.document import Document

TEMPLATE = "sonic/config_db.json.j2"


def switch_file(switch: Switch, base: Document | None) -> PlannedFile:
    """Return ``config_db.json`` on a base, or ``qos.json`` with the owned tables alone.

    Raises:
        RenderError: the base does not fit, or what the template wrote does not say what the tables say.
    """
    rendered: dict[str, Any] = dict(tables(switch))
    content = onto_base(switch, rendered, base) if base else rendered
    name = "config_db.json" if base else "qos.json"
    text = render_template(
        TEMPLATE, {"tables": sorted(content.items(), key=lambda item: natural_key(item[0]))}
    )
    if json.loads(text) != content:
        raise RenderError(f"template {TEMPLATE} wrote something else than the tables of {switch.name}")
    return PlannedFile(f"{switch.name}/{name}", text)
