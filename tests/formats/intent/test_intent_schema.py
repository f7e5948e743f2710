"""The JSON Schema of an intent: what editors show of each key, and what they can know of a mistake."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, get_origin

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from lossless.formats.inputs.intents import Declaration, declaration_of
from lossless.formats.intent import base
from lossless.formats.intent.base import Model
from lossless.formats.intent.class_groups import GroupBySpeed, GroupPolicy
from lossless.formats.intent.classes import EcnBySpeed, EcnPolicy
from lossless.formats.intent.document import Intent
from lossless.formats.intent.infiniband import service
from lossless.formats.intent.jobs import WorkloadIntent
from lossless.formats.intent.key_docs import documentation, key_doc, texts_below_fields, words as words_of
from lossless.formats.intent.load import TRANSPORTS, intent_schema
from lossless.formats.intent.policy import CongestionControlIntent
from lossless.ground.basics import units
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load, load_text
from lossless.interfaces.api.simulate import DEFAULT
from lossless.model.fabric.cluster import COLLECTIVE, MOST_PEERS, MOST_SENDERS, PATTERN
from tests.formats.intent import (
    test_intent_contradictions as together,
    test_intent_keys as keys,
    test_intent_values as values,
    test_intent_words as words,
)
from tests.formats.intent.intent_texts import NAMED, PRESET, SHAPE, spoilt
from tests.paths import ROOT

SCHEMA = intent_schema()
VALIDATOR = Draft7Validator(SCHEMA)
Cases = dict[str, tuple[list[tuple[str, str]], list[str]]]
REFUSED: dict[str, tuple[Cases, ...]] = {
    SHAPE: (
        *(values.QUANTITIES, values.NUMBERS, keys.KEYS, keys.MISSING, keys.KINDS),
        *(words.WORDS, together.TOGETHER, together.SEVERAL),
    ),
    NAMED: (together.NAMED_DEVICES,),
    PRESET: (together.PRESETS,),
}
BEYOND_A_SCHEMA: dict[str, str] = {
    "arithmetic inside of a value": """
        ecn-beyond-what-a-switch-reads size-too-fine prevention-too-fine prevention-of-nothing part-of-a-millisecond
         mtu-of-hosts-too-large watchdog-below-a-millisecond prefix-host-bits
        prefix-v6-host-bits prefix-second bandwidth-0 more-links-than-are-laid-out""",
    "what hardware can do, and what it is called": """
        prevention-beyond-the-adapter prevention-the-adapter-does-not-have alpha-period-beyond-the-nic
        rate-below-the-nic shift-beyond-the-nic cnp-interval-finer-than-the-nic profile hwsku hwsku-of-another nic
        profile-in-mapping lossy-hwsku nic-without-dcqcn-parameters hardware device-hardware device-hwsku
        host-with-an-adapter-that-does-not-exist host-with-an-adapter-that-cannot-be-set-so tool-of-another-nic
        tool-and-firmware""",
    "what a preset gives": """
        poll probability leaves-of-class classes-empty incomplete-new-class min-above-the-preset-max
        max-below-the-preset-min strict-over-the-preset-bandwidth priority-and-dscp-of-the-preset
        watchdog-empty preset-class-moved-onto-another second-rest rest-given-away bandwidth""",
    "what only YAML can write": "twice class-named-by-number",
    "another key": """
        spine dscp-by-name-twice network-class network-class-unlike priority-twice dscp-twice
        dscp-twice-in-lists dscp-twice-in-a-list no-rest two-rests three-rests bandwidth-beyond-100
        strict-with-bandwidth min-above-max min-above-max-by-speed one-speed-twice name-of-a-wred-profile both-forms
        form-and-a-half neither-form half-a-form contradictions unknown-device unlike-any-device two-unknown two-hosts
        itself one-port-of-several-links one-port-twice host-port-twice links-nothing host-with-switch-hardware
        switch-with-an-adapter no-devices""",
}


def properties(schema: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Yield every key of a schema: its place, whether it is required, and its description."""
    if isinstance(schema, list):
        yield from chain.from_iterable(properties(part, at) for part in schema)
    if not isinstance(schema, dict):
        return
    for name, part in schema.get("properties", {}).items():
        yield ".".join((*at, name)), name in schema.get("required", ()), part
    for word, part in schema.items():
        if word not in ("examples", "default"):
            yield from properties(part, at if word == "properties" else (*at, word))


ALL_KEYS = list(properties(SCHEMA))


