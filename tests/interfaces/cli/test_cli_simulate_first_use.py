"""``lossless simulate`` where numba is missing, and where it has not compiled the model yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.compiled import cache_folder
from lossless.analysis.simulation.engine.run import prepare
from lossless.ground.basics.programs import install_command
from tests.all_cases import ALL_CASES
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.inputs import LEAF, leaf_with
from tests.interfaces.cli.simulating import SMALL, packet_level, report_of
from tests.paths import ROOT

# --- without numba ---


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numba", "llvmlite"):
        monkeypatch.setitem(sys.modules, name, None)


PIP = f"numba is not installed: {install_command('sim')} adds the packet-level model"


@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize(
    ("text", "overall", "code"),
    [(LEAF, "safe", 0), (leaf_with("PFC_WD", "Ethernet8", action=None), "unsafe", 1)],
    ids=["safe", "unsafe"],
)
def test_without_numba_the_closed_forms_answer_alone(cli: Cli, text: str, overall: str, code: int) -> None:
    Path("config_db.json").write_text(text)
    closed, without = cli("simulate", ".", "--closed-form"), cli("simulate", ".")
    assert (without.code, without.err) == (code, "")
    assert without.out.splitlines()[0] == f"verdict: {overall}"
    assert packet_level(without) == f"packet-level model: not run\n  {PIP}"
    assert without.out.replace(packet_level(without), "").split() == closed.out.split()


@pytest.mark.usefixtures("without_numba")
def test_without_numba_json_says_so(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    report = report_of(cli("simulate", ".", "--format", "json"))
    assert report["verdicts"][0]["packet_level"] == {"runs": [], "not_run": PIP, "load": [], "pfc_load": []}


HIDDEN = """
import sys
sys.modules.update(dict.fromkeys(("numba", "llvmlite", "numpy", "matplotlib")))
from lossless.interfaces.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_without_numba_nothing_that_needs_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "config_db.json").write_text(LEAF)
    command = [sys.executable, "-c", HIDDEN, "simulate", "-q", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert PIP in " ".join(done.stdout.split())


# --- the first use ---

COMPILING = "compiling the packet-level model: about ten seconds, once for each version\n"


TAKEN = """
import numba
from numba.core import caching, dispatcher

def taken(compiler, args, return_type):
    numba.config.CACHE_DIR = {folder!r}
    context = compiler.targetdescr.target_context
    context.refresh()
    there = caching.FunctionCache(compiler.py_func)
    kept = there._cache_file.load(there._index_key(tuple(args), context.codegen()))
    compiled = there._impl.rebuild(context, kept)
    (_, _, (compiled.library._compiled_object, _)), *_ = kept
    return compiled

dispatcher._FunctionCompiler.compile = taken
"""
"""Takes what LLVM would make again from where it has made it before: all else is as where nothing is kept."""
NO_COMPILER = "from numba.core import dispatcher; del dispatcher._FunctionCompiler.compile; "
MAIN = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"


def start(cache: Path, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    """Start the command in a process of its own, with its machine code below ``cache``."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", before + MAIN, "simulate", "-q", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment)


def ended(process: subprocess.Popen[str]) -> Outcome:
    out, err = process.communicate()
    return Outcome(process.returncode, out, err)


def machine_code(folder: Path) -> list[Path]:
    return sorted(path for pattern in ("*.nbi", "*.nbc") for path in folder.rglob(pattern))


def test_the_first_use_says_that_it_compiles_and_the_second_need_not(tmp_path: Path) -> None:
    """Also with a cache folder that cannot be, as a file is there."""
    (tmp_path / "config_db.json").write_text(LEAF)
    cache, no_folder = tmp_path / "cache", tmp_path / "file"
    no_folder.write_text("a file")
    what = (str(tmp_path / "config_db.json"), *SMALL)
    prepare()
    compiling = "" if ALL_CASES else TAKEN.format(folder=str(cache_folder()))
    first, uncached = (ended(start(folder, *what, before=compiling)) for folder in (cache, no_folder))
    assert (first.code, first.err) == (0, COMPILING)
    assert uncached == first
    assert "packet-level model: safe" in first.out
    kept = machine_code(cache)
    assert kept
    second = ended(start(cache, *what, before=NO_COMPILER))
    assert (second.code, second.err, second.out) == (0, "", first.out)
    assert machine_code(cache) == kept
    assert no_folder.read_text() == "a file"
    assert machine_code(ROOT / "lossless") == []
