"""What rules on hosts say where no file of a host says what they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Gap

if TYPE_CHECKING:
    from collections.abc import Collection


def unread(what: str, hosts: Collection[str]) -> Gap:
    """Return that something is not known of some hosts: their files do not say it."""
    return Gap(f"no file of the host says {what}", len(hosts))
