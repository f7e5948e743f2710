"""One cause is one finding across devices, and none of its places is lost."""

from __future__ import annotations

from hypothesis import given, strategies as st

from lossless.ground.basics.findings import Finding, Origin, by_cause

FILES = ("leaf1.json", "leaf2.json", "fabric.yaml")


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """Build a finding of few words, so that many are identical."""
    file = draw(st.sampled_from(FILES))
    return Finding(
        code=draw(st.sampled_from(("ECN005", "BUF003"))),
        name="a-rule",
        severity=draw(st.sampled_from(("error", "warning"))),
        confidence="high",
        message=draw(st.sampled_from(("Kmax 50 MB", "Kmax 60 MB"))),
        origin=Origin(file, ("WRED_PROFILE", draw(st.sampled_from(("A", "B"))))),
        note=draw(st.sampled_from(("", "T(1) = 30 MB"))),
        elements=(f"{file.partition('.')[0]}:Ethernet0",),
        object_form="intent" if file == "fabric.yaml" else "config_db",
    )


@given(st.lists(findings()))
def test_ungrouping_gives_the_findings_there_were(drawn: list[Finding]) -> None:
    found = [finding._replace(places=number) for number, finding in enumerate(drawn)]
    causes = by_cause(found)
    assert sorted((finding for same in causes for finding in same), key=lambda it: it.places) == found
    for numbers in ([same[0].places for same in causes], *([it.places for it in same] for same in causes)):
        assert numbers == sorted(numbers)


@given(st.lists(findings()))
def test_one_cause_says_one_thing_of_one_object(found: list[Finding]) -> None:
    for same in by_cause(found):
        assert len({(it.code, it.severity, it.message, it.note, it.object) for it in same}) == 1
        assert len({it.origin.file for it in same if it.object_form == "intent"}) <= 1


@given(findings(), findings())
def test_the_same_of_two_devices_is_one_cause_and_of_two_intents_two(first: Finding, other: Finding) -> None:
    again = first._replace(origin=first.origin._replace(file="other"), elements=("other:Ethernet4",))
    assert len(by_cause([first, again])) == (2 if first.object_form == "intent" else 1)
    if other.message != first.message:
        assert len(by_cause([first, other])) == 2
