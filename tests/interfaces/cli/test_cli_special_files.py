"""Pipes, devices and sockets: what the command line names is read once and bounded, what inputs name is refused."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from lossless.interfaces.cli.app import COMMANDS, group
from lossless.interfaces.cli.options import InputPath
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.inputs import BASES, INTENT, LEAF
from tests.special_files import KINDS, LIMIT_S, in_time, made

CABLES = "leaf1,Ethernet0,spine1,Ethernet0,30m\n"
STORM = '{"COUNTERS:oid:0x1": {"PFC_WD_STATUS": "stormed"}}'
FILES = {
    "good.yaml": INTENT,
    "leaf.json": LEAF,
    "x.yaml": INTENT,
    "x.json": LEAF,
    "x.csv": CABLES,
    "leaf1.txt": "LocalPort RemoteDevice RemotePortID Capability RemotePortDescr\n",
    "capture.json": STORM,
    "patch.json": '[{"op": "add", "path": "/PORT/Ethernet0/mtu", "value": "9100"}]',
    "x.toml": "exclude = []\n",
    "baseline.json": '{"version": 1, "findings": []}',
    "subnet.yaml": (BASES / "infiniband.yaml").read_text(),
    "database_config.json": "{}",
}
TRACE = ("good.yaml", "--from", "host1", "--to", "host2", "--dscp", "26")
CALLS: dict[tuple[str, str], Sequence[str]] = {
    ("lint", "paths"): ("x.json",),
    ("lint", "configuration"): ("--config", "x.toml", "leaf.json"),
    ("lint", "baseline"): ("--baseline", "baseline.json", "leaf.json"),
    ("lint", "patch"): ("--patch", "patch.json", "leaf.json"),
    ("render", "intent"): ("x.yaml", "-o", "out"),
    ("plan", "current"): ("x.json", "good.yaml"),
    ("plan", "target"): ("leaf.json", "x.yaml"),
    ("plan", "configuration"): ("--config", "x.toml", "leaf.json", "good.yaml"),
    ("verify", "paths"): ("capture.json",),
    ("verify", "earlier"): ("--since", "capture.json", "good.yaml"),
    ("diff", "configs"): ("x.json", "good.yaml"),
    ("diff", "intent"): ("leaf.json", "x.yaml"),
    ("diff", "configuration"): ("--config", "x.toml", "leaf.json", "good.yaml"),
    ("import", "paths"): ("x.json", "--nic", "connectx-7"),
    ("import", "cabling"): ("leaf.json", "--nic", "connectx-7", "--cabling", "x.csv"),
    ("import", "lldp"): ("leaf.json", "--nic", "connectx-7", "--lldp", "leaf1.txt"),
    ("headroom", "path"): ("x.json",),
    ("headroom", "configuration"): ("--config", "x.toml", "leaf.json"),
    ("simulate", "path"): ("--closed-form", "x.yaml"),
    ("simulate", "captures"): ("--closed-form", "good.yaml", "--captures", "capture.json"),
    ("simulate", "configuration"): ("--closed-form", "leaf.json", "--config", "x.toml"),
    ("sweep", "path"): ("x.yaml", "--vary", "dynamic_th=0", "--target", "none"),
    ("sweep", "configuration"): (
        "leaf.json",
        "--vary",
        "dynamic_th=0",
        "--target",
        "none",
        "--config",
        "x.toml",
    ),
    ("tune", "path"): ("x.yaml", "--workload", "none"),
    ("workload", "path"): ("x.yaml",),
    ("storm", "path"): ("x.yaml", "--from", "host1"),
    ("acceptance", "intent"): ("x.yaml",),
    ("acceptance", "configuration"): ("good.yaml", "--config", "x.toml"),
    ("topology", "path"): ("x.yaml",),
    ("topology", "against"): ("good.yaml", "--against", "x.yaml"),
    ("topology", "files"): ("--from", "x.csv"),
    ("trace", "path"): ("x.yaml", "--from", "host1", "--to", "host2", "--dscp", "26"),
    ("trace", "captures"): (*TRACE, "--captures", "capture.json"),
    ("trace", "earlier"): (*TRACE, "--captures", "leaf.json", "--since", "capture.json"),
    ("trace", "configuration"): (
        *("leaf.json", "--from", "Ethernet0", "--to", "Ethernet8", "--dscp", "3", "--config", "x.toml"),
    ),
    ("opensm", "path"): ("subnet.yaml",),
    ("baseline", "paths"): ("x.json",),
    ("baseline", "configuration"): ("--config", "x.toml", "leaf.json"),
    ("exporter", "database_config"): ("--database-config", "database_config.json", "--once"),
}
"""By command and parameter, a call in which a path of that parameter is named; the others are good.yaml, leaf.json."""
WRITTEN = {"output", "output_dir", "outputs", "patch_file", "svg", "plots"}
FOLDERS = {"profile_dirs", "base_dir", "plan_dir", "results_dir", "root"}
OTHER_TEXTS = {
    "rdma_dscps",
    "select",
    "ignore",
    "exclude",
    "extend_exclude",
    "stdin_filename",
    "since",
    "device",
    "nic",
    "switches",
    "cable",
    "name",
    "ports",
    "profile",
    "hwsku",
    "target",
    "traffic_class",
    "storage_class",
    "failed",
    "grid",
    "cluster",
    "workloads",
    "class_name",
    "end",
    "roles",
    "speeds",
    "cables",
    "source",
    "via",
    "rule",
    "servers",
    "listen",
    "switch",
    "plugin",
}
OTHER_PARAMETERS = {("trace", "target"), ("profiles", "name"), ("schema", "command")}
"""Parameters with words that name no file, or none that is read."""


@pytest.fixture(autouse=True)
def _ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # What is asked for again finds a pipe that was read.
    monkeypatch.setattr("tests.interfaces.cli.conftest.refused_as_json", lambda *_, **__: None)
    with in_time():
        yield


@pytest.fixture
def site(cli: Cli) -> Cli:
    """Write one good file of each kind."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    return cli


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    """Yield every parameter of every command that takes a word."""
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter.type, click.Path) or parameter.type is click.STRING:
                yield name, parameter


