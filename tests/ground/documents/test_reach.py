"""Input names files of its own repository, or folder, alone; and no module opens files by other means."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

from lossless.ground.basics.errors import OutsideError, RenderError
from lossless.ground.documents.folder import Reach, StatedPath, reaching, written_place
from tools.architecture import modules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, beside one that is nobody's business."""
    for name in ("co/sub/guids.txt", "co/fabric.yaml", "outside/secret"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    return tmp_path / "co"


def refusal(folder: Path, stated: str) -> str:
    """Return why an intent in a folder may not name a path, empty where it may."""
    try:
        StatedPath(stated).beside(str(folder / "fabric.yaml"))
    except OutsideError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "stated", ["fabric.yaml", "sub/guids.txt", "sub/../sub/guids.txt", "not-there", "./sub"]
)
def test_an_input_names_files_of_its_folder(folder: Path, stated: str) -> None:
    assert refusal(folder, stated) == ""


@pytest.mark.parametrize(
    "stated",
    ["../outside/secret", "sub/../../outside/secret", "/etc/passwd", "..", "/", "../co2/x", "~/../../../etc"],
)
def test_an_input_names_no_file_of_another_folder(folder: Path, stated: str) -> None:
    (folder.parent / "co2").mkdir()
    assert f"outside of {folder}; if that is meant, add --root " in refusal(folder, stated)


@pytest.mark.parametrize(
    "stated", ["link", "chain", "below/secret", "below/../outside/secret", "sub/up/outside/secret"]
)
def test_links_are_resolved_first(folder: Path, stated: str) -> None:
    (folder / "link").symlink_to("../outside/secret")
    (folder / "chain").symlink_to("link")
    (folder / "below").symlink_to(folder.parent / "outside")
    (folder / "sub" / "up").symlink_to("../..")
    secret = folder.parent / "outside" / "secret"
    assert refusal(folder, stated).startswith(f"{stated!r} leads to {secret}, outside of {folder};")


def test_a_link_to_a_file_of_the_folder_may_be_named(folder: Path) -> None:
    (folder / "..data").mkdir()
    (folder / "..data" / "guids.txt").write_text("x\n")
    (folder / "guids.txt").symlink_to("..data/guids.txt")
    (folder / "sub" / "own").symlink_to(folder / "guids.txt")
    assert refusal(folder, "guids.txt") == refusal(folder, "sub/own") == ""


def test_in_a_repository_all_its_files_may_be_named_but_those_of_git(folder: Path) -> None:
    (folder.parent / ".git").mkdir()
    (folder / "link").symlink_to("../.git/config")
    assert refusal(folder, "../outside/secret") == ""
    assert "lies in .git" in refusal(folder, "../.git/config")
    assert "leads to" in refusal(folder, "link")
    assert f"outside of {folder.parent}" in refusal(folder, "../../x")


def test_an_input_that_is_a_link_names_files_beside_its_target_too(folder: Path) -> None:
    """A build tool that lays out links to sources: the intent and what it names are links to one folder."""
    laid_out = folder.parent / "laid-out"
    laid_out.mkdir()
    for name in ("fabric.yaml", "guids.txt"):
        (laid_out / name).symlink_to(folder / "sub" / name)
    (laid_out / "other.txt").symlink_to(folder.parent / "outside" / "secret")
    assert refusal(laid_out, "guids.txt") == ""
    assert "leads to" in refusal(laid_out, "other.txt")


def test_the_user_widens_what_may_be_named(folder: Path) -> None:
    outside = folder.parent / "outside"
    with reaching([str(outside)]):
        assert refusal(folder, "../outside/secret") == ""
        assert "outside of" in refusal(folder, "/etc/passwd")
    with reaching([], [os.path.relpath(outside / "secret")]):
        assert refusal(folder, "../outside/secret") == ""
        assert "outside of" in refusal(folder, "../outside/other")
    assert "outside of" in refusal(folder, "../outside/secret")


def test_files_of_git_in_a_root_that_the_user_names_are_none_of_it(folder: Path) -> None:
    outside = folder.parent / "outside"
    (outside / ".git").mkdir()
    with reaching([str(outside)]):
        assert refusal(folder, "../outside/secret") == ""
        assert "outside of" in refusal(folder, "../outside/.git/config")


