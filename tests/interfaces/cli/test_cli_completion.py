"""Completion: what the real bash offers, and that a key press waits for nothing heavy."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lossless.checks.rules.registry import RULES
from lossless.interfaces.cli.app import COMMANDS
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.test_cli_startup import HEAVY

PROGRAM = Path(sys.executable).with_name("lossless")


def offered(*words: str, cwd: Path) -> list[str]:
    """Return what bash offers for the last word of a line, by the function that it was given."""
    if not PROGRAM.exists():
        pytest.skip("the package is not installed here")
    script = "\n".join(
        [
            'eval "$(lossless completion bash)"',
            f"COMP_WORDS=({' '.join(map(shlex.quote, words))})",
            f"COMP_CWORD={len(words) - 1}",
            "compopt() { echo file; }",
            f"_lossless_completion lossless {shlex.quote(words[-1])} {shlex.quote(words[-2])}",
            r"""printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"}""",
        ]
    )
    search = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-eu", "-c", script],
        cwd=cwd,
        env=os.environ | {"PATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_offers_commands_options_values_rules_and_files(tmp_path: Path) -> None:
    codes = [code for code in RULES if code.startswith("WD00")]
    assert offered("lossless", "si", cwd=tmp_path) == ["simulate"]
    assert offered("lossless", "", cwd=tmp_path) == list(COMMANDS)
    assert offered("lossless", "lint", "--st", cwd=tmp_path) == ["--stdin-filename", "--statistics"]
    assert offered("lossless", "lint", "--fail-on", "w", cwd=tmp_path) == ["warning"]
    assert offered("lossless", "lint", "--select", "wd00", cwd=tmp_path) == codes
    assert offered("lossless", "lint", "--ignore", "ECN,WD00", cwd=tmp_path) == [f"ECN,{c}" for c in codes]
    assert offered("lossless", "lint", "--select", "watchdog-mi", cwd=tmp_path) == ["watchdog-missing"]
    assert offered("lossless", "rule", "WD001", cwd=tmp_path) == ["WD001"]
    assert offered("lossless", "lint", "fab", cwd=tmp_path) == ["file"]
    assert offered("lossless", "render", "fab", cwd=tmp_path) == ["file"]


def test_a_family_is_offered_where_one_may_stand(tmp_path: Path) -> None:
    assert "WD" in offered("lossless", "lint", "--select", "W", cwd=tmp_path)
    assert "WD" not in offered("lossless", "rule", "W", cwd=tmp_path)


@pytest.mark.parametrize("line", ["lossless ", "lossless lint --select WD", "lossless lint --"])
def test_a_key_press_imports_nothing_heavy(line: str) -> None:
    code = (
        "import atexit, sys; sys.argv[1:] = []\n"
        f"atexit.register(lambda: print('imported:', *sorted({HEAVY!r} & set(sys.modules))))\n"
        "from lossless.interfaces.cli import main; main()"
    )
    asked = {"_LOSSLESS_COMPLETE": "bash_complete", "COMP_WORDS": line}
    words = {"COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | asked | words,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "imported:"
    assert done.stdout.startswith("plain,")


@pytest.mark.parametrize(("shell", "asks"), [("zsh", "zsh_complete"), ("fish", "fish_complete")])
def test_other_shells_are_given_a_function_that_asks_the_program(shell: str, asks: str, cli: Cli) -> None:
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    assert f"_LOSSLESS_COMPLETE={asks} " in out
    interpreter = shutil.which(shell)
    if interpreter is not None:
        subprocess.run([interpreter, "-n"], input=out, text=True, check=True)


@pytest.mark.parametrize(("shell", "word"), [("zsh", "3"), ("fish", "WD001")])
def test_other_shells_are_told_what_a_code_stands_for(shell: str, word: str) -> None:
    asked = {"_LOSSLESS_COMPLETE": f"{shell}_complete", "COMP_WORDS": "lossless lint --select WD001"}
    done = subprocess.run(
        [sys.executable, "-c", "from lossless.interfaces.cli import main; main()"],
        env=os.environ | asked | {"COMP_CWORD": word},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "WD001" in done.stdout
    assert "watchdog-missing" in done.stdout


def test_an_unknown_shell_is_refused(cli: Cli) -> None:
    outcome = cli("completion", "tcsh")
    assert (outcome.code, outcome.out) == (2, "")
    assert "'tcsh' is not one of 'zsh', 'bash', 'fish'" in outcome.err
