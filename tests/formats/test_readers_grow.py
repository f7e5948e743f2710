"""Every reader takes time in proportion to its text, whatever part of it is long: ratios of processor times.

No figure depends on how fast the machine is: a text is as large as it has to be to take some time, and only the ratio
to its double counts.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from lossless.formats.hosts.forms import FACTS as FORMS_OF_FACTS
from lossless.formats.hosts.read.facts import read_facts
from lossless.formats.infiniband.to_model import Kind
from lossless.formats.inputs.capture_forms import PACKAGES, declared_by, read_capture
from lossless.formats.switches.registry import SONIC, TITLES
from lossless.ground.basics.errors import LosslessError
from tests.all_cases import some
from tests.formats.reader_texts import (
    CAPTURES,
    FACTS,
    KINDS,
    LONG_PARTS,
    MANAGERS,
    READERS,
    RECORDS,
    SYSTEMS,
    damaged,
    grown,
)
from tests.growth import by_doubling
from tests.paths import ROOT

SMALLEST, LARGEST = 4_000, 300_000
"""Characters."""


def test_every_reader_has_a_text_here() -> None:
    forms = {form.name for form in chain.from_iterable(declared_by(source).FORMS for source in PACKAGES)}
    # All commands that print a table are read by one reader, from any table with headings.
    of_tables = {form.name for form in declared_by("SONiC").FORMS if form.unit == "table"}
    facts = {form.name for form in FORMS_OF_FACTS}
    assert forms - of_tables - facts <= CAPTURES.keys() <= forms
    assert FACTS.keys() == facts
    assert SYSTEMS.keys() == {SONIC[0], *TITLES}
    assert MANAGERS.keys() == {*get_args(Kind)}
    reading = {
        path.stem
        for path in (ROOT / "lossless").rglob("*.py")
        if re.search("own_records import .*own_record$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert reading == {"plan", "baseline", "tree"}
    assert RECORDS.keys() == {"plan", "baseline", "manifest", "journal"}


@pytest.mark.parametrize("name", CAPTURES)
def test_the_text_of_a_form_has_it(name: str) -> None:
    captures = read_capture(CAPTURES[name].text, "capture.txt")
    assert captures, name


@pytest.mark.parametrize("name", FACTS)
def test_the_facts_of_a_form_are_read(name: str) -> None:
    assert read_facts(FACTS[name].text, "node1.facts", is_script=name == "script").said, name


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_grows_by_its_parts(kind: str) -> None:
    for reader in READERS.values():
        sizes = [len(grown(reader.text, kind, size)) for size in (20_000, 40_000)]
        assert sizes[0] < sizes[1] < 3 * 40_000 + 2 * len(reader.text), reader.text


@pytest.mark.tools("growth")
@pytest.mark.parametrize("name", READERS)
def test_no_part_of_a_text_is_too_long_to_be_read_or_refused(name: str, tmp_path: Path) -> None:
    """Python raises where it reads a number of 4,300 digits and more."""
    reader = READERS[name]
    for kind in LONG_PARTS:
        for text in damaged(reader.text, kind, 5_000 if kind == "digits" else 50):
            with suppress(LosslessError):
                reader.read(text, tmp_path)


@pytest.mark.tools("growth")
@pytest.mark.parametrize("name", some([*READERS], 2, "growth"))
def test_reading_takes_time_in_proportion_to_the_text(name: str, tmp_path: Path) -> None:
    reader = READERS[name]

    def read(text: str) -> None:
        with suppress(LosslessError):
            reader.read(text, tmp_path)

    read(reader.text)
    for kind in some(KINDS, 2, name):
        growth = by_doubling(lambda size, kind=kind: grown(reader.text, kind, size), read, SMALLEST, LARGEST)  # type: ignore[misc]
        assert growth is None, f"{kind}: {growth}"
