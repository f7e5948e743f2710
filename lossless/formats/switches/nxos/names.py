"""Names that NX-OS has by itself: classes of its policies, interfaces in full and shortened.

Source: the classes that ``show running-config all`` lists and that policies of Nexus 9000 and 3000 name
(batfish/batfish projects/batfish/src/test/resources/org/batfish/grammar/cisco_nxos, class maps c-out-q, c-out-8q-q,
c-in-q; CiscoDevNet/terraform-provider-nxos gen/definitions/network_qos.yaml @41ca596, c-8q-nq).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST_GROUP = 7
_OF_TYPE = {
    "network-qos": re.compile(r"c-(?:[48]q-)?nq(?:([0-7])|-default)"),
    "queuing": re.compile(r"c-(?:out|in)-(?:[48]q-)?q(?:([0-7])|-default)"),
}
_DEFAULTS = frozenset({"class-default", "class-fcoe", "class-all-flood", "class-ip-multicast"})
_KINDS = (("ethernet", "Ethernet"), ("port-channel", "port-channel"))
_MOST = 4096
_RANGE = re.compile(r"(.*?)([0-9]{1,4})-([0-9]{1,4})")


def group_of_class(kind: str, name: str) -> int | None:
    """Return the qos-group of a class that exists by itself in a policy of a type, None where it is none of these."""
    if name == "class-default":
        return 0
    match = _OF_TYPE[kind].fullmatch(name) if kind in _OF_TYPE else None
    return None if match is None else int(match[1] or 0)


def is_built_in(kind: str, name: str) -> bool:
    """Return whether a class exists by itself in policies of a type."""
    return name in _DEFAULTS or group_of_class(kind, name) is not None


def type_of_class(name: str) -> str | None:
    """Return the type of policies that a class which exists by itself is of, None where it is of all or of none."""
    return next((kind for kind, pattern in _OF_TYPE.items() if pattern.fullmatch(name)), None)


def interface_names(text: str) -> Iterator[str]:
    """Yield the interfaces that a command names, in full: ``e1/1/1-2,e1/2/1-2`` are four."""
    kind = ""
    for part in text.replace(" ", "").split(","):
        word = re.match(r"[A-Za-z-]*", part)
        letters = word[0].removesuffix("-") if word else ""
        kind = _full(letters) if letters else kind
        yield from (f"{kind}{number}" for number in _numbers(part[len(letters) :]))


def _full(letters: str) -> str:
    low = letters.lower()
    return next((full for known, full in _KINDS if low and known.startswith(low)), letters)


def _numbers(text: str) -> Iterator[str]:
    match = _RANGE.fullmatch(text)
    if match is None or not 0 <= int(match[3]) - int(match[2]) < _MOST:
        yield text
    else:
        yield from (f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1))
