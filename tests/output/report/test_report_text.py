"""What a person sees."""

from __future__ import annotations

import json

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, RelatedPlace, UncheckedRule
from lossless.ground.basics.foreign_text import gated
from lossless.ground.documents import load_text
from lossless.output.report.columns import TextStyle
from lossless.output.report.lint.json_format import json_text
from lossless.output.report.lint.summary import not_checked_text, statistics_text, summary_text
from lossless.output.report.lint.text import findings_text, problems_text
from tests.output.report.samples import (
    CONFIG_DB,
    INTENT,
    finding,
    lint_run,
    on_switch,
    oversubscribed,
    sample,
)


def shown(*findings: object, **fields: object) -> str:
    return "\n\n".join(findings_text(sample(*findings, **fields)))  # type: ignore[arg-type]


def test_a_finding_on_an_intent_reads_as_designed() -> None:
    assert shown(oversubscribed()) == (
        "fabric.yaml:26:5: TOP001 oversubscription-undeclared: "
        "leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1\n"
        "   |\n"
        "26 |     uplinks: 1 x 800G\n"
        "   |     ^^^^^^^\n"
        "   = note: 16 hosts x 2 x 400G = 12.8 Tb/s down, "
        "2 spines x 1 x 800G = 1.6 Tb/s up, each counted one\n"
        "           way\n"
        "   = help: 8 x 800G to each spine make it 1:1; "
        "to accept it, state `oversubscription: 8` under\n"
        "           `leaf_spine`"
    )


def test_a_finding_on_a_config_db_names_the_object_first() -> None:
    found = on_switch(
        "PORT_QOS_MAP",
        "Ethernet0,Ethernet4",
        "pfc_enable",
        severity="warning",
        elements=("leaf1:Ethernet0", "leaf1:Ethernet4"),
        places=2,
        help="save the configuration after pfcwd start_default",
    )
    assert shown(found) == (
        "leaf1.json:12:21: WD001 watchdog-missing: PORT_QOS_MAP|Ethernet0,Ethernet4|pfc_enable: "
        "PFC is on and no watchdog is declared [warning]\n"
        "   |\n"
        '12 |       "pfc_enable": "3,4"\n'
        "   |                     ^^^^^\n"
        "   = on: leaf1:Ethernet0, leaf1:Ethernet4\n"
        "   = help: save the configuration after pfcwd start_default"
    )


def test_only_what_is_less_than_a_certain_error_says_so() -> None:
    def ending(severity: str, confidence: str) -> str:
        found = oversubscribed(severity=severity, confidence=confidence, message="8:1")
        return shown(found).splitlines()[0].rpartition("8:1")[2]

    assert ending("error", "high") == ""
    assert ending("info", "high") == " [info]"
    assert ending("error", "medium") == " [error, medium confidence]"
    assert ending("warning", "low") == " [warning, low confidence]"


def test_a_row_is_shown_by_its_key_because_a_brace_says_nothing() -> None:
    assert shown(on_switch("PORT", "Ethernet4")).splitlines()[1:] == [
        "  |",
        '6 |     "Ethernet4": {',
        "  |     ^^^^^^^^^^^",
    ]


def test_other_places_have_their_own_location() -> None:
    related = (
        RelatedPlace(Origin("leaf1.json", ("PORT", "Ethernet4", "mtu")), "the other end has 1,500 B"),
        RelatedPlace(Origin("gone.json", ("PORT",)), "and so has this"),
    )
    found = on_switch("PORT", "Ethernet0", "mtu", related=related)
    assert shown(found).splitlines()[-2:] == [
        "  = also: leaf1.json:7:14: PORT|Ethernet4|mtu: the other end has 1,500 B",
        "  = also: gone.json: PORT: and so has this",
    ]


def test_a_finding_on_rendered_output_names_the_intent_key() -> None:
    found = on_switch("PORT", "Ethernet0", "mtu", via=Origin("fabric.yaml", ("classes", "cnp", "dscp")))
    assert shown(found).splitlines()[-1] == "  = from: fabric.yaml:7:19: classes.cnp.dscp"


