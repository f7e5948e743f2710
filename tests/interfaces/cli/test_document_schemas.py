"""The JSON Schema of what each command writes with ``--format json``.

Every other test that runs a command with ``--format json`` compares what it printed with this schema (``conftest.py``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import click
import pytest
from jsonschema import Draft202012Validator, ValidationError

from lossless.api import LosslessError, document_schema
from lossless.ground.basics.records import NamedTuple, Record
from lossless.interfaces.api.reference import documents
from lossless.interfaces.cli.app import COMMANDS, Commands
from lossless.output.report.plain import json_schema, plain
from tests.paths import ROOT
from tests.refused import document_validator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interfaces.cli.conftest import Cli

INTENT = str(ROOT / "examples" / "roce-256" / "fabric.yaml")
RUNS = {
    "lint": ("lint", str(ROOT / "examples" / "roce-256-as-published")),
    "headroom": ("headroom", INTENT),
    "trace": ("trace", INTENT, "--from", "host1", "--to", "host20", "--dscp", "26"),
    "topology": ("topology", INTENT),
    "workload": ("workload", INTENT),
    "storm": ("storm", INTENT, "--from", "host1"),
    "render": ("render", INTENT, "-o", "nowhere", "--check"),
    "acceptance": ("acceptance", INTENT),
    "rules": ("rules",),
    "formats": ("formats",),
}
"""A run of each command that takes no simulation; those of others are run by their own tests."""


def _with_json() -> Iterator[str]:
    group = Commands()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        forms = [each for each in command.params if "--format" in each.opts]
        if forms and "json" in getattr(forms[0].type, "choices", ()):
            yield name


def test_every_command_that_writes_json_has_a_schema() -> None:
    assert set(documents()) == set(_with_json())


@pytest.mark.parametrize("command", ["lint", "plan", "rules", "diff"])
def test_the_id_is_relative_and_has_the_version(command: str, cli: Cli) -> None:
    schema = json.loads(cli("schema", "--of", command).out)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"lossless-{command}-1.schema.json"
    assert schema == document_schema(command)


@pytest.mark.parametrize("command", RUNS)
def test_a_document_of_an_example_is_as_its_schema_says(command: str, cli: Cli) -> None:
    document = json.loads(cli(*RUNS[command], "--format", "json").out)
    document_validator(command).validate(document)
    for one in document if isinstance(document, list) else [document]:
        one["unheard_of"] = 1
    with pytest.raises(ValidationError):
        document_validator(command).validate(document)


@pytest.mark.parametrize("command", ["lint", "trace", "headroom", "diff", "plan", "storm", "rules"])
def test_no_record_has_a_key_that_the_schema_does_not_name(command: str) -> None:
    records = [each for each in _objects(document_schema(command)) if "properties" in each]
    assert len(records) > 1
    assert all(each["additionalProperties"] is False for each in records)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


@pytest.mark.parametrize("command", ["headroom", "plan", "storm", "topology", "workload", "trace", "lint"])
def test_a_refusal_is_a_document_too(command: str, cli: Cli) -> None:
    more = {
        "plan": ("gone.yaml",),
        "storm": ("--from", "host1"),
        "trace": ("--from", "host1", "--to", "host2", "--dscp", "26"),
    }.get(command, ())
    outcome = cli(command, "gone.yaml", *more, "--format", "json")
    refusal = json.loads(outcome.out)
    assert outcome.code == 2
    assert refusal["errors"]
    document_validator(command).validate(refusal)
    with pytest.raises(ValidationError):
        document_validator(command).validate(refusal | {"errors": ["gone.yaml: no such file"]})


def test_a_command_without_json_has_no_schema(cli: Cli) -> None:
    with pytest.raises(LosslessError, match="no command 'import' writes JSON"):
        document_schema("import")
    assert cli("schema", "--of", "lnt").err.startswith(
        "lossless: no command 'lnt' writes JSON; did you mean lint?"
    )
    assert cli("schema", "--of", "lint", "--config").code == 2


# --- the schema of a record ---


class Lane(Record):
    number: int
    label: str = ""


class Port(NamedTuple):
    name: str
    lanes: tuple[Lane, ...]
    at: tuple[int, str]
    speed_bps: float | None = None


PORT = Port("Ethernet0", (Lane(1), Lane(2, "b")), (1, "x"))


def test_a_record_has_all_of_its_fields_and_no_other() -> None:
    validator = Draft202012Validator(json_schema(Port))
    made = plain(PORT)
    validator.validate(made)
    wrong: list[dict[str, Any]] = [
        made | {"mtu": 9100},
        {name: value for name, value in made.items() if name != "speed_bps"},
        made | {"lanes": [{"label": "b"}]},
        made | {"at": [1]},
        made | {"at": [1, "x", 2]},
        made | {"name": None},
    ]
    assert [validator.is_valid(each) for each in wrong] == [False] * len(wrong)


def test_parts_of_one_object_are_joined_and_names_left_out() -> None:
    schema = json_schema(Annotated[dict[str, Any], Port, ("at", "lanes"), Lane])
    assert list(schema["properties"]) == ["name", "speed_bps", "number", "label"]
    assert schema["required"] == ["name", "speed_bps", "number"]


def test_what_json_cannot_hold_has_no_schema() -> None:
    with pytest.raises(TypeError, match="no type of JSON"):
        json_schema(set[int])