def test_a_link_that_the_user_names_widens_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger can give a link the name of anything that people type."""
    (folder / "json").symlink_to("/")
    monkeypatch.chdir(folder)
    with reaching([], ["json"]):
        assert "outside of" in refusal(folder, "/etc/passwd")


@pytest.mark.parametrize("stated", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have_is_refused(folder: Path, stated: str) -> None:
    assert refusal(folder, stated) == f"{stated!r} is no name that a file can have"


def test_a_pipe_is_never_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    for stated in ("pipe", "link"):
        assert refusal(folder, stated) == f"{stated!r} is a pipe, a socket or a device; expected a file"
    with reaching(["/dev"]):
        assert "expected a file" in refusal(folder, "/dev/null")


def test_a_refusal_is_the_same_whether_or_not_the_file_exists(folder: Path) -> None:
    there, gone = (refusal(folder, f"../outside/{name}") for name in ("secret", "absent"))
    assert there.replace("secret", "absent") == gone


def test_what_a_searched_folder_may_lead_to_includes_what_is_named_beside_it(folder: Path) -> None:
    (folder / "link").symlink_to("../outside/secret")
    path = str(folder / "link")
    assert Reach([str(folder)]).refusal(path)
    assert not Reach([str(folder)], [str(folder.parent / "outside")]).refusal(path)


# --- places that are written to ---


def not_written(path: Path | str) -> str:
    """Return why nothing is written to a path."""
    with pytest.raises(RenderError) as caught:
        written_place(str(path))
    return str(caught.value)


def test_a_link_is_written_through_where_it_leads_to_its_own_folder(folder: Path) -> None:
    (folder / "link").symlink_to("fabric.yaml")
    (folder / "into").symlink_to("sub")
    assert written_place(str(folder / "link")) == str(folder / "fabric.yaml")
    assert written_place(str(folder / "into" / "new")) == str(folder / "sub" / "new")


def test_a_link_that_leads_elsewhere_is_not_written_through(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = folder.parent / "outside"
    (folder / "link").symlink_to(outside / "secret")
    (folder / "into").symlink_to(outside)
    monkeypatch.chdir(folder)
    for path in ("link", "into", "into/new", folder / "into" / "new", "sub/../into/new", "into/deeper/new"):
        assert f"leads to {outside}" in not_written(path)
    with reaching([str(outside)]):
        assert written_place("into/new") == str(outside / "new")
    with reaching([], [str(outside)]):
        assert "leads to" in not_written("into/new"), "who names a folder to read it lets nobody write there"


def test_no_link_to_nothing_is_written_through(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "link").symlink_to("gone")
    monkeypatch.chdir(folder)
    for path in ("link", "link/new", folder / "link"):
        assert "which is not there" in not_written(path)


def test_nothing_is_written_through_a_link_into_git(folder: Path) -> None:
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "hooks" / "pre-commit").write_text("")
    (folder / "link").symlink_to(".git/hooks/pre-commit")
    (folder / "into").symlink_to(".git/hooks")
    assert "leads to" in not_written(folder / "link")
    assert "leads to" in not_written(folder / "into" / "post-commit")


def test_two_dots_behind_a_link_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "link").symlink_to(folder.parent / "outside")
    monkeypatch.chdir(folder)
    assert "its .. follows a link" in not_written("link/../new")


def test_links_of_the_system_are_followed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``/dev/stdout`` is one, and so is a folder above the one that the user works in."""
    assert written_place("/dev/null") == "/dev/null"
    written_place("/dev/stdout")
    (folder.parent / "home").symlink_to(folder)
    assert written_place(str(folder.parent / "home" / "new")) == str(folder / "new")
    monkeypatch.chdir(folder.parent / "home")
    assert written_place("new") == str(folder / "new")


# --- every module that opens files ---

_READERS = {
    *(
        "open",
        "fdopen",
        "FileIO",
        "read_text",
        "read_bytes",
        "read_as_written",
        "load_configuration",
        "read_profile",
    ),
    *("scandir", "listdir", "walk", "iterdir", "glob", "rglob"),
    "beginning",
}
_WRITERS = {
    *(
        "write_text",
        "write_bytes",
        "mkdir",
        "makedirs",
        "mkstemp",
        "mkdtemp",
        "TemporaryDirectory",
        "touch",
        "rename",
    ),
    *("unlink", "rmdir", "rmtree", "symlink", "symlink_to", "hardlink_to", "copyfile", "copytree"),
}
_NO_FILES = {"policy", "super"}
"""What such names are called on that is no file: a policy of NX-OS that is opened, the help of a command."""
STATED = (".beside(",)
FOUND = ("Reach(", "reach_in(", "link_refusal(", "file_in(")

