"""What is too large or too deep is refused with the limit that it exceeds, before work is done for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lossless.checks.lint.baseline import fits_file
from lossless.checks.lint.filter import in_comments
from lossless.formats.intent.load import load_intent
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.limits import (
    DIGITS,
    GLOB_CHARACTERS,
    LINKS,
    NESTING,
    SUPPRESSED_RULES,
    SWITCH_PORTS,
)
from lossless.ground.documents import load_text
from tests.growth import grows_with_size
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with


def deep(levels: int) -> str:
    return '{"PORT": ' + '{"a": ' * (levels - 1) + "1" + "}" * levels


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("a.json", deep(NESTING + 2), f"nested deeper than {NESTING} levels"),
        (
            "a.json",
            '{"PORT": {"Ethernet0": {"mtu": "' + "9" * (DIGITS + 1) + '"}}}',
            f"more than {DIGITS} digits",
        ),
        ("a.json", '{"PORT": {"Ethernet' + "9" * (DIGITS + 1) + '": {}}}', f"more than {DIGITS} digits"),
        (
            "fabric.yaml",
            intent_with("leaves: 2", "leaves: " + "9" * (DIGITS + 1)),
            f"more than {DIGITS} digits",
        ),
        ("fabric.yaml", intent_with("leaves: 2", "leaves: 0x" + "f" * DIGITS), f"more than {DIGITS} digits"),
        (
            "fabric.yaml",
            intent_with("hosts_per_leaf: 4", "hosts_per_leaf: 300000"),
            f"600,004 ports on one leaf; the most that is laid out is {SWITCH_PORTS:,}",
        ),
        (
            "fabric.yaml",
            intent_with("hosts_per_leaf: 4", "hosts_per_leaf: 1000000"),
            f"links; the most that is laid out is {LINKS:,}",
        ),
        (
            "fabric.yaml",
            INTENT + "# lossless: ignore[PFC001] -- why\n" * (SUPPRESSED_RULES + 1),
            f"the comments of a file name at most {SUPPRESSED_RULES:,} rules; the rest is not read",
        ),
        (
            "lossless.toml",
            f'[[suppress]]\nrules = ["PFC001"]\nreason = "why"\npath = "{"a" * (GLOB_CHARACTERS + 1)}"\n',
            f"a pattern of {GLOB_CHARACTERS + 1:,} characters; the most is {GLOB_CHARACTERS:,}",
        ),
    ],
)
def test_what_exceeds_a_limit_is_refused_and_the_rest_is_checked(
    cli: Cli, file: str, text: str, message: str
) -> None:
    Path("good.json").write_text(LEAF)
    Path(file).write_text(text)
    outcome = cli("lint", ".", "--format", "json")
    report = json.loads(outcome.out)
    assert outcome.code == 2
    assert any(
        message in error["message"] and error["file"] == file and error["line"] for error in report["errors"]
    )
    assert report["summary"]["files"] >= 1


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.json", deep(NESTING)),
        ("a.json", '{"PORT": {"Ethernet0": {"mtu": "' + "9" * DIGITS + '"}}}'),
        ("fabric.yaml", INTENT + "# lossless: ignore[PFC001] -- why\n" * SUPPRESSED_RULES),
    ],
)
def test_what_reaches_a_limit_is_read(cli: Cli, file: str, text: str) -> None:
    Path(file).write_text(text)
    outcome = cli("lint", file, "--format", "json")
    assert not any("most" in error["message"] for error in json.loads(outcome.out)["errors"])


def test_facts_without_a_section_do_not_end_the_run(cli: Cli) -> None:
    Path("host1.facts").write_text("# lossless host facts 1\n")
    Path("good.json").write_text(LEAF)
    outcome = cli("lint", ".")
    assert outcome.code == 2
    assert "host1.facts:1:1: the snapshot ends before its last line" in outcome.err
    assert "in 2 files" in outcome.err


def test_a_colon_in_a_hostname_is_no_traceback(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    tables = json.loads(LEAF)
    tables["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf1:A"
    Path("a.json").write_text(json.dumps(tables))
    outcome = cli("diff", "a.json", "fabric.yaml", "--device", "leaf1")
    assert outcome.code == 2
    assert outcome.err.startswith("a.json: is the file of leaf1:A, not of leaf1\n")


COMMENTS: dict[str, Callable[[int], str]] = {
    "below everything": lambda n: INTENT + "# lossless: ignore[PFC001] -- why\n" * n,
    "above one key": lambda n: INTENT.replace("topology:", "# lossless: ignore[x]\n" * n + "topology:"),
    "at keys of their own": lambda n: INTENT + "".join(f"k{i}: 1 # lossless: ignore[x]\n" for i in range(n)),
    "on one line": lambda n: INTENT + "# lossless: ignore[x] " * n + "\n",
    "blanks before the end": lambda n: INTENT + "# lossless: ignore" + " " * (50 * n) + "x\n",
    "blanks in a reason": lambda n: INTENT + "# lossless: ignore[PFC001] -- a" + " " * (50 * n) + "x\n",
}


@pytest.mark.parametrize("name", COMMENTS)
def test_comments_are_read_in_time_that_grows_with_the_file(name: str) -> None:
    make = COMMENTS[name]
    assert grows_with_size(lambda n: load_text(make(n), "fabric.yaml"), in_comments, 100)


def test_unknown_keys_are_refused_in_time_that_grows_with_the_file() -> None:
    def refused(text: str) -> None:
        with pytest.raises(InputError):
            load_intent(load_text(text, "fabric.yaml"))

    assert grows_with_size(lambda n: INTENT + "".join(f"k{i}: 1\n" for i in range(n)), refused, 100)


@pytest.mark.parametrize(
    "pattern", ["*a" * 500 + "b", "**/a/" * 200 + "b", "[ab]*" * 200 + "c", "?" * 500 + "*b"]
)
def test_patterns_are_matched_in_time_that_grows_with_the_name(pattern: str) -> None:
    assert grows_with_size(lambda n: "a/" * n + "a" * n, lambda name: fits_file(pattern, name), 500)
