"""A baseline as a file and as an account: what an entry must say, what it covers, and when it is stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.checks.lint.baseline import (
    Baseline,
    BaselineAccount,
    BaselineKey,
    baseline_text,
    key_of,
    read_baseline,
)
from lossless.checks.lint.coverage import RunCoverage
from lossless.ground.basics.findings import Origin

SOUND: dict[str, Any] = {"file": "leaf1.json", "object": "PORT|Ethernet0", "code": "WD001", "count": 1}
LEAF1 = BaselineKey("leaf1.json", "PORT|Ethernet0", "WD001")
NEEDS_TEXTS = "an entry needs file, object and code, each a text"
NEEDS_COUNT = "an entry needs a count of 1 or more"
SITE = "/site"


def read(folder: Path, *entries: object) -> Baseline:
    """Return what is read from a baseline of some entries."""
    file = folder / "known.json"
    file.write_text(json.dumps({"version": 1, "findings": entries}))
    return read_baseline(str(file))


def messages(baseline: Baseline) -> list[str]:
    return [problem.message for problem in baseline.problems]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (["leaf1.json", "PORT|Ethernet0", "WD001", 1], NEEDS_TEXTS),
        *(({**SOUND, name: 7}, NEEDS_TEXTS) for name in ("file", "object", "code")),
        *(({key: SOUND[key] for key in SOUND if key != name}, NEEDS_TEXTS) for name in ("file", "object")),
        *(({**SOUND, "count": count}, NEEDS_COUNT) for count in (0, -1, "1", 1.0, True, None)),
        ({**SOUND, "code": "WD0"}, "no rule 'WD0'; did you mean WD?"),
    ],
)
def test_a_wrong_entry_is_named_and_the_others_count(tmp_path: Path, entry: object, message: str) -> None:
    baseline = read(tmp_path, entry, SOUND)
    assert messages(baseline) == [message]
    assert baseline.counts == {LEAF1: 1}
    assert baseline.places == {LEAF1: 1}


@given(st.lists(st.integers(1, 5), min_size=1))
def test_an_entry_that_is_there_twice_counts_as_its_largest(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int]
) -> None:
    baseline = read(tmp_path_factory.getbasetemp(), *({**SOUND, "count": count} for count in counts))
    assert baseline.counts == {LEAF1: max(counts)}
    assert baseline.places == {LEAF1: 0}


def test_a_baseline_of_another_version_or_without_entries_knows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    for document, message in (
        (
            {"version": 2, "findings": [SOUND]},
            "not a baseline of this version; expected version 1, as lossless baseline writes",
        ),
        ({"version": 1, "findings": SOUND}, "findings is no list"),
    ):
        file.write_text(json.dumps(document))
        baseline = read_baseline(str(file))
        assert (messages(baseline), baseline.counts) == ([message], {})


def test_only_a_missing_baseline_is_told_how_to_be_written(tmp_path: Path) -> None:
    missing = read_baseline(str(tmp_path / "known.json"))
    assert messages(missing) == ["no such file; lossless baseline writes it"]
    (tmp_path / "known.json").write_text("{")
    broken = read_baseline(str(tmp_path / "known.json"))
    assert messages(broken) == ["the file ends too early; is it cut off?"]
    for baseline in (missing, broken):
        assert baseline.document is None
        assert baseline.counts == {}


def test_an_object_is_known_as_people_write_it() -> None:
    origin = Origin("/site/hall/leaf1.json", ("PORT", "Ethernet0", "mtu"))
    assert key_of("LNK002", origin, "config_db", SITE).object == "PORT|Ethernet0|mtu"
    assert key_of("LNK002", origin, "intent", SITE).object == "PORT.Ethernet0.mtu"
    assert key_of("LNK002", origin, "intent", SITE).file == "hall/leaf1.json"
    assert key_of("LNK002", origin, "intent", "/site/rack").file == "../hall/leaf1.json"


NOTHING = RunCoverage(frozenset(), (), chosen=lambda _file: None, simulated=False)


def account(folder: str, known: BaselineKey = LEAF1, count: int = 1) -> BaselineAccount:
    return BaselineAccount(Baseline(f"{folder}/known.json", folder, None, {known: count}, {known: 3}))


@given(st.integers(1, 4), st.integers(0, 6))
def test_a_finding_is_known_as_often_as_it_is_listed(listed: int, times: int) -> None:
    known = account(SITE, count=listed)
    origin = Origin(f"{SITE}/leaf1.json", ("PORT", "Ethernet0"))
    assert sum(known.takes("WD001", origin, "config_db") for _ in range(times)) == min(listed, times)
    assert not known.takes("WD002", origin, "config_db")
    left = max(0, listed - times)
    judged = NOTHING._replace(files=frozenset({f"{SITE}/leaf1.json"}))
    assert known.stale(judged) == ({LEAF1: left} if left else {})
    assert [entry.times for entry in known.entries(judged)] == ([left] if left else [])


def test_an_entry_is_stale_where_its_rule_has_judged_its_file(tmp_path: Path) -> None:
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    Path(file).touch()
    judged = NOTHING._replace(files=frozenset({file}))
    assert account(folder).stale(NOTHING) == {}
    assert account(folder).stale(judged) == {LEAF1: 1}
    assert account(folder).stale(judged._replace(chosen=lambda _file: frozenset({"WD002"}))) == {}
    (entry,) = account(folder).entries(judged)
    assert entry == (Origin(f"{folder}/known.json", ("findings", 3)), *LEAF1, 1)


def test_an_entry_is_stale_where_its_file_is_gone(tmp_path: Path) -> None:
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    assert account(folder).stale(NOTHING) == {LEAF1: 1}
    unchosen = NOTHING._replace(files=frozenset({file}), chosen=lambda _file: frozenset({"WD002"}))
    assert account(folder).stale(unchosen) == {}, "a text that was given under a name is no file, and judged"


def test_a_rule_that_compares_files_needs_the_whole_folder(tmp_path: Path) -> None:
    compared = LEAF1._replace(code="LNK002")
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    Path(file).touch()
    alone = NOTHING._replace(files=frozenset({file}))
    assert account(folder, compared).stale(alone) == {}
    assert account(folder, compared).stale(alone._replace(folders=(folder,))) == {compared: 1}


@given(st.permutations(range(3)))
def test_stale_entries_come_in_the_order_of_the_file(order: list[int]) -> None:
    names = [LEAF1._replace(file=f"leaf{number}.json") for number in range(3)]
    places = {name: order[number] for number, name in enumerate(names)}
    baseline = Baseline(f"{SITE}/known.json", SITE, None, dict.fromkeys(names, 1), places)
    stale = list(BaselineAccount(baseline).entries(NOTHING))
    assert [entry.origin.path for entry in stale] == [("findings", number) for number in range(3)]


def test_a_baseline_without_findings_is_a_baseline(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(baseline_text({}))
    baseline = read_baseline(str(file))
    assert (baseline.counts, baseline.problems) == ({}, ())
    assert baseline_text(baseline.counts) == file.read_text() == '{"version": 1, "findings": [\n]}\n'
