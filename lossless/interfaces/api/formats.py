"""Formats: the network operating systems whose configurations are read and written, and the evidence for each."""

from __future__ import annotations

from lossless.formats.inputs.switches import Format, supported_formats

__all__ = ["Format", "formats"]


def formats() -> tuple[Format, ...]:
    """Return the systems of switches, by the name that ``format`` of an intent gives them; SONiC comes first."""
    return supported_formats()
