"""Base of the intent models, which refuses unknown keys, and types of values: quantities with units, numbers, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from lossless.ground.basics import units
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.units import nearest, one_of

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_SHOWN = 60
MAX_BUNDLE = 1024
"""Most links in one bundle: more than any switch has ports, and few enough to lay out and report."""
LEAST_MTU = 68
MOST_MTU = 65_535
"""Largest MTU in bytes: the largest length that an IP header can state (RFC 791, section 3.1)."""


def _section_title(model: type) -> str:
    """Return the title of a section in a schema: the class name of its model without the suffix Intent."""
    return model.__name__.removesuffix("Intent")


class Model(BaseModel):
    """Base of every pydantic model of an intent: frozen, strict about types, and without unknown keys.

    Modules of models that lint of an intent imports have no ``from __future__ import annotations``: the annotation of
    each field would be a text, which pydantic compiles at every start.
    """

    # Deferred: a section is validated as part of a document, and needs no validator of its own.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True, model_title_generator=_section_title
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON Schema of the model, each key with the documentation below its field (hook of pydantic)."""
        from lossless.formats.intent.key_docs import documented  # only a schema needs the words

        schema = handler(core)
        made = handler.resolve_ref_schema(schema)
        made["properties"] = documented(made.get("properties", {}), cls)
        return schema


