"""SONiC settings: the release, and choices that may differ from one role to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import Model, refused, shown
from lossless.ground.basics.wording import suggestion
from lossless.model.fabric.model import SWITCH_ROLES

RELEASES = ("202305", "202311", "202405", "202411", "202505", "202511", "202605", "master")
"""The supported releases: those of ``profiles/sonic/schema.json``."""
WITH_TRIMMING = RELEASES[RELEASES.index("202505") :]
"""The releases with packet trimming: the table SWITCH_TRIMMING of ``profiles/sonic/releases.toml``."""
RELEASE = "release that is known"


def by_role(what: str, words: Iterable[str], of_role: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the validator and the schema of a choice that is one word for all roles, or a mapping of roles to words.

    The validated value is always a mapping, complete where one word was given. ``of_role`` documents the key of a role.
    """
    known = tuple(words)
    word = _words(known)
    meaning = f"{of_role} of switches of this role. Left out: what holds for all."
    roles = {role: {**word, "documentation": meaning} for role in SWITCH_ROLES}
    each = {"type": "object", "properties": roles, "additionalProperties": False}
    return BeforeValidator(_reader(what, known)), WithJsonSchema({"anyOf": [word, each]})


def _words(known: tuple[str, ...]) -> dict[str, Any]:
    # Releases are numbers to YAML.
    return {"enum": [*known, *(int(word) for word in known if word.isdecimal())]}


def _reader(what: str, known: tuple[str, ...]) -> Callable[[object], object]:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            return dict.fromkeys(SWITCH_ROLES, _word(value, what, known))
        if not value:
            raise refused(f"an empty mapping; write {_listed(known, 'or')}, or one of them for each role")
        for role in value:
            if role not in SWITCH_ROLES:
                raise refused(
                    f"{shown(role)} is no role of a switch; there are {_listed(SWITCH_ROLES)}",
                    role,
                    at_key=True,
                )
        return {role: _word(word, what, known, role) for role, word in value.items()}

    return read


def _word(value: object, what: str, known: tuple[str, ...], *within: str) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if text in known:
        return str(text)
    hint = suggestion(text if isinstance(text, str) else "", known, most=None)
    raise refused(f"{shown(value)} is no {what}{hint}", *within)


def _listed(words: tuple[str, ...], joined: str = "and") -> str:
    return f"{', '.join(words[:-1])} {joined} {words[-1]}"


def _devices(value: object) -> object:
    if not isinstance(value, dict) or not value:
        raise refused(f"expected a mapping of devices to releases, found {shown(value)}")
    return {str(name): _word(word, RELEASE, RELEASES, name) for name, word in value.items()}


class Sonic(Model):
    """The SONiC release of the switches; rendered files keep to the tables and fields of that release.

    ``release`` is one for all, or one for each role; ``devices`` names the switches that run another. Left out,
    it is that of a switch's base, and 202411 where no base declares one.
    """

    release: Annotated[dict[str, str], *by_role(RELEASE, RELEASES, "The release")] = Field(
        default_factory=dict
    )
    """Release of SONiC, one for all or one for each role. Left out: that of the base, else 202411.
    Example: `"202405"`
    Example: `{leaf: "202405", spine: "202411"}`
    """
    devices: Annotated[
        dict[str, str],
        BeforeValidator(_devices),
        WithJsonSchema({"type": "object", "additionalProperties": _words(RELEASES)}),
    ] = Field(default_factory=dict)
    """Switches by name that run another release. Left out: none does. Example: `{leaf1: "202311"}`"""

    def release_of(self, name: str, role: str) -> str | None:
        """Return the release of a switch, None where it is not declared."""
        return self.devices.get(name) or self.release.get(role)
