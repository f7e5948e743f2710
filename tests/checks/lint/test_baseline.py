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
    BaselineEntry,
    BaselineKey,
    RunCoverage,
    baseline_text,
    elements_of,
    entries_of,
    key_of,
    read_baseline,
)
from lossless.ground.basics.findings import SEVERITIES, Finding, Origin, Severity

SOUND: dict[str, Any] = {
    "file": "leaf1.json",
    "object": "PORT|Ethernet0",
    "code": "WD001",
    "severity": "error",
    "count": 1,
}
LEAF1 = BaselineKey("leaf1.json", "PORT|Ethernet0", "WD001")
ONCE = BaselineEntry("error", {"": 1})
NEEDS_COUNT = "an entry needs a count of 1 or more, or a list of names in on"
SITE = "/site"


def read(folder: Path, *entries: object) -> Baseline:
    """Return what is read from a baseline of some entries."""
    file = folder / "known.json"
    file.write_text(json.dumps({"version": 2, "findings": entries}))
    return read_baseline(str(file))


def messages(baseline: Baseline) -> list[str]:
    return [problem.message for problem in baseline.problems]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (["leaf1.json", "PORT|Ethernet0", "WD001", "error", 1], "expected a mapping, found a list"),
        *(
            ({**SOUND, name: 7}, f"{name}: expected text, found a whole number")
            for name in ("file", "object", "code")
        ),
        *(
            ({key: SOUND[key] for key in SOUND if key != name}, f"{name} is missing")
            for name in ("file", "object", "code", "severity")
        ),
        *(({**SOUND, "count": count}, NEEDS_COUNT) for count in (0, -1)),
        *(
            ({**SOUND, "count": count}, f"count: expected a whole number, found {found}")
            for count, found in (("1", "text"), (1.0, "a number"), (True, "true or false"), (None, "null"))
        ),
        ({key: SOUND[key] for key in SOUND if key != "count"}, NEEDS_COUNT),
        ({**SOUND, "on": ["Ethernet0"], "count": -1}, NEEDS_COUNT),
        ({**SOUND, "on": "Ethernet0"}, "on: expected a list, found text"),
        ({**SOUND, "on": [4]}, "on[0]: expected text, found a whole number"),
        ({**SOUND, "on": [""]}, "on is a list of names"),
        ({**SOUND, "severity": "grave"}, "severity: expected one of error, warning, info"),
        ({**SOUND, "code": "WD0"}, "no rule 'WD0'; did you mean WD? (lossless rules lists all)"),
    ],
)
def test_a_wrong_entry_is_named_and_the_others_count(tmp_path: Path, entry: object, message: str) -> None:
    baseline = read(tmp_path, entry, SOUND)
    assert messages(baseline) == [message]
    assert baseline.entries == {LEAF1: ONCE}
    assert baseline.places == {LEAF1: 1}


@given(st.lists(st.integers(1, 5), min_size=1))
def test_an_entry_that_is_there_twice_counts_as_its_largest(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int]
) -> None:
    baseline = read(tmp_path_factory.getbasetemp(), *({**SOUND, "count": count} for count in counts))
    assert baseline.entries == {LEAF1: BaselineEntry("error", {"": max(counts)})}
    assert baseline.places == {LEAF1: 0}


def test_an_entry_that_is_there_twice_has_its_gravest_severity_and_all_its_places(tmp_path: Path) -> None:
    info = {**SOUND, "severity": "info", "count": 0, "on": ["Ethernet0", "Ethernet4"]}
    error = {**SOUND, "severity": "error", "count": 2, "on": ["Ethernet0"]}
    united = BaselineEntry("error", {"": 2, "Ethernet0": 1, "Ethernet4": 1})
    for entries in ([info, error], [error, info]):
        assert read(tmp_path, *entries).entries == {LEAF1: united}


def test_a_baseline_of_another_version_or_without_entries_knows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    for document, message in (
        (
            {"version": 1, "findings": [SOUND]},
            "not a baseline of version 2; delete the file, and lossless baseline writes it again",
        ),
        ({"version": 2, "findings": SOUND}, "findings is no list"),
    ):
        file.write_text(json.dumps(document))
        baseline = read_baseline(str(file))
        assert (messages(baseline), baseline.entries) == ([message], {})


