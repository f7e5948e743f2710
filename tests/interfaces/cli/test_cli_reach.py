"""No command reads a file outside of the repository or folder of its input, or writes through a link that leads out.

Each way to name a file, and each place where a file is met, is tried with links, ``..`` and absolute paths; what is
opened is watched.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click
import pytest

from lossless.api import render
from lossless.checks.lint.configuration.reader import json_schema
from lossless.formats.intent.load import intent_schema
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents.atomic import rewrite, write_all
from lossless.interfaces.cli.app import COMMANDS, group
from tests.conftest import ROOT
from tests.formats.intent.intent_texts import spoilt
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.hostile import infiniband, intent, places, replaced
from tests.interfaces.cli.inputs import BASES, INTENT, LEAF
from tests.interfaces.cli.repositories import repository, write
from tests.interfaces.cli.test_cli_infiniband import GUIDS, TREE
from tests.interfaces.cli.test_cli_plan import NEW, OLD
from tests.opened import opened_below

SECRET = "s3cret"
EXAMPLE = ROOT / "examples" / "roce-256"
GUID_FILE = ("guids: {", "guid_file: PATH\nguids: {")


@pytest.fixture
def checkout(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - as it sets up
    """Return the current folder, a checkout beside a folder that is nobody's business."""
    folder = tmp_path / "co"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(folder)
    return folder


def told(outcome: Outcome) -> str:
    """Return all that a command printed."""
    return outcome.out + outcome.err


# --- paths that keys state ---


class Key(NamedTuple):
    """A key that names a file: the file with the key, its text with ``PATH``, the key's place, and a valid target."""

    file: str
    text: str
    place: str
    target: str


INFINIBAND = spoilt(TREE, GUID_FILE)
_LINE = INFINIBAND[: INFINIBAND.index("PATH")].count("\n") + 1
BASELINE = '{"version": 2, "findings": []}\n'
KEYS = {
    "guid_file": Key("fabric.yaml", INFINIBAND, f"fabric.yaml:{_LINE}:12: guid_file: ", GUIDS),
    "baseline": Key("lossless.toml", 'baseline = "PATH"\n', "lossless.toml:1:12: baseline: ", BASELINE),
    "baseline in pyproject.toml": Key(
        "pyproject.toml", '[tool.lossless]\nbaseline = "PATH"\n', "pyproject.toml:2:12: baseline: ", BASELINE
    ),
}
SPELLINGS = (
    "../outside/target",
    "{outside}/target",
    "sub/../../outside/target",
    "link",
    "chain",
    "into/target",
)


def stating(key: Key, path: str, outside: Path) -> None:
    """Write inputs that name a path by a key, links that lead outside, and the file outside."""
    (outside / "target").write_text(f"{key.target}\n# {SECRET}\n" if key.target == GUIDS else key.target)
    write(Path(), {"leaf.json": LEAF, key.file: key.text.replace("PATH", path.format(outside=outside))})
    Path("sub").mkdir()
    Path("link").symlink_to("../outside/target")
    Path("chain").symlink_to("link")
    Path("into").symlink_to(outside)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_names_no_file_outside(cli: Cli, checkout: Path, key: Key, spelling: str) -> None:
    outside = checkout.parent / "outside"
    stating(key, spelling, outside)
    with opened_below(outside) as opened:
        outcome = cli("lint", "fabric.yaml" if key.file == "fabric.yaml" else "leaf.json")
    assert outcome.code == 2
    assert key.place in told(outcome)
    assert "outside of the current folder; if that is meant, add --root " in told(outcome).replace("\n", " ")
    assert not opened
    assert SECRET not in told(outcome)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_what_the_user_allows_is_read(cli: Cli, checkout: Path, key: Key, spelling: str) -> None:
    outside = checkout.parent / "outside"
    stating(key, spelling, outside)
    checked = "fabric.yaml" if key.file == "fabric.yaml" else "leaf.json"
    for root in ("../outside", str(outside / "target"), str(checkout.parent)):
        with opened_below(outside) as opened:
            assert cli("lint", checked, "--root", root).code != 2
        assert opened == {"target"}


