"""No input breaks a command or a law: files changed behind validation, or as bytes are, and those that once did."""

from __future__ import annotations

import copy
import itertools
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lossless.ground.documents import load_text
from tests.formats.reader_texts import FACTS
from tests.fuzz import laws, trials
from tests.fuzz.behind import Pool, changed_data
from tests.fuzz.figures import Figures, arcs_of, branches, readers, renderers
from tests.fuzz.laws import LAWS, form_of, malformed, said
from tests.fuzz.stock import PLAIN, Stock
from tests.fuzz.trials import FAILED, Outcome, Trial, beside, breakage, outcome_of
from tests.paths import RULE_BASES
from tests.trees import tree

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))
ROUNDS, EXAMPLES = 8, 25
"""Examples in CI; ``make fuzz`` runs thousands, from seeds of its own."""


@cache
def stock() -> Stock:
    """Sound inputs, without those that are drawn and those that run traffic: these take long."""
    return Stock()


@pytest.mark.parametrize("file", FOUND, ids=[file.stem for file in FOUND])
def test_what_once_broke_a_command_does_not_any_more(file: Path) -> None:
    data = json.loads(file.read_text())
    found = breakage(Trial(tuple(data["command"]), data["files"], data.get("law", "")))
    assert found is None, found.text


@pytest.mark.tools("fuzz")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_changed_files_end_in_an_exit_code_of_ours_and_break_no_law(number: int, reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    chance = Random(number)
    for drawn in itertools.islice(stock().draws(chance), EXAMPLES):
        trial = drawn.trial
        found = breakage(trial)
        assert found is None, f"{' '.join(trial.command)}\n{found.text}"


@pytest.mark.tools("fuzz")
def test_most_changes_pass_validation_with_another_value_behind_it(reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    chance, figures = Random(0), Figures()
    for drawn in itertools.islice(stock().draws(chance), 100):
        with figures.watched():
            outcome = outcome_of(drawn.trial)
        figures.count(drawn, outcome)
    assert figures.passed >= 60
    assert len(figures.rules) > 20
    assert any("not: " in line for line in figures.report())


@pytest.mark.tools("fuzz")
def test_a_seed_draws_the_same_trials_again(reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    one, other = ([*itertools.islice(stock().draws(Random(3)), 50)] for _ in range(2))
    assert one == other


def test_each_seed_of_a_family_is_drawn_once_before_one_comes_again(reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    mine = copy.copy(stock())
    mine.families = [family for family in stock().families if family.name == "facts"]
    drawn = [each.before for each in itertools.islice(mine.draws(Random(5)), 2 * len(FACTS))]
    assert len(set(drawn[: len(FACTS)])) == len(set(drawn)) == len({text.text for text in FACTS.values()})


def test_every_form_of_captures_and_facts_is_read_from_its_seed(reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    figures = Figures()
    for family in stock().families:
        for made in family.seeds if family.name in ("captures", "facts") else ():
            seed = made()
            command = tuple(seed.name if word == "FILE" else word for word in seed.commands[0])
            with figures.watched():
                outcome_of(Trial(command, seed.files))
    forms = {name: place for name, place in readers().items() if place[1]}
    assert len(forms) > 60
    assert figures.unreached(forms) == []


def test_what_runs_at_import_is_no_call() -> None:
    figures, made = Figures(), {"made": ("made.py", "")}
    names: dict[str, Any] = {}
    at_import = "class A:\n    b = [c for c in (1,)]\nd = lambda: 1\ne = d()\ndef f(): pass\n"
    with figures.watched():
        exec(compile(at_import, "made.py", "exec"), names)
    assert figures.unreached(made) == ["made"]
    with figures.watched():
        names["f"]()
    assert figures.unreached(made) == []


def test_every_reader_and_renderer_that_is_counted_is_a_file_with_functions() -> None:
    assert len(readers()) > 50
    assert len(renderers()) > 50
    assert all(Path(file).is_file() for file, _ in (*readers().values(), *renderers().values()))


# --- what counts as broken ---


def test_a_command_that_takes_too_long_has_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LONGEST_S", 0.05)
    monkeypatch.setattr(trials, "main", lambda _command: [None for _ in itertools.count()])
    found = breakage(Trial(("lint",), {}))
    assert found is not None
    assert found.kind == "HangError"


@pytest.mark.parametrize(
    ("form", "text"),
    [("json", "{}\n{}"), ("json", '{"a": NaN}'), ("sarif", "{"), ("junit", "<a>"), ("csv", "a,b\n1\n")],
)
def test_what_the_parser_of_a_format_refuses_is_no_report(form: str, text: str) -> None:
    assert malformed(form, text)
    assert malformed(form, "") is None


def test_an_exit_code_without_a_reason_breaks_a_law() -> None:
    assert form_of(("lint",), Outcome(FAILED, "", "", {})) is not None
    assert form_of(("lint",), Outcome(FAILED, "", "a reason", {})) is None


def test_another_output_or_file_breaks_the_law_of_the_same_twice() -> None:
    trial = Trial(("lint", "leaf.json"), beside())
    outcome = outcome_of(trial)
    assert LAWS["twice"](trial, outcome) is None
    assert LAWS["twice"](trial, outcome._replace(out="other")) is not None
    assert LAWS["twice"](trial, outcome._replace(files={**outcome.files, "a": b""})) is not None


@pytest.mark.tools("fuzz")
def test_a_fabric_that_differs_by_more_than_a_name_breaks_the_law_of_names() -> None:
    named = beside()["leaf-spine.yaml"].replace("fabric: base", "fabric: NAME")
    texts = {"fabric.yaml": named.replace("NAME", "odd-one"), "plain.yaml": named.replace("NAME", PLAIN)}
    trial = Trial(("lint", "fabric.yaml"), {**texts, "name.txt": json.dumps(["odd-one", PLAIN])})
    assert LAWS["names"](trial, outcome_of(trial)) is None
    other = {**trial.files, "plain.yaml": texts["plain.yaml"].replace("600ms", "300ms")}
    assert LAWS["names"](trial._replace(files=other), outcome_of(trial)) is not None


def test_a_name_with_a_dot_is_the_same_name_in_a_pattern_and_in_the_uid_of_a_dashboard() -> None:
    texts = {
        file: beside()["leaf-spine.yaml"].replace("fabric: base", f"fabric: {name}")
        + f"hosts: {{interfaces: [{name}]}}\n"
        for file, name in (("fabric.yaml", "eth1.5"), ("plain.yaml", PLAIN))
    }
    trial = Trial(("lint", "fabric.yaml"), {**texts, "name.txt": json.dumps(["eth1.5", PLAIN])})
    assert LAWS["names"](trial, outcome_of(trial)) is None


def test_partitions_alone_keep_their_order_where_the_law_of_order_changes_that_of_keys() -> None:
    parts = {
        name: {"pkey": 2, "members": members}
        for name, members in (
            ("compute", {"full": "@compute"}),
            ("tenant", {"limited": "@compute"}),
            ("third", {"full": "host1"}),
        )
    }
    data = {
        **load_text((RULE_BASES / "infiniband.yaml").read_text(), "fabric.yaml").data,
        "partitions": parts,
    }
    given, turned = (
        {"fabric.yaml": json.dumps({**data, "partitions": dict(order)})}
        for order in (parts.items(), reversed(parts.items()))
    )
    trial = Trial(("lint", "fabric.yaml"), given)
    assert LAWS["order"](trial, outcome_of(trial)) is None
    # opensm merges the later into the first, and the last one gives a port its membership.
    assert {code for code, *_ in (said(given) or {}).keys() ^ (said(turned) or {}).keys()} == {
        "IB042",
        "IB043",
    }


def test_comments_that_data_have_no_place_for_do_not_break_the_law_of_order() -> None:
    comment = "classes:\n  # lossless: ignore[WD001] -- no watchdog yet\n"
    silent = beside()["leaf-spine.yaml"].replace("classes:\n", comment)
    trial = Trial(("lint", "."), {"fabric.yaml": silent})
    assert "SUP001" in {code for code, *_ in said(trial.files) or {}}
    assert LAWS["order"](trial, outcome_of(trial)) is None


def test_rows_that_only_one_form_has_break_the_law_of_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {f"{name}/config_db.json": json.dumps(rows) for name, rows in tree("two tiers").items()}
    trial = Trial(("lint", "."), made)
    assert LAWS["forms"](trial, outcome_of(trial)) is None
    monkeypatch.setattr(laws, "as_dump", lambda tables: {f"{key}|a": {"b": "c"} for key in tables})
    assert LAWS["forms"](trial, outcome_of(trial)) is not None


def test_a_change_is_another_value_and_leaves_the_data_as_they_are() -> None:
    pool, data = Pool(), {"lossless": "v1", "mtu": 9100, "classes": {"rdma": {"dscp": 26}}}
    pool.add({"lossless": "v1", "mtu": 9216, "classes": {"rdma": {"dscp": 24}}})
    changes = [changed_data(data, pool, Random(number)) for number in range(40)]
    assert data == {"lossless": "v1", "mtu": 9100, "classes": {"rdma": {"dscp": 26}}}
    assert {"lossless": "v1", "mtu": 9216, "classes": {"rdma": {"dscp": 26}}} in changes
    assert all(change["lossless"] == "v1" for change in changes)
    assert sum(change != data for change in changes) > 30


def test_branches_are_the_lines_that_more_than_one_follows() -> None:
    sound = Trial(("rule", "WD001"), {})
    arcs = arcs_of([sound])
    assert branches(arcs) < arcs
    assert branches({("a", 1, 2), ("a", 1, 3), ("a", 2, 3)}) == {("a", 1, 2), ("a", 1, 3)}
