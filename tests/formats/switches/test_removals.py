"""A session makes one configuration out of another: what it leaves, reads as what was wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.formats.switches.contract import differences
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
    own = [_switches_of(first)]
    own.append(own[0] if second is first else _switches_of(second))
    assume(all(own))
    return choice.draw(st.sampled_from(own[0])), choice.draw(st.sampled_from(own[1]))


def _switches_of(data: Data) -> list[Switch]:
    return [whole_polls(switch) for switch in fabric_of(data).switches if one_map(switch)]


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


FOREIGN = {
    "eos": (
        "! device: leaf1 (x, EOS-y)\nqos profile ROCE\n   qos trust dscp\n   priority-flow-control on\n"
        "   priority-flow-control priority 4 no-drop\n   !\n   tx-queue 4\n      bandwidth percent 30\n"
        "interface Ethernet1/1\n   mtu 9214\n   priority-flow-control priority 5 no-drop\n   service-profile ROCE\n"
        "interface Ethernet60/1\n   service-profile ROCE\n",
        {"   no priority-flow-control priority 5 no-drop"},
        {"no qos profile ROCE"},
    ),
    "nvue": (
        "nv set system hostname leaf1\nnv set qos pfc mine switch-priority 3-4\n"
        "nv set qos remark default-global rewrite l3\n"
        "nv set interface swp1-2 qos pfc profile mine\n",
        {"nv unset qos pfc mine"},
        {"nv unset qos remark"},
    ),
    "nxos": (
        "hostname leaf1\nclass-map type qos match-any RDMA\n  match dscp 26\npolicy-map type qos MARKS\n  class RDMA\n"
        "    set qos-group 3\ninterface Ethernet1/1\n  priority-flow-control mode on\n"
        "  service-policy type qos input MARKS\n",
        {"no policy-map type qos MARKS", "no class-map type qos match-any RDMA"},
        {"no hostname leaf1"},
    ),
}
"""A configuration with names of its own, the commands that it takes, and commands that would take away what stays."""


@pytest.mark.parametrize("name", TITLES)
@given(data=intents(renderable=True), choice=st.data())
def test_names_of_others_go_where_nothing_uses_them(name: str, data: Data, choice: st.DataObject) -> None:
    system, (text, taken, kept) = dialect(name), FOREIGN[name]
    wanted = renamed(two_switches(data, data, choice)[0], name)
    assume(len(wanted.ports) > 1)
    file = system.files(wanted)[0]
    assume(not read(name, text_of(file), file.name).refused)
    commands = system.session(system.document(text, file.name), system.document(text_of(file), file.name))
    merged = after_session(name, text, commands, file.name)
    left = list(differences(wanted, read(name, merged, file.name).switch, system.losses))
    assert left == [], (left[:2], commands)
    assert taken <= {*commands}
    assert kept.isdisjoint(commands)


@pytest.mark.parametrize("name", TITLES)
@given(data=intents(renderable=True), choice=st.data())
def test_a_session_to_the_same_says_nothing(name: str, data: Data, choice: st.DataObject) -> None:
    system = dialect(name)
    switch = renamed(two_switches(data, data, choice)[0], name)
    file = system.files(switch)[0]
    document = system.document(text_of(file), file.name)
    assert system.session(document, document) == ()
