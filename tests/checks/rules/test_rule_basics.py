"""What rules have in common: how violations are added up, which rules there are, what takes the place of what."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lossless.checks.rules import fixes
from lossless.checks.rules.base import Violation, added_up, merged, tightest, unread
from lossless.checks.rules.documentation import _docstring, rule_of
from lossless.checks.rules.locations import below, beside
from lossless.checks.rules.precedence import replaced, resolve
from lossless.checks.rules.registry import RULES, code_of, codes_for, load, needs, rules_for
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import Edit, Finding, Origin, RelatedPlace
from tools import compile_rules

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Severity

HERE, THERE = Origin("a.json", ("PORT", "Ethernet0", "mtu")), Origin("a.json", ("PORT", "Ethernet4", "mtu"))
EDIT, OTHER = Edit(HERE, "set", "9100"), Edit(THERE, "set", "9100")


def finding(code: str, severity: Severity = "error", origin: Origin = HERE) -> Finding:
    return Finding(code, "", severity, "high", "said", origin)


def resolved(*findings: Finding) -> list[tuple[str, Severity]]:
    return [(one.code, one.severity) for one in resolve(findings, replaced(findings))]


class TestAddingUp:
    """Violations that say the same are one."""

    def test_one_stays_as_it_is(self) -> None:
        alone = Violation(HERE, "said", elements=("a", "a"), fix=(EDIT,))
        assert added_up([alone]) is alone
        assert (alone.total, alone._replace(elements=()).total, alone._replace(places=7).total) == (2, 1, 7)

    def test_ports_are_counted_once_however_many_of_their_groups_it_shows_on(self) -> None:
        """A set may name fewer ports than it has, the same for each group."""
        group = Violation(HERE, "said", elements=("leaf1:a", "leaf1:b"), places=12)
        assert added_up([group, group]).total == 12
        part = group._replace(elements=("leaf1:b", "leaf1:c"), places=2)
        assert (added_up([group, part]).total, added_up([group, part]).elements) == (
            13,
            ("leaf1:a", "leaf1:b", "leaf1:c"),
        )
        nameless = Violation(HERE, "said", places=3)
        assert added_up([nameless, nameless]).total == 6

    def test_elements_are_counted_once_where_all_are_named(self) -> None:
        first = Violation(HERE, "said", elements=("a", "b"), fix=(EDIT,))
        both = added_up([first, Violation(THERE, "said", elements=("b", "c"), fix=(EDIT, OTHER))])
        assert (both.origin, both.elements, both.places, both.total) == (HERE, ("a", "b", "c"), None, 3)
        assert both.fix == (EDIT, OTHER)

    def test_places_are_added_where_some_are_not_named(self) -> None:
        named, counted = Violation(HERE, "said", elements=("a",)), Violation(HERE, "said", places=5)
        assert added_up([named, counted]).places == 6
        assert added_up([Violation(HERE, "said"), Violation(THERE, "said")]).places == 2

    def test_what_cannot_be_fixed_everywhere_is_not_fixed(self) -> None:
        assert added_up([Violation(HERE, "said", fix=(EDIT,)), Violation(HERE, "said")]).fix == ()

    def test_only_those_of_one_message_and_severity_are_one(self) -> None:
        said = [Violation(HERE, "said"), Violation(HERE, "other"), Violation(HERE, "said", severity="info")]
        assert [*merged([*said, said[0]])] == [said[0]._replace(places=2), *said[1:]]

    def test_of_one_place_the_tightest_is_told_with_the_elements_of_all(self) -> None:
        ranked = [
            ((2.0,), Violation(HERE, "loose", elements=("a",))),
            ((1.0,), Violation(HERE, "tight", elements=("b",))),
            ((3.0,), Violation(THERE, "apart", elements=("c",))),
        ]
        (_, (_, tight), (_, apart)) = ranked
        assert [*tightest(ranked)] == [
            tight._replace(elements=("a", "b"), places=2),
            apart._replace(places=1),
        ]

    def test_what_is_not_certain_is_a_warning(self) -> None:
        grave = Violation(HERE, "said", severity="error")
        assert grave.certain_if(True) is grave
        assert grave.certain_if(False)[8:10] == ("warning", "medium")
        assert unread("the MTU", ["host1", "host2"]).times == 2


class TestRegistry:
    """Which rules there are, for what, and what they are called."""

    def test_a_rule_is_loaded_for_the_first_of_its_subjects(self) -> None:
        assert load("LNK001").check.__name__ == "across"
        assert load("TOP005").check.__name__ == "check"
        with pytest.raises(LosslessError, match="no rule 'TOP999'"):
            load("TOP999")

    def test_rules_are_chosen_by_subject_and_by_what_it_has(self) -> None:
        everything = {rule.code for rule in rules_for("device")}
        assert {"TOP006", "CFG001", "CFG004"} < everything
        assert "TOP005" not in everything
        bare = {rule.code for rule in rules_for("device", has=())}
        assert "CFG001" in bare
        assert not bare & {"TOP006", "CFG004"}
        assert {rule.code for rule in rules_for("device", has=("intent",))} - bare >= {"CFG004"}
        chosen = rules_for("device", "devices", chosen=frozenset({"TOP006", "TOP005", "TOP001"}))
        assert [rule.code for rule in chosen] == ["TOP005", "TOP006"]
        assert {"", "TUNNEL", "intent"} & needs() == {"TUNNEL", "intent"}

    def test_codes_by_subject(self) -> None:
        assert "CFG004" in codes_for("device")
        assert "CFG004" in codes_for("device", "intent")
        assert "CFG001" not in codes_for("device", "intent")
        assert "CFG001" in codes_for("device", "")
        assert "TOP005" not in codes_for("device")

    def test_codes_by_name(self) -> None:
        assert code_of("top005") == code_of("cyclic-buffer-dependency") == "TOP005"
        assert code_of("nothing") is None
        assert RULES["TOP005"].name == "cyclic-buffer-dependency"


class TestDocumentation:
    """What rules say of themselves."""

    def test_a_rule_by_its_docstring(self) -> None:
        rule = rule_of("TOP014")
        assert (rule.severity, rule.confidence, rule.fixable) == ("warning", "high", "no")
        assert rule.summary == "The declared cluster of an intent must agree with its hosts and their links"
        assert rule.sources[0] == "arithmetic: hosts times GPUs, links by NIC, hosts by domain"
        assert len(rule.sources) == 4
        assert rule.page.startswith(
            "# TOP014 cluster-contradicted (warning)\n\nThe declared cluster of an intent "
        )
        assert "\n\n## What it does\n" in rule.text
        assert rule.to_data()["sources"] == list(rule.sources)
        assert rule.to_data()["subjects"] == ["intent", "subnet", "cloud"]
        assert rule._replace(documentation="## What it does\nNothing.").sources == ()
        assert (rule_of("CLS010").confidence, rule_of("CFG001").fixable) == ("medium", "safe")

    def test_it_is_read_from_the_file_where_python_has_left_docstrings_out(self) -> None:
        bare = ModuleType("bare")
        bare.__file__ = fixes.__file__
        assert _docstring(bare) == fixes.__doc__


class TestPlaces:
    """Places that a finding points at, and edits that go there."""

    def test_below_what_a_preset_gave_there_is_nothing(self) -> None:
        assert below(HERE, "deeper") == HERE.at("deeper")
        assert below(HERE.key(), "deeper") == HERE.key()
        assert below(Origin("a", ("preset",)), "deeper") == Origin("a", ("preset",))

    def test_only_other_places_that_somebody_wrote_are_named(self) -> None:
        nobody = Origin("a.json", ()), Origin("a.json", ("preset",)), None, HERE.key()
        places = [*((origin, "nobody") for origin in nobody), (THERE, "first"), (THERE, "again")]
        assert beside(HERE, *places) == (RelatedPlace(THERE, "first"),)

    def test_a_key_that_nobody_wrote_is_not_set(self) -> None:
        deep = Origin("a.yaml", ("pfc", "watchdog"))
        assert fixes.key(deep, 1) == (Edit(deep, "set", 1),)
        for origin in (deep.key(), Origin("a.yaml", ("pfc",)), Origin("a.yaml", ("preset",))):
            assert fixes.key(origin, 1) == ()


class TestPrecedence:
    """One cause is told once."""

    def test_who_knows_more_takes_the_place(self) -> None:
        assert resolved(finding("BUF024"), finding("BUF001")) == [("BUF001", "error")]
        assert len(resolved(finding("BUF024", origin=THERE), finding("BUF001"))) == 2
        doubtful = finding("BUF001")._replace(conclusive=False)
        assert len(resolved(finding("BUF024"), doubtful)) == 2
        related = finding("BUF001")._replace(related=(RelatedPlace(THERE, "there"),))
        assert resolved(finding("BUF024", origin=THERE), related) == [("BUF001", "error")]

    def test_what_follows_from_a_cause_in_its_row_is_left_out_and_makes_it_as_grave(self) -> None:
        row = Origin("a.json", ("PORT_QOS_MAP", "Ethernet0", "pfc_enable"))
        cause = finding("SWS009", "warning", origin=row)._replace(elements=("leaf1:Ethernet0",))
        result = finding("PFC001", origin=row)._replace(elements=("leaf1:Ethernet0",))
        assert resolved(cause, result) == [("SWS009", "error")]
        assert resolved(result._replace(severity="info"), cause) == [("SWS009", "warning")]
        wider = result._replace(elements=("leaf1:Ethernet0", "leaf1:Ethernet4"))
        assert len(resolved(cause, wider)) == 2
        elsewhere = Origin("a.json", ("PORT_QOS_MAP", "Ethernet4", "pfc_enable"))
        assert len(resolved(cause, result._replace(origin=elsewhere))) == 2
        assert len(resolved(cause._replace(severity="info"), result)) == 2
        everywhere = finding("SWS001", origin=row)
        assert resolved(everywhere, finding("CLS001", origin=row)) == [("SWS001", "error")]

    @pytest.mark.parametrize(
        ("other", "own", "left"),
        [
            ("error", "error", "info"),
            ("error", "warning", "info"),
            ("warning", "error", "error"),
            ("info", "warning", "warning"),
        ],
    )
    def test_what_restates_is_information_where_no_less_is_said(
        self, other: Severity, own: Severity, left: Severity
    ) -> None:
        assert resolved(finding("PFC002", other), finding("SCM001", own))[1] == ("SCM001", left)
        assert resolved(finding("SCM001", own), finding("SCM002", other))[0] == ("SCM001", own)

    def test_the_worst_that_is_said_of_a_place_counts(self) -> None:
        said = finding("PFC002", "info"), finding("PFC004", "error"), finding("PFC005", "warning")
        assert resolved(*said, finding("SCM001"))[3] == ("SCM001", "info")

    def test_drift_is_of_a_whole_row(self) -> None:
        row = Origin("a.json", ("PORT", "Ethernet0"))
        assert resolved(finding("CFG004", origin=row), finding("PFC002"))[0] == ("CFG004", "info")
        assert resolved(finding("SCM001", origin=row), finding("PFC002"))[0] == ("SCM001", "error")
        assert resolved(finding("CFG004"), finding("PFC002"))[0] == ("CFG004", "info")

    def test_that_a_host_is_not_the_intended_one_is_nothing_new_where_more_is_said(self) -> None:
        assert resolved(finding("HST009"), finding("NIC001")) == [("NIC001", "error")]
        assert resolved(finding("HST009"), finding("NIC001", "info")) == [("HST009", "error")]
        assert resolved(finding("HST009", "info"), finding("NIC001")) == [("NIC001", "error")]
        assert len(resolved(finding("HST009"), finding("NIC001", origin=THERE))) == 2
        assert len(resolved(finding("HST009", "info"), finding("NIC001", "info"))) == 2


class TestRows:
    """A rule says itself what it is given and needs."""

    def test_rows_are_what_docstrings_say(self) -> None:
        assert compile_rules.compiled() == (compile_rules.RULES / "compiled_rows.py").read_text()

    @pytest.mark.parametrize(
        ("stated", "said"),
        [
            ("", "its docstring has no line Subject:"),
            ("Subject: cable", "Subject: cable is none"),
            ("Subject: device, cable", "Subject: cable is none"),
        ],
    )
    def test_a_rule_that_names_no_subject_is_refused(self, tmp_path: Path, stated: str, said: str) -> None:
        path = tmp_path / "zzz001_new.py"
        path.write_text(f'"""A rule.\n\nSeverity: error\n{stated}\n\n## What it does\n"""\n')
        with pytest.raises(SystemExit, match=f"zzz001_new.py: {said}; it is one or more of fabric, "):
            compile_rules.row_of(path)
