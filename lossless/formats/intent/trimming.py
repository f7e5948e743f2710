"""Trimming: the classes whose packets are cut where a queue has no room, their size, and their new class."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from lossless.formats.intent.base import Model, Size, listed
from lossless.formats.intent.classes import ClassName


class TrimmingIntent(Model):
    """Packets of the classes ``of`` that find no room in a queue are cut to ``size`` and continue in class ``into``."""

    of: Annotated[tuple[ClassName, ...], BeforeValidator(listed)] = Field(min_length=1)
    """The lossy classes whose packets are trimmed. Example: `[rdma]`"""
    into: ClassName
    """The class that trimmed packets continue in, by its one DSCP. Example: `trimmed`"""
    size: Size
    """Size of a trimmed packet, with its unit, at least 64 B. Example: `256 B`"""
