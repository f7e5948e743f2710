"""A rendered tree changes as a whole or not at all: killed at any call, on a full disk, beside another render."""

from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import os
import queue
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.device_files.base_merge import PlannedFile
from lossless.ground.basics.errors import RenderError
from lossless.output.render.fabric import render_files
from lossless.output.render.tree import MANIFEST, ChangingTree
from tests.faults import GROWING, Faults, killed_at

OLD = (
    PlannedFile("leaf1/config_db.json", "{}\n"),
    PlannedFile("leaf1/qos.json", "old\n"),
    PlannedFile("leaf2/qos.json", "stays\n"),
    PlannedFile("host1/set.sh", "#!/bin/sh\n", executable=True),
    PlannedFile("sm1/keys/opensm.conf", "key 1\n", secret=True),
)
NEW = (
    PlannedFile("leaf1/config_db.json", '{"PORT": {}}\n'),
    PlannedFile("leaf1/patch.json", "[]\n"),
    PlannedFile("leaf2/qos.json", "stays\n"),
    PlannedFile("spine1/config_db.json", "{}\n"),
    PlannedFile("spine1/patch.json", "[]\n"),
    PlannedFile("sm1/keys/opensm.conf", "key 2\n", secret=True),
)
THIRD = (PlannedFile("leaf1/qos.json", "third\n"), PlannedFile("leaf9/qos.json", "third\n"))
MOST_CALLS = 400
Snapshot = dict[str, tuple[bytes, int]]


