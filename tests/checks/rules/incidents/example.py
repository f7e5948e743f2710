"""examples/roce-256 as an intent and as the configurations rendered from it, and examples/infiniband-256-ndr.

Each with something injected.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from lossless import api
from lossless.ground.documents import load, load_text
from lossless.ground.documents.text import Document
from tests.checks.rules.snippets import merge
from tests.paths import EXAMPLES

EXAMPLE = EXAMPLES / "roce-256"
SUBNET = EXAMPLES / "infiniband-256-ndr"
Patch = dict[str, Any]


@cache
def rendered() -> dict[str, Patch]:
    """Return the tables of every switch of the example, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        written = api.render(EXAMPLE, folder, base_dir=EXAMPLE / "base").files
        files = [Path(folder, name) for name in written if name.endswith("config_db.json")]
        return {path.parent.name: json.loads(path.read_text()) for path in files}


def ports(switch: str) -> list[str]:
    """Return the ports of a switch that carry QoS."""
    return [port for port in rendered()[switch]["PORT_QOS_MAP"] if port != "global"]


def intent(patch: Patch) -> list[Document]:
    """Return the example's intent with a merge patch applied."""
    data = load(str(EXAMPLE / "fabric.yaml")).data
    return [load_text(json.dumps(merge(data, patch), indent=1), "fabric.yaml")]


def subnet(patch: Patch) -> list[Document]:
    """Return the intent of the InfiniBand example with a merge patch applied."""
    file = str(SUBNET / "fabric.yaml")
    return [load_text(json.dumps(merge(load(file).data, patch), indent=1), file)]


def devices(patches: dict[str, Patch]) -> list[Document]:
    """Return the configurations of all switches, some with a merge patch applied."""
    tables = {name: merge(found, patches.get(name, {})) for name, found in rendered().items()}
    return [
        load_text(json.dumps(found, indent=1), f"{name}/config_db.json") for name, found in tables.items()
    ]