OPENING = {
    # What input states: by StatedPath alone.
    "lossless.checks.lint.configuration.reader": STATED,
    "lossless.formats.intent.resolve.infiniband.subnet": STATED,
    "lossless.formats.telemetry.exposition.layout": STATED,
    # What is met in a folder.
    "lossless.checks.lint.configuration.lookup": FOUND,
    "lossless.formats.inputs.captures": FOUND,
    "lossless.formats.inputs.collect": FOUND,
    "lossless.formats.inputs.skipped": FOUND,
    "lossless.formats.inputs.subnet_manager": FOUND,
    "lossless.interfaces.api.import_": FOUND,
    "lossless.interfaces.api.plan": FOUND,
    "lossless.model.hardware.load": FOUND,
}
"""Modules that open files whose names input has a say in, and what in them applies the rule."""
GIVEN = {
    # Paths that callers have: a candidate of a search, a baseline or a patch that is named, a file of a report.
    "lossless.checks.lint.baseline",
    "lossless.checks.lint.intents",
    "lossless.formats.importing.imported",
    "lossless.formats.inputs.discover",
    "lossless.ground.basics.files",
    "lossless.ground.documents",
    "lossless.ground.documents.atomic",
    "lossless.ground.documents.folder",
    "lossless.ground.documents.marked_document",
    "lossless.ground.documents.text",
    "lossless.interfaces.api.capacity",
    "lossless.interfaces.api.exporter",
    "lossless.interfaces.api.lint",
    "lossless.interfaces.api.lint_changes",
    "lossless.interfaces.api.running",
    "lossless.interfaces.cli.lsp",
    "lossless.interfaces.cli.reports",
    "lossless.interfaces.cli.terminal",
    "lossless.interfaces.lsp.workspace",
    "lossless.model.fabric.infiniband.subnet",
    "lossless.model.hardware.infiniband",
    "lossless.output.render.tree",
}
OURS = {
    # Files of the installation, and of temporary folders that the module makes.
    "lossless.analysis.opensm.run",
    "lossless.analysis.simulation.engine.compiled",
    "lossless.checks.rules.documentation",
    "lossless.formats.intent.load",
    "lossless.formats.sonic.capabilities.releases",
    "lossless.formats.sonic.capabilities.updater_sorting",
    "lossless.formats.sonic.validate.schema",
    "lossless.formats.telemetry.collection",
    "lossless.ground.basics.programs",
    "lossless.output.render.plan.acceptance",
}
WRITING = {
    "lossless.ground.documents.atomic",
    "lossless.ground.documents.folder",
    "lossless.output.render.tree",
    # Temporary folders of their own, and the cache of machine code.
    "lossless.analysis.opensm.check",
    "lossless.analysis.opensm.run",
    "lossless.analysis.simulation.engine.compiled",
}
"""Modules that change files; all others call :mod:`lossless.ground.documents.atomic` or the tree."""


def calling(names: set[str]) -> set[str]:
    """Return the modules that call a function or method of some names, for files."""
    found = set()
    for module, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name):
                # Routes are walked too.
                name, owner = called.id.replace("walk", ""), ""
            elif isinstance(called, ast.Attribute):
                name, owner = called.attr, ast.unparse(called.value).partition("(")[0]
            else:
                continue
            if name in names and owner not in _NO_FILES:
                found.add(module)
    return found


def test_every_module_that_opens_files_says_whose_names_they_have() -> None:
    """Who adds a reader adds it here, and thereby says which part of the rule holds for its paths."""
    assert calling(_READERS) == {*OPENING, *GIVEN, *OURS}


@pytest.mark.parametrize("module", OPENING)
def test_names_that_input_has_a_say_in_pass_the_rule(module: str) -> None:
    text = modules()[module].read_text(encoding="utf-8")
    assert any(call in text for call in OPENING[module])


def test_no_other_module_changes_files() -> None:
    assert calling(_WRITERS) == WRITING


def test_a_stated_path_cannot_be_opened() -> None:
    stated: Any = StatedPath("guids.txt")
    for wrong in (open, os.path.join, Path):
        with pytest.raises(TypeError):
            wrong(stated)