def test_only_a_missing_baseline_is_told_how_to_be_written(tmp_path: Path) -> None:
    missing = read_baseline(str(tmp_path / "known.json"))
    assert messages(missing) == ["no such file; lossless baseline writes it"]
    (tmp_path / "known.json").write_text("{")
    broken = read_baseline(str(tmp_path / "known.json"))
    assert messages(broken) == ["the file ends too early; is it cut off?"]
    for baseline in (missing, broken):
        assert baseline.document is None
        assert baseline.entries == {}


LEAF1_PORT = Origin(f"{SITE}/leaf1.json", ("PORT", "Ethernet0"))


def finding(*elements: str, severity: Severity = "error", **data: int) -> Finding:
    places = len(elements) or 1
    whole = Finding("WD001", "no-watchdog", severity, "high", "", LEAF1_PORT, object_form="config_db")
    return whole._replace(places=places, elements=elements, data=data)


def test_an_object_is_known_as_people_write_it() -> None:
    mtu = finding()._replace(origin=Origin("/site/hall/leaf1.json", ("PORT", "Ethernet0", "mtu")))
    assert key_of(mtu, SITE).object == "PORT|Ethernet0|mtu"
    assert key_of(mtu._replace(object_form="intent"), SITE).object == "PORT.Ethernet0.mtu"
    assert key_of(mtu, SITE).file == "hall/leaf1.json"
    assert key_of(mtu, "/site/rack").file == "../hall/leaf1.json"


NOTHING = RunCoverage(frozenset(), (), chosen=lambda _file: None, simulated=False)


def account(folder: str, known: BaselineKey = LEAF1, count: int = 1) -> BaselineAccount:
    entries = {known: BaselineEntry("error", {"": count})}
    return BaselineAccount(Baseline(f"{folder}/known.json", folder, None, entries, {known: 3}))


@given(st.integers(1, 4), st.integers(0, 6))
def test_a_finding_is_known_as_often_as_it_is_listed(listed: int, times: int) -> None:
    leaf1 = key_of(finding(), SITE)
    known = account(SITE, leaf1, listed)
    hidden = [known.unknown_part(finding()) for _ in range(times)].count(None)
    assert hidden == min(listed, times)
    assert known.unknown_part(finding()._replace(code="WD002")) is not None
    left = max(0, listed - times)
    checked = NOTHING._replace(files=frozenset({f"{SITE}/leaf1.json"}))
    assert known.stale(checked) == ({leaf1: {"": left}} if left else {})
    assert len(list(known.entries(known.stale(checked)))) == (left > 0)


PORTS = st.lists(st.sampled_from(["leaf1:Ethernet0", "leaf1:Ethernet4", "leaf2:Ethernet0"]), unique=True)


@given(
    PORTS.filter(bool),
    PORTS.filter(bool),
    st.sampled_from(SEVERITIES),
    st.sampled_from(SEVERITIES),
    st.booleans(),
)
def test_a_baseline_hides_the_value_the_places_and_the_gravity_it_recorded(
    before: list[str], after: list[str], was: Severity, now: Severity, changed: bool
) -> None:
    """As an operator records it: the text is written, read, and lint runs again on what was changed since."""
    old = finding(*before, severity=was, xoff=131_424)
    new = finding(*after, severity=now, xoff=20_000 if changed else 131_424)
    entries = entries_of([old], SITE)
    account = BaselineAccount(Baseline("known.json", SITE, None, entries, dict.fromkeys(entries, 0)))
    graver = SEVERITIES.index(now) < SEVERITIES.index(was)
    added = tuple(after) if changed or graver else tuple(port for port in after if port not in before)
    shown = account.unknown_part(new)
    assert (shown.elements, shown.places) == (added, len(added)) if shown else not added


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    findings = [
        finding("leaf1:Ethernet0", "leaf2:Ethernet0", xoff=5),
        finding(),
        finding(severity="info", xoff=6),
    ]
    entries = entries_of(findings, str(tmp_path))
    (tmp_path / "known.json").write_text(baseline_text(entries))
    assert read_baseline(str(tmp_path / "known.json")).entries == entries


def test_findings_of_one_row_are_one_entry_of_all_their_places_at_the_gravest_severity() -> None:
    leaf1, leaf2, graver = (
        finding("leaf1:Ethernet0", severity="warning"),
        finding("leaf2:Ethernet0", severity="warning"),
        finding("leaf3:Ethernet0"),
    )
    (both,) = entries_of([leaf1, leaf2], SITE).values()
    assert both == BaselineEntry("warning", {"leaf1:Ethernet0": 1, "leaf2:Ethernet0": 1})
    (gravest,) = entries_of([leaf1, graver], SITE).values()
    assert gravest == BaselineEntry("error", {"leaf3:Ethernet0": 1})