def test_every_parameter_is_a_path_that_is_read_or_known_to_be_none() -> None:
    read = {(name, each.name) for name, each in parameters() if isinstance(each.type, InputPath)}
    assert read == {*CALLS, ("lsp", "configuration"), ("lsp", "baseline")}
    known = WRITTEN | FOLDERS | OTHER_TEXTS
    others = {
        (name, each.name)
        for name, each in parameters()
        if not isinstance(each.type, InputPath) and each.name not in known
    }
    assert {pair for pair in others if pair != ("tune", "output_dir")} - OTHER_PARAMETERS == set()


def special_in(call: Sequence[str]) -> str:
    """Return the path in a call that its parameter names."""
    return next(word for word in call if word in FILES and word not in ("good.yaml", "leaf.json"))


@pytest.mark.parametrize("kind", ["socket", "/dev/zero", "/dev/ptmx"])
@pytest.mark.parametrize(("command", "parameter"), CALLS)
def test_a_device_or_a_socket_that_is_named_is_refused(
    site: Cli, command: str, parameter: str, kind: str
) -> None:
    call = CALLS[command, parameter]
    special = Path(special_in(call))
    special.unlink()
    with made(kind, special):
        outcome = site(command, *call)
    assert outcome.code == 2
    noun = "socket" if kind == "socket" else "device"
    assert f"{special}: cannot be read: it is a {noun}, not a regular file" in outcome.err


@pytest.mark.parametrize(("command", "parameter"), CALLS)
def test_a_pipe_that_is_named_is_read_like_a_file(site: Cli, command: str, parameter: str) -> None:
    call = CALLS[command, parameter]
    special = Path(special_in(call))
    expected = site(command, *call)
    for name in ("out", "lossless-baseline.json"):
        if Path(name).exists():
            subprocess.run(["rm", "-r", name], check=True)
    special.unlink()
    os.mkfifo(special)
    writer = threading.Thread(target=special.write_text, args=(FILES[special.name],))
    writer.start()
    outcome = site(command, *call)
    writer.join()
    assert timeless(outcome) == timeless(expected)


def timeless(outcome: Outcome) -> tuple[int, str, str]:
    """Return what a command left behind, without the time that it took."""
    return outcome.code, re.sub(r"[0-9.]+ s\b", "", outcome.out), outcome.err


@pytest.mark.parametrize("content", [LEAF.replace('"9100"', '"1"'), INTENT.replace("1200ms", "50ms")])
def test_a_shell_may_substitute_a_process_for_a_file(site: Cli, content: str) -> None:
    suffix = ".json" if content.startswith("{") else ".yaml"
    Path(f"broken{suffix}").write_text(content)
    expected = site("lint", f"broken{suffix}")
    ours, theirs = os.pipe()

    def write() -> None:
        with os.fdopen(theirs, "w") as stream:
            stream.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    outcome = site("lint", f"/dev/fd/{ours}")
    writer.join()
    os.close(ours)
    assert expected.code == 1
    assert (outcome.code, outcome.out.replace(f"/dev/fd/{ours}", "broken")) == (1, expected.out)


def test_a_pipe_is_not_fixed(site: Cli) -> None:
    os.mkfifo("fabric.yaml")
    fixable = f"{INTENT}hosts: {{trust: pcp}}\n"
    writer = threading.Thread(target=Path("fabric.yaml").write_text, args=(fixable,))
    writer.start()
    outcome = site("lint", "--fix", "--unsafe-fixes", "fabric.yaml")
    writer.join()
    assert outcome.code == 2
    assert outcome.err == "lossless: fabric.yaml: is a pipe, which cannot be changed; name a file\n"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full"])