def test_a_finding_in_a_file_that_was_not_read_has_no_place() -> None:
    assert shown(finding(Origin("other.yaml", ("a",)), note="why")) == (
        "other.yaml: WD001 watchdog-missing: PFC is on and no watchdog is declared\n = note: why"
    )


def test_lines_of_a_note_stand_below_each_other() -> None:
    assert shown(oversubscribed(note="a\nbb", help="")).splitlines()[-2:] == [
        "   = note: a",
        "           bb",
    ]


def test_a_key_that_names_dozens_of_ports_is_shown_as_their_range() -> None:
    ports = ",".join(f"Ethernet{number}" for number in [*range(0, 128, 4), 200])
    first = shown(on_switch("QUEUE", f"{ports}|3", message="no scheduler")).splitlines()[0]
    assert first == (
        "leaf1.json:1:1: WD001 watchdog-missing: QUEUE|Ethernet0-Ethernet124,Ethernet200|3: no scheduler"
    )


def test_a_key_that_names_dozens_of_unlike_things_is_shortened() -> None:
    names = ",".join(f"{first}{last}" for first in "abcdefg" for last in "xyz")
    first = shown(on_switch("QUEUE", f"{names}|3", message="no scheduler")).splitlines()[0]
    assert first == (
        "leaf1.json:1:1: WD001 watchdog-missing: "
        "QUEUE|ax,ay,az,bx,by,bz,cx,c...ex,ey,ez,fx,fy,fz,gx,gy,gz|3: no scheduler"
    )


def test_findings_stand_by_file_then_severity_then_place() -> None:
    findings = [
        on_switch("PORT", "Ethernet0", "mtu", code="A1"),
        oversubscribed(code="A2", severity="info"),
        oversubscribed(code="A3"),
        finding(Origin("fabric.yaml", ("fabric",)), code="A4", severity="info"),
        finding(Origin("fabric.yaml", ("pfc", "watchdog")), code="A5"),
    ]
    blocks = [block.split()[1] for block in findings_text(sample(*findings))]
    assert blocks == ["A5", "A3", "A4", "A2", "A1"]
    assert blocks == [block.split()[1] for block in findings_text(sample(*reversed(findings)))]


def test_what_a_file_says_cannot_move_the_cursor() -> None:
    document = load_text('{"PORT": {"Eth\\u001b[2Jx": "\u202e"}}', "x\x1b[1m.json")
    found = finding(
        Origin(document.file, ("PORT", "Eth\x1b[2Jx")), object_form="config_db", message="a\x1b]b\nc"
    )
    (block,) = findings_text(lint_run(findings=(found,), documents={document.file: document}))
    assert block == (
        "x\\x1b[1m.json:1:28: WD001 watchdog-missing: PORT|Eth\\x1b[2Jx: a\\x1b]b c\n"
        "  |\n"
        '1 | {"PORT": {"Eth\\u001b[2Jx": "\\u202e"}}\n'
        "  |                            ^^^^^^^^"
    )


def test_colours_change_nothing_but_colours() -> None:
    import re

    run = sample(oversubscribed(), on_switch("PORT", "Ethernet0", severity="warning", note="n"))
    coloured = gated("\n".join(findings_text(run, TextStyle(colour=True))))
    assert coloured.startswith("\x1b[1mfabric.yaml:26:5\x1b[0m: \x1b[1;31mTOP001\x1b[0m oversub")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == "\n".join(findings_text(run))


def test_a_problem_shows_the_word_it_is_about() -> None:
    lines = INTENT.splitlines()
    problems = [
        Problem("gone.yaml", None, None, "no such file"),
        Problem("fabric.yaml", 6, 19, "classes.rdma.dscp: 64 is not a DSCP"),
    ]
    blocks = list(problems_text(problems, lambda _file, number: lines[number - 1], TextStyle(columns=60)))
    assert blocks == [
        "fabric.yaml:6:19: classes.rdma.dscp: 64 is not a DSCP\n"
        "  |\n"
        "6 |   rdma:    {dscp: 26, priority: 3, lossless: true, ba...\n"
        "  |                   ^^",
        "gone.yaml: no such file",
    ]


