"""Fabrics and a subnet whose telemetry is looked at."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import intent_at
from lossless.interfaces.api.lint import DEFAULT_OPTIONS
from lossless.interfaces.api.render import sound
from tests.paths import EXAMPLES
from tests.strategies import fabric_of

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

_HARDWARE = {"switch": "nvidia-sn5600", "nic": "connectx-7"}
_HEAD = {"lossless": "v1", "transport": "rocev2", "preset": "nvidia", "hardware": _HARDWARE}
_CABLES = {"host": "5m", "uplink": "30m"}
_LINKS = {"host_links": "4 x 400G", "uplinks": "2 x 800G", "cables": _CABLES}


@cache
def example(name: str) -> Fabric:
    """Return the fabric of an example."""
    _, declared = sound(intent_at(EXAMPLES / name), DEFAULT_OPTIONS)
    assert declared.fabric is not None
    return declared.fabric


@cache
def subnet() -> Subnet:
    """Return the subnet of the example of InfiniBand."""
    _, declared = sound(intent_at(EXAMPLES / "infiniband-256-ndr"), DEFAULT_OPTIONS)
    assert declared.subnet is not None
    return declared.subnet


@cache
def rails(planes: int) -> Fabric:
    """Return a fabric of hosts with four ports on as many rails and planes as there are."""
    shape = {
        "units": 2,
        "rails": 4 // planes,
        "planes": planes,
        "spines": 2 * planes,
        "hosts_per_unit": 8,
        **_LINKS,
    }
    return fabric_of(_HEAD | {"fabric": "rails", "topology": {"rail_optimised": shape}})


@cache
def torus() -> Fabric:
    """Return a fabric without tiers."""
    shape = {"sides": [3, 2], "links": "2 x 400G", "hosts_per_switch": 2, "host_links": "1 x 400G"}
    topology = {"torus": shape | {"cables": {"host": "3m", "link": "10m"}}}
    return fabric_of(_HEAD | {"fabric": "torus", "topology": topology})