def test_places_that_a_finding_does_not_name_are_counted() -> None:
    assert elements_of(finding()) == {"": 1}
    assert elements_of(finding("leaf1:Ethernet0")) == {"leaf1:Ethernet0": 1}
    assert elements_of(finding("leaf1:Ethernet0")._replace(places=4)) == {"leaf1:Ethernet0": 1, "": 3}


@given(st.permutations(range(4)))
def test_a_baseline_is_the_same_text_whatever_the_order_of_findings_and_of_what_they_measured(
    order: list[int],
) -> None:
    files = [f"leaf{number}.json" for number in range(4)]
    fields = {f"field{number}": number for number in range(4)}
    found = [
        finding(severity=severity)._replace(origin=Origin(f"{SITE}/{file}", ("PORT",)), data=fields)
        for file, severity in zip(files, [*SEVERITIES, "error"], strict=True)
    ]
    shuffled = [found[index]._replace(data={f"field{number}": number for number in order}) for index in order]
    assert baseline_text(entries_of(shuffled, SITE)) == baseline_text(entries_of(found, SITE))


def test_a_finding_that_another_one_is_shown_in_place_of_is_not_stale() -> None:
    entries = entries_of([finding(xoff=1), finding(xoff=2)], SITE)
    known = BaselineAccount(Baseline("known.json", SITE, None, entries, dict.fromkeys(entries, 0)))
    checked = NOTHING._replace(files=frozenset({f"{SITE}/leaf1.json"}))
    known.saw("WD002", LEAF1_PORT, "config_db")
    assert set(known.stale(checked)) == set(entries)
    known.saw("WD001", LEAF1_PORT, "config_db")
    assert known.stale(checked) == {}


def test_an_entry_is_stale_where_its_rule_has_checked_its_file(tmp_path: Path) -> None:
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    Path(file).touch()
    checked = NOTHING._replace(files=frozenset({file}))
    assert account(folder).stale(NOTHING) == {}
    assert account(folder).stale(checked) == {LEAF1: {"": 1}}
    assert account(folder).stale(checked._replace(chosen=lambda _file: frozenset({"WD002"}))) == {}
    known = account(folder)
    (entry,) = known.entries(known.stale(checked))
    assert entry == (Origin(f"{folder}/known.json", ("findings", 3)), *LEAF1[:3])


def test_an_entry_is_stale_where_its_file_is_gone(tmp_path: Path) -> None:
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    assert account(folder).stale(NOTHING) == {LEAF1: {"": 1}}
    unchosen = NOTHING._replace(files=frozenset({file}), chosen=lambda _file: frozenset({"WD002"}))
    assert account(folder).stale(unchosen) == {}, "a text that was given under a name is no file, and checked"


def test_a_rule_that_compares_files_needs_the_whole_folder(tmp_path: Path) -> None:
    compared = LEAF1._replace(code="LNK002")
    folder, file = str(tmp_path), str(tmp_path / "leaf1.json")
    Path(file).touch()
    alone = NOTHING._replace(files=frozenset({file}))
    assert account(folder, compared).stale(alone) == {}
    assert account(folder, compared).stale(alone._replace(folders=(folder,))) == {compared: {"": 1}}


@given(st.permutations(range(3)))
def test_stale_entries_come_in_the_order_of_the_file(order: list[int]) -> None:
    names = [LEAF1._replace(file=f"leaf{number}.json") for number in range(3)]
    places = {name: order[number] for number, name in enumerate(names)}
    baseline = Baseline(f"{SITE}/known.json", SITE, None, dict.fromkeys(names, ONCE), places)
    known = BaselineAccount(baseline)
    stale = list(known.entries(known.stale(NOTHING)))
    assert [entry.origin.path for entry in stale] == [("findings", number) for number in range(3)]


def test_a_baseline_without_findings_is_a_baseline(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(baseline_text({}))
    baseline = read_baseline(str(file))
    assert (baseline.entries, baseline.problems) == ({}, ())
    assert baseline_text(baseline.entries) == file.read_text() == '{"version": 2, "findings": [\n]}\n'
