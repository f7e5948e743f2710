"""Finding and reading profiles: our own, and those in folders of the user's.

A user's folder has the layout of ours, ``switches/NAME.toml`` and ``nics/NAME.toml``; a name there adds to
our profiles or takes the place of ours, and the first folder named wins. Our own files are checked by the
tests, a user's when they are read. A file is read once in a process.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.datafiles import data_dir
from lossless.errors import ProfileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from lossless.hardware.model import Hwsku, NicProfile, SwitchProfile

    Folder = str | PathLike[str]


def switch_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of all switch profiles, sorted."""
    return tuple(sorted(_files("switches", extra_dirs)))


def nic_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of all network adapter profiles, sorted."""
    return tuple(sorted(_files("nics", extra_dirs)))


def load_switch(name: str, extra_dirs: Sequence[Folder] = ()) -> SwitchProfile:
    """Return the switch profile of that name.

    Raises:
        ProfileError: no such profile (with the nearest name), or a user's file that is unreadable or wrong.
    """
    path = _find("switches", name, extra_dirs)
    return _switch(path, _is_own(path))


def load_nic(name: str, extra_dirs: Sequence[Folder] = ()) -> NicProfile:
    """Return the network adapter profile of that name.

    Raises:
        ProfileError: no such profile (with the nearest name), or a user's file that is unreadable or wrong.
    """
    path = _find("nics", name, extra_dirs)
    return _nic(path, _is_own(path))


def switch_for_hwsku(
    hwsku: str, platform: str | None = None, extra_dirs: Sequence[Folder] = ()
) -> tuple[SwitchProfile, Hwsku] | None:
    """Return the profile and HWSKU of a device, by the words of its DEVICE_METADATA; None where unknown.

    The platform tells apart a HWSKU that two products have; where it is not given, or is of neither, such a
    HWSKU is unknown. A HWSKU that one product has is that of the product on any platform: virtual switches
    carry the HWSKU of a real one.

    Raises:
        ProfileError: a user's file that is unreadable or wrong.
    """
    candidates = list(_switches_with(hwsku, extra_dirs))
    for profile, found in candidates:
        if platform in found.platforms:
            return profile, found
    return candidates[0] if len(candidates) == 1 else None


def _switches_with(hwsku: str, extra_dirs: Sequence[Folder]) -> Iterable[tuple[SwitchProfile, Hwsku]]:
    # The quotes keep a name from being found in a longer one; most files are then never parsed.
    wanted = f'"{hwsku}"', f"'{hwsku}'"
    for name, path in sorted(_files("switches", extra_dirs).items()):
        text = _read(path)
        if any(quoted in text for quoted in wanted):
            profile = load_switch(name, extra_dirs)
            found = profile.hwsku(hwsku)
            if found is not None:
                yield profile, found


def _files(kind: str, extra_dirs: Sequence[Folder]) -> dict[str, str]:
    files: dict[str, str] = {}
    for folder in (data_dir("profiles"), *reversed(extra_dirs)):
        try:
            entries = os.listdir(os.path.join(folder, kind))
        except FileNotFoundError:
            continue
        files |= {
            name.removesuffix(".toml"): os.path.join(folder, kind, name)
            for name in entries
            if name.endswith(".toml")
        }
    return files


def _find(kind: str, name: str, extra_dirs: Sequence[Folder]) -> str:
    files = _files(kind, extra_dirs)
    if name not in files:
        raise ProfileError(
            _unknown("switch" if kind == "switches" else "network adapter", name, sorted(files))
        )
    return files[name]


def _unknown(what: str, name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"no {what} profile is called {name!r}; {hint}"


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".toml")


def _is_own(path: str) -> bool:
    return os.path.dirname(os.path.dirname(path)) == data_dir("profiles")


@cache
def _switch(path: str, own: bool) -> SwitchProfile:
    from lossless.hardware.build import build_switch

    raw = _parse(path)
    if not own:
        from lossless.hardware.schema import check_switch

        check_switch(path, raw)
    return build_switch(_stem(path), raw)


@cache
def _nic(path: str, own: bool) -> NicProfile:
    from lossless.hardware.build import build_nic

    raw = _parse(path)
    if not own:
        from lossless.hardware.schema import check_nic

        check_nic(path, raw)
    return build_nic(_stem(path), raw)


def _parse(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{path}: not TOML: {error}") from error


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: cannot be read: {error}") from error
