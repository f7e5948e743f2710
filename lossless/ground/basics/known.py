"""Known, absent and unknown values, kept apart.

A value is *known*, *absent* on the device (None), or *unknown* (:data:`UNKNOWN`): a deployed file has no facts
about NICs or chip sizes. Unknown values are not checked, and never a finding.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

Provenance = Literal["intent", "deployed", "hosts"]
"""The source of facts: an intent, or deployed files.

``hosts``: these alone are deployed, and their fabric is that of an intent or of the switches that they are attached to.
"""


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
    """Return a value of a source in which no value is unknown, such as the hosts of an intent.

    Raises:
        TypeError: it is unknown, so a value of a device was used in place of one of an intent.
    """
    if value is UNKNOWN:
        raise TypeError("a value of an intent is unknown")
    return value
