"""Known, absent, unknown: three different answers, kept apart.

A value is *known*, *absent* on the device (None), or *unknown* (:data:`UNKNOWN`): a deployed file says nothing
of NICs or of chip sizes. What is unknown is not checked, and never a finding.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

Provenance = Literal["intent", "deployed", "hosts"]
"""Where facts come from: an intent, or deployed files. ``hosts``: these alone are deployed, and their fabric is that of
an intent or of the switches that they are attached to."""


class Unknown(Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN
_T = TypeVar("_T")
Maybe: TypeAlias = _T | Unknown | None
"""A value that may be known, absent or unknown."""


def certain(value: _T | Unknown) -> _T:
    """Return a value that cannot be unknown where it comes from: an intent says everything of its hosts.

    Raises:
        TypeError: it is unknown; what was read from a device has come where only an intent may.
    """
    if value is UNKNOWN:
        raise TypeError("a value of an intent is unknown")
    return value
