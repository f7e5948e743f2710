"""Laws of the intents of subnets: any content is accepted, or refused in words at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, strategies as st
from jsonschema import Draft7Validator

from lossless.formats.intent.infiniband.document import load_subnet
from lossless.formats.intent.load import intent_schema
from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from tests.formats.intent.subnet_texts import LISTED, TREE
from tests.formats.intent.test_intent_laws import JARGON, RUBBISH, changed, places, texts
from tests.strategies import document_of

if TYPE_CHECKING:
    from lossless.ground.basics.errors import Problem

VALIDATOR = Draft7Validator(intent_schema())
INTENTS = tuple(load_text(text, "fabric.yaml").data for text in (TREE, LISTED))
VALUES = RUBBISH | st.sampled_from(
    (
        "off",
        "on",
        "host[1-",
        "host[1-3]",
        "@",
        "@storage",
        "leaf1",
        "host1:mlx5_9",
        "0x0",
        "a:1",
        "1 x NDR",
        2**64,
    )
)


def problems_of(data: dict[str, Any]) -> tuple[Problem, ...]:
    """Return what loading and resolving says; anything but problems is an error of the test."""
    try:
        resolve_subnet(load_subnet(document_of(data)))
    except InputError as error:
        return error.problems
    return ()


@given(st.sampled_from(INTENTS), st.data(), VALUES)
def test_any_wrong_value_is_met_with_places_and_without_jargon(
    data: dict[str, Any], choice: st.DataObject, new: Any
) -> None:
    path = choice.draw(st.sampled_from(places(data)))
    for problem in problems_of(changed(data, path, new)):
        assert problem.line is not None
        said = problem.message.lower()
        for text in texts(new):
            said = said.replace(text.lower(), "")
        assert not [word for word in JARGON if word in said.partition("found")[0]], problem.message


@given(st.sampled_from(INTENTS), st.data(), VALUES)
def test_what_the_schema_refuses_is_refused(data: dict[str, Any], choice: st.DataObject, new: Any) -> None:
    spoilt = changed(data, choice.draw(st.sampled_from(places(data))), new)
    assert VALIDATOR.is_valid(spoilt) or problems_of(spoilt)


@given(st.sampled_from(INTENTS), st.data())
def test_any_key_that_is_left_out_is_missed_or_not_needed(
    data: dict[str, Any], choice: st.DataObject
) -> None:
    path = choice.draw(st.sampled_from([place for place in places(data) if isinstance(place[-1], str)]))
    without = changed(
        data, path[:-1], {key: value for key, value in at(data, path[:-1]).items() if key != path[-1]}
    )
    for problem in problems_of(without):
        assert problem.line is not None


def at(data: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        data = data[key]
    return data
