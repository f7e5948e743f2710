"""Small fabrics of every product, in every buffer model it has, for every release: what goldens are made of."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.formats.device_files.switches import switch_file
from lossless.formats.sonic.capabilities.releases import releases
from lossless.ground.basics.units import format_rate
from lossless.ground.documents import load_text
from lossless.model.hardware.load import load_switch
from tests.strategies import Product, fabric_of, products
from tools.example_base import base_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric

Tree = dict[str, Any]
FOLDER = Path(__file__).parent / "golden"
BUFFERS: dict[str, dict[str, Any]] = {
    "traditional": {},
    "dynamic": {"model": "dynamic"},
    "dynamic-shared-headroom": {"model": "dynamic", "headroom_oversubscription": 2, "small_packets": "50%"},
    "traditional-unused-ports": {"unused_ports": "reclaim"},
    "traditional-single-pool": {"pools": "single"},
}
_LONG_PORT_TABLES = 40
_HOST_M, _UPLINK_M = 3, 30
_FASTEST_NIC_BPS = 400 * 10**9


class Case(NamedTuple):
    """One product in one buffer model."""

    product: Product
    model: str

    @property
    def name(self) -> str:
        """The folder of its goldens."""
        return f"{self.product.profile}/{self.model}"


def cases() -> Iterator[Case]:
    """Yield every product in every model it has; variants of a model where the product knows them."""
    for product in products():
        if product.default:
            profile = load_switch(product.profile)
            has = {"traditional": True, "dynamic": profile.asic.formula is not None}
            has["dynamic-shared-headroom"] = profile.asic.formula == "mellanox"
            few = len(profile.cages) < _LONG_PORT_TABLES
            has["traditional-unused-ports"] = profile.zero_buffers is not None and few
            has["traditional-single-pool"] = product.profile in ("nvidia-sn4700", "nvidia-sn5600")
            yield from (Case(product, model) for model in BUFFERS if has[model])


def intent(case: Case, release: str) -> dict[str, Any]:
    """Return a fabric of two leaves and a spine of one product, at the fastest speed hosts can have."""
    reach = case.product.reach
    speed_bps = max(speed for speed in reach if speed <= _FASTEST_NIC_BPS)
    choice = {"profile": case.product.profile, "hwsku": case.product.hwsku}
    ecn = {"min": "150 KiB", "max": "1000 KiB", "probability": "5%"}
    return {
        "lossless": "v1",
        "fabric": "golden",
        "transport": "rocev2",
        "classes": {
            "rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%", "ecn": ecn},
            "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
            "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
        },
        "pfc": {
            "watchdog": {"poll": "600ms", "detection": "1200ms", "restoration": "1200ms", "action": "drop"}
        },
        "congestion_control": {"dcqcn": {"cnp_interval": "4us"}},
        "hardware": {"leaf": choice, "spine": choice, "nic": "connectx-7"},
        "topology": {
            "leaf_spine": {
                "leaves": 2,
                "spines": 1,
                "hosts_per_leaf": 2,
                "host_links": f"1 x {format_rate(speed_bps)}",
                "uplinks": f"2 x {format_rate(speed_bps)}",
                "cables": {
                    "host": f"{min(_HOST_M, reach[speed_bps])}m",
                    "uplink": f"{min(_UPLINK_M, reach[speed_bps])}m",
                },
            }
        },
        "buffers": BUFFERS[case.model],
        "sonic": {"release": release},
    }


def rendered(case: Case, release: str) -> Tree:
    """Return the owned tables of a leaf and of the spine, by file."""
    fabric = fabric_of(intent(case, release))
    kinds = [switch for switch in fabric.switches if switch.name in ("leaf1", "spine1")]
    files = (switch_file(switch, None) for switch in kinds)
    return {file.path: json.loads(file.text) for file in files}


def on_base(fabric: Fabric, name: str, release: str) -> Tree:
    """Return the complete configuration of a switch, on a base of its release."""
    switch = next(switch for switch in fabric.switches if switch.name == name)
    base = base_of(fabric, switch)
    base["VERSIONS"]["DATABASE"]["VERSION"] = f"version_{release}_01"
    if switch.qos.buffer_model == "dynamic":
        base["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    found: Tree = json.loads(switch_file(switch, load_text(json.dumps(base), "base.json")).text)
    return found


@cache
def golden(name: str, release: str) -> Tree:
    """Return what a case must render for a release; a golden that is like another's says so."""
    stored: Tree = json.loads((FOLDER / name / f"{release}.json").read_text(encoding="utf-8"))
    return golden(name, stored["as"]) if "as" in stored else stored


def write_goldens() -> None:
    """Write every golden again; one that equals that of an earlier release only names it."""
    for case in cases():
        seen: dict[str, str] = {}
        folder = FOLDER / case.name
        folder.mkdir(parents=True, exist_ok=True)
        for release in releases().names:
            text = _text(rendered(case, release))
            first = seen.setdefault(text, release)
            kept = text if first == release else json.dumps({"as": first}) + "\n"
            (folder / f"{release}.json").write_text(kept, encoding="utf-8")


def _text(tree: Tree) -> str:
    """Return a tree as JSON with one row a line, so that a difference reads like a list of rows."""
    files = []
    for path, tables in tree.items():
        parts = []
        for table, rows in tables.items():
            lines = ",\n".join(f"   {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
            parts.append(f"  {json.dumps(table)}: {{\n{lines}\n  }}")
        files.append(f" {json.dumps(path)}: {{\n" + ",\n".join(parts) + "\n }")
    return "{\n" + ",\n".join(files) + "\n}\n"
