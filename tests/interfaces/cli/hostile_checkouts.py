"""Checkouts whose own configuration names programs: each plants one mechanism of git that could run one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.interfaces.cli.inputs import INTENT, LEAF
from tests.interfaces.cli.repositories import commit, environment, git, repository, write

HOOKS = (
    "post-index-change",
    "pre-commit",
    "reference-transaction",
    "post-checkout",
    "pre-auto-gc",
    "fsmonitor-watchman",
)


class Site(NamedTuple):
    """A checkout, the program that it names, and what that program leaves behind where it runs."""

    folder: Path
    script: Path
    mark: Path

    def sets(self, key: str, value: str | None = None) -> None:
        """Write a key into the configuration of the checkout; without a value the program."""
        git(self.folder, "config", key, str(self.script) if value is None else value)

    def has_run(self) -> bool:
        """Return whether the program has run."""
        return self.mark.exists()


class Plant(NamedTuple):
    """What a checkout is given, and the words for git by which anybody's tool would run it."""

    plant: Callable[[Site], None]
    naive: Sequence[str]


def site(folder: Path) -> Site:
    """Return a checkout of two commits, with a file that was renamed and one that differs from the index."""
    made = repository(folder / "checkout", {"old.yaml": INTENT, "leaf1.json": LEAF})
    git(made, "mv", "old.yaml", "fabric.yaml")
    commit(made, {"fabric.yaml": INTENT + "# one line more\n"})
    write(made, {"leaf1.json": LEAF + "\n"})
    script, mark = folder / "program.sh", folder / "it-has-run"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    script.chmod(0o755)
    return Site(made, script, mark)


