"""Ranges of interfaces, as commands of EOS and NX-OS write them: what is left out stands as in the first name.

``Ethernet1/1-4`` and ``Ethernet1/1-1/4`` count the last number, ``Ethernet49/1-52/1`` and ``Ethernet49-52/1`` the slot.
"""

from __future__ import annotations

import re

MOST = 4096
"""How many interfaces a range may name, more than a switch has."""
_NUMBERS = r"[0-9]{1,4}(?:/[0-9]{1,4})*"
_RANGE = re.compile(rf"(.*?)({_NUMBERS})-(?:([A-Za-z-]+)(?=[0-9]))?({_NUMBERS})")


def names_of_range(text: str) -> list[str]:
    """Return the interfaces that a range names; a text that is none, or counts more than one number, is a name."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    kind, first, last = match[1], match[2].split("/"), match[4].split("/")
    if match[3] and match[3].lower() != kind.lower():
        return [text]
    if len(first) == 1:
        first += last[1:]
    last = first[: len(first) - len(last)] + last
    counted = [place for place, number in enumerate(first) if number != last[place]]
    if len(first) != len(last) or len(counted) > 1:
        return [text]
    place = counted[0] if counted else len(first) - 1
    low, high = int(first[place]), int(last[place])
    if not 0 <= high - low < MOST:
        return [text]
    return [kind + "/".join((*first[:place], str(n), *first[place + 1 :])) for n in range(low, high + 1)]
