"""What is said behind an unknown name: every name that would have been right, the nearest first."""

from __future__ import annotations

import pytest

from lossless.ground.basics.units import key_suggestion, suggestion

KEYS = ("action", "detection", "restoration", "poll")
PORTS = [f"Ethernet{4 * number}" for number in range(100)]


@pytest.mark.parametrize(
    ("name", "names", "said"),
    [
        ("pol", KEYS, "; did you mean poll? (others: action, detection, restoration)"),
        ("detecton", KEYS, "; did you mean detection? (others: action, restoration, poll)"),
        ("POLL", KEYS, "; did you mean poll? (others: action, detection, restoration)"),
        ("pol", ("poll",), "; did you mean poll?"),
        ("x", ("poll",), "; there is poll"),
        ("x", KEYS, "; there are action, detection, restoration, poll"),
        ("poll", (), "; there are none"),
        ("leaf", ("leaf1", "leaf1", "leaf2"), "; did you mean leaf2? (others: leaf1)"),
    ],
)
def test_every_name_is_listed_the_nearest_first(name: str, names: tuple[str, ...], said: str) -> None:
    assert suggestion(name, names) == said


def test_of_a_long_list_the_nearest_are_named_with_what_shows_the_rest() -> None:
    assert suggestion("Ethernet41", PORTS, see="lossless topology") == (
        "; did you mean Ethernet4? (others: Ethernet12, Ethernet16, Ethernet24, Ethernet40, Ethernet44 and 94 more, "
        "see lossless topology)"
    )
    assert "more" not in suggestion("Ethernet41", PORTS, most=None, see="lossless topology")


def test_a_name_that_is_known_to_be_meant_comes_first() -> None:
    said = suggestion("period", KEYS, meant="poll")
    assert said == "; did you mean poll? (others: detection, restoration, action)"


@pytest.mark.parametrize(
    ("key", "stated", "said"),
    [
        ("pol", (), "; did you mean poll? (others: action, detection, restoration)"),
        ("pol", ("poll", "action"), "; there are detection, restoration"),
        (
            "pol",
            KEYS,
            "; every key that is known here is stated already: action, detection, restoration, poll",
        ),
    ],
)
def test_a_key_that_is_stated_is_not_suggested(key: str, stated: tuple[str, ...], said: str) -> None:
    assert key_suggestion(key, KEYS, stated) == said
    assert key_suggestion(key, (), stated) == ""
