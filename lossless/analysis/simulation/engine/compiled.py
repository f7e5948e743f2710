"""Compilation of kernels to machine code, and the folders that keep it between runs.

Only entry points are kept: the functions that they call are compiled into them. A folder is named by a hash of the
kernels, the records, this module, and the versions of numba and NumPy; a file by its function, Python, and the
processors that it runs on. It begins with a checksum: a damaged file is compiled again.

The machine code of this machine is kept in the user's folder, that of ``simulate --prepare`` beside the package where
that may be written. It is made for the oldest processors of the architecture, so that it runs on all of them.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from numba.core import compiler, serialize
from numba.core.caching import NullCache

from lossless.analysis.simulation.engine import GENERIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_F = TypeVar("_F", bound="Callable[..., Any]")
_KERNELS = Path(__file__).parent / "kernel"
# numba's functions have no annotations.
_RESULT: Any = compiler.CompileResult
_dumps: Any = serialize.dumps
_BESIDE = Path(__file__).parent / "__pycache__"
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
    """Return a compiled entry point; its machine code is kept between runs where a folder is writable."""
    compiled: Any = numba.njit(**_LEAN)(function)
    if compiled is not function:
        own = cache_folder()
        shared = () if os.environ.get("NUMBA_CACHE_DIR") else (package_folder(),)
        compiled._cache = MachineCode(function, (*((own,) if own else ()), *shared), own)
    made: _F = compiled
    return made


class MachineCode(NullCache):
    """The machine code of a function on disk: numba loads it instead of compiling, and saves new machine code there."""

    def __init__(self, function: Callable[..., Any], folders: tuple[Path, ...], into: Path | None) -> None:
        """Look for machine code in ``folders``, the first has precedence, and write it ``into`` one, or nowhere."""
        self.folders = folders
        self.into = into
        code = hashlib.sha256(function.__code__.co_code).hexdigest()[:16]
        self._stem = f"{function.__module__}.{function.__name__}.{code}.{sys.implementation.cache_tag}"

    @property
    def cache_path(self) -> str:
        """The folder that is written to, for numba's statistics."""
        return str(self.into or "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kept machine code for a signature; None if it is missing, damaged, or may not be used."""
        target_context.refresh()
        for name, content in self.kept(target_context):
            stated, signature, compiled = pickle.loads(content)
            if (stated, signature) == (name, sig):
                return _RESULT._rebuild(target_context, *compiled)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the machine code for a signature; ignore write errors."""
        if self.into is None or data.library.has_dynamic_globals:
            return
        name = self._name(data.codegen)
        content: bytes = _dumps((name, sig, data._reduce()))
        with suppress(OSError):
            descriptor, path = tempfile.mkstemp(dir=self.into)
            draft = Path(path)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(hashlib.sha256(content).digest() + content)
                    # Readable to others, as a package is, and writable to nobody else, whatever ``umask`` says.
                    os.fchmod(descriptor, 0o644)
                draft.replace(self.into / name)
            except OSError:
                draft.unlink()
                raise

    def kept(self, target_context: Any) -> Iterator[tuple[str, bytes]]:
        """Yield the files for this processor, then for all of its architecture: name and content, if not damaged."""
        codegen = target_context.codegen()
        for folder in self.folders:
            if _why_not_used(folder) is None:
                for name in dict.fromkeys((self._name(codegen), self._name(codegen, generic=True))):
                    content = _whole(folder / name)
                    if content is not None:
                        yield name, content

    def _name(self, codegen: Any, *, generic: bool = False) -> str:
        triple, *processor = codegen.magic_tuple()
        is_generic = generic or processor == list(GENERIC.values())
        of = "generic" if is_generic else hashlib.sha256(repr(processor).encode()).hexdigest()[:16]
        return f"{self._stem}.{triple}.{of}.code"


def is_kept(function: Any) -> bool:
    """Return whether the machine code of an entry point need not be compiled."""
    kept = getattr(function, "_cache", None)
    return isinstance(kept, MachineCode) and any(True for _ in kept.kept(function.targetctx))


def _whole(file: Path) -> bytes | None:
    """Return the content of a file of machine code; None if it is missing, damaged or not to be used."""
    with suppress(OSError):
        if _why_not_used(file) is None:
            raw = file.read_bytes()
            if hashlib.sha256(raw[_CHECKSUM:]).digest() == raw[:_CHECKSUM]:
                return raw[_CHECKSUM:]
    return None


_CHECKSUM = hashlib.sha256().digest_size


def _folder_name() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for source in (
        *sorted(_KERNELS.glob("*.py")),
        *sorted(_KERNELS.parent.glob("*records.py")),
        Path(__file__),
    ):
        digest.update(source.read_bytes())
    return f"kernels-{digest.hexdigest()[:16]}"


def cache_folder() -> Path | None:
    """Return the user's folder of machine code; None if none is this user's and writable by this user alone."""
    name = _folder_name()
    for base in _bases():
        folder = base / name
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for each in (base, folder):
                each.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and all(map(_is_ours, (folder, base))):
            return folder
    return None


def package_folder() -> Path:
    """Return the folder of machine code beside the package, which need not exist: all of its users read it."""
    return _BESIDE / _folder_name()


def folder_to_prepare() -> Path | None:
    """Return the folder for machine code that is compiled ahead; None if none can be written.

    That is ``NUMBA_CACHE_DIR`` where it is set, else that of the package, else the user's.
    """
    if not os.environ.get("NUMBA_CACHE_DIR"):
        folder = package_folder()
        with suppress(OSError):
            folder.parent.mkdir(exist_ok=True)
            folder.mkdir(mode=0o755, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK) and _why_not_used(folder) is None:
            return folder
    return cache_folder()


def unused_folders() -> tuple[str, ...]:
    """Return the folders and files of machine code that exist and are not used, each with the reason."""
    name, own = _folder_name(), cache_folder()
    folders = [] if os.environ.get("NUMBA_CACHE_DIR") else [package_folder()]
    for base in _bases():
        folders += [base, base / name]
        if own is not None and own.parent == base:
            break
    places = [place for folder in folders for place in (folder, *sorted(folder.glob("*.code")))]
    reasons = ((place, _why_not_used(place)) for place in places if os.path.lexists(place))
    return tuple(f"{place}: {reason}" for place, reason in reasons if reason is not None)


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is this user's, and neither its group nor others may write: its files are executed."""
    status = folder.stat(follow_symlinks=False)
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _why_not_used(place: Path) -> str | None:
    """Return the reason not to use a folder or file of machine code, None if it is used: its content is executed.

    It may belong to the owner of the package too, whose code is executed anyway.
    """
    try:
        status = place.stat(follow_symlinks=False)
    except OSError as error:
        return str(error.strerror)
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if status.st_uid not in (os.getuid(), Path(__file__).stat().st_uid):
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "its group or others may write to it"
    return None


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