def run_naively(given: Site, words: Sequence[str]) -> None:
    """Run git as a tool does that trusts the checkout, on a terminal, and wait for what it started."""
    command = ["git", "-C", str(given.folder), *words]
    ours, terminal = os.openpty()
    try:
        subprocess.run(
            command,
            env=environment() | {"TERM": "dumb"},
            input=b"protocol=https\nhost=127.0.0.1\n\n",
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            timeout=600,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(ours)


def _fsmonitor(given: Site) -> None:
    given.sets("core.fsmonitor")


def _hooks(given: Site) -> None:
    folder = given.folder / ".githooks"
    folder.mkdir()
    for place in (folder, given.folder / ".git" / "hooks"):
        for name in HOOKS:
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(given.script)
    given.sets("core.hooksPath", str(folder))


def _filter(given: Site, key: str) -> None:
    given.sets(f"filter.evil.{key}")
    given.sets("filter.evil.required", str(key != "smudge").lower())
    write(given.folder, {".git/info/attributes": "* filter=evil\n", ".gitattributes": "* filter=evil\n"})
    # Another time than the index knows, so that git compares contents, which is what it filters.
    for file in filter(Path.is_file, given.folder.iterdir()):
        os.utime(file, (1, 1))


def _driver(given: Site, key: str) -> None:
    given.sets(f"diff.evil.{key}")
    write(given.folder, {".git/info/attributes": "* diff=evil\n", ".gitattributes": "* diff=evil\n"})


def _pager(given: Site) -> None:
    for name in ("ls-files", "diff-index", "diff", "cat-file", "ls-tree", "rev-parse", "check-ignore"):
        given.sets(f"pager.{name}")
    given.sets("core.pager")


def _partial(given: Site, url: str) -> None:
    """Make the checkout a partial clone that lacks what it had before, and would fetch it from a URL."""
    for name in ("old.yaml", "leaf1.json"):
        blob = git(given.folder, "rev-parse", f"HEAD~1:{name}")
        if name == "leaf1.json":
            commit(given.folder, {"leaf1.json": LEAF + "\n\n"})
            commit(given.folder, {})
        (given.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink(missing_ok=True)
    given.sets("core.repositoryFormatVersion", "1")
    given.sets("extensions.partialClone", "origin")
    given.sets("remote.origin.promisor", "true")
    given.sets("remote.origin.partialCloneFilter", "blob:none")
    given.sets("remote.origin.url", url)


def _ext(given: Site) -> None:
    _partial(given, f"ext::{given.script} %S")
    given.sets("protocol.ext.allow", "always")
    given.sets("protocol.allow", "always")


def _ssh(given: Site) -> None:
    _partial(given, "ssh://git@127.0.0.1/x")
    given.sets("core.sshCommand")


def _upload_pack(given: Site) -> None:
    _partial(given, str(given.folder.parent / "nowhere"))
    given.sets("remote.origin.uploadpack")


def _proxy(given: Site) -> None:
    _partial(given, "git://127.0.0.1:9/x")
    given.sets("core.gitProxy")


def _helper(given: Site) -> None:
    _partial(given, "https://127.0.0.1:9/x")
    given.sets("credential.helper", f"!{given.script}")
    given.sets("core.askPass")


def _alternates(given: Site) -> None:
    _upload_pack(given)
    given.sets("core.alternateRefsCommand")
    other = repository(given.folder.parent / "other", {"x": "x"})
    write(given.folder, {".git/objects/info/alternates": f"{other}/.git/objects\n"})


def _included(given: Site) -> None:
    write(given.folder, {".gitinclude": f"[core]\n\tfsmonitor = {given.script}\n"})
    given.sets("include.path", "../.gitinclude")
    given.sets(f"includeIf.gitdir:{given.folder}/.path", "../.gitinclude")


def _worktree_configuration(given: Site) -> None:
    given.sets("extensions.worktreeConfig", "true")
    write(given.folder, {".git/config.worktree": f"[core]\n\tfsmonitor = {given.script}\n"})


def _elsewhere(given: Site) -> None:
    _fsmonitor(given)
    elsewhere = given.folder.parent / "elsewhere"
    write(elsewhere, {"stranger.yaml": "lossless: v1\na: *x\n"})
    given.sets("core.worktree", str(elsewhere))


def _git_file(given: Site) -> None:
    _fsmonitor(given)
    (given.folder / ".git").rename(given.folder / "kept")
    write(given.folder, {".git": "gitdir: kept\n"})


def _nested(given: Site) -> None:
    inner = repository(given.folder / "inner", {"leaf2.json": LEAF})
    for within in (Site(inner, given.script, given.mark),):
        _fsmonitor(within)
        _filter(within, "clean")
        write(inner, {"leaf2.json": LEAF + "\n"})


def _submodule(given: Site) -> None:
    _nested(given)
    git(given.folder, "-c", "advice.addEmbeddedRepo=false", "-c", "core.fsmonitor=", "add", "inner")
    git(given.folder, "commit", "--quiet", "--message=two")
    write(
        given.folder,
        {".gitmodules": '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n'},
    )
    given.sets("submodule.inner.update", f"!{given.script}")
    given.sets("submodule.recurse", "true")


def _bare(given: Site) -> None:
    inner = given.folder / "bare"
    git(given.folder, "init", "--quiet", "--bare", "bare")
    Site(inner, given.script, given.mark).sets("core.fsmonitor")
    Site(inner, given.script, given.mark).sets("core.bare", "false")
    Site(inner, given.script, given.mark).sets("core.worktree", str(inner))
    write(inner, {"leaf3.json": LEAF})


def _aliases(given: Site) -> None:
    for name in (
        "ls-files",
        "diff-index",
        "diff",
        "cat-file",
        "ls-tree",
        "rev-parse",
        "check-ignore",
        "lint",
    ):
        given.sets(f"alias.{name}", f"!{given.script}")


def _signatures(given: Site) -> None:
    commit_object = git(given.folder, "cat-file", "commit", "HEAD")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"
    (given.folder / "signed").write_text(commit_object.replace("\n\n", f"\n{signature}", 1) + "\n")
    signed = git(given.folder, "hash-object", "-t", "commit", "-w", "signed")
    (given.folder / "signed").unlink()
    git(given.folder, "update-ref", "HEAD", signed)
    given.sets("gpg.program")
    given.sets("log.showSignature", "true")


def _editor(given: Site) -> None:
    given.sets("core.editor")
    given.sets("sequence.editor")


_STATUS, _SHOW, _FETCH = ("status",), ("--no-pager", "diff", "HEAD~1"), ("cat-file", "-p", "HEAD~3:old.yaml")

PLANTS = {
    "fsmonitor": Plant(_fsmonitor, _STATUS),
    "hooks": Plant(_hooks, ("commit", "--allow-empty", "--message=x")),
    "clean filter": Plant(lambda s: _filter(s, "clean"), _STATUS),
    "smudge filter": Plant(lambda s: _filter(s, "smudge"), ("checkout", "--", "leaf1.json")),
    "process filter": Plant(lambda s: _filter(s, "process"), _STATUS),
    "textconv": Plant(lambda s: _driver(s, "textconv"), _SHOW),
    "diff driver": Plant(lambda s: _driver(s, "command"), _SHOW),
    "external diff": Plant(lambda s: s.sets("diff.external"), _SHOW),
    "pager": Plant(_pager, ("--paginate", "diff")),
    "editor": Plant(_editor, ("commit", "--allow-empty")),
    "signatures": Plant(_signatures, ("--no-pager", "log", "-1")),
    "ext:: URL of a partial clone": Plant(_ext, _FETCH),
    "ssh command of a partial clone": Plant(_ssh, _FETCH),
    "upload-pack of a partial clone": Plant(_upload_pack, _FETCH),
    "proxy of a partial clone": Plant(_proxy, _FETCH),
    "helpers of a partial clone": Plant(_helper, ("credential", "fill")),
    "alternate references": Plant(_alternates, _FETCH),
    "included file": Plant(_included, _STATUS),
    "configuration of the work tree": Plant(_worktree_configuration, _STATUS),
    "work tree elsewhere": Plant(_elsewhere, _STATUS),
    "repository elsewhere": Plant(_git_file, _STATUS),
    "repository within": Plant(_nested, ("-C", "inner", "status")),
    "submodule": Plant(_submodule, _STATUS),
    "bare repository among the files": Plant(_bare, ("-C", "bare", "status")),
    "aliases": Plant(_aliases, ("lint",)),
}
"""Each mechanism by name; what is planted lies in the checkout, and nothing of it in the settings of the user."""
