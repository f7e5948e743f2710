"""What ``lossless`` wrote and reads again, damaged at any place: a located message and exit code 2, never a traceback.

Each file is damaged as data and as text: values dropped, of another kind, nested wrongly, numbers of no meaning, the
text cut off, and bytes put into it.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lossless.api import render
from lossless.interfaces.cli import main
from tests.all_cases import ALL_CASES
from tests.interfaces.cli.inputs import INTENT, LEAF

FABRIC = INTENT.replace("hosts_per_leaf: 4", "hosts_per_leaf: 1")
"""Two hosts: more have identical files, which would be written again for each damage."""
TOKEN = "@token@"
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**299,
    "",
    "x",
    "../x",
    "\x1b[2J\n",
    [],
    {},
    [[]],
    [{}],
    {"": None},
)
TOKENS = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "1" * 5000,
    "[" * 5000,
    "[" * 500 + "]" * 500,
    '"\\ud800"',
    "",
)
"""What no JSON has as a value, or has and cannot be meant."""
BYTES = (b"\0", b"\xff\xfe", b"{", b'"', b"\xef\xbb\xbf", b"<<<<<<< HEAD\n")


class Site(NamedTuple):
    """A folder in which a command of ours is run: as it was written, and as it is worked on."""

    made: Path
    work: Path

    def needed(self, file: str, arguments: tuple[str, ...]) -> list[Path]:
        """Return what was written, without the folders that a command is not told of."""
        named = {file.partition("/")[0], *arguments}
        return [path for path in self.made.iterdir() if path.is_file() or path.name in named]

    def run(self, file: str, content: bytes, arguments: tuple[str, ...]) -> tuple[int, str, str]:
        """Return what a command answers where one file has another content."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        for path in self.needed(file, arguments):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, self.work / path.name)
        (self.work / file).write_bytes(content)
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.work)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
            code = main(arguments)
        return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("records")
    made = folder / "made"
    made.mkdir()
    old = FABRIC + 'sonic: {release: "202411"}\n'
    (made / "small.yaml").write_text(FABRIC)
    (made / "configs").mkdir()
    (made / "configs" / "leaf1.json").write_text(LEAF.replace('"Ethernet', '"Ethernot', 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        (made / "old.yaml").write_text(old)
        (made / "new.yaml").write_text(old.replace("dscp: 26", "dscp: 24"))
        (made / "hosts.yaml").write_text(old.replace("4us", "8us"))
        render("old.yaml", "running")
        # A tree that is rendered has the manifest beside it; these are files of devices in service.
        (made / "running" / "manifest.json").unlink()
        patch.setattr(sys, "stdout", io.StringIO())
        assert main(["plan", "old.yaml", "new.yaml", "-o", "change"]) == 0
        # lint --plan reads this file alone.
        for path in (made / "change").iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        assert main(["plan", "old.yaml", "hosts.yaml", "-o", "hosts"]) == 0
        assert main(["render", "small.yaml", "-o", "out"]) == 0
        (made / "lossless.toml").write_text('baseline = "lossless-baseline.json"\n')
        assert main(["baseline", "configs"]) == 0
        staging = made / "out" / ".lossless-staging"
        (staging / "new").mkdir(parents=True)
        shutil.copy(made / "out" / "manifest.json", staging / "new" / "manifest.json")
        names = [entry["path"] for entry in json.loads((made / "out" / "manifest.json").read_text())["files"]]
        (staging / "journal.json").write_text(json.dumps({"files": names, "stale": ["leaf1/old.json"]}))
    return Site(made, folder / "work")


READERS = {
    "plan": ("change/plan.json", ("lint", "--plan", "change", "running")),
    "manifest of a plan": ("hosts/manifest.json", ("plan", "old.yaml", "hosts.yaml", "-o", "hosts")),
    "baseline, linted": ("lossless-baseline.json", ("lint", "configs")),
    "baseline, recorded": ("lossless-baseline.json", ("baseline", "configs")),
    "manifest": ("hosts/manifest.json", ("render", "small.yaml", "-o", "hosts")),
    "manifest, checked": ("out/manifest.json", ("render", "small.yaml", "-o", "out", "--check")),
    "journal": ("out/.lossless-staging/journal.json", ("render", "small.yaml", "-o", "out")),
}
"""Each file of ours with a command that reads it."""


def places(data: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every value."""
    yield at
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, below in items:
        yield from places(below, (*at, key))


def changed(data: Any, at: tuple[str | int, ...], change: tuple[str, Any]) -> Any:
    """Return data with one value dropped, or replaced, or within another one."""
    how, value = change
    if not at:
        return {"within": {"x": data}, "list": [data], "drop": {}}.get(how, value)
    data = json.loads(json.dumps(data))
    within = data
    for key in at[:-1]:
        within = within[key]
    if how == "drop":
        del within[at[-1]]
    else:
        was = within[at[-1]]
        within[at[-1]] = {"within": {"x": was}, "list": [was]}.get(how, value)
    return data


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """Draw a damaged file."""
    how = draw(st.sampled_from(["data", "data", "data", "token", "cut", "bytes"]))
    raw = text.encode()
    if how == "cut":
        return raw[: draw(st.integers(0, len(raw)))]
    if how == "bytes":
        start = draw(st.integers(0, len(raw)))
        return raw[:start] + draw(st.sampled_from(BYTES)) + raw[start + draw(st.integers(0, 3)) :]
    data = json.loads(text)
    at = draw(st.sampled_from(list(places(data))))
    if how == "token":
        spoilt = json.dumps(changed(data, at, ("value", TOKEN)))
        return spoilt.replace(f'"{TOKEN}"', draw(st.sampled_from(TOKENS))).encode()
    changes = st.sampled_from(
        [("drop", None), ("within", None), ("list", None), *(("value", v) for v in VALUES)]
    )
    return json.dumps(changed(data, at, draw(changes))).encode()


@pytest.mark.tools("hostile")
@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=40 if ALL_CASES else 15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_file_of_ours_earns_a_message(site: Site, reader: str, data: st.DataObject) -> None:
    file, arguments = READERS[reader]
    content = data.draw(damaged((site.made / file).read_text()))
    code, _, err = site.run(file, content, arguments)
    assert code in (0, 1, 2)
    if code == 2:
        assert (
            re.search(rf"(^|[ /]){re.escape(file)}(:\d+:\d+)?: \S", err, re.MULTILINE)
            or "is not a path" in err
        ), err


@pytest.mark.parametrize("reader", READERS)
def test_each_of_them_is_read(site: Site, reader: str) -> None:
    file, arguments = READERS[reader]
    code, _, err = site.run(file, (site.made / file).read_bytes(), arguments)
    assert code in (0, 1), err
    code, _, err = site.run(file, b'{"version": {"x": []}, "files": 3}', arguments)
    assert code == 2
    assert re.search(rf"{re.escape(file)}(:\d+:\d+)?: ", err)


PLAN_READ = {
    "groups": ["groups"],
    "steps": ["steps"],
    "a group": ["groups", "leaf"],
    "a number": ["steps", 0, "number"],
    "switches": ["steps", 0, "switches"],
    "the name of a group": ["steps", 0, "switches", 0, "group"],
    "batches": ["steps", 0, "switches", 0, "batches"],
    "rows before": ["steps", 0, "switches", 0, "batches", 0, "before"],
    "rows after": ["steps", 0, "switches", 0, "batches", 0, "after"],
    "a table": ["steps", 0, "switches", 0, "batches", 0, "before", "DSCP_TO_TC_MAP"],
}
"""Places of a plan without which nothing can be said of a switch."""


@pytest.mark.parametrize("value", [7, "x", [7], {"x": 7}, None])
@pytest.mark.parametrize("at", PLAN_READ.values(), ids=PLAN_READ)
def test_what_a_plan_needs_is_located(site: Site, at: list[str | int], value: Any) -> None:
    file, arguments = READERS["plan"]
    data = changed(json.loads((site.made / file).read_text()), tuple(at), ("value", value))
    if at[-1] == "number" and value == 7:
        return
    code, out, err = site.run(file, json.dumps(data).encode(), arguments)
    assert (code, out) == (2, "")
    assert re.match(r"change/plan\.json:1:\d+: (steps|groups)", err), err


@pytest.mark.parametrize("reader", ["manifest", "manifest of a plan", "journal"])
def test_a_tree_with_a_damaged_record_stays_as_it_is(site: Site, reader: str) -> None:
    file, arguments = READERS[reader]
    code, _, err = site.run(file, b'{"files": [{"path": 5}], "stale": []}', arguments)
    assert code == 2
    assert f"{file}:1:" in err
    copied = (each for path in site.needed(file, arguments) for each in (path, *path.rglob("*")))
    before = {path.relative_to(site.made) for path in copied}
    assert {path.relative_to(site.work) for path in site.work.rglob("*") if path.name != "lock"} == before
