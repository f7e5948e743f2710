"""A session makes one configuration out of another: what it leaves, reads as what was wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.formats.switches.meaning import differences
from lossless.formats.switches.registry import TITLES, dialect
from tests.formats.switches.session_effects import after_session
from tests.formats.switches.test_writing import one_map, read, renamed, text_of, whole_polls
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch

pytestmark = pytest.mark.laws
Data = dict[str, Any]


def two_switches(first: Data, second: Data, choice: st.DataObject) -> tuple[Switch, Switch]:
    """Return a switch of each of two intents."""
    own = [[whole_polls(s) for s in fabric_of(data).switches if one_map(s)] for data in (first, second)]
    assume(all(own))
    return choice.draw(st.sampled_from(own[0])), choice.draw(st.sampled_from(own[1]))


@pytest.mark.parametrize("name", TITLES)
@given(first=intents(renderable=True), second=intents(renderable=True), choice=st.data())
def test_a_session_leaves_what_is_wanted(name: str, first: Data, second: Data, choice: st.DataObject) -> None:
    system = dialect(name)
    running, wanted = (renamed(switch, name) for switch in two_switches(first, second, choice))
    before, after = (system.files(switch)[0] for switch in (running, wanted))
    texts = [text_of(file) for file in (before, after)]
    assume(not any(read(name, text, before.name).refused for text in texts))
    commands = system.session(*(system.document(text, before.name) for text in texts))
    merged = after_session(name, texts[0], commands, before.name)
    left = list(differences(wanted, read(name, merged, before.name).switch, system.losses))
    assert left == [], (left[:2], commands, texts[0])


@pytest.mark.parametrize("name", TITLES)
@given(data=intents(renderable=True), choice=st.data())
def test_a_session_to_the_same_says_nothing(name: str, data: Data, choice: st.DataObject) -> None:
    system = dialect(name)
    switch = renamed(two_switches(data, data, choice)[0], name)
    file = system.files(switch)[0]
    document = system.document(text_of(file), file.name)
    assert system.session(document, document) == ()
