"""Trimming: which classes' packets are cut where a queue has no room, to what size, and in which class they go on."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from lossless.formats.intent.base import Model, Size, listed
from lossless.formats.intent.classes import ClassName


class TrimmingIntent(Model):
    """Packets of the classes ``of`` that find no room in a queue are cut to ``size``, and go on in class ``into``."""

    of: Annotated[tuple[ClassName, ...], BeforeValidator(listed)] = Field(min_length=1)
    """The lossy classes whose packets are trimmed. Example: `[rdma]`"""
    into: ClassName
    """The class that trimmed packets go on in, by its one DSCP. Example: `trimmed`"""
    size: Size
    """What is left of a packet: a size with its unit, at least 64 B. Example: `256 B`"""
