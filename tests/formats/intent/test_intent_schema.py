"""The JSON Schema of an intent: what editors show of each key, and what they can know of a mistake."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, NamedTuple, get_origin

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from lossless.formats.inputs.intents import Declaration, declaration_of
from lossless.formats.intent import base, jobs
from lossless.formats.intent.base import Model
from lossless.formats.intent.class_groups import GroupBySpeed, GroupPolicy
from lossless.formats.intent.classes import EcnBySpeed, EcnPolicy
from lossless.formats.intent.document import Intent, _close, _resolved
from lossless.formats.intent.infiniband import service
from lossless.formats.intent.jobs import WorkloadIntent
from lossless.formats.intent.key_docs import documentation, key_doc, texts_below_fields, words as words_of
from lossless.formats.intent.load import TRANSPORTS, intent_schema
from lossless.formats.intent.policy import CongestionControlIntent
from lossless.ground.basics import units
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load, load_text
from lossless.interfaces.api.simulate import DEFAULTS
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
        prefix-v6-host-bits prefix-second more-links-than-are-laid-out""",
    "what hardware can do, and what it is called": """
        prevention-beyond-the-adapter prevention-the-adapter-does-not-have alpha-period-beyond-the-nic
        rate-below-the-nic shift-beyond-the-nic cnp-interval-finer-than-the-nic profile hwsku hwsku-of-another nic
        profile-in-mapping lossy-hwsku nic-without-dcqcn-parameters hardware device-hardware device-hwsku
        host-with-an-adapter-that-does-not-exist host-with-an-adapter-that-cannot-be-set-so tool-of-another-nic
        tool-and-firmware virtual-output-queues""",
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
    incast = DEFAULTS[0].question
    assert incast is not None
    assert incast.nics is not None
    assert f"an incast of {incast.nics - 1} NIC ports" in said["workloads"]
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
    for module in (base, service, jobs)
    for name, kind in vars(module).items()
    if get_origin(kind) is Annotated and "pattern" in TypeAdapter(kind).json_schema()
    if TypeAdapter(kind).json_schema().get("type") != "string"
    or "description" in TypeAdapter(kind).json_schema()
    if module is base or not hasattr(base, name)
}
"""Every type of an intent that is written as a number with a unit, or in hexadecimal."""
ODD = (*"\n\r\t \u00a0\u2028\u0663\uff13\u00b2_-+.01x", "0" * 9)
"""Line breaks and blanks, digits of other scripts, zeros, and what Python reads as part of a number."""
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
    form = pattern.replace(r"$(?!\n)", r"\Z").removeprefix("(?=.*[1-9])")
    whole = st.from_regex(re.compile(form)).filter(lambda text: len(text) <= 30)
    spoilt = st.tuples(whole, st.integers(0, 30), st.sampled_from(ODD)).map(
        lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] :]
    )
    return st.one_of(whole, spoilt, st.lists(PIECES, max_size=4).map("".join))


@pytest.mark.parametrize("kind", QUANTITIES)
@given(data=st.data())
def test_schema_and_parser_take_the_same_texts_of_a_quantity(kind: str, data: st.DataObject) -> None:
    parser = TypeAdapter(QUANTITIES[kind])
    assert_same_quantity(parser, data.draw(quantity_texts(parser.json_schema()["pattern"])))


@pytest.mark.parametrize("kind", QUANTITIES)
def test_quantities_are_of_the_same_length_to_schema_and_parser(kind: str) -> None:
    parser = TypeAdapter(QUANTITIES[kind])
    schema = parser.json_schema()
    whole = next(text for text in SOUND if understood(parser, text))
    for text in stretched(whole, f"{schema['pattern']}{{{schema.get('maxLength', 16)}}}"):
        assert_same_quantity(parser, text)


def assert_same_quantity(parser: TypeAdapter[Any], text: str) -> None:
    schema = parser.json_schema()
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


class Place(NamedTuple):
    """A name in a model of an intent, a value or the key of a mapping; ``holding`` gives the model such a text."""

    at: str
    parser: TypeAdapter[Any]
    schema: Draft202012Validator
    holding: Callable[[str], Any]

    def refusals(self, text: str) -> frozenset[tuple[str, str]]:
        """Return what the parser refuses: of a text that it takes, what it does of any other that it takes."""
        try:
            self.parser.validate_python(self.holding(text))
        except ValidationError as error:
            return frozenset((one["type"], str(one["loc"]).replace(repr(text), "")) for one in error.errors())
        return frozenset()


SOUND_NAMES = (
    "host1",
    "a",
    "A",
    "leaf",
    "AF31",
    "0x1",
    "0000:00:00.0",
    "10.0.0.0/8",
    "leaf1:Ethernet0",
    *SOUND,
)
ANCHORS = (r"$(?!\n)", "$")
"""Of the end. An editor (ECMA 262) takes both for the end of a text, Python the second also for a last line break."""


def as_editors_read(schema: Any) -> Any:
    """Return a schema whose patterns mean to Python what they do to an editor."""
    if isinstance(schema, list):
        return [as_editors_read(part) for part in schema]
    if not isinstance(schema, dict):
        return to_the_end(schema) if isinstance(schema, str) else schema
    return {
        to_the_end(word): to_the_end(part) if word == "pattern" else as_editors_read(part)
        for word, part in schema.items()
    }


def to_the_end(pattern: Any) -> Any:
    for anchor in ANCHORS:
        if isinstance(pattern, str) and pattern.startswith(("^", "(?=")) and pattern.endswith(anchor):
            return pattern.removesuffix(anchor) + r"\Z"
    return pattern