def test_a_folder_that_is_named_beside_an_intent_may_be_named_by_it(cli: Cli, checkout: Path) -> None:
    key = KEYS["guid_file"]
    stating(key, "../outside/target", checkout.parent / "outside")
    (checkout.parent / "outside" / "leaf.json").write_text(LEAF)
    assert "outside of" not in told(cli("lint", "fabric.yaml", "../outside"))


def test_the_other_inputs_are_checked_all_the_same(cli: Cli, checkout: Path) -> None:
    stating(KEYS["guid_file"], "/etc/passwd", checkout.parent / "outside")
    Path("leaf.json").write_text(UNFIXED)
    shutil.rmtree(checkout.parent / "outside")
    outcome = cli("lint", "fabric.yaml", "leaf.json")
    assert outcome.code == 2
    assert "guid_file: '/etc/passwd' lies outside of" in told(outcome)
    assert "leaf.json:" in outcome.out


def test_in_a_repository_keys_and_links_lead_to_any_of_its_files(cli: Cli, checkout: Path) -> None:
    files = {"shared/guids.txt": GUIDS, "site/fabric.yaml": INFINIBAND.replace("PATH", "../shared/guids.txt")}
    repository(checkout, {**files, "configs/leaf.json": LEAF})
    Path("site/config_db.json").symlink_to("../configs/leaf.json")
    assert "outside of" not in told(cli("lint", "site"))
    write(checkout, {"site/fabric.yaml": INFINIBAND.replace("PATH", "../.git/config")})
    with opened_below(checkout / ".git") as opened:
        outcome = cli("lint", "site")
    assert outcome.code == 2
    assert "guid_file: '../.git/config' lies in .git" in told(outcome)
    assert "config" not in opened


def test_the_links_of_a_mounted_config_map_are_read(cli: Cli, checkout: Path) -> None:
    """Kubernetes lays the files of a volume into a folder with a date, and links to them through ``..data``."""
    write(checkout, {f"..2026_01_01/{name}.json": LEAF for name in ("leaf1", "leaf2")})
    Path("..data").symlink_to("..2026_01_01")
    for name in ("leaf1.json", "leaf2.json"):
        Path(name).symlink_to(f"..data/{name}")
    plain = cli("lint", ".")
    assert (plain.code, "in 2 files" in told(plain)) == (0, True), told(plain)


def test_links_to_sources_that_are_named_are_read(cli: Cli, checkout: Path) -> None:
    """Bazel runs a test in a folder of links to the sources, and names them."""
    source = repository(checkout.parent / "source", {"fabric.yaml": INFINIBAND, "guids.txt": GUIDS})
    write(source, {"fabric.yaml": INFINIBAND.replace("PATH", "guids.txt")})
    for name in ("fabric.yaml", "guids.txt"):
        Path(name).symlink_to(source / name)
    assert "outside of" not in told(cli("lint", "fabric.yaml"))


# --- files that are met in folders ---


class Meeting(NamedTuple):
    """A file that a command meets in a folder: its place, its content, the command, and files beside it."""

    file: str
    text: str
    words: tuple[str, ...]
    beside: Mapping[str, str] = MappingProxyType({})


