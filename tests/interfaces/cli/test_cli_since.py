"""``lossless lint --per-file`` and ``--since``: files by themselves, and what a change adds, removes and leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import external_file

from lossless.api import Options, lint, lint_since, render
from lossless.checks.lint.cache import compared
from lossless.checks.lint.workers import DeviceFile, check_file
from lossless.formats.inputs.collect import Candidate, Inputs
from lossless.formats.inputs.revision import blobs_at, revision_of
from lossless.ground.basics.findings import Finding, Origin, Severity
from lossless.interfaces.api.lint_changes import _by_changes, _by_themselves
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with, leaf_with
from tests.interfaces.cli.repositories import commit, environment, git, repository, write
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
UNMARKED = INTENT.replace(", ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}", "")
BOTH = THIN.replace(", ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}", "")
DEAF = LEAF.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')


@pytest.fixture
def site(cli: Cli, tmp_path: Path) -> Cli:
    """A repository in the current folder whose intent has an error."""
    repository(tmp_path, {"fabric.yaml": THIN})
    return cli


def last(text: str) -> str:
    return text.splitlines()[-1]


def codes(out: str) -> list[str]:
    return [finding["code"] for finding in json.loads(out)["findings"]]


def test_what_a_change_adds_fails_and_what_it_leaves_does_not(site: Cli) -> None:
    assert site("lint").code == 1
    outcome = site("lint", "--since", "main")
    assert (outcome.code, last(outcome.err)) == (0, "0 added, 0 gone, 1 left since main")
    write(Path(), {"fabric.yaml": BOTH})
    code, out, _ = site("lint", "--since", "main", "--format", "json")
    assert (code, codes(out)) == (1, ["ECN001", "PFC009"])
    assert site("lint", "--since", "main", "--exit-zero").code == 0


def test_what_is_added_gone_and_left_reads_so(site: Cli) -> None:
    commit(Path(), {"fabric.yaml": THIN, "configs/leaf1.json": DEAF.replace('"leaf1"', '"tor9"')})
    write(Path(), {"fabric.yaml": BOTH, "configs/leaf1.json": LEAF.replace('"leaf1"', '"tor9"')})
    code, out, err = site("lint", "--since", "HEAD")
    assert code == 1
    assert f"{out}--\n{err}" == external_file("forms/since.txt")


def test_markdown_for_a_merge_request_reads_so(site: Cli) -> None:
    commit(Path(), {"fabric.yaml": THIN, "configs/leaf1.json": DEAF.replace('"leaf1"', '"tor9"')})
    write(Path(), {"fabric.yaml": BOTH, "configs/leaf1.json": LEAF.replace('"leaf1"', '"tor9"')})
    code, out, _ = site("lint", "--since", "HEAD", "--format", "markdown")
    assert code == 1
    assert out == external_file("forms/since-markdown.txt")


def test_markdown_of_a_whole_run_reads_so(site: Cli) -> None:
    write(Path(), {"broken.yaml": "lossless: v1\na: *x\n"})
    code, out, _ = site("lint", "--format", "markdown")
    assert code == 2
    assert out == external_file("forms/markdown.txt")


def test_names_in_a_repository_are_no_markdown(cli: Cli, tmp_path: Path) -> None:
    name = "a|b`@all <img src=x>.yaml"
    repository(tmp_path, {name: THIN})
    _, out, _ = cli("lint", "--format", "markdown")
    row = out.splitlines()[-1]
    assert row.count("|") == 5
    assert not {"`", "@", "<img"} & set(row.replace("<br>", "").split())
    assert "&#124;b&#96;&#64;&#8203;all &#60;img src=x&#62;.yaml" in row


def test_runs_are_told_before_and_after(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    render(EXAMPLE, tmp_path / "configs", base_dir=EXAMPLE / "base")
    leaf = tmp_path / "configs" / "leaf1" / "config_db.json"
    for spare in (*leaf.parent.parent.glob("host*"), *leaf.parent.parent.glob("spine*")):
        shutil.rmtree(spare)
    repository(tmp_path, {})
    tables = json.loads(leaf.read_text())
    short = {"xoff": "51200", "size": str(51_200 + 19_456)}
    tables["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"] |= short
    leaf.write_text(json.dumps(tables, indent=4))
    code, out, _ = cli("lint", "--since", "HEAD", "--simulate", "--format", "markdown", str(leaf))
    assert (code, out) == (1, external_file("forms/since-simulated.txt"))


def test_only_what_is_new_goes_into_other_formats(site: Cli) -> None:
    write(Path(), {"fabric.yaml": BOTH})
    site("lint", "--since", "main", "--output", "sarif=a.sarif", "--output", "markdown=a.md")
    (run,) = json.loads(Path("a.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["ECN001", "PFC009"]
    assert Path("a.md").read_text().startswith("### lossless: 2 added, 0 gone, 1 left since main\n")


def places_of(findings: Iterable[Finding]) -> Counter[tuple[str, ...]]:
    return Counter((f.code, f.message, f.object, name) for f in findings for name in f.elements or ("",))


@pytest.mark.parametrize(("then", "now"), [*permutations([INTENT, THIN, UNMARKED, BOTH], 2)])
def test_added_and_left_are_what_is_found_now_and_gone_and_left_what_was(
    then: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repository(tmp_path, {"fabric.yaml": then})
    was = lint(["."]).findings
    write(tmp_path, {"fabric.yaml": now})
    found = lint(["."]).findings
    report = lint_since("HEAD", ["."])
    assert report.change is not None
    left = [kept.finding for kept in report.change.left]
    assert places_of([*report.findings, *left]) == places_of(found)
    objects = {f.origin[:2] for f in (*report.change.removed.findings, *left)}
    worse = {f.origin[:2] for f in report.findings}
    assert objects <= {f.origin[:2] for f in was} <= objects | worse


def test_neither_the_working_tree_nor_the_index_is_touched(site: Cli) -> None:
    write(Path(), {"fabric.yaml": BOTH, "new.yaml": INTENT})
    git(Path(), "add", "new.yaml")
    before = (git(Path(), "status", "--porcelain"), Path(".git/index").read_bytes())
    site("lint", "--since", "main")
    assert (git(Path(), "status", "--porcelain"), Path(".git/index").read_bytes()) == before


def test_a_file_that_was_moved_is_the_same_file(site: Cli) -> None:
    Path("lab").mkdir()
    git(Path(), "mv", "fabric.yaml", "lab/fabric.yaml")
    assert last(site("lint", "--since", "main").err) == "0 added, 0 gone, 1 left since main"


def test_lines_that_move_change_nothing(site: Cli) -> None:
    write(Path(), {"fabric.yaml": "# a comment\n\n" + THIN})
    assert last(site("lint", "--since", "main").err) == "0 added, 0 gone, 1 left since main"


def test_a_file_that_is_new_adds_all_that_is_found_in_it(site: Cli) -> None:
    write(Path(), {"lab.yaml": THIN.replace("fabric: base", "fabric: lab")})
    assert last(site("lint", "--since", "main").err) == "1 added, 0 gone, 1 left since main"


def test_a_file_that_is_gone_takes_its_findings_along(site: Cli) -> None:
    write(Path(), {"lab.yaml": INTENT})
    Path("fabric.yaml").unlink()
    assert last(site("lint", "--since", "main").err) == "0 added, 1 gone, 0 left since main"


def test_what_is_broken_now_is_not_fixed(site: Cli) -> None:
    write(Path(), {"fabric.yaml": THIN + "topology: {}\n"})
    outcome = site("lint", "--since", "main")
    assert (outcome.code, last(outcome.err)) == (2, "0 added, 0 gone, 0 left since main")


def test_what_was_broken_then_is_said(site: Cli) -> None:
    commit(Path(), {"fabric.yaml": "lossless: v1\na: *x\n"})
    write(Path(), {"fabric.yaml": THIN})
    code, out, _ = site("lint", "--since", "HEAD")
    assert code == 1
    assert last(out.rstrip()) == (
        "fabric.yaml could not be read at HEAD: all that is found in it counts as added"
    )


@pytest.mark.parametrize(("before", "added"), [("error", 0), ("warning", 1), ("info", 1)])
def test_a_finding_that_is_graver_than_before_is_added(before: Severity, added: int) -> None:
    finding = Finding("X001", "x", "error", "high", "words", Origin("a.yaml", ("links", 3)))
    fresh, left, gone = compared([finding], [finding._replace(severity=before)])
    assert (len(fresh), len(left), len(gone)) == (added, 1 - added, 0)


def test_an_entry_before_another_one_in_a_list_adds_nothing() -> None:
    def finding(number: int) -> Finding:
        return Finding("X001", "x", "error", "high", "same words", Origin("a.yaml", ("links", number)))

    fresh, left, gone = compared([finding(3)], [finding(2)])
    assert (fresh, [kept.finding for kept in left], gone) == ([], [finding(3)], [])


def test_three_dots_compare_with_where_the_work_forked_off(site: Cli) -> None:
    git(Path(), "checkout", "--quiet", "-b", "work")
    commit(Path(), {"other.yaml": INTENT.replace("fabric: base", "fabric: other")})
    git(Path(), "checkout", "--quiet", "main")
    commit(Path(), {"fabric.yaml": INTENT})
    git(Path(), "checkout", "--quiet", "work")
    assert last(site("lint", "--since", "main").err) == "1 added, 0 gone, 0 left since main"
    assert last(site("lint", "--since", "main...").err) == "0 added, 0 gone, 1 left since main"


def test_a_folder_above_or_below_names_files_as_a_run_there_does(
    site: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, {"a/b/x.yaml": THIN.replace("fabric: base", "fabric: x")})
    monkeypatch.chdir(tmp_path / "a")
    assert last(site("lint", "--since", "HEAD", "..").err) == "0 added, 0 gone, 2 left since HEAD"
    assert last(site("lint", "--since", "HEAD", "b/x.yaml").err) == "0 added, 0 gone, 1 left since HEAD"
    assert last(site("lint", "--since", "HEAD", str(tmp_path)).err) == "0 added, 0 gone, 2 left since HEAD"


def test_an_unknown_revision_is_refused(site: Cli, tmp_path: Path) -> None:
    for name in ("nope", "--help", "nope..."):
        code, out, err = site("lint", f"--since={name}")
        assert (code, out) == (2, "")
        assert err == (
            f"lossless: --since {name}: no revision {name.removesuffix('...')!r} in {tmp_path.resolve()}\n"
        )


def test_a_shallow_clone_is_told_to_fetch_more(
    site: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, {"fabric.yaml": BOTH})
    first = git(tmp_path, "rev-parse", "HEAD")
    commit(tmp_path, {"fabric.yaml": INTENT})
    command = ["git", "clone", "--quiet", "--depth=1", f"file://{tmp_path}", str(tmp_path / "clone")]
    subprocess.run(command, env=environment(), check=True)
    monkeypatch.chdir(tmp_path / "clone")
    code, _, err = site("lint", "--since", first)
    assert code == 2
    assert err.endswith("; this clone is shallow: fetch more of its history first\n")


def test_outside_of_a_repository_there_is_nothing_to_compare_with(cli: Cli) -> None:
    write(Path(), {"fabric.yaml": INTENT})
    code, out, err = cli("lint", "--since", "HEAD")
    assert (code, out) == (2, "")
    assert err.startswith("lossless: --since compares with a revision of git: not a git repository")


def test_a_path_outside_of_the_repository_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "a", {"fabric.yaml": INTENT})
    repository(tmp_path / "b", {"fabric.yaml": INTENT})
    monkeypatch.chdir(tmp_path / "a")
    code, _, err = cli("lint", "--since", "HEAD", ".", "../b")
    assert (code, err) == (
        2,
        f"lossless: --since HEAD: ../b lies outside of the repository {tmp_path.resolve() / 'a'}\n",
    )


def test_without_git_it_is_said(site: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = site("lint", "--since", "HEAD")
    assert (code, out, err) == (2, "", "lossless: --since asks git, which is not installed here\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--per-file", "--simulate"),
            "--simulate runs traffic between devices; --per-file checks every file by itself",
        ),
        (("--fix", "--watch"), "--fix and --diff go neither with --watch nor with --since"),
        (("--diff", "--since", "HEAD"), "--fix and --diff go neither with --watch nor with --since"),
        (("--watch", "--since", "HEAD"), "--watch and --since contradict each other"),
        (("--watch", "-", "--stdin-filename", "a.yaml"), "standard input is no file that could have changed"),
    ],
)
def test_options_that_cannot_go_together_are_refused(
    arguments: tuple[str, ...], message: str, cli: Cli
) -> None:
    outcome = cli("lint", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert last(outcome.err) == f"Error: {message}"


def test_each_file_by_itself_says_the_same_in_any_company(cli: Cli) -> None:
    write(Path(), {"fabric.yaml": THIN, "leaf1.json": DEAF, "leaf2.json": LEAF.replace('"leaf1"', '"leaf2"')})
    files = ["fabric.yaml", "leaf1.json", "leaf2.json"]
    assert "CFG004" in codes(cli("lint", "--format", "json", *files).out)
    alone = [finding for file in files for finding in _found(cli, "--per-file", file)]
    for order in permutations(files):
        assert sorted(_found(cli, "--per-file", *order)) == sorted(alone)
    assert {json.loads(finding)["code"] for finding in alone} >= {"TOP001", "WD002"}


def _found(cli: Cli, *arguments: str) -> list[str]:
    report = json.loads(cli("lint", "--format", "json", *arguments).out)
    return [json.dumps(finding) for finding in report["findings"]]


def test_each_skips_what_is_none_of_ours_and_names_what_is_broken(cli: Cli) -> None:
    write(
        Path(), {"mkdocs.yaml": "a: 1\n", "package.json": "{}", "values.yaml": "{{ x }}\n", "ok.json": LEAF}
    )
    files = ("mkdocs.yaml", "package.json", "values.yaml", "ok.json")
    assert (cli("lint", "--per-file", *files).code, cli("lint", *files).code) == (0, 2)
    write(Path(), {"leaf.json": LEAF[:-3]})
    outcome = cli("lint", "--per-file", *files, "leaf.json")
    assert outcome.code == 2
    assert outcome.err.startswith("leaf.json:")


def test_each_calls_no_entry_of_a_baseline_stale_that_others_could_draw(cli: Cli) -> None:
    write(Path(), {"fabric.yaml": INTENT, "leaf1.json": LEAF, "lossless.toml": 'baseline = "known.json"\n'})
    assert cli("baseline").code == 0
    assert "CFG004" in Path("known.json").read_text()
    for files in (("leaf1.json",), ("fabric.yaml", "leaf1.json")):
        assert cli("lint", "--per-file", "--fail-on", "info", *files).code == 0


def test_a_headroom_that_shrinks_further_is_added_also_where_it_was_short_before(
    cli: Cli, tmp_path: Path
) -> None:
    short = leaf_with("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", xoff="131424")
    repository(tmp_path, {"leaf1.json": short})
    assert last(cli("lint", "--since", "HEAD").err) == "0 added, 0 gone, 1 left since HEAD"
    write(Path(), {"leaf1.json": short.replace('"131424"', '"20000"')})
    _, out, _ = cli("lint", "--since", "HEAD")
    assert "headroom of 20,000 B at 400G over 5 m is below" in out


def test_a_port_that_joins_others_of_a_finding_is_added_alone(cli: Cli, tmp_path: Path) -> None:
    tables = json.loads(leaf_with("PFC_WD", "Ethernet4", action=None))
    repository(tmp_path, {"leaf1.json": json.dumps(tables)})
    del tables["PFC_WD"]["Ethernet8"]
    write(Path(), {"leaf1.json": json.dumps(tables)})
    findings = json.loads(cli("lint", "--since", "HEAD", "--format", "json").out)["findings"]
    assert [finding["elements"] for finding in findings if finding["code"] == "WD001"] == [
        ["leaf1:Ethernet8"]
    ]


SPINE = LEAF.replace('"hostname": "leaf1"', '"hostname": "spine1"')
FACTS = "interface ens1f0\nmtu 1500\n"
CHANGES: dict[str, dict[str, str | None]] = {
    "nothing": {},
    "a device": {"leaf1.json": DEAF},
    "a device, gone": {"leaf1.json": None},
    "a device, new": {"leaf2.json": DEAF.replace('"hostname": "leaf1"', '"hostname": "leaf2"')},
    "a device, broken": {"spine1.json": "{"},
    "the intent": {"fabric.yaml": BOTH},
    "the intent, gone": {"fabric.yaml": None},
    "the intent and a device": {"fabric.yaml": UNMARKED, "leaf1.json": DEAF},
    "an intent beside it": {"other/fabric.yaml": THIN.replace("fabric: ", "fabric: other-", 1)},
    "a device that was broken": {"broken.json": LEAF},
    "facts of a host": {"host1.facts": FACTS},
}


SITES: dict[str, dict[str, str]] = {
    "a fabric": {"fabric.yaml": THIN, "leaf1.json": LEAF, "spine1.json": SPINE, "broken.json": '{"PORT": '},
    "two devices": {"leaf1.json": LEAF, "spine1.json": SPINE},
    # With another one, devices are compared with each other.
    "one device": {"leaf1.json": LEAF},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("files", SITES)
@pytest.mark.parametrize("per_file", [False, True])
def test_checking_only_what_has_changed_says_what_checking_everything_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, files: str, per_file: bool
) -> None:
    repository(tmp_path, SITES[files])
    for name, text in CHANGES[change].items():
        (tmp_path / name).unlink(missing_ok=True) if text is None else write(tmp_path, {name: text})
    monkeypatch.chdir(tmp_path)
    revision, options = revision_of("main", ["."]), Options(per_file=per_file)
    blobs = blobs_at(revision, ["."])
    (then, now), (all_then, all_now) = (
        way(revision, blobs, ["."], options) for way in (_by_changes, _by_themselves)
    )
    assert set(then.unread) == set(all_then.unread)
    assert sorted(map(str, then.report.findings)) == sorted(map(str, all_then.report.findings))
    assert then.report.documents.keys() == all_then.report.documents.keys()
    assert sorted(map(str, now.findings)) == sorted(map(str, all_now.findings))
    assert (now.errors, now.documents.keys()) == (all_now.errors, all_now.documents.keys())


def test_a_device_that_has_not_changed_is_checked_once(
    site: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, {"leaf1.json": LEAF, "spine1.json": SPINE})
    write(tmp_path, {"leaf1.json": DEAF})
    checked: list[str] = []

    def counting(inputs: Inputs, candidate: Candidate, *rest: Any) -> DeviceFile:
        checked.append(candidate.file)
        return check_file(inputs, candidate, *rest)

    monkeypatch.setattr("lossless.checks.lint.cache.check_file", counting)
    assert site("lint", "--since", "main").code == 1
    assert sorted(map(os.path.basename, checked)) == ["leaf1.json", "leaf1.json", "spine1.json"]