class OnDemand:
    """Marks a section that most documents leave out: its validator is built when a document has the section.

    It annotates a model, or a model and None. Building those of all sections took 65 M of 1,165 M instructions of
    lint of an intent that has none of them.
    """

    def __get_pydantic_core_schema__(self, kind: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the validator (hook of pydantic)."""
        model, *nothing = get_args(kind) or (kind,)
        self._model: type[Model] = model
        section = core_schema.no_info_plain_validator_function(model.model_validate)
        return core_schema.nullable_schema(section) if nothing else section

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of the section (hook of pydantic)."""
        self._model.model_rebuild()
        whole = self._model.__pydantic_core_schema__
        # Within another one: the handler leaves out the hooks of the schema that it is given.
        is_optional = core["type"] == "nullable"
        return handler(
            core_schema.nullable_schema(whole) if is_optional else core_schema.definitions_schema(whole, [])
        )


class LazyJsonSchema:
    """The JSON Schema of an annotated value, built only when a schema is requested; most runs never request one."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        """Store the function that builds the schema."""
        self._make = make

    def __get_pydantic_json_schema__(self, _core: object, _handler: object) -> dict[str, Any]:
        """Return the JSON Schema that the stored function builds (hook of pydantic)."""
        return self._make()


def refused(message: str, *within: str | int, at_key: bool = False) -> PydanticCustomError:
    """Return the pydantic error of a refused value of an intent, with a message that is shown unchanged.

    ``within`` is the path from the value to the part at fault; ``at_key`` locates the error at its key instead of its
    value, and the message then names the key.
    """
    context = {"message": message, "within": within, "at_key": at_key}
    return PydanticCustomError("lossless", "{message}", context)


def shown(value: object) -> str:
    """Return a value of an intent as messages quote it.

    A list or mapping is shown by its kind, null as ``nothing``, and any other value by its first 60 characters.
    """
    if isinstance(value, dict | list | tuple):
        return ("a " if value else "an empty ") + ("mapping" if isinstance(value, dict) else "list")
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def not_one_of(value: object, choices: Sequence[str]) -> str:
    """Return the message that a value is none of the accepted words, with the nearest of them if one is close."""
    close = nearest(str(value), choices)
    return f"{shown(value)} is not one of {one_of(choices)}" + (f"; did you mean {close}?" if close else "")


def _reader(parse: Callable[[str], Any], what: str) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refused(f"expected a {what}, found {shown(value)}")
        # int() refuses very long numbers with words of its own.
        if len(str(value)) > units.LONGEST_QUANTITY:
            raise refused(f"{shown(value)} is too long for a {what}")
        try:
            return parse(str(value))
        except QuantityError as error:
            raise refused(str(error)) from None

    return read


class AboveZero:
    """Refuses the quantity zero with a message, in the schema of an annotated quantity too."""

    def __init__(self, says: str) -> None:
        """Store the message."""
        self._says = says

    def __get_pydantic_core_schema__(self, kind: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the validator (hook of pydantic)."""
        return core_schema.no_info_after_validator_function(self._checked, handler(kind))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema (hook of pydantic)."""
        made = handler(core)
        return {**made, "pattern": _SOME + made["pattern"]}

    def _checked(self, value: int) -> int:
        if value == 0:
            raise refused(self._says)
        return value


def _quantity(parse: Callable[[str], Any], what: str) -> BeforeValidator:
    return BeforeValidator(_reader(parse, what))


def rate(value: object) -> int:
    """Return a rate that is written with its unit, in bits per second.

    Raises:
        PydanticCustomError: the value is not a rate.
    """
    return int(_reader(units.parse_rate, "rate")(value))


def whole_milliseconds(value: object, who: str) -> int:
    """Return a duration that is written with its unit, in milliseconds.

    Raises:
        PydanticCustomError: the value is not a duration, or finer than ``who`` (``switches``, ``NICs``) can count.
    """
    duration_ms, rest = divmod(_reader(units.parse_duration, "duration")(value), 10**6)
    if rest:
        raise refused(f"{who} count in whole milliseconds")
    return int(duration_ms)


def _links(text: str) -> tuple[int, int]:
    count, rate_bps = units.parse_link_count(text)
    if count > MAX_BUNDLE:
        raise QuantityError(f"{count:,} links in one bundle; the most is {MAX_BUNDLE:,}")
    if rate_bps == 0:
        raise QuantityError(f"{text!r} is no link: its rate is 0")
    return count, rate_bps


def _cable(text: str) -> int:
    length_m = units.parse_length(text)
    if length_m == 0:
        raise QuantityError(f"{text!r} is no cable; the shortest counts as 1m")
    return length_m


def quantity_schema(description: str, pattern: str) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "string",
            "description": description,
            "pattern": pattern,
            "maxLength": units.LONGEST_QUANTITY,
        }
    )


def _frame_size(text: str) -> int:
    bare = units.unsigned_number(text)
    size_bytes = units.parse_size(text) if bare is None else bare
    if not LEAST_MTU <= size_bytes <= MOST_MTU:
        raise QuantityError(f"{text!r} is no MTU; IP packets have {LEAST_MTU} to {MOST_MTU:,} bytes")
    return size_bytes


BLANKS = rf"[{units.BLANKS}]*"
_SOME = "(?=.*[1-9])"
"""Begins the pattern of a quantity that is not zero."""


def whole_pattern(notation: str) -> str:
    """Return the JSON Schema pattern of a whole value in a notation, with optional blanks around it.

    ``(?!\\n)`` refuses a final line feed, before which Python's ``$`` matches too.
    """
    return rf"^{BLANKS}{notation}{BLANKS}$(?!\n)"


def _notation(words: Iterable[str]) -> str:
    """Return the pattern of a number with one of the given units, as units.py parses it."""
    return rf"{units.NUMBER}{BLANKS}(?:{'|'.join(words)})"


_SIZE = _notation(units.SIZE_BYTES)
_RATE = rf"{_notation(units.RATE_BPS)}(?:{BLANKS}(?:{'|'.join(units.PER_SECOND)}))?"
RATE_PATTERN = whole_pattern(_RATE)
DURATION_PATTERN = whole_pattern(_notation(units.DURATION_NS))
BUNDLE_PATTERN = rf"0*(?:[1-9][0-9]{{0,2}}|10[01][0-9]|102[0-4]){BLANKS}[x×]"
"""The pattern of the number of links in a bundle, 1 to MAX_BUNDLE, and the times sign after it."""
Size = Annotated[
    int, _quantity(units.parse_size, "size"), quantity_schema("bytes: 800 KiB, 150 kB", whole_pattern(_SIZE))
]
Rate = Annotated[
    int, _quantity(units.parse_rate, "rate"), quantity_schema("bits per second: 400G", RATE_PATTERN)
]
Length = Annotated[
    int,
    _quantity(_cable, "length"),
    quantity_schema("metres: 30m", _SOME + whole_pattern(_notation(units.LENGTH_MM))),
]
Duration = Annotated[
    int,
    _quantity(units.parse_duration, "duration"),
    quantity_schema("200ms, 4us: nanoseconds inside", DURATION_PATTERN),
]
Percent = Annotated[
    int,
    _quantity(units.parse_percent, "percentage"),
    quantity_schema("20%", whole_pattern(rf"(?:100|0?[0-9]{{1,2}}){BLANKS}%")),
]
LinkCount = Annotated[
    tuple[int, int],
    _quantity(_links, "number of links"),
    quantity_schema("2 x 400G", whole_pattern(rf"{BUNDLE_PATTERN}{BLANKS}{_SOME}{_RATE}")),
]
FrameSize = Annotated[
    int,
    _quantity(_frame_size, "frame size"),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "pattern": rf"^(?:{BLANKS}{_SIZE}{BLANKS}|[0-9]+)$(?!\n)",
            "minimum": LEAST_MTU,
            "maximum": MOST_MTU,
            "description": "bytes: an MTU is always in bytes",
        }
    ),
]


def small_number(low: int, high: int, what: str) -> BeforeValidator:
    """Return a validator that accepts a whole number from ``low`` to ``high``; ``what`` names it, as in ``a DSCP``."""

    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise refused(f"{shown(value)} is not {what}; expected a whole number from {low} to {high}")
        return value

    return BeforeValidator(read)


def whole_number(low: int, high: int, what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the validator and the schema of a whole number from ``low`` to ``high``."""
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return small_number(low, high, what), WithJsonSchema(schema)


Priority = Annotated[int, *whole_number(0, 7, "a priority")]
Dscp = Annotated[int, *whole_number(0, 63, "a DSCP")]
Byte = Annotated[int, *whole_number(0, 255, "a ToS byte")]
Count = Annotated[
    int, small_number(1, 1_000_000, "a count"), WithJsonSchema({"type": "integer", "minimum": 1})
]


def _on_or_off(value: object) -> object:
    if isinstance(value, bool) or value not in ("on", "off"):
        return value
    return value == "on"


OnOff = Annotated[
    bool,
    BeforeValidator(_on_or_off),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}]}),
]
"""A boolean that may also be written as on or off, which YAML 1.2 reads as text."""