def test_standard_input_is_no_device(device: str) -> None:
    code = "from lossless.interfaces.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "lint", "-", "--stdin-filename", "a.json"]
    with Path(device).open("rb") as stream:
        done = subprocess.run(
            command, stdin=stream, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "lossless: standard input is a device; expected a file, a pipe or a terminal\n"


def test_an_endless_standard_input_is_read_up_to_the_limit() -> None:
    code = "from lossless.interfaces.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "lint", "-", "--stdin-filename", "a.json"]
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        done = subprocess.run(
            command, stdin=endless.stdout, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        endless.kill()
    assert done.returncode == 2
    assert "a.json: larger than 67108864 bytes" in done.stderr


def test_ctrl_c_ends_waiting_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    code = "from lossless.interfaces.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "lint", "pipe.json"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as waiting:
        # It opens when the other end is: from then on it waits for us.
        with pipe.open("wb"):
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(LIMIT_S) == 130
        assert waiting.stderr is not None
        assert b"Traceback" not in waiting.stderr.read()


GUIDS = FILES["subnet.yaml"].replace("fabric:", "guid_file: special\nfabric:", 1)
NAMED = {
    "guid_file": ({"fabric.yaml": GUIDS}, "special", ("lint", "fabric.yaml"), "special"),
    "baseline": (
        {"lossless.toml": 'baseline = "special.json"\n', "leaf.json": LEAF},
        "special.json",
        ("lint", "leaf.json"),
        "special.json",
    ),
    "profile": (
        {"fabric.yaml": INTENT, "mine/nics/other.toml": ""},
        "mine/switches/special.toml",
        ("lint", "--profiles", "mine", "leaf.json"),
        "",
    ),
    "plan": (
        {"leaf.json": LEAF},
        "change/plan.json",
        ("lint", "--plan", "change", "leaf.json"),
        "plan.json",
    ),
    "base": (
        {"fabric.yaml": INTENT},
        "base/leaf1/config_db.json",
        ("render", "fabric.yaml", "--base", "base", "-o", "out"),
        "config_db.json",
    ),
    "files beside opensm.conf": (
        {"opensm.conf": (BASES / "opensm.conf").read_text()},
        "partitions.conf",
        ("lint", "opensm.conf"),
        "",
    ),
    "manifest": (
        {"fabric.yaml": INTENT},
        "out/manifest.json",
        ("render", "fabric.yaml", "-o", "out"),
        "",
    ),
    "manifest beside a file": ({"leaf1/leaf.json": "x"}, "manifest.json", ("lint", "leaf1"), ""),
    "database of a dump": (
        {"dump/CONFIG_DB.json": LEAF},
        "dump/COUNTERS_DB.json",
        ("verify", "dump"),
        "COUNTERS_DB.json",
    ),
    "lldp of a device": (
        {"leaf.json": LEAF},
        "lldp/leaf1/lldp.txt",
        ("import", "leaf.json", "--nic", "connectx-7", "--lldp", "lldp/leaf1"),
        "",
    ),
    "baseline that is written": (
        {"leaf.json": LEAF},
        "lossless-baseline.json",
        ("baseline", "leaf.json"),
        "",
    ),
}
"""By what names it: the other files, the special one, a command that meets it, and its answer, if any."""
FOUND = (
    "config_db.json",
    "fabric.yaml",
    "opensm.conf",
    "host1.facts",
    "leaf.cfg",
    "lossless.toml",
    "pyproject.toml",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", NAMED)
def test_what_an_input_names_is_a_regular_file(cli: Cli, what: str, kind: str) -> None:
    files, special, call, answer = NAMED[what]
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path(special).parent.mkdir(parents=True, exist_ok=True)
    with made(kind, Path(special)):
        outcome = cli(*call)
    assert outcome.code in (0, 1, 2)
    assert answer in outcome.err
    assert not answer or outcome.code == 2


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        "lint",
        "lint --fix",
        "verify",
        "baseline",
        "import --nic=connectx-7",
        "diff . good.yaml",
        "plan . good.yaml",
    ],
)
def test_special_files_in_a_folder_are_skipped(cli: Cli, command: str, kind: str) -> None:
    Path("leaf").mkdir()
    Path("leaf/leaf.json").write_text(LEAF)
    Path("good.yaml").write_text(INTENT)
    name, *rest = command.split()
    for special in FOUND:
        with made(kind, Path("leaf", special)):
            outcome = cli(name, *(rest if "." in rest else (*rest, "leaf")))
            assert outcome.code in (0, 1, 2), special


def test_a_device_is_no_reason_to_leave_the_rest_unchecked(cli: Cli) -> None:
    Path("good.json").write_text(LEAF)
    Path("bad.json").symlink_to("/dev/zero")
    report = json.loads(cli("lint", "bad.json", "good.json", "--format", "json").out)
    assert report["summary"]["files"] >= 1
    assert [each["message"] for each in report["errors"]] == [
        "cannot be read: it is a device, not a regular file"
    ]
