"""Compiles once what every worker of a test run would compile for itself: bytecode, asserts, and the packet model.

    python tools/precompile.py

Nothing is done again that is newer than its source. In a fresh checkout that saves each of two workers 20 s of
processor time for asserts, and a minute where the packet model has not been compiled on this machine.
"""

from __future__ import annotations

import compileall
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _rewrite_test, _write_pyc, get_cache_dir

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("lossless", "tests", "tools", "benchmarks")
NOT_OURS = "node_modules"
_STATE = cast("Any", SimpleNamespace(trace=lambda _: None))
"""What pytest's functions ask of a session: where to write what they do."""


def rewritten(path: Path) -> bool:
    """Write the bytecode of a test file with pytest's asserts, where that is older; return whether it was."""
    folder = get_cache_dir(path)
    folder.mkdir(exist_ok=True)
    pyc = folder / f"{path.stem}{PYC_TAIL}"
    if _read_pyc(path, pyc) is not None:
        return False
    try:
        stat, code = _rewrite_test(path, cast("Any", None))
    except SyntaxError:
        return False  # pytest names the place
    return _write_pyc(_STATE, code, stat, pyc)


def kernels() -> None:
    """Compile the packet model, or load what an earlier run kept."""
    from lossless.analysis.simulation.engine.run import prepare

    prepare()
    prepare(rare=True)


def main() -> int:
    """Compile everything; return 1 where a module has no valid syntax, which its tests then say better."""
    tests = [
        path
        for path in (ROOT / "tests").rglob("*.py")
        if NOT_OURS not in path.parts and (path.name == "conftest.py" or path.name.startswith("test_"))
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        compiling = pool.submit(kernels)
        asserts = pool.map(rewritten, tests, chunksize=8)
        sound = all(compileall.compile_dir(str(ROOT / name), quiet=2) for name in FOLDERS)
        changed = sum(asserts)
        compiling.result()
    print(f"compiled {changed} test files" if changed else "all is compiled")
    return int(not sound)


if __name__ == "__main__":
    sys.exit(main())