def test_a_problem_in_a_file_without_text_is_one_line() -> None:
    problem = Problem("fabric.yaml", 1, 1, "is encoded as UTF-16; expected UTF-8")
    assert list(problems_text([problem], lambda _file, _number: None)) == [str(problem)]


def test_the_summary_has_every_count() -> None:
    run = sample(
        oversubscribed(),
        on_switch("PORT", severity="info"),
        errors=(Problem("a", None, None, "b"),),
        not_checked=(UncheckedRule("CLS001", "no map", 3), UncheckedRule("WD001", "no speed")),
        suppressed=5,
        baselined=6,
    )
    assert summary_text(run) == (
        "check incomplete (1 problem in the input); the rest: "
        "1 error, 0 warnings, 1 info in 2 files (5 suppressed, 6 baselined, 4 not checked)"
    )
    assert list(not_checked_text(run.not_checked)) == [
        "not checked: CLS001: no map (3 times)",
        "not checked: WD001: no speed",
    ]


def test_a_style_can_leave_out_the_line_or_all_but_the_first() -> None:
    run = sample(on_switch("PORT", "Ethernet0", note="n"), oversubscribed(note="", help="h"))

    def lines(style: TextStyle) -> list[str]:
        return [line for block in findings_text(run, style) for line in block.splitlines()]

    whole, bare, brief = lines(TextStyle()), lines(TextStyle(source=False)), lines(TextStyle(brief=True))
    first = [line for line in whole if line.startswith(("leaf1.json:", "fabric.yaml:"))]
    assert brief == first
    assert bare == [first[0], " = help: h", first[1], " = note: n"]
    assert len(whole) > len(bare)


def test_the_counts_that_matter_are_coloured() -> None:
    run = sample(oversubscribed())
    assert gated(summary_text(run, TextStyle(colour=True))).startswith(
        "\x1b[1;31m1 error\x1b[0m, 0 warnings, 0 infos"
    )


def test_what_several_devices_have_identical_is_one_block_with_every_place() -> None:
    leaves = [f"leaf{number}.json" for number in range(1, 7)]
    documents = {file: load_text(CONFIG_DB, file) for file in leaves}
    found = [
        finding(
            Origin(file, ("PORT", "Ethernet4", "mtu")),
            object_form="config_db",
            elements=(f"{file.partition('.')[0]}:Ethernet4",),
            help="set mtu to 9100",
        )
        for file in leaves
    ]
    run = lint_run(findings=tuple(found), documents=documents)
    (block,) = findings_text(run)
    assert block.splitlines()[4:] == [
        "  = on: leaf1:Ethernet4, leaf2:Ethernet4, leaf3:Ethernet4 and 3 more (6 ports)",
        "  = also: leaf2.json:7:14, leaf3.json:7:14, leaf4.json:7:14 and 2 more (--quiet lists each)",
        "  = help: set mtu to 9100",
    ]
    assert len(list(findings_text(run, TextStyle(brief=True)))) == 6
    assert summary_text(run) == (
        "1 error, 0 warnings, 0 infos in 6 files "
        "(0 suppressed, 0 baselined, 0 not checked; 5 more of the same in other files)"
    )
    assert statistics_text(run).splitlines()[1].split()[:2] == ["1", "6"]
    data = json.loads(json_text(run))
    assert len({each["cause"] for each in data["findings"]}) == 1
    assert (data["summary"]["error"], data["summary"]["causes"]) == (6, 1)


def test_what_a_device_says_otherwise_is_a_cause_of_its_own() -> None:
    other = on_switch("PORT", "Ethernet4", "mtu", message="another value")
    data = json.loads(json_text(sample(on_switch("PORT", "Ethernet4", "mtu"), other)))
    assert len({each["cause"] for each in data["findings"]}) == 2