def forms(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of all forms that a value can have."""
    for one in part.get("anyOf", ()):
        yield from forms(one)
    if "anyOf" not in part:
        yield part


def of_part(part: dict[str, Any]) -> Draft7Validator:
    return Draft7Validator(part)


def test_editors_of_any_age_can_read_it() -> None:
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    for validator in (Draft7Validator, Draft202012Validator):
        validator.check_schema(SCHEMA)
    assert "$ref" not in json.dumps(SCHEMA)


def test_every_key_says_what_it_means_and_what_holds_where_it_is_left_out() -> None:
    assert len(ALL_KEYS) > 90
    for name, required, part in ALL_KEYS:
        said = part.get("description", "")
        assert said.endswith("."), (
            f"{name}: no sentences below its field in lossless/formats/intent say what it means"
        )
        known = required or "default" in part or "Left out: " in said or "Required, unless" in said
        assert known, (
            f"{name}: what holds where it is left out? Write 'Left out: ...', or 'Required, unless ...'"
        )


def test_a_workload_is_documented_with_the_values_that_hold_where_they_are_left_out() -> None:
    texts = documentation(Intent) | documentation(WorkloadIntent)
    said = {key: key_doc(text).description for key, text in texts.items()}
    assert f"Left out: {PATTERN.size}, and {COLLECTIVE.size}." in said["size"]
    assert f"up to {MOST_SENDERS + 1} in an incast, {MOST_PEERS} in other patterns" in said["nics"]
    assert DEFAULT.question is not None
    assert DEFAULT.question.nics is not None
    assert f"an incast of {DEFAULT.question.nics - 1} NIC ports" in said["workloads"]
    for kind in (PATTERN, COLLECTIVE):
        assert {kind.key, *kind.own_keys} <= said.keys()


def test_each_transport_is_declared_by_the_module_that_reads_it() -> None:
    declared = {
        word: module
        for module in set(TRANSPORTS.values())
        for word in words_of(import_module(module).json_schema()["properties"]["transport"])
    }
    assert declared == TRANSPORTS


def test_every_quantity_says_its_unit() -> None:
    for name, _, part in ALL_KEYS:
        if any("pattern" in form and "maxLength" in form for form in forms(part)):
            wanted = ("unit", "percent", "of which rate")
            assert any(word in part["description"] for word in wanted), name


def test_what_cannot_be_chosen_from_a_list_has_an_example() -> None:
    for name, _, part in ALL_KEYS:
        open_ended = [
            form
            for form in forms(part)
            if form.get("type") not in ("null", "boolean", "object") and not {"enum", "const"} & form.keys()
        ]
        assert not open_ended or part.get("examples"), f"{name}: no 'Example: `...`' below its field"


def test_examples_and_defaults_are_values_that_the_schema_takes() -> None:
    shown = 0
    for name, _, part in ALL_KEYS:
        for value in [*part.get("examples", ()), *([part["default"]] if "default" in part else [])]:
            assert of_part(part).is_valid(value), f"{name}: {value!r}"
            shown += 1
    assert shown > 80


def models(base: type[Model] = Model) -> Iterator[type[Model]]:
    """Yield the classes whose fields are keys of an intent."""
    for model in base.__subclasses__():
        if model.__module__.startswith("lossless."):
            yield model
            yield from models(model)


MODELS = [*dict.fromkeys(models()), GroupBySpeed, GroupPolicy]
NO_KEYS: dict[type, set[str]] = {
    EcnBySpeed: {"all_speeds"},
    EcnPolicy: {"all_speeds"},
    CongestionControlIntent: {"kind"},
}
"""Fields that nobody writes: they hold what is written beside the keys of exceptions, or in place of a mapping."""


def fields(model: type) -> dict[str, str]:
    """Return the fields of a class, each with its key."""
    if issubclass(model, Model):
        return {name: field.alias or name for name, field in model.model_fields.items()}
    return {name: name for name in model.__annotations__}


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_documented_below_its_field(model: type) -> None:
    keys = set(fields(model).values()) - NO_KEYS.get(model, set())
    assert keys - documentation(model).keys() == set(), f"no text below the field in {model.__module__}"
    assert documentation(model).keys() - keys == set(), f"the text below is of no key in {model.__module__}"


@pytest.mark.parametrize("model", MODELS)
def test_every_text_in_a_model_is_below_a_field(model: type) -> None:
    tree = ast.parse(inspect.getsource(sys.modules[model.__module__]))
    body = next(
        node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == model.__name__
    )
    texts = [node for node in body[1:] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    below = texts_below_fields(model.__module__)[model.__name__]
    assert (len(below), below.keys() - fields(model).keys()) == (len(texts), set())


def test_the_schema_accepts_the_examples() -> None:
    examples = sorted((ROOT / "examples").glob("*/fabric.yaml"))
    assert examples
    for text in (SHAPE, NAMED, PRESET):
        VALIDATOR.validate(load_text(text, "fabric.yaml").data)
    for example in examples:
        errors: list[Problem] = []
        document = load(example)
        VALIDATOR.validate(document.data)
        assert declaration_of(document, (), errors) != Declaration()
        assert errors == []


def cases() -> Iterator[tuple[str, Any]]:
    """Yield every refused intent of these tests, as JSON has it."""
    for text, tables in REFUSED.items():
        for name, (changes, _) in chain.from_iterable(table.items() for table in tables):
            try:
                data = load_text(spoilt(text, *changes), "fabric.yaml").data
            except InputError:
                continue
            yield name, json.loads(json.dumps(data))


def test_what_is_refused_is_refused_by_the_schema_too_where_it_can_know() -> None:
    beyond = {name for names in BEYOND_A_SCHEMA.values() for name in names.split()}
    found = {name for name, data in cases() if VALIDATOR.is_valid(data)}
    assert (found - beyond, beyond - found) == (set(), set())


QUANTITIES = {
    f"{module.__name__.rpartition('.')[2]}.{name}": kind
    for module in (base, service)
    for name, kind in vars(module).items()
    if get_origin(kind) is Annotated and "pattern" in TypeAdapter(kind).json_schema()
    if TypeAdapter(kind).json_schema().get("type") != "string"
    or "description" in TypeAdapter(kind).json_schema()
}
"""Every type of an intent that is written as a number with a unit, or in hexadecimal."""
ODD = tuple("\n\r\t \u00a0\u2028\u0663\uff13\u00b2_-+.01x")
"""Line breaks and blanks, digits of other scripts, and what Python reads as part of a number."""
UNITS = (
    *units.SIZE_BYTES,
    *units.RATE_BPS,
    *units.DURATION_NS,
    *units.LENGTH_MM,
    *units.PER_SECOND,
    "%",
    "NDR",
)
PIECES = st.sampled_from((*ODD, *UNITS, *map(str, range(0, 2000, 37)), "1024", "1025", "65535", "2 x "))
SOUND = ("800 KiB", "400G", "3m", "4us", "20%", "2 x 400G", "2 x NDR", "9100", "0x2")
BEYOND_A_PATTERN = ("is finer than this", "is no MTU", "in one bundle", "is too long")
"""What a value is refused for that is a quantity by its form."""


def quantity_texts(pattern: str) -> st.SearchStrategy[str]:
    """Draw texts of a pattern, the same with one odd character somewhere, and rows of pieces."""
    whole = st.from_regex(re.compile(pattern.replace(r"$(?!\n)", r"\Z"))).filter(lambda text: len(text) <= 30)
    spoilt = st.tuples(whole, st.integers(0, 30), st.sampled_from(ODD)).map(
        lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] :]
    )
    return st.one_of(whole, spoilt, st.lists(PIECES, max_size=4).map("".join))


@pytest.mark.parametrize("kind", QUANTITIES)
@given(data=st.data())
def test_schema_and_parser_take_the_same_texts_of_a_quantity(kind: str, data: st.DataObject) -> None:
    parser = TypeAdapter(QUANTITIES[kind])
    schema = parser.json_schema()
    text = data.draw(quantity_texts(schema["pattern"]))
    try:
        parser.validate_python(text)
    except ValidationError as error:
        message = error.errors()[0]["msg"]
        is_beyond = any(words in message for words in BEYOND_A_PATTERN)
        assert is_beyond or not Draft202012Validator(schema).is_valid(text), message
    else:
        assert Draft202012Validator(schema).is_valid(text)
        assert text.isascii() or set(text) - set(map(chr, range(128))) <= set("\u00b5\u00d7")
        assert not set(text) & set("\n\r")


@pytest.mark.parametrize("kind", QUANTITIES)
def test_no_quantity_has_digits_of_other_scripts_or_a_line_break(kind: str) -> None:
    parser = TypeAdapter(QUANTITIES[kind])
    sound = next(text for text in SOUND if understood(parser, text))
    for spoilt_text in (
        f"{sound}\n",
        f"\n{sound}",
        f"{sound}\r",
        re.sub("[0-9]", "\u0663", sound),
        f"{sound}\u00a0",
    ):
        assert not understood(parser, spoilt_text)
        assert not Draft202012Validator(parser.json_schema()).is_valid(spoilt_text)


def understood(parser: TypeAdapter[Any], text: str) -> bool:
    try:
        parser.validate_python(text)
    except ValidationError:
        return False
    return True
