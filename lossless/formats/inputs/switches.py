"""Configurations of switches that run another system than SONiC: recognized, and read by the system they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.registry import dialect, of_data, of_text
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words


def configuration_in(text: str, file: str) -> Document | None:
    """Return the configuration of a switch that a text is, None where it is none of a system that is read here."""
    name = of_text(text)
    if not name:
        return None
    document = dialect(name).document(text, file)
    document.dialect = name
    return document


def is_structured(document: Document) -> bool:
    """Return whether a YAML or JSON file is the configuration of a switch, which its document then says."""
    document.dialect = of_data(document.data, json=document.file.lower().endswith(".json"))
    return bool(document.dialect)


class SwitchInput(NamedTuple):
    """A switch, the rules of fabrics that cannot say anything of its system, with why, and the words that it has."""

    read: ReadSwitch
    not_applicable: Mapping[str, str]
    words: Mapping[str, Words]


def read_switch(document: Document, rdma_dscps: tuple[int, ...] = ()) -> SwitchInput:
    """Return the switch of a document; ``rdma_dscps`` names the DSCPs that must be lossless."""
    system = dialect(document.dialect)
    return SwitchInput(system.read(document, rdma_dscps), system.not_applicable, system.words)
