"""The documentation below fields: how its text is read, and whose it is."""

from __future__ import annotations

import json

import pytest

from lossless.formats.intent.jobs import VARIABLE_KEYS, WorkloadIntent
from lossless.formats.intent.key_docs import describe, documentation, documented, key_doc, lengthened
from lossless.formats.intent.shapes import Cables, GroupCables, PodCables
from lossless.interfaces.api.reference import intent_key


def test_a_text_is_a_description_and_examples_as_yaml_has_them() -> None:
    text = """How far.
    Left out: not at all.
    Example: `2 x 400G` Example: `[1, on]`
    Example: `{leaf: "202405"}`
    """
    assert key_doc(text) == ("How far. Left out: not at all.", ("2 x 400G", [1, "on"], {"leaf": "202405"}))
    assert key_doc("How far.") == ("How far.", ())


def test_a_sentence_is_added_before_the_examples() -> None:
    assert key_doc(lengthened("How far. Example: `1`\n    Example: `2`", "Has a unit.")) == (
        "How far. Has a unit.",
        (1, 2),
    )


def test_a_class_has_what_it_inherits_and_replaces_what_it_documents_itself() -> None:
    inherited, own = documentation(Cables), documentation(GroupCables)
    assert documentation(PodCables).items() > inherited.items()
    assert own["uplink"] == inherited["uplink"]
    assert own["host"] != inherited["host"]


def test_documentation_is_by_the_key_and_not_by_the_field() -> None:
    assert "class" in documentation(WorkloadIntent)
    assert "traffic_class" not in documentation(WorkloadIntent)


def test_a_schema_that_is_given_documentation_is_left_as_it_was() -> None:
    part = {"type": "string"}
    whole = {"properties": documented({"class": part, "other": part}, WorkloadIntent)}
    describe(whole)
    assert part == {"type": "string"}
    assert whole["properties"]["class"]["examples"] == ["rdma"]
    assert whole["properties"]["other"] == part
    assert "documentation" not in json.dumps(whole)


@pytest.mark.parametrize("variable", VARIABLE_KEYS)
def test_a_variable_that_follows_from_a_key_names_one_that_there_is(variable: str) -> None:
    path = VARIABLE_KEYS[variable]
    key = intent_key(tuple(path.split(".")))
    assert key is not None
    assert key.dotted_path == path


def test_an_example_that_is_text_stays_text_where_it_is_shown() -> None:
    key = intent_key(("sonic", "release"))
    assert key is not None
    assert '"202405"' in key.examples
