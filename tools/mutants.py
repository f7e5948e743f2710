"""Shows whether the tests of a package notice deliberate faults in it.

    python tools/mutants.py [PACKAGE ...] [--sample N | --all] [--seed N] [--jobs N] [--without-tools]

Each fault (``tools/mutations.py``) is put into a copy of the project, never into the work tree, and only the tests of
the package's own folder, and those of ELSEWHERE, run on it: those that run the changed line first, until one fails.
Which lines each test runs is recorded once and kept in ``out/mutants``. A test that takes many times its usual CPU time
has noticed it, too.
``--without-tools`` tries the tests that ``make test`` runs, and no others.
Survivors are printed; below 90 % of a package's mutants killed the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [str(ROOT), *(path for path in sys.path if path not in {str(ROOT), str(ROOT / "tools"), ""})]

from tools.mutations import Fault, faults  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGES = (
    "analysis/buffers",
    "analysis/routing",
    "formats/importing",
    "checks/lint/baseline.py",
    "checks/rules",
)
ELSEWHERE = {"checks/lint/baseline.py": ("tests/interfaces/cli/test_cli_suppressions.py",)}
"""Tests of a package that stand outside its folder of tests: suppressions are tested by the commands that obey them."""
REQUIRED = 0.9
ARGUMENTS = (
    "-x",
    "-q",
    "-n0",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:unraisableexception",
)
IGNORED = (".git", ".venv", ".*_cache", ".hypothesis", "out", "build", "dist")
OWN = {"lossless", "tests", "tools", "benchmarks", "__main__", "__mp_main__"}
COLLECTING_CPU_S, TEST_CPU_S, TEST_FACTOR = 60.0, 10.0, 10.0
QUICKEST = 20
"""The files of so many tests are run first, and all others only where these do not notice a fault."""
ON_IMPORT = ""
"""The name used for no test: lines that run while modules are imported and tests collected."""


class Record(NamedTuple):
    """What the tests of a package do without a fault: CPU seconds of each, and the tests that run each line.

    Tests are numbers in ``lines``; the first one stands for :data:`ON_IMPORT`.
    """

    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[str, list[int]]]

    def phases(self, fault: Fault) -> Iterator[list[str]]:
        """Yield tests to run on a fault, the quickest first; none where none runs its line.

        What runs on import is given to the tests that run any line of the module. A test that needs a line only through
        a fixture of an earlier test is left out: a fault that it alone would notice counts as a survivor. What changes
        no line, the control, is given to all.
        """
        module = self.lines.get(fault.file, {})
        near = {test for line in fault.lines for test in module.get(str(line), ())}
        if fault.lines and not near:
            return
        if not fault.lines:
            near = set(range(len(self.tests)))
        elif 0 in near:
            near.update(test for tests in module.values() for test in tests)
        order = sorted(near - {0}, key=lambda test: (self.seconds[test], test))
        quickest = {_file(self.tests[test]) for test in order[:QUICKEST]}
        for first in (True, False):
            phase = [self.tests[test] for test in order if (_file(self.tests[test]) in quickest) == first]
            if phase:
                yield phase


class Result(NamedTuple):
    """Whether the tests noticed a fault; ``survivor`` shows it where they did not."""

    killed: bool
    survivor: str = ""


class _Recorder:
    """A plugin that notes which lines of the sources each test runs."""

    def __init__(self, folder: str, sources: str) -> None:
        self.folder, self.sources = folder, f"{folder}/{sources}"
        self.current: dict[str, set[int]] = {}
        self.by_test = {ON_IMPORT: self.current}
        self.seconds: dict[str, float] = {}
        self.caches: list[functools._lru_cache_wrapper[Any]] = []
        self.modules = 0
        sys.settrace(self.enter)

    def enter(self, frame: Any, _event: str, _arg: Any) -> Any:
        """Follow a call of a function of the sources."""
        file = frame.f_code.co_filename
        return self.step if file.startswith(self.sources) else None

    def step(self, frame: Any, _event: str, _arg: Any) -> Any:
        """Note a line."""
        self.current.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return self.step

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Note the lines of one test, with nothing left in caches by those before it."""
        if len(sys.modules) != self.modules:
            self.modules = len(sys.modules)
            self.caches = [
                thing for thing in gc.get_objects() if isinstance(thing, functools._lru_cache_wrapper)
            ]
        for cached in self.caches:
            cached.cache_clear()
        self.current = self.by_test[item.nodeid] = {}
        sys.settrace(self.enter)
        started = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - started
            self.current = self.by_test[ON_IMPORT]

    def record(self) -> Record:
        """Return what was seen."""
        lines: dict[str, dict[str, list[int]]] = {}
        for test, files in enumerate(self.by_test.values()):
            for file, numbers in files.items():
                module = lines.setdefault(os.path.relpath(file, self.folder), {})
                for number in sorted(numbers):
                    module.setdefault(str(number), []).append(test)
        seconds = [self.seconds.get(name, 0.0) for name in self.by_test]
        return Record(list(self.by_test), seconds, lines)


