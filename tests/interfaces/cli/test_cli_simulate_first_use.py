"""``lossless simulate`` where numba is missing, and where it has not compiled the model yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.compiled import cache_folder, package_folder
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

COMPILING = "compiling the packet-level model: about half a minute, once for each version\n"


TAKEN = """
import os, pickle, sys
from pathlib import Path
from types import SimpleNamespace
from lossless.analysis.simulation.engine import GENERIC

if "--prepare" in sys.argv:
    os.environ.update(GENERIC)
from numba.core import compiler as numbas, dispatcher
from lossless.analysis.simulation.engine import compiled
from lossless.analysis.simulation.study import answer

def taken(compiler, args, return_type):
    context = compiler.targetdescr.target_context
    context.refresh()
    stem = compiled.MachineCode(compiler.py_func, (), None)._stem
    file = next(file for folder in {folders!r} for file in Path(folder).glob(stem + "*"))
    _, signature, kept = pickle.loads(file.read_bytes()[compiled._CHECKSUM:])
    assert signature == tuple(args)
    made = numbas.CompileResult._rebuild(context, *kept)
    (_, _, (made.library._compiled_object, _)), *_ = kept
    return made

dispatcher._FunctionCompiler.compile = taken
answer.sys = SimpleNamespace(modules={{}})
"""
"""Takes what LLVM would make again from where it has made it before: all else is as where nothing is kept."""
ANOTHER_PROCESSOR = "import llvmlite.binding as ll; ll.get_host_cpu_name = lambda: ''\n"
NO_COMPILER = "from numba.core import dispatcher; del dispatcher._FunctionCompiler.compile; "
MAIN = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"


def start(cache: Path, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    """Start the command in a process of its own, with its machine code below ``cache``, and none of the package."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", before + MAIN, "simulate", "-q", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment)


def ended(process: subprocess.Popen[str]) -> Outcome:
    out, err = process.communicate()
    return Outcome(process.returncode, out, err)


def machine_code(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.code"))


@pytest.fixture
def compiling() -> str:
    """What a process runs first, to take machine code from where it was made before instead of compiling."""
    prepare(rare=True)
    return "" if ALL_CASES else TAKEN.format(folders=[str(cache_folder()), str(package_folder())])


def test_the_first_use_says_that_it_compiles_and_the_second_need_not(tmp_path: Path, compiling: str) -> None:
    """Also with a cache folder that cannot be, as a file is there."""
    (tmp_path / "config_db.json").write_text(LEAF)
    cache, no_folder = tmp_path / "cache", tmp_path / "file"
    no_folder.write_text("a file")
    what = (str(tmp_path / "config_db.json"), *SMALL)
    ours = machine_code(ROOT / "lossless")
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
    assert machine_code(ROOT / "lossless") == ours


@pytest.mark.tools("runs")
def test_after_prepare_the_first_simulation_compiles_nothing(tmp_path: Path, compiling: str) -> None:
    """And one whose machine code is damaged says that it compiles, and answers the same."""
    (tmp_path / "config_db.json").write_text(LEAF)
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    made = ended(start(cache, "--prepare", before=compiling))
    run_and_attend = machine_code(cache)
    (folder,) = {file.parent for file in run_and_attend}
    assert made == Outcome(0, f"compiled: the packet-level model is in {folder}\n", COMPILING)
    assert len(run_and_attend) == 2
    assert {file.name.rsplit(".", 2)[1:] == ["generic", "code"] for file in run_and_attend} == {True}
    again = ended(start(cache, "--prepare"))
    assert again == Outcome(0, f"nothing to compile: the packet-level model is in {folder}\n", "")
    what = (str(tmp_path / "config_db.json"), *SMALL)
    first = ended(start(cache, *what, before=NO_COMPILER))
    assert (first.code, first.err) == (0, "")
    assert ended(start(cache, *what, before=ANOTHER_PROCESSOR + NO_COMPILER)) == first
    run_and_attend[1].chmod(0o666)
    unused = f"machine code is not used: {run_and_attend[1]}: its group or others may write to it\n"
    assert ended(start(cache, *what, before=compiling)) == first._replace(err=unused + COMPILING)
    run_and_attend[1].chmod(0o644)
    for file in machine_code(cache):
        file.write_bytes(file.read_bytes()[:-1])
    for folder in (cache, elsewhere):
        assert ended(start(folder, *what, before=compiling)) == first._replace(err=COMPILING)
    for_this_processor = ended(start(elsewhere, *what, before=ANOTHER_PROCESSOR + compiling))
    assert for_this_processor == first._replace(err=COMPILING)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("config_db.json",), "PATH"),
        (("--seeds", "3"), "--seeds"),
        (("--closed-form", "-v", "config_db.json"), "PATH, --closed-form, --verbose"),
    ],
)
def test_prepare_takes_nothing_to_simulate(cli: Cli, more: tuple[str, ...], named: str) -> None:
    Path("config_db.json").write_text(LEAF)
    refused = cli("simulate", "--prepare", *more)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines()[-1] == f"Error: --prepare only compiles the model, and takes no {named}"


@pytest.mark.usefixtures("without_numba")
def test_without_numba_prepare_says_what_to_install(cli: Cli) -> None:
    assert cli("simulate", "--prepare") == Outcome(2, "", f"lossless: {PIP}\n")
