"""The registry of forms of captures: each row names functions that are there, and each reader of sections has a row."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from lossless.formats.hosts.state.other_outputs import JOINED
from lossless.formats.inputs.capture_forms import PACKAGES, declared_by
from lossless.model.fabric.state import CaptureForm

FORMATS = Path(__file__).parents[3] / "lossless" / "formats"
ROWS = [form for source in PACKAGES for form in declared_by(source).FORMS]


@pytest.mark.parametrize("form", ROWS, ids=lambda form: f"{form.module} {form.name}")
def test_a_form_names_functions_that_its_module_has(form: CaptureForm) -> None:
    module = import_module(f"lossless.formats.{form.module}")
    functions = {form.reads, *([str(form.tells)] if form.unit in ("section", "snapshot") else ())}
    assert {name for name in functions if not hasattr(module, name)} == set()


def test_every_module_that_recognizes_a_section_has_a_form() -> None:
    with_forms = {form.module for form in ROWS}
    modules = {
        ".".join(file.relative_to(FORMATS).with_suffix("").parts)
        for file in FORMATS.glob("*/state/*.py")
        if "def is_form(" in file.read_text(encoding="utf-8")
    }
    assert modules - with_forms == set(), "no row of FORMS in the forms.py of its package names these modules"


def test_outputs_that_are_told_apart_in_one_file_have_a_form() -> None:
    assert {form.name for form in ROWS} >= JOINED