OPENSM = (BASES / "opensm.conf").read_text()
PROFILE = (ROOT / "profiles" / "nics" / "connectx-7.toml").read_text()
SWITCH_PROFILE = (ROOT / "profiles" / "infiniband" / "switches" / "nvidia-qm9700.toml").read_text()
BASED = {"fabric.yaml": (EXAMPLE / "fabric.yaml").read_text()} | {
    str(path.relative_to(EXAMPLE)): path.read_text() for path in sorted((EXAMPLE / "base").glob("*/*.json"))
}
TRACED = ("--from", "host1", "--to", "host2", "--dscp", "26")
MEETINGS = {
    "a configuration": Meeting("config_db.json", LEAF, ("lint", ".")),
    "a configuration by another name": Meeting("any.json", LEAF, ("lint", ".")),
    "a configuration, to fix": Meeting("config_db.json", LEAF, ("lint", "--fix", ".")),
    "a configuration, to show fixes": Meeting("config_db.json", LEAF, ("lint", "--diff", ".")),
    "an intent": Meeting("fabric.yaml", INTENT, ("lint", ".")),
    "the configuration of another system": Meeting(
        "leaf.cfg", (BASES / "switch-leaf.txt").read_text(), ("lint", ".")
    ),
    "facts of a host": Meeting("host1.txt", "x\n", ("lint", ".")),
    "in a folder below": Meeting("a/b/leaf.json", LEAF, ("lint", "a")),
    "a configuration of lint": Meeting("lossless.toml", "", ("lint", "."), {"leaf.json": LEAF}),
    "a shared configuration of lint": Meeting("pyproject.toml", "", ("lint", "."), {"leaf.json": LEAF}),
    "a configuration to record": Meeting("config_db.json", LEAF, ("baseline", ".")),
    "the baseline without a stated name": Meeting(
        "lossless-baseline.json", BASELINE, ("baseline", "."), {"leaf.json": LEAF}
    ),
    "a file of a subnet manager": Meeting("opensm.conf", OPENSM, ("lint", ".")),
    "a file that opensm.conf names": Meeting(
        "partitions.conf",
        (BASES / "partitions.conf").read_text(),
        ("lint", "opensm.conf"),
        {"opensm.conf": OPENSM},
    ),
    "a capture": Meeting("COUNTERS_DB.json", "{}", ("verify", ".")),
    "a configuration to verify": Meeting("config_db.json", LEAF, ("verify", ".")),
    "an intent in a folder": Meeting("net/fabric.yaml", INTENT, ("topology", "net")),
    "an intent to render": Meeting("net/fabric.yaml", INTENT, ("render", "net", "-o", "out")),
    "an intent to simulate": Meeting("net/fabric.yaml", INTENT, ("simulate", "net")),
    "a configuration to trace": Meeting("net/config_db.json", LEAF, ("trace", "net", *TRACED)),
    "a configuration to import": Meeting("net/config_db.json", LEAF, ("import", "net")),
    "a configuration to compare": Meeting(
        "net/config_db.json", LEAF, ("diff", "net", "fabric.yaml"), {"fabric.yaml": INTENT}
    ),
    "a configuration to plan from": Meeting(
        "net/config_db.json", LEAF, ("plan", "net", "fabric.yaml"), {"fabric.yaml": INTENT}
    ),
    "headroom of a configuration": Meeting("net/config_db.json", LEAF, ("headroom", "net")),
    "a base": Meeting(
        "base/leaf1/config_db.json",
        BASED["base/leaf1/config_db.json"],
        ("render", "fabric.yaml", "--base", "base", "-o", "out"),
        {name: text for name, text in BASED.items() if name != "base/leaf1/config_db.json"},
    ),
    "a plan": Meeting(
        "change/plan.json", "{}", ("lint", "--plan", "change", "leaf.json"), {"leaf.json": LEAF}
    ),
    "a profile": Meeting(
        "own/nics/connectx-7.toml",
        PROFILE,
        ("lint", "fabric.yaml", "--profiles", "own"),
        {"fabric.yaml": INTENT},
    ),
    "a profile of InfiniBand": Meeting(
        "own/infiniband/switches/nvidia-qm9700.toml",
        SWITCH_PROFILE,
        ("lint", "fabric.yaml", "--profiles", "own"),
        {"fabric.yaml": TREE},
    ),
}


def _chain(file: Path, target: Path) -> None:
    file.with_name("zz").symlink_to(target)
    file.symlink_to("zz")


LINKS: dict[str, Callable[[Path, Path], None]] = {
    "relative": lambda file, target: file.symlink_to(os.path.relpath(target, file.parent)),
    "absolute": lambda file, target: file.symlink_to(target),
    "chain": _chain,
}


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("met", MEETINGS.values(), ids=MEETINGS)
def test_a_link_that_is_met_leads_no_command_outside(
    cli: Cli, checkout: Path, met: Meeting, link: Callable[[Path, Path], None]
) -> None:
    outside = checkout.parent / "outside"
    (outside / "target").write_text(met.text)
    write(checkout, met.beside)
    Path(met.file).parent.mkdir(parents=True, exist_ok=True)
    link(Path(met.file).absolute(), outside / "target")
    with opened_below(outside) as opened:
        outcome = cli(*met.words)
    assert outcome.code == 2, told(outcome)
    # A line of a terminal may break.
    assert "outside" in told(outcome), told(outcome)
    assert Path(met.file).name in told(outcome)
    assert not opened
    assert (outside / "target").read_text() == met.text
    with opened_below(outside) as opened:
        cli(*met.words, "--root", "../outside")
    # A profile is read once, and what is written may be a link that is not read.
    assert opened or met.file.startswith(("lossless-baseline", "own/")), "the rule alone closes it"


