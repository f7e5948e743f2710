"""The page of a result: verdict first, nothing hostile in it, marked places, and words for all that is left out."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lossless import api
from lossless.analysis.topology.folding import MARKS
from lossless.checks.lint.run import CheckedReport
from lossless.checks.rules.storms.culprit import Culprit, CulpritEvidence
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, Severity, SkippedFile, UncheckedRule
from lossless.interfaces.api.lint import drawn
from lossless.output.report import drawing
from lossless.output.report.page import _DARK, MOST_ENTRIES, MOST_ROWS, drawing_of
from tests.output.report.samples import finding, lint_run, oversubscribed, sample
from tests.paths import EXAMPLES

INTENT = EXAMPLES / "roce-256" / "fabric.yaml"
HOSTILE = (
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "]]><img src=x onerror=alert(1)>",
    "\x1b[2J\u202e",
)
LOADING = {"script", "img", "iframe", "object", "embed", "image", "use", "foreignobject", "a", "form", "base"}


class Read(HTMLParser):
    """The tags of a page with their attributes, its text, and the text of each heading."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.headings: list[str] = []
        self._heading = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append((tag, dict(attrs)))
        if tag in ("h1", "h2", "h3"):
            self._heading = True
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        """End a heading."""
        self._heading = self._heading and tag not in ("h1", "h2", "h3")

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.text += data
        if self._heading:
            self.headings[-1] += data


def page(report: CheckedReport, failing: tuple[Severity, ...] = ("error",)) -> Read:
    """Return the page of a report."""
    return Read(api.report_as(report, "html", failing).text)


