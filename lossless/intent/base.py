"""What all intent models share: unknown keys are refused, quantities carry units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic_core import PydanticCustomError

from lossless import units
from lossless.errors import QuantityError


class Model(BaseModel):
    """Base of every intent model: frozen, and strict about keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def refused(message: str) -> PydanticCustomError:
    """Return an error whose message is shown as it is."""
    return PydanticCustomError("lossless", "{message}", {"message": message})


def _quantity(parse: Callable[[str], Any], what: str) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refused(f"expected a {what}, found {value!r}")
        try:
            return parse(str(value))
        except QuantityError as error:
            raise refused(str(error)) from None

    return BeforeValidator(read)


def _schema(description: str, pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": description, "pattern": pattern})


def _plain_bytes(text: str) -> int:
    return int(text) if text.isdecimal() else units.parse_size(text)


_UNIT_NUMBER = r"^\d+(\.\d+)?\s*"
Size = Annotated[int, _quantity(units.parse_size, "size"), _schema("bytes: 800 KiB, 150 kB", _UNIT_NUMBER)]
Rate = Annotated[int, _quantity(units.parse_rate, "rate"), _schema("bits per second: 400G", _UNIT_NUMBER)]
Length = Annotated[int, _quantity(units.parse_length, "length"), _schema("metres: 30m", _UNIT_NUMBER)]
Duration = Annotated[
    int, _quantity(units.parse_duration, "duration"), _schema("200ms, 4us: nanoseconds inside", _UNIT_NUMBER)
]
Percent = Annotated[int, _quantity(units.parse_percent, "percentage"), _schema("20%", r"^\d{1,3}\s*%$")]
LinkCount = Annotated[
    tuple[int, int], _quantity(units.parse_link_count, "number of links"), _schema("2 x 400G", r"^\d+\s*[x×]")
]
FrameSize = Annotated[
    int,
    _quantity(_plain_bytes, "frame size"),
    WithJsonSchema({"type": ["integer", "string"], "description": "bytes: an MTU is always in bytes"}),
]


def small_number(low: int, high: int, what: str) -> BeforeValidator:
    """Return a check that a value is a whole number in a range that the field is as wide as."""

    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise refused(f"{value!r} is not a {what}; expected a whole number from {low} to {high}")
        return value

    return BeforeValidator(read)


Priority = Annotated[
    int, small_number(0, 7, "priority"), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 7})
]
Dscp = Annotated[
    int, small_number(0, 63, "DSCP"), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 63})
]
Byte = Annotated[
    int, small_number(0, 255, "ToS byte"), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 255})
]
Count = Annotated[int, small_number(1, 1_000_000, "count"), WithJsonSchema({"type": "integer", "minimum": 1})]


def mapping_or_off(what: str) -> BeforeValidator:
    """Return a reader of ``off`` (None inside) or a mapping."""

    def read(value: object) -> object:
        if value == "off" or value is False:
            return None
        if not isinstance(value, dict):
            raise refused(f"{what} is off or a mapping, found {value!r}")
        return value

    return BeforeValidator(read)


def listed(value: object) -> object:
    """Return a YAML list as the tuple the models hold; what is no list is left for them to refuse."""
    return tuple(value) if isinstance(value, list) else value
