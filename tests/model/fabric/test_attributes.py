"""Everything that a switch can be set to is in one table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lossless.model.fabric import model, qos
from lossless.model.fabric.attributes import ATTRIBUTES, BY_KEY, NO_ATTRIBUTE
from tests.paths import ROOT

_RECORDS = {
    name: record
    for module in (model, qos)
    for name, record in vars(module).items()
    if isinstance(record, type) and hasattr(record, "_fields")
}


def fields_of(name: str, seen: set[str]) -> set[str]:
    """Return the fields of a record and of all records that it has, as ``Record.field``."""
    if name in seen or name not in _RECORDS:
        return set()
    seen.add(name)
    annotations: dict[str, Any] = _RECORDS[name].__annotations__
    fields = {f"{name}.{field}" for field in annotations}
    for kind in annotations.values():
        for other in re.findall(r"\w+", str(kind)):
            fields |= fields_of(other, seen)
    return fields


def test_every_field_of_a_switch_has_an_attribute_or_a_reason() -> None:
    seen: set[str] = set()
    fields = {field for field in fields_of("Switch", seen) if field.partition(".")[0] not in NOT_OF_A_SWITCH}
    reached = {field for attribute in ATTRIBUTES for field in attribute.fields}
    exempt = {field for field in fields if {field, field.partition(".")[2]} & NO_ATTRIBUTE.keys()}
    assert fields - reached - exempt == set(), "in no row of lossless/model/fabric/attributes.py"
    assert reached - fields == set(), "in no record of lossless/model/fabric/model.py and qos.py"
    assert reached & exempt == set()
    assert {name for name in NO_ATTRIBUTE if "." in name} - fields == set()


NOT_OF_A_SWITCH = {"Origin", "ClassSet", "TrafficClass", "NamedDscp", "PortDemand"}
"""Places, and what an intent says of classes and ports, which attributes are the outcome of."""


def test_no_two_attributes_have_one_key_or_title() -> None:
    assert len(BY_KEY) == len(ATTRIBUTES) == len({attribute.title for attribute in ATTRIBUTES})


def test_every_path_is_a_key_of_the_reference_of_intents() -> None:
    page = (ROOT / "docs" / "intent-reference.md").read_text().replace("leaf_spine", "SHAPE")
    anchors = set(re.findall(r'<a id="rocev2-([^"]+)">', page))
    sections = dict(re.findall(r"^### `([^`]+)`$(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    for path in (path for attribute in ATTRIBUTES for path in attribute.paths):
        above, _, key = path.rpartition(".")
        known = path.replace(".", "-") in anchors or f"| `{key}` |" in sections.get(above, page)
        assert known, (
            f"{path} is no key of a model in lossless/formats/intent, or its page is stale: make docs"
        )


@pytest.mark.parametrize("folder", ["lossless/formats/intent/resolve", "tests/formats/intent"])
def test_every_key_of_an_attribute_is_resolved_and_tested(folder: str) -> None:
    words = {word for file in (ROOT / folder).rglob("*.py") for word in re.findall(r"\w+", file.read_text())}
    keys = {path: path.rpartition(".")[2] for attribute in ATTRIBUTES for path in attribute.paths}
    assert [path for path, key in keys.items() if key not in words] == [], f"not in {folder}"
