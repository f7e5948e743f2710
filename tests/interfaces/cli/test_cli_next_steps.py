"""The last line of a command says what to run next; progress is shown to people alone."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from lossless.interfaces.cli import next_steps
from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.progress import ProgressBar
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with

PACKET = ("--from", "host1", "--to", "host5", "--dscp", "26")
HINTS = {
    ("lint", "fabric.yaml"): "lossless render fabric.yaml -o out  # writes the configurations",
    ("lint", "config_db.json"): "lossless simulate config_db.json  # runs traffic through the buffers",
    ("lint", "broken.json"): "lossless rule WD001  # explains the first error",
    # The warning of parts/a.json comes first, the error of parts/b.json counts more.
    ("lint", "parts"): "lossless rule WD001  # explains the first error",
    ("render", "fabric.yaml", "-o", "out"): (
        "lossless lint out  # checks what was written; manifest.json says where it goes"
    ),
    ("simulate", "fabric.yaml", "--closed-form"): (
        "lossless lint fabric.yaml  # checks what traffic does not show: maps, watchdogs, hosts"
    ),
    ("simulate", "broken.json", "--closed-form"): (
        "lossless lint broken.json --simulate  # shows where the values are set"
    ),
    ("topology", "fabric.yaml"): "lossless topology fabric.yaml --svg fabric.svg  # draws it",
    ("storm", "fabric.yaml", "--from", "host1"): (
        "lossless storm fabric.yaml --from host1 --svg storm.svg  # draws it"
    ),
    ("acceptance", "fabric.yaml"): "lossless acceptance fabric.yaml -o acceptance  # writes its scripts",
    ("trace", "fabric.yaml", *PACKET): "lossless lint fabric.yaml  # checks all traffic and all devices",
    ("headroom", "config_db.json"): (
        "lossless headroom config_db.json --port leaf1:Ethernet0  # shows the calculation"
    ),
    ("import", "config_db.json", "-o", "imported.yaml"): "lossless lint imported.yaml  # checks the intent",
    ("rules",): "lossless rule CODE  # explains one",
    ("rule", "watchdog-missing"): "lossless lint --select WD001  # checks the current folder by it alone",
    ("schema",): (
        "begin the intent with # yaml-language-server: $schema=FILE, where FILE is what you save this as"
    ),
    ("schema", "--config"): "begin lossless.toml with #:schema FILE, where FILE is what you save this as",
    ("baseline", "broken.json"): (
        "lossless lint broken.json --baseline lossless-baseline.json  # shows only what is new"
    ),
    ("collector",): "",
    ("completion", "bash"): "",
    ("profiles",): "lossless profiles NAME  # shows all that is known of one",
}
"""What commands are followed by."""


def takes_quiet(command: tuple[str, ...]) -> bool:
    return len(command) > 1 and command[0] not in ("rule", "schema", "baseline", "completion")


@pytest.fixture
def here(cli: Cli) -> Cli:
    Path("fabric.yaml").write_text(INTENT)
    Path("config_db.json").write_text(LEAF)
    Path("broken.json").write_text(leaf_with("PFC_WD", "Ethernet8", action=None))
    Path("parts").mkdir()
    Path("parts/a.json").write_text('{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}}')
    Path("parts/b.json").write_text(Path("broken.json").read_text())
    return cli


@pytest.mark.parametrize("command", HINTS, ids=" ".join)
def test_the_last_line_is_what_to_run_next(command: tuple[str, ...], here: Cli) -> None:
    assert here(*command).hint == HINTS[command]


@pytest.mark.parametrize("command", [command for command in HINTS if takes_quiet(command)], ids=" ".join)
def test_quiet_leaves_it_out(command: tuple[str, ...], here: Cli) -> None:
    outcome = here(*command, "-q")
    assert (outcome.hint, "next:" in outcome.err + outcome.out) == ("", False)


def test_what_is_to_be_run_next_can_be_run(here: Cli) -> None:
    here("render", "fabric.yaml", "-o", "out")
    here("import", "config_db.json", "-o", "imported.yaml")
    for hint in (hint for command, hint in HINTS.items() if takes_quiet(command) and command[0] != "render"):
        name, *arguments = shlex.split(hint, comments=True)[1:]
        assert name in COMMANDS
        if "--simulate" not in arguments and name != "simulate":
            outcome = here(name, *arguments)
            assert outcome.code in (0, 1), outcome.err


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_program_is_not_told(form: str, here: Cli) -> None:
    options = ("--vary", "dynamic_th=0", "--horizon", "50us", "--size", "64KiB")
    assert here("sweep", "fabric.yaml", *options, "--format", form).hint == ""


def test_progress_is_shown_on_a_terminal_alone_and_not_where_it_shall_be_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Screen(io.StringIO):
        terminal = True

        def isatty(self) -> bool:
            return self.terminal

    def shown(*, quiet: bool, terminal: bool) -> str:
        screen = Screen()
        screen.terminal = terminal
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        bar = ProgressBar("seeds", quiet=quiet)
        bar(1, 3)
        bar.stop()
        return screen.getvalue()

    assert "seeds" in shown(quiet=False, terminal=True)
    assert shown(quiet=True, terminal=True) == shown(quiet=False, terminal=False) == ""


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("collector",), "lossless collector > lossless-collect.sh  # saves it, to be run on each host"),
        (
            ("collector", "--switch"),
            "lossless collector --switch > lossless-collect-switch.sh  # saves it, to be run on each switch",
        ),
        (
            ("completion", "zsh"),
            """echo 'eval "$(lossless completion zsh)"' >> ~/.zshrc  # for every new shell; after compinit""",
        ),
    ],
    ids=" ".join,
)
def test_a_script_that_a_person_sees_is_followed_by_how_to_keep_it(
    command: tuple[str, ...], hint: str, cli: Cli
) -> None:
    assert cli(*command, on_terminal=True).hint == hint


@pytest.mark.parametrize(
    ("verdicts", "next_command"),
    [
        (("safe", "unsafe"), "lossless lint fabric.yaml --simulate"),
        (("on the edge",), "lossless lint fabric.yaml --simulate"),
        (("safe", "not checked"), "lossless lint fabric.yaml  #"),
        (("not checked",), "lossless lint fabric.yaml  #"),
    ],
)
def test_a_run_that_was_not_checked_blames_no_value(
    verdicts: tuple[str, ...], next_command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(next_steps, "then", lambda *words, **_: said.append(f"lossless {' '.join(words)}  #"))
    next_steps.after_verdict("fabric.yaml", verdicts, quiet=False)
    assert said[0].startswith(next_command)