class _Runner:
    """A plugin that runs tests in a given order, each within a CPU time, and shrinks no failing example."""

    def __init__(self, order: list[str], record: Record) -> None:
        self.rank = {name: rank for rank, name in enumerate(order)}
        self.seconds = dict(zip(record.tests, record.seconds, strict=True))

    def pytest_configure(self) -> None:
        """Hold hypothesis to generating examples; the tests' own profile has been loaded by now."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("repeatable"), phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run the tests of the order, in it, and no others."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank), key=lambda it: self.rank[it.nodeid]
        )

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let the signal end the process once the test has taken too long."""
        limit_s = TEST_CPU_S + TEST_FACTOR * self.seconds.get(item.nodeid, 0.0)
        signal.setitimer(signal.ITIMER_PROF, limit_s)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _forked(folder: Path, limit_s: float, run: Callable[[], int]) -> int | None:
    """Run something in a process of its own in a folder; return its exit code, None where it had to be ended."""
    child = os.fork()
    if not child:
        code = 3
        try:
            code = _inside(folder, run)
        finally:
            if sys.exc_info()[1]:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + limit_s
    ended = status = 0
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def _inside(folder: Path, run: Callable[[], int]) -> int:
    os.setsid()
    os.chdir(folder)
    log = os.open("mutant.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, COLLECTING_CPU_S)
    os.environ |= {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder.parent / "kernels")}
    sys.path[:] = [str(folder), *(path for path in sys.path if path != str(ROOT))]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tools", "benchmarks")]:
        del sys.modules[name]
    return run()


def _copy(source: Path, folder: Path) -> Path:
    return shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*IGNORED))


def _compile_packet_model(folder: Path) -> None:
    """Have machine code of the packet model kept for a copy, before any test of it is timed.

    numba keeps it by the path of the sources. Otherwise the first test that simulates takes a minute of CPU time: one
    test in the record, and another one in another order, which has then taken too long without any fault.
    """

    def run() -> int:
        signal.setitimer(signal.ITIMER_PROF, 0)
        importlib.import_module("tools.precompile").kernels()
        return 0

    if _forked(folder, 600, run):
        sys.exit(f"the packet model could not be compiled:\n{(folder / 'mutant.log').read_text()}")


def recorded(package: str, base: Path) -> Record:
    """Return which lines of a package each of its tests runs, from ``out/mutants`` where nothing has changed since."""
    digest = hashlib.sha256()
    for path in sorted(path for top in ("lossless", "tests") for path in (base / top).rglob("*.py")):
        digest.update(path.read_bytes())
    tests = "-without-tools" if _SELECTION else ""
    kept = ROOT / "out" / "mutants" / f"{package.replace('/', '-')}{tests}.json"
    if not kept.is_file() or json.loads(kept.read_text())["digest"] != digest.hexdigest():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _write_record(package, kept, digest.hexdigest(), base)
    document = json.loads(kept.read_text())
    _preload(document["modules"])
    return Record(document["tests"], document["seconds"], document["lines"])


def _write_record(package: str, kept: Path, digest: str, base: Path) -> None:
    _compile_packet_model(base)

    def run() -> int:
        signal.setitimer(signal.ITIMER_PROF, 0)
        recorder = _Recorder(str(base), f"lossless/{package}")
        code = pytest.main([*ARGUMENTS, *_SELECTION, "--tb=short", *_tests(package)], plugins=[recorder])
        sys.settrace(None)
        modules = sorted(sys.modules)
        kept.write_text(json.dumps({"digest": digest, "modules": modules, **recorder.record()._asdict()}))
        return int(code)

    if _forked(base, 3600, run):
        kept.unlink(missing_ok=True)
        sys.exit(f"the tests of {package} fail without any fault:\n{(base / 'mutant.log').read_text()}")


def _preload(modules: list[str]) -> None:
    """Import what the tests need from elsewhere, once for all processes that are forked from this one."""
    for name in modules:
        if name.partition(".")[0] not in OWN:
            with contextlib.suppress(ImportError), warnings.catch_warnings(action="ignore"):
                importlib.import_module(name)


