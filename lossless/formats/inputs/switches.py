"""Configurations of switches with another system than SONiC: recognized, and read by their dialects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.switches.registry import (
    SUFFIXES as SUFFIXES,
    TITLES,
    Format as Format,
    dialect,
    of_data,
    of_text,
    supported as supported_formats,
)
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import joined
from lossless.model.fabric.model import Fabric

__all__ = [
    "SUFFIXES",
    "Format",
    "SwitchInput",
    "configuration_in",
    "fabric_of_switches",
    "is_structured",
    "read_switch",
    "rules_without_meaning",
    "supported_formats",
    "systems_of",
]

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words
    from lossless.model.fabric.model import Switch


def configuration_in(text: str, file: str) -> Document | None:
    """Return the switch configuration in a text, None if it is in no supported dialect."""
    name = of_text(text)
    if not name:
        return None
    document = dialect(name).document(text, file)
    document.dialect = name
    return document


def is_structured(document: Document) -> bool:
    """Return whether a YAML or JSON file is the configuration of a switch; if so, set the document's dialect."""
    document.dialect = of_data(document.data, json=document.file.lower().endswith(".json"))
    return bool(document.dialect)


class SwitchInput(NamedTuple):
    """A switch, the rules of fabrics that have no meaning for its system, with the reason, and its words."""

    read: ReadSwitch
    not_applicable: Mapping[str, str]
    words: Mapping[str, Words]


def read_switch(document: Document, rdma_dscps: tuple[int, ...] = ()) -> SwitchInput:
    """Return the switch of a document; ``rdma_dscps`` names the DSCPs that must be lossless."""
    system = dialect(document.dialect)
    read = system.read(document, rdma_dscps)
    name = _name_by_file(document.file) if read.switch.name == document.shown else read.switch.name
    read = read._replace(switch=read.switch._replace(name=name, format=document.dialect))
    return SwitchInput(read, system.not_applicable, system.words)


_ANY_SWITCH = frozenset(("qos", "avd", "config", "running-config", "startup-config", "structured_config"))
"""Names of files that any switch may have: their folder is called as the switch."""


def _name_by_file(file: str) -> str:
    """Return the name of a switch whose configuration does not say it: that of its file, or of the folder of that."""
    folder, name = os.path.split(file)
    stem = name.partition(".")[0] or name
    return os.path.basename(folder) or stem if stem in _ANY_SWITCH else stem


def fabric_of_switches(switches: tuple[Switch, ...], files: tuple[str, ...]) -> Fabric:
    """Return the fabric of deployed switches; how they are cabled, their configurations do not say."""
    return Fabric(
        name="",
        provenance="deployed",
        classes=switches[0].classes,
        congestion=None,
        switches=switches,
        hosts=(),
        links=(),
        networks=(),
        capacities=(),
        sources=files,
    )


def systems_of(documents: Iterable[Document]) -> str:
    """Return the systems of configurations, in words; empty if all are of SONiC."""
    return joined(dict.fromkeys(TITLES[document.dialect] for document in documents if document.dialect))


def rules_without_meaning(name: str) -> Mapping[str, str]:
    """Return the rules of fabrics that have no meaning for a system, each with the reason."""
    return dialect(name).not_applicable