def culprit(**fields: object) -> Culprit:
    """Return a host that pauses its switch."""
    given = {
        "kind": "host",
        "device": "host3",
        "port": "port2",
        "what": "a receiver that does not drain",
        "evidence": (CulpritEvidence("leaf1 Ethernet8 received 7 pauses", Origin("leaf1.txt")),),
        "help": "take it out of the job",
        "confidence": "high",
        "seen_at": "leaf1 Ethernet8",
    }
    return Culprit(**(given | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("report", "verdict", "tone"),
    [
        (sample(oversubscribed()), "Not passed: 1 error", "bad"),
        (sample(oversubscribed(severity="warning")), "Passed, with 1 warning in 2 files", "warn"),
        (sample(), "Passed: nothing found in 2 files", "good"),
        (
            sample(errors=(Problem("x.json", 1, 1, "is no JSON"),)),
            "Check incomplete: 1 problem in the input",
            "bad",
        ),
        (sample(culprits=(culprit(),)), "Who did it: host3 port2", "bad"),
        (sample(culprits=(culprit(kind="none"),)), "Cause not shown: host3 port2", "warn"),
    ],
)
def test_the_first_heading_is_the_verdict(report: CheckedReport, verdict: str, tone: str) -> None:
    read = page(report)
    assert read.headings[0] == verdict
    assert [attrs["class"] for tag, attrs in read.tags if "verdict" in (attrs.get("class") or "")] == [
        f"verdict {tone}"
    ]


def test_a_warning_does_not_pass_where_it_fails_the_run() -> None:
    report = sample(oversubscribed(severity="warning"))
    assert page(report, ("error", "warning")).headings[0] == "Not passed: 1 warning"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text_wherever_it_stands(text: str) -> None:
    plain = page(CheckedReport())
    report = lint_run(
        findings=(
            finding(
                Origin(text, ("a", text)), message=text, note=text, help=text, elements=(text,), places=2, name=text
            ),
        ),
        errors=(Problem(text, 1, 1, text),),
        not_checked=(UncheckedRule("WD001", text, 2),),
        skipped=(SkippedFile(text, text, named=True),),
        excluded=(text,),
        culprits=(
            culprit(
                device=text, port=text, what=text, help=text, seen_at=text, against=(text,), missing=(text,),
                evidence=(CulpritEvidence(text, Origin(text)),),
            ),
        ),
    )  # fmt: skip
    read = page(report)
    assert {tag for tag, _ in read.tags} <= {tag for tag, _ in plain.tags} | {
        "article", "h3", "span", "dl", "div", "dt", "dd", "ul", "li", "code", "pre", "figure",
        "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on")]
    assert read.text.count(text.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")) >= 10
    assert "\x1b" not in read.text


def test_a_page_loads_nothing_and_allows_no_script() -> None:
    read = page(api.lint([str(INTENT)]))
    assert not {tag for tag, _ in read.tags} & LOADING
    linked = [
        attrs[name] for _, attrs in read.tags for name in ("src", "href", "xlink:href") if name in attrs
    ]
    assert linked == ["data:,"]
    policies = [
        attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert [(policy or "").split("; ")[0] for policy in policies] == ["default-src 'none'"]
    assert "url(" not in read.text
    assert "@import" not in read.text


def test_more_findings_than_a_page_has_room_for_are_counted_in_words() -> None:
    extra = 150
    findings = tuple(
        finding(Origin("fabric.yaml", ("a", at)), message=f"cause {at}") for at in range(MOST_ENTRIES + extra)
    )
    unchecked = tuple(UncheckedRule("WD001", f"reason {at}") for at in range(MOST_ROWS + 3))
    read = page(lint_run(findings=findings, not_checked=unchecked))
    assert sum(tag == "article" for tag, _ in read.tags) == MOST_ENTRIES
    assert (
        f"{extra} of {MOST_ENTRIES + extra} findings are left out here; --format json has all." in read.text
    )
    assert f"3 of {MOST_ROWS + 3} reasons are left out here." in read.text


def test_errors_come_before_warnings_of_files_before_them() -> None:
    report = lint_run(
        findings=(finding(Origin("a.yaml"), severity="warning"), finding(Origin("b.yaml"), message="worse"))
    )
    shown = [heading for heading in page(report).headings if heading.startswith(("warning", "error"))]
    assert [heading.split()[0] for heading in shown] == ["error", "warning"]


def test_inputs_have_the_hash_of_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    raw = b"\xef\xbb\xbf" + INTENT.read_bytes()
    Path("fabric.yaml").write_bytes(raw)
    read = page(api.lint(["fabric.yaml"]))
    whole = hashlib.sha256(f"{hashlib.sha256(raw).hexdigest()}  fabric.yaml\n".encode()).hexdigest()
    assert hashlib.sha256(raw).hexdigest() in read.text
    assert whole in read.text


def test_text_that_is_not_on_the_disk_has_its_own_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fabric.yaml").write_text("something else\n")
    raw = INTENT.read_bytes()
    assert hashlib.sha256(raw).hexdigest() in page(api.lint_text(raw, "fabric.yaml")).text


def test_the_same_result_gives_the_same_bytes() -> None:
    report = api.lint([str(INTENT)])
    assert api.report_as(report, "html").text == api.report_as(report, "html").text


def test_marks_are_on_the_box_of_a_device_and_say_which_of_several() -> None:
    marks = {"leaf1": "error", "host20": "culprit", "host3": "warning", "host4": "warning", "nobody": "error"}
    (picture,) = drawn([api.load(INTENT)], (), marks).pictures
    states = {item.names: (item.state, item.labels) for item in picture.items if item.state}
    assert states == {
        ("leaf1", "leaf1"): ("error", ("error",)),
        ("host1", "host16"): ("warning", ("2 of them: warning",)),
        ("host17", "host32"): ("culprit", ("host20: culprit",)),
    }


def test_a_finding_marks_the_device_whose_file_it_is_in() -> None:
    found = finding(Origin("out/leaf2/config_db.json", ("PORT",)), object_form="config_db")
    documents = {"fabric.yaml": api.load(INTENT)}
    text = page(lint_run(findings=(found,), documents=documents)).text
    assert "Marks here, by color and in words: error." in text


def test_what_cannot_be_drawn_is_said() -> None:
    cloud = api.load(EXAMPLES / "efa-train" / "fabric.yaml")
    (why,) = drawn([cloud], (), {}).not_drawn
    assert why.startswith(f"{cloud.file} is not drawn: ")
    assert drawn([], (), {}).not_drawn[0].startswith("No picture: an intent declares the links")


def test_every_color_of_a_picture_has_one_for_dark_pages() -> None:
    marks = dict.fromkeys((f"leaf{at}" for at in range(1, 3)), "error") | {
        "spine1": "changes",
        "host1": "warning",
    }
    pictures = drawn(
        [api.load(path) for path in (INTENT, EXAMPLES / "infiniband-256-ndr" / "fabric.yaml")], (), marks
    )
    used = {
        pair
        for picture in pictures.pictures
        for pair in re.findall(r"\b(fill|stroke)='(#\w+)'", drawing_of(picture, "").svg)
    }
    dark = {(attribute, light) for attribute, light, _ in _DARK}
    assert used <= dark
    assert {("fill", drawing.STATE_FILLS[mark]) for mark in MARKS} <= dark


def test_a_hundred_findings_on_72_devices_fit_a_megabyte() -> None:
    text = INTENT.read_text()
    text = (
        text.replace("leaves: 2", "leaves: 56")
        .replace("spines: 2", "spines: 16")
        .replace("8 x 800G ", "1 x 800G ")
    )
    document = api.load_text(text, "fabric.yaml")
    said: dict[str, Any] = {"note": "why " * 60, "help": "do " * 60, "places": 40}
    said["elements"] = tuple(f"leaf{port % 56 + 1}:Ethernet{port * 4}" for port in range(40))
    at = Origin("fabric.yaml", ("topology",))
    findings = tuple(finding(at, message=f"cause {number} {'word ' * 60}", **said) for number in range(100))
    made = api.report_as(lint_run(findings=findings, documents={"fabric.yaml": document}), "html").text
    assert made.count("<article") == 100
    assert "16 spines, 56 leaves, 896 hosts" in made
    assert len(made.encode()) < 1_000_000


def test_a_fabric_of_8192_hosts_is_drawn_in_few_boxes() -> None:
    text = INTENT.read_text()
    text = (
        text.replace("leaves: 2", "leaves: 512")
        .replace("spines: 2", "spines: 4")
        .replace("8 x 800G ", "1 x 800G ")
    )
    (picture,) = drawn([api.load_text(text, "fabric.yaml")], (), {}).pictures
    assert sum(item.devices for item in picture.items if item.role == "host") == 8192
    assert len(drawing_of(picture, "").svg) < 20_000
