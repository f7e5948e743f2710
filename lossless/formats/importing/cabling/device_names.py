"""Matches different spellings of a device's name: upper and lower case, with and without domain.

LLDP reports the name that a system gives itself, with its domain on most hosts; sheets and intents omit the domain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


class DeviceNames:
    """Finds a known device by a name: one with the same letters in either case, else one that differs by a domain.

    A name that matches two devices matches none.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._whole: dict[str, set[str]] = {}
        self._beginning: dict[str, set[str]] = {}
        for name in self._known:
            self._whole.setdefault(name.lower(), set()).add(name)
            for part in _without_domain(name.lower()):
                self._beginning.setdefault(part, set()).add(name)

    def find(self, word: str) -> str | None:
        """Return the device of a name, None where no device or more than one matches."""
        if word in self._known:
            return word
        low = word.lower()
        for candidates in (
            self._whole.get(low),
            next((self._whole[part] for part in _without_domain(low) if part in self._whole), None),
            self._beginning.get(low),
        ):
            if candidates:
                return next(iter(candidates)) if len(candidates) == 1 else None
        return None


def _without_domain(name: str) -> Iterator[str]:
    """Yield a name without the last word of its domain, without the last two, and so on."""
    while "." in name:
        name = name.rpartition(".")[0]
        if name:
            yield name


def canonical_names(names: Collection[str], preferred: Collection[str] = ()) -> dict[str, str]:
    """Return the canonical name of each name: of equal letters a preferred one, without its domain.

    A name is shortened only to another one of ``names``, and only if no other name would be shortened to that.
    """
    identical: dict[str, list[str]] = {}
    # Of two spellings the one in small letters is taken.
    for name in sorted(names, key=lambda name: (name not in preferred, name.swapcase())):
        identical.setdefault(name.lower(), []).append(name)
    shorter = {
        low: next((part for part in _without_domain(low) if part in identical), low) for low in identical
    }
    longer: dict[str, int] = {}
    for low, short in shorter.items():
        longer[short] = longer.get(short, 0) + (low != short)
    chosen = {low: short if longer[short] == 1 else low for low, short in shorter.items()}
    return {name: identical[_last(name.lower(), chosen)][0] for name in names}


def _last(low: str, chosen: Mapping[str, str]) -> str:
    """Return the end of a chain of shortened names."""
    while chosen[low] != low:
        low = chosen[low]
    return low


def claimed_twice(meant: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each device with two names that cannot both be its own, since their domains differ."""
    by_device: dict[str, list[str]] = {}
    for word, device in meant.items():
        by_device.setdefault(device, []).append(word)
    for device, words in by_device.items():
        longest = max(words, key=len)
        for word in words:
            if word.lower() != longest.lower() and not longest.lower().startswith(f"{word.lower()}."):
                yield device, *sorted((word, longest))  # type: ignore[misc]
                break