def write(folder: Path, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Write a tree; return what is said of an earlier one that was interrupted."""
    return render_files(files, folder, write=True).notes


def snapshot(folder: Path) -> Snapshot:
    """Return all files but staged ones, with what they hold and their modes."""
    return {
        name: (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not (name := str(path.relative_to(folder))).startswith(".lossless")
    }


def mine(folder: Path) -> None:
    """Put files into a tree that are none of it: it lies in a repository."""
    for name in (".git/config", "README.md", "leaf1/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine\n")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Snapshot]:
    trees = {"old": (OLD,), "new": (OLD, NEW), "third": (OLD, NEW, THIRD)}
    found = {}
    for name, renders in trees.items():
        folder = tmp_path_factory.mktemp(name)
        mine(folder)
        for files in renders:
            write(folder, files)
        found[name] = snapshot(folder)
    return found


def is_whole(folder: Path) -> bool:
    """Return whether every file is as its manifest says: what a reader can check."""
    listed = json.loads((folder / MANIFEST).read_text())["files"]
    return all(
        (folder / entry["path"]).is_file()
        and entry["sha256"] in (None, hashlib.sha256((folder / entry["path"]).read_bytes()).hexdigest())
        for entry in listed
    )


def is_decided(folder: Path) -> bool:
    return (folder / ".lossless-staging" / "journal.json").exists()


@pytest.mark.parametrize(
    "after", [False, pytest.param(True, marks=pytest.mark.tools("runs"))], ids=["before", "after"]
)
def test_killed_at_any_call_a_tree_is_old_or_new_to_whoever_comes_next(
    tmp_path: Path, expected: dict[str, Snapshot], after: bool
) -> None:
    ends: list[str] = []
    for number in range(1, MOST_CALLS):
        folder = tmp_path / f"{number}"
        mine(folder)
        write(folder, OLD)
        if not killed_at(number, partial(write, folder, NEW), after=after):
            break
        decided = is_decided(folder)
        if not decided:
            assert snapshot(folder) in (expected["old"], expected["new"]), number
        assert decided or is_whole(folder), number
        looked = render_files(NEW, folder, write=False)
        assert bool(looked.notes) == decided, number
        with ChangingTree(str(folder)) as tree:
            assert bool(tree.notes) == decided, number
        ends.append(next(name for name in ("old", "new") if snapshot(folder) == expected[name]))
        assert not (folder / ".lossless-staging").exists(), number
    assert snapshot(folder) == expected["new"]
    assert ends == sorted(ends, reverse=True), "once a change is decided, it stays so"
    assert {"old", "new"} == set(ends)


@pytest.mark.tools("runs")
def test_a_render_of_something_else_comes_to_its_own_end_wherever_the_one_before_was_killed(
    tmp_path: Path, expected: dict[str, Snapshot]
) -> None:
    for number in range(1, MOST_CALLS):
        folder = tmp_path / f"{number}"
        mine(folder)
        write(folder, OLD)
        killed = killed_at(number, partial(write, folder, NEW), after=False)
        write(folder, THIRD)
        assert snapshot(folder) == expected["third"], number
        if not killed:
            break


@pytest.mark.tools("runs")
def test_killed_again_while_it_finishes_an_earlier_change_a_tree_is_new(
    tmp_path: Path, expected: dict[str, Snapshot]
) -> None:
    decided = next(
        number for number in range(1, MOST_CALLS) if _decided_when_killed(tmp_path / f"{number}", number)
    )
    for again in range(1, MOST_CALLS):
        folder = tmp_path / f"again-{again}"
        assert _decided_when_killed(folder, decided)
        killed = killed_at(again, partial(_finish, folder), after=False)
        _finish(folder)
        assert snapshot(folder) == expected["new"], again
        if not killed:
            break


def _finish(folder: Path) -> None:
    with ChangingTree(str(folder)):
        pass


def _decided_when_killed(folder: Path, number: int) -> bool:
    mine(folder)
    write(folder, OLD)
    killed_at(number, partial(write, folder, NEW), after=False)
    return is_decided(folder)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_full_disk_leaves_a_tree_old_or_to_be_finished(
    tmp_path: Path, expected: dict[str, Snapshot], lasting: bool
) -> None:
    for number in range(1, MOST_CALLS):
        folder = tmp_path / f"{number}"
        mine(folder)
        write(folder, OLD)

        def full(calls: int, call: Callable[[], Any], number: int = number) -> Any:
            if calls == number or (lasting and calls > number):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call()

        faults, outcomes = Faults(GROWING, full), queue.SimpleQueue[str]()
        with faults.injected():
            _render(folder, NEW, outcomes)
        if faults.calls < number:
            break
        assert outcomes.get().endswith(("written", "cannot be written: No space left on device"))
        if not is_decided(folder):
            assert snapshot(folder) in (expected["old"], expected["new"]), number
            assert not (folder / ".lossless-staging").exists(), number
        write(folder, NEW)
        assert snapshot(folder) == expected["new"], number


def _render(folder: Path, files: Sequence[PlannedFile], outcomes: Any) -> None:
    try:
        write(folder, files)
        outcomes.put("written")
    except RenderError as error:
        outcomes.put(str(error))


def test_two_renders_at_once_never_mix(tmp_path: Path) -> None:
    """Some pairs come one after the other; of those that meet, one is refused."""
    context = multiprocessing.get_context("fork")
    pairs = [[PlannedFile(f"leaf{i}/qos.json", f"{name}\n") for i in range(50)] for name in "ab"]
    trees = []
    for files in pairs:
        write(tmp_path / "alone", files)
        trees.append(snapshot(tmp_path / "alone"))
    for number in range(10):
        folder = tmp_path / f"{number}"
        outcomes: Any = context.Queue()
        processes = [context.Process(target=_render, args=(folder, files, outcomes)) for files in pairs]
        for process in processes:
            process.start()
        said = {outcomes.get(timeout=600), outcomes.get(timeout=600)}
        for process in processes:
            process.join()
        assert "written" in said
        assert said <= {"written", f"{folder}: another render is writing there; nothing was written"}
        assert snapshot(folder) in trees
        assert not (folder / ".lossless-staging").exists()


def test_whoever_holds_a_tree_keeps_out_others_of_its_own_process_and_of_none(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    write(tmp_path, OLD)
    before = snapshot(tmp_path)
    refused = f"{tmp_path}: another render is writing there; nothing was written"
    with ChangingTree(str(tmp_path)):
        with pytest.raises(RenderError) as caught:
            write(tmp_path, NEW)
        assert str(caught.value) == refused
        outcomes: Any = context.Queue()
        other = context.Process(target=_render, args=(tmp_path, NEW, outcomes))
        other.start()
        # A copy of this process knows what its parent holds; the lock itself keeps out one that does not.
        assert outcomes.get(timeout=600) == refused
        other.join()
        assert snapshot(tmp_path) == before
    write(tmp_path, NEW)
    assert "spine1/patch.json" in snapshot(tmp_path)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Return a folder outside the tree that holds what a render would write."""
    folder = tmp_path / "elsewhere"
    for name in ("qos.json", "config_db.json", "lock", "manifest.json", "journal.json", "new/leaf1/qos.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("precious\n")
    return folder


@pytest.mark.parametrize("link", ["leaf1", "sm1/keys", ".lossless-staging"])
def test_no_link_to_a_folder_is_followed(tmp_path: Path, elsewhere: Path, link: str) -> None:
    before, tree = snapshot(elsewhere), tmp_path / "tree"
    (tree / link).parent.mkdir(parents=True)
    (tree / link).symlink_to(elsewhere)
    planted = sorted(tree.rglob("*"))
    with pytest.raises(
        RenderError, match=f"{link}: is a link; below a folder that is written no link is followed"
    ):
        write(tree, NEW)
    assert snapshot(elsewhere) == before
    assert sorted(tree.rglob("*")) == planted


@pytest.mark.parametrize(
    "link",
    [".lossless-staging/lock", ".lossless-staging/new", ".lossless-staging/journal.json", "leaf1/patch.json"],
)
def test_a_link_in_the_place_of_a_file_is_replaced_or_refused_and_its_target_stays(
    tmp_path: Path, elsewhere: Path, link: str
) -> None:
    before, tree = snapshot(elsewhere), tmp_path / "tree"
    (tree / link).parent.mkdir(parents=True)
    target = elsewhere if link.endswith("new") else elsewhere / "qos.json"
    (tree / link).symlink_to(target)
    try:
        write(tree, NEW)
    except RenderError:
        assert not (tree / "leaf1" / "config_db.json").exists()
    else:
        assert not (tree / link).is_symlink()
        assert is_whole(tree)
    assert snapshot(elsewhere) == before


def test_what_a_link_points_to_is_neither_compared_nor_shown(tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "tree" / "leaf1").mkdir(parents=True)
    (tmp_path / "tree" / "leaf1" / "qos.json").symlink_to(elsewhere / "qos.json")
    files = (PlannedFile("leaf1/qos.json", "precious\n"),)
    looked = render_files(files, tmp_path / "tree", write=False, diff=True)
    assert looked.changed == ("leaf1/qos.json",)
    assert "-precious" not in looked.differences[0]


def test_nothing_is_removed_through_a_link(tmp_path: Path, elsewhere: Path) -> None:
    before, tree = snapshot(elsewhere), tmp_path / "tree"
    write(tree, OLD)
    (tree / "leaf2" / "qos.json").unlink()
    (tree / "leaf2").rmdir()
    (tree / "leaf2").symlink_to(elsewhere)
    with pytest.raises(RenderError, match="leaf2: is a link"):
        write(tree, OLD[:2])
    assert snapshot(elsewhere) == before
    assert (tree / "host1" / "set.sh").exists(), "nothing else was removed either"


@pytest.mark.parametrize(
    "paths", [["../precious"], [".git/config"], ["/etc/passwd"], ["leaf1//qos.json"], [5, None]]
)
@pytest.mark.parametrize("key", ["files", "stale"])
def test_a_planted_journal_moves_and_removes_nothing_outside(
    tmp_path: Path, key: str, paths: list[Any]
) -> None:
    (tmp_path / "precious").write_text("precious\n")
    tree = tmp_path / "tree"
    mine(tree)
    before = snapshot(tree)
    staging = tree / ".lossless-staging"
    (staging / "new").mkdir(parents=True)
    for name in ("config", "manifest.json", "precious", "qos.json"):
        (staging / "new" / name).write_text("planted\n")
    (staging / "journal.json").write_text(json.dumps({"files": [], "stale": [], key: paths}))
    with pytest.raises(RenderError, match=r"not a (journal of ours|path below the output folder)"):
        write(tree, NEW)
    assert snapshot(tree) == before
    assert (tmp_path / "precious").read_text() == "precious\n"