def off_or_mapping(value: object) -> object:
    """Return None for ``off`` (or false, as YAML 1.1 reads it), and a mapping unchanged.

    Raises:
        PydanticCustomError: the value is neither, or an empty mapping.
    """
    if value == "off" or value is False:
        return None
    if not isinstance(value, dict) or not value:
        raise refused(f"expected off or a mapping, found {shown(value)}")
    return value


def identifier(value: str, what: str, longest: int) -> str:
    """Return a name that is safe in file paths and shell words.

    Raises:
        PydanticCustomError: the name is empty or too long, does not begin with a letter or digit, or has other
            characters than letters, digits, ``.``, ``_`` and ``-``.
    """
    if re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{longest - 1}}}", value) is None:
        wanted = f"at most {longest} letters, digits, '.', '_' and '-', beginning with a letter or digit"
        raise refused(f"{shown(value)} is not {what}; expected {wanted}")
    return value


PORT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}(/[0-9]{1,4}){0,3}"
"""The pattern of port names on all systems: ``Ethernet8``, ``swp1s0``, ``Ethernet1/1``."""


def port_name(value: str) -> str:
    """Return a port name unchanged.

    Raises:
        PydanticCustomError: the text is not a port name.
    """
    if re.fullmatch(PORT_NAME, value) is None:
        raise refused(
            f"{shown(value)} is not the name of a port; expected one like Ethernet8, swp1s0 or Ethernet1/1"
        )
    return value


def listed(value: object) -> object:
    """Return a YAML list as a tuple, the type of the models, and any other value unchanged, for the model to refuse."""
    return tuple(value) if isinstance(value, list) else value