def _tests(package: str) -> list[str]:
    """Return the folder of tests of a package, or of a module or folder in one, and its files elsewhere."""
    folders = [Path("tests", package), *Path("tests", package).parents]
    return [str(next(folder for folder in folders if (ROOT / folder).is_dir())), *ELSEWHERE.get(package, ())]


_SELECTION: list[str] = []
"""What pytest is told to leave out; a test that is left out of the record is tried on no fault."""
_state: list[Any] = []
_UNNOTICED = (int(pytest.ExitCode.OK), int(pytest.ExitCode.NO_TESTS_COLLECTED))


def _start(base: Path, record: Record) -> None:
    folder = _copy(base, base.parent / str(os.getpid()))
    if "numba" in sys.modules:  # tests of the package simulate
        _compile_packet_model(folder)
    _state[:] = [folder, record]


def _tried(fault: Fault) -> Result:
    folder, record = _state
    module = folder / fault.file
    source = module.read_bytes()
    phases = list(record.phases(fault))
    if not phases:
        return Result(killed=False, survivor=_shown(fault, source, ": no test runs it"))
    cached = Path(importlib.util.cache_from_source(str(module)))
    cached.unlink(missing_ok=True)
    module.write_bytes(fault.applied(source))
    killed = any(_notices(folder, record, order) for order in phases)
    module.write_bytes(source)
    cached.unlink(missing_ok=True)
    return Result(killed, "" if killed else _shown(fault, source))


def _notices(folder: Path, record: Record, order: list[str]) -> bool:
    """Return whether one of some tests fails, or takes too long."""
    runner = _Runner(order, record)

    def run() -> int:
        return int(pytest.main([*ARGUMENTS, *dict.fromkeys(map(_file, order))], plugins=[runner]))

    code = _forked(folder, 120 + 20 * sum(runner.seconds[name] for name in order), run)
    if code not in {*_UNNOTICED, 1, 2, None}:
        sys.exit(f"pytest could not run:\n{(folder / 'mutant.log').read_text()}")
    return code not in _UNNOTICED


def _shown(fault: Fault, source: bytes, remark: str = "") -> str:
    old, new = fault.difference(source)
    return f"{fault.file}:{fault.line}{remark}\n    - {old}\n    + {new}"


def sample(package: str, base: Path, size: int | None, seed: int) -> list[Fault]:
    """Return the faults to try, in the order of the sources; which ones depends on no other line of a module."""
    path = base / "lossless" / package
    named = [
        pair
        for module in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
        for pair in faults(str(module.relative_to(base)), module.read_bytes())
    ]
    named.sort(key=lambda pair: hashlib.sha256(f"{seed} {pair[0]}".encode()).digest())
    return sorted(fault for _, fault in named[:size])


def tried(package: str, size: int | None, seed: int, jobs: int) -> float:
    """Try the faults of a package, print what came of them, and return the share that was noticed."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        base = _copy(ROOT, Path(temporary) / "base")
        record, chosen = recorded(package, base), sample(package, base, size, seed)
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(jobs, context, _start, (base, record)) as pool:
            killed = _killed(pool, package, chosen)
    share = killed / len(chosen)
    print(f"{package}: {len(chosen)} mutants, {killed} killed, {share:.1%}", flush=True)
    return share


def _killed(pool: ProcessPoolExecutor, package: str, chosen: list[Fault]) -> int:
    """Try faults, print those that survive, and return how many do not; all tests must pass without a fault."""
    control = pool.submit(_tried, chosen[0]._replace(end=chosen[0].start, replacement="", lines=range(0)))
    killed = 0
    for result in pool.map(_tried, chosen):
        killed += result.killed
        print(end=f"{result.survivor}\n" if result.survivor else "", flush=True)
    if control.result().killed:
        sys.exit(f"the tests of {package} fail without any fault when they run in another order")
    return killed


def main() -> int:
    """Try the faults of the packages named; return the exit code."""
    parser = argparse.ArgumentParser(
        description="put deliberate faults into packages; their own tests must notice"
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=PACKAGES)
    parser.add_argument(
        "--sample", type=int, default=100, metavar="N", help="faults a package (default: 100)"
    )
    parser.add_argument("--all", action="store_true", help="every fault")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which faults are sampled")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="N", help="faults tried at a time"
    )
    parser.add_argument("--without-tools", action="store_true", help="only the tests of make test")
    options = parser.parse_args()
    _SELECTION[:] = ["-m", "not tools"] if options.without_tools else []
    os.environ.setdefault("LOSSLESS_REFERENCE", str(ROOT.parent / "shared"))
    size = None if options.all else options.sample
    shares = [tried(package, size, options.seed, options.jobs) for package in options.packages]
    return int(min(shares) < REQUIRED)


if __name__ == "__main__":
    sys.exit(main())