def test_a_folder_that_git_tracks_and_that_is_a_link_now_leads_nowhere(cli: Cli, checkout: Path) -> None:
    repository(checkout, {"a/leaf.json": LEAF})
    outside = checkout.parent / "outside"
    (outside / "leaf.json").write_text(LEAF)
    shutil.rmtree("a")
    Path("a").symlink_to(outside)
    with opened_below(outside) as opened:
        outcome = cli("lint", ".")
    assert outcome.code == 2
    assert "outside of the current folder" in told(outcome).replace("\n", " ")
    assert not opened


def test_other_files_that_links_lead_to_are_not_even_looked_into(cli: Cli, checkout: Path) -> None:
    outside = checkout.parent / "outside"
    write(outside, {"manifest.json": '"sha256"', "notes.log": SECRET, "setup.sh": "mlnx_qos\n"})
    write(checkout, {"leaf.json": LEAF})
    for name in ("manifest.json", "notes.log", "setup.sh"):
        Path(name).symlink_to(outside / name)
    with opened_below(outside) as opened:
        cli("lint", ".")
    assert not opened


# --- every key of a schema ---


def _texts(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of keys whose value may be any text; ``[]`` is an item of a list."""
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from _texts(branch, path)
    kinds = schema.get("type")
    if "string" in (kinds if isinstance(kinds, list) else [kinds]) and not {"enum", "const"} & schema.keys():
        yield path
    for key, value in schema.get("properties", {}).items():
        yield from _texts(value, (*path, key))
    for name, key in (("additionalProperties", "leaf1"), ("items", "[]")):
        if isinstance(schema.get(name), dict):
            yield from _texts(schema[name], (*path, key))


def _with_text(data: Any, path: tuple[str, ...], text: str) -> Any:
    """Return plain data with a text at a path, which is made where it is missing."""
    if not path:
        return text
    if path[0] == "[]":
        first, *others = data if isinstance(data, list) and data else [None]
        return [_with_text(first, path[1:], text), *others]
    data = data if isinstance(data, dict) else {}
    return {**data, path[0]: _with_text(data.get(path[0]), path[1:], text)}


def _documents() -> Iterator[tuple[str, Any]]:
    """Yield an intent of every transport, and every text of its schema replaced by the path of a file."""
    stated = "../outside/target"
    for data in (intent(), infiniband()):
        yield from (
            ("fabric.yaml", replaced(data, at, "value", stated))
            for at, kind in places(data)
            if kind == "value"
        )
        for path in sorted(set(_texts(intent_schema()))):
            yield "fabric.yaml", _with_text(data, path, stated)


def test_no_key_of_an_intent_opens_a_file_outside(cli: Cli, checkout: Path) -> None:
    """A new key that opens the file that it names, and has not the type of such keys, fails here."""
    outside = checkout.parent / "outside"
    (outside / "target").write_text(GUIDS)
    tried = set()
    for file, data in _documents():
        Path(file).write_text(json.dumps(data))
        with opened_below(outside) as opened:
            tried.add(cli("lint", file).code)
        assert not opened, data
    assert tried == {0, 1, 2}, "some texts are refused, and some are read as something else"


def _toml(path: tuple[str, ...], text: str) -> str:
    """Return the text of a lossless.toml with one text at a path."""
    table = path[: path.index("[]")] if "[]" in path[1:2] else ()
    below = [key for key in path[len(table) :] if key != "[]"]
    value = json.dumps([text] if path[-1] == "[]" else text)
    return (f"[[{table[0]}]]\n" if table else "") + f"{'.'.join(below)} = {value}\n"


def test_no_key_of_the_configuration_opens_a_file_outside(cli: Cli, checkout: Path) -> None:
    outside = checkout.parent / "outside"
    (outside / "target").write_text(BASELINE)
    Path("leaf.json").write_text(LEAF)
    paths = sorted(set(_texts(json_schema())))
    assert ("baseline",) in paths
    for path in paths:
        Path("lossless.toml").write_text(_toml(path, "../outside/target"))
        with opened_below(outside) as opened:
            cli("lint", ".")
            cli("baseline", ".")
        assert not opened, path


# --- every writer ---


class Writer(NamedTuple):
    """A command that writes, the file or folder that it names, and whether that is a folder."""

    words: tuple[str, ...]
    place: str
    is_folder: bool = False
    beside: Mapping[str, str] = MappingProxyType({})


ROLES = (
    "--role",
    "leaf=leaf*",
    "--role",
    "spine=spine*",
    "--role",
    "host=host*",
    "--speed",
    "uplinks=800G",
    "--speed",
    "hosts=400G",
)
WRITERS = {
    "lint --output": Writer(("lint", "unfixed.json", "--output", "json=out.json"), "out.json"),
    "lint --fix": Writer(("lint", "--fix", "--unsafe-fixes", "named.json"), "named.json"),
    "baseline": Writer(("baseline", "unfixed.json"), "lossless-baseline.json"),
    "baseline of the configuration": Writer(
        ("baseline", "unfixed.json"), "b.json", beside={"lossless.toml": 'baseline = "b.json"\n'}
    ),
    "baseline --output": Writer(("baseline", "unfixed.json", "--output", "b.json"), "b.json"),
    "render": Writer(("render", "fabric.yaml", "-o", "out"), "out", is_folder=True),
    "render --check": Writer(("render", "fabric.yaml", "-o", "out", "--check"), "out", is_folder=True),
    "render --diff": Writer(("render", "fabric.yaml", "-o", "out", "--diff"), "out", is_folder=True),
    "plan": Writer(("plan", "old.yaml", "new.yaml", "-o", "out"), "out", is_folder=True),
    "acceptance": Writer(("acceptance", "fabric.yaml", "-o", "out"), "out", is_folder=True),
    "import": Writer(("import", "leaf.json", "-o", "made.yaml"), "made.yaml"),
    "import --base": Writer(("import", "leaf.json", "--base", "out"), "out", is_folder=True),
    "diff --patch": Writer(("diff", "running.json", "based.yaml", "--patch", "p.json"), "p.json"),
    "topology --svg": Writer(("topology", "fabric.yaml", "--svg", "t.svg"), "t.svg"),
    "topology --output": Writer(("topology", "--from", "cables.csv", *ROLES, "-o", "t.yaml"), "t.yaml"),
    "storm --svg": Writer(("storm", "fabric.yaml", "--from", "host1", "--svg", "t.svg"), "t.svg"),
}


def tree(folder: Path) -> dict[str, str]:
    """Return all that lies in a folder: the text of files, and where links lead."""
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope="module")
def drifted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the configuration of a switch that differs from its intent in one row."""
    folder = tmp_path_factory.mktemp("rendered")
    render(EXAMPLE, folder, base_dir=EXAMPLE / "base")
    data = json.loads((folder / "leaf1" / "config_db.json").read_text())
    data["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = ""
    return json.dumps(data)


@pytest.fixture
def inputs(checkout: Path, drifted: str) -> Path:
    """Return a checkout with inputs of all writers."""
    files = {
        "leaf.json": LEAF,
        "unfixed.json": UNFIXED,
        "fabric.yaml": INTENT,
        "old.yaml": OLD,
        "new.yaml": NEW,
        "based.yaml": BASED["fabric.yaml"],
        "running.json": drifted,
        "cables.csv": (BASES / "cables.csv").read_text(),
    }
    write(checkout, files)
    return checkout


def _outside(checkout: Path, writer: Writer) -> Path:
    target = checkout.parent / "outside" / "target"
    if writer.is_folder:
        target.mkdir()
        (target / "kept").write_text("kept\n")
    else:
        target.write_text(UNFIXED if writer.place == "named.json" else BASELINE)
    return target


UNFIXED = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_no_command_writes_through_a_link_that_leads_outside(
    cli: Cli, inputs: Path, writer: Writer, link: Callable[[Path, Path], None]
) -> None:
    write(inputs, writer.beside)
    target = _outside(inputs, writer)
    link(Path(writer.place).absolute(), target)
    before = tree(inputs.parent)
    outcome = cli(*writer.words)
    assert outcome.code == 2, told(outcome)
    assert f"leads to {target}, outside of the current folder" in told(outcome).replace("\n", " ")
    assert tree(inputs.parent) == before


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("target", ["../outside/new", "new", "/nowhere/new"])
def test_no_command_writes_through_a_link_to_nothing(
    cli: Cli, inputs: Path, writer: Writer, target: str
) -> None:
    write(inputs, writer.beside)
    Path(writer.place).symlink_to(target)
    before = tree(inputs.parent)
    assert cli(*writer.words).code == 2
    assert tree(inputs.parent) == before


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_no_command_writes_into_a_linked_folder_that_leads_outside(
    cli: Cli, inputs: Path, writer: Writer
) -> None:
    write(inputs, writer.beside)
    if writer.place in ("lossless-baseline.json", "b.json") and "--output" not in writer.words:
        pytest.skip("this name has no folder")
    words = [word.replace(writer.place, f"into/{writer.place}") for word in writer.words]
    Path("into").symlink_to(inputs.parent / "outside")
    if writer.place == "named.json":
        (inputs.parent / "outside" / "named.json").write_text(UNFIXED)
    before = tree(inputs.parent)
    outcome = cli(*words)
    assert outcome.code == 2, told(outcome)
    assert tree(inputs.parent) == before


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_no_command_writes_through_a_link_into_git(cli: Cli, inputs: Path, writer: Writer) -> None:
    write(inputs, writer.beside)
    place = inputs / ".git" / "hooks" / "pre-commit"
    place.parent.mkdir(parents=True)
    if writer.is_folder:
        place.mkdir()
    else:
        place.write_text(UNFIXED if writer.place == "named.json" else BASELINE)
    Path(writer.place).symlink_to(place)
    before = tree(inputs.parent)
    assert cli(*writer.words).code == 2
    assert tree(inputs.parent) == before


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_what_the_user_allows_is_written(cli: Cli, inputs: Path, writer: Writer) -> None:
    """Each writer does write, so that the tests above see a refusal and no other failure."""
    write(inputs, writer.beside)
    target = _outside(inputs, writer)
    before = tree(target.parent)
    Path(writer.place).symlink_to(target)
    outcome = cli(*writer.words, "--root", "../outside")
    assert "leads to" not in told(outcome)
    # An intent that is there is not overwritten by another.
    writes = writer.words[-1] not in ("--check", "--diff", "made.yaml")
    assert (tree(target.parent) != before) == writes, told(outcome)


def test_pictures_and_rewritten_intents_follow_no_link_outside(checkout: Path) -> None:
    """What a long simulation ends with."""
    outside = checkout.parent / "outside"
    (outside / "fabric.yaml").write_text(INTENT)
    Path("fabric.yaml").symlink_to("../outside/fabric.yaml")
    Path("plots").symlink_to("../outside")
    with pytest.raises(RenderError, match="leads to"):
        rewrite("fabric.yaml", INTENT, f"{INTENT}\n")
    with pytest.raises(RenderError, match="leads to"):
        write_all({"plots/a.svg": b""}, make_folders=True, within="plots")
    assert tree(outside) == {"fabric.yaml": INTENT}


def test_where_one_file_to_fix_is_a_link_that_leads_outside_no_file_is_fixed(cli: Cli, inputs: Path) -> None:
    (inputs.parent / "outside" / "b.json").write_text(UNFIXED)
    Path("a.json").write_text(UNFIXED)
    Path("b.json").symlink_to("../outside/b.json")
    before = tree(inputs.parent)
    assert cli("lint", "--fix", "--unsafe-fixes", "a.json", "b.json").code == 2
    assert tree(inputs.parent) == before


def test_every_command_that_is_given_paths_takes_roots() -> None:
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        options = [word for each in command.params for word in each.opts]
        takes_paths = any(isinstance(each.type, click.Path) for each in command.params)
        assert options.count("--root") == takes_paths, name
