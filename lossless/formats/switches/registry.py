"""The registry: dialects by name, each loaded when it is needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.switches.contract import Dialect

TITLES = {"eos": "Arista EOS", "nvue": "NVIDIA NVUE", "nxos": "Cisco NX-OS"}
"""The dialects by name, with their titles; each is a folder with a module ``dialect``."""
SONIC = (
    "sonic",
    "SONiC",
    "config_db.json, and rows of it",
    "config_db.json, qos.json",
    "its YANG models and its Lua",
)
"""The fields of :class:`Format` for SONiC, the system that the program is built around."""
SUFFIXES = (".cfg", ".conf", ".nv")
"""The suffixes of configurations in a folder; a file that is named itself may have any."""


@cache
def dialect(name: str) -> Dialect:
    """Return the dialect of a name: ``eos``, ``nvue`` or ``nxos``."""
    found_dialect: Dialect = import_module(f"lossless.formats.switches.{name}.dialect").DIALECT
    return found_dialect


def of_text(text: str) -> str:
    """Return the name of the dialect of a text, empty if it is in none or in the language of an unsupported system."""
    name = next((name for name in TITLES if dialect(name).recognizes(text)), "")
    if not name:
        return ""
    from lossless.formats.switches.other_systems import other_system

    return "" if other_system(text) else name


def of_data(data: Mapping[object, object], *, json: bool = False) -> str:
    """Return the name of the dialect of a YAML or JSON file, empty if it is in none."""
    names = (name for name in TITLES if dialect(name).in_json or not json)
    return next((name for name in names if dialect(name).recognizes_data(data)), "")


class Format(NamedTuple):
    """The configuration of a system: its name in an intent, its files, and the reference for both directions."""

    name: str
    title: str
    reads: str
    writes: str
    checked_with: str


def supported() -> tuple[Format, ...]:
    """Return the systems whose configurations are read and written, SONiC first."""
    systems = ((name, title, dialect(name)) for name, title in TITLES.items())
    return (
        Format(*SONIC),
        *(Format(name, title, of.reads, of.writes, of.checked_with) for name, title, of in systems),
    )