def sound(pattern: str) -> str:
    return next(text for text in SOUND_NAMES if re.search(pattern, text))


def least(schema: dict[str, Any]) -> Any:
    """Return a value of a schema, with what is required alone."""
    for word in ("anyOf", "oneOf", "examples", "enum"):
        if schema.get(word):
            return least(schema[word][0]) if word.endswith("Of") else schema[word][0]
    kind = schema.get("type")
    if kind == "object":
        value = {key: least(schema["properties"][key]) for key in schema.get("required", ())}
        named = schema.get("patternProperties", {}) if len(value) < schema.get("minProperties", 0) else {}
        return value | {sound(pattern): least(part) for pattern, part in named.items()}
    if kind == "array":
        return [least(schema["items"])] * schema.get("minItems", 1)
    if "const" in schema or kind in ("integer", "null", "boolean"):
        return schema.get("const", schema.get("minimum", 0) if kind == "integer" else None)
    return sound(schema.get("pattern", ""))


Holding = Callable[[Any], Any]


def places(schema: Any, holding: Holding, at: str) -> Iterator[tuple[str, str, Holding]]:
    """Yield the patterns of a model: where they stand, and what makes a value of a text there."""
    if "pattern" in schema and isinstance(schema["pattern"], str):
        yield at, schema["pattern"], holding
    for form in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from places(form, holding, at)
    if "items" in schema:
        yield from places(schema["items"], lambda value: holding([value]), f"{at}[]")
    required = {key: least(schema["properties"][key]) for key in schema.get("required", ())}
    for key, part in schema.get("properties", {}).items():
        yield from places(part, at_key(holding, key, required), f"{at}.{key}")
    for pattern, part in schema.get("patternProperties", {}).items():
        yield f"{at} key", pattern, as_key(holding, least(part))
        yield from places(part, at_key(holding, sound(pattern), {}), f"{at}.*")


def at_key(holding: Holding, key: str, others: dict[str, Any]) -> Holding:
    return lambda value: holding({**others, key: value})


def as_key(holding: Holding, value: Any) -> Holding:
    return lambda name: holding({name: value})


def without_references(schema: Any) -> Any:
    """Return a schema without the models inside of it, which are tried by themselves."""
    if isinstance(schema, list):
        return [without_references(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {} if "$ref" in schema else {word: without_references(part) for word, part in schema.items()}


def patterns_of_names() -> dict[str, list[Place]]:
    """Return the places of each pattern in all models, but for those of quantities."""
    of_quantities = {TypeAdapter(kind).json_schema()["pattern"] for kind in QUANTITIES.values()}
    found: dict[str, list[Place]] = defaultdict(list)
    for model in models():
        parser = TypeAdapter(model)
        made = parser.json_schema()
        parts = made.pop("$defs", {})
        made = parts[made["$ref"].rpartition("/")[2]] if "$ref" in made else made
        whole = _resolved(made, parts)
        for schema in (made, whole):
            _close(schema)
        own = {(at, pattern) for at, pattern, _ in places(without_references(made), lambda value: value, "")}
        validator = Draft202012Validator(as_editors_read(whole))
        for at, pattern, holding in places(whole, lambda value: value, ""):
            if (at, pattern) in own and pattern not in of_quantities:
                found[pattern].append(Place(f"{model.__name__}{at}", parser, validator, holding))
    return found


NAMES = patterns_of_names()
VALUES_OF_NAMES = {"^[0-9A-Fa-f:.]+/[0-9]{1,3}$": "is not an IP prefix"}
"""Patterns whose texts are more than a form, and how the others are refused."""


@pytest.mark.parametrize("pattern", NAMES)
@given(data=st.data())
def test_schema_and_parser_take_the_same_names(pattern: str, data: st.DataObject) -> None:
    text = data.draw(quantity_texts(to_the_end(pattern)))
    for tried in (text, f"{text}\n"):
        assert_agree(pattern, tried)


@pytest.mark.parametrize("pattern", NAMES)
def test_names_are_of_the_same_length_to_schema_and_parser(pattern: str) -> None:
    for text in stretched(sound(pattern), pattern):
        assert_agree(pattern, text)


def stretched(text: str, pattern: str) -> Iterator[str]:
    """Yield texts in which one character is repeated, about as often as the numbers in a pattern say."""
    for most in sorted({int(number) for number in re.findall(r"[0-9]+(?=\})", pattern)}):
        for many in range(max(most - len(text) - 2, 1), most + 3):
            yield from (text[:at] + text[at] * many + text[at + 1 :] for at in range(len(text)))


def assert_agree(pattern: str, text: str) -> None:
    for place in NAMES[pattern]:
        valid = place.schema.is_valid(place.holding(text))
        refused = place.refusals(text) - place.refusals(sound(pattern))
        if valid == bool(refused):
            with pytest.raises(
                ValidationError, match=VALUES_OF_NAMES.get(pattern, "both take it, or neither")
            ):
                place.parser.validate_python(place.holding(text))


def test_the_names_that_are_tried_are_those_of_the_schema() -> None:
    """Every pattern of the whole schema is tried, as a quantity or as a name, and a sound text is taken everywhere."""
    tried = {*NAMES, *(TypeAdapter(kind).json_schema()["pattern"] for kind in QUANTITIES.values())}
    patterns = {pattern for _, pattern, _ in places(SCHEMA, lambda value: value, "")}
    assert patterns <= tried
    for pattern, found in NAMES.items():
        for place in found:
            assert place.schema.is_valid(place.holding(sound(pattern))), place.at
