"""Compilation of kernels to machine code, and the folder that caches it between runs.

Only entry points are cached: the functions that they call are compiled into them. numba notices a change in the entry's
own file alone, so the folder is named by a hash of its version, the kernels, the records and this module. A checksum
lies beside the machine code: numba loads the files that lie there, and damaged ones are compiled again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core.caching import FunctionCache

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")
_KERNELS = Path(__file__).parent / "kernel"
# Kernels allocate nothing, so that nothing need be counted; counting costs four times what they do.
_LEAN: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# No part of a kernel is called from Python, which saves a third of the time it takes to compile.
_INNER: dict[str, Any] = {**_LEAN, "no_cpython_wrapper": True}


def kernel(function: _F) -> _F:
    """Return a function that numba compiles inline into its callers."""
    compiled: _F = numba.njit(forceinline=True, **_INNER)(function)
    return compiled


def outlined(function: _F) -> _F:
    """Return a compiled function that an entry calls; in kernels numba inlines it, as it passes ``forceinline`` on.

    With calls from kernels too the packet model took a tenth to a third longer: each call passes all arrays of the
    World one by one.
    """
    compiled: _F = numba.njit(**_INNER)(function)
    return compiled


def entry(function: _F) -> _F:
    """Return a compiled entry point; its machine code is cached between runs where a folder is writable.

    numba reads the folder from a setting of the process when it decorates; the setting is restored at once.
    """
    folder = cache_folder()
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder or before)
    try:
        compiled: Any = numba.njit(**_LEAN)(function)
        if folder is not None and compiled is not function:
            kept: Callable[[_F], Any] = _WholeCache
            compiled._cache = kept(function)
    finally:
        settings.CACHE_DIR = before
    made: _F = compiled
    return made


class _WholeCache(FunctionCache):
    """The cache of a function's machine code on disk; files whose checksum is wrong or missing are deleted."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached machine code for a signature, None where there is none or a file is damaged."""
        try:
            whole = self._checksum.read_text(encoding="ascii") == self._digest()
        except (OSError, UnicodeDecodeError):
            whole = False
        if not whole:
            for file in self._files():
                file.unlink(missing_ok=True)
        numbas: Any = super()
        return numbas.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the machine code for a signature, and the checksum of all files, to the cache; ignore write errors."""
        numbas: Any = super()
        with suppress(OSError):
            numbas.save_overload(sig, data)
            draft = self._checksum.with_suffix(f".{os.getpid()}")
            draft.write_text(self._digest(), encoding="ascii")
            draft.replace(self._checksum)

    @property
    def _checksum(self) -> Path:
        return Path(self.cache_path, f"{self._impl.filename_base}.sha256")

    def _files(self) -> list[Path]:
        return sorted(Path(self.cache_path).glob(f"{self._impl.filename_base}.*nb[ic]"))

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for file in self._files():
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()


def cache_folder() -> Path | None:
    """Return the folder of cached machine code; None if there is none that only this user may write."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in (
        *sorted(_KERNELS.glob("*.py")),
        *sorted(_KERNELS.parent.glob("*records.py")),
        Path(__file__),
    ):
        digest.update(source.read_bytes())
    for base in _bases():
        folder = base / f"kernels-{digest.hexdigest()[:16]}"
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for each in (base, folder):
                each.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and all(map(_is_ours, (folder, base))):
            return folder
    return None


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is this user's, and neither its group nor others may write: its files are executed."""
    status = folder.stat(follow_symlinks=False)
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _bases() -> tuple[Path, ...]:
    """Return the folders in which the cache may be, the best first: that which the environment names, else the user's.

    The last one is directly in the folder for temporary files: the owner of a folder in between could exchange it.
    """
    stated = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if stated:
        return (Path(stated) / "lossless",)
    own: tuple[Path, ...] = ()
    with suppress(RuntimeError):
        own = (Path.home() / ".cache" / "lossless",)
    return (*own, Path(tempfile.gettempdir()) / f"lossless-{os.getuid()}")
