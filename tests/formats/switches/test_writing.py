"""What is written for a switch is read as it was declared, on every system that can express it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.checks.plan.kinds_of_switches import complete_rows, named_rows_of
from lossless.formats.device_files.environment import render_template
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.formats.switches.contract import differences, meaning
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.documents import load_text
from lossless.model.hardware.load import switch_for_hwsku
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from lossless.formats.switches.contract import ConfigurationFile
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Switch

Data = dict[str, Any]
PORTS = {"eos": "Ethernet{}/1", "nvue": "swp{}", "nxos": "Ethernet1/{}"}
MATTERING = {
    "eos": re.compile(
        r"priority-flow-control (?:on|priority|pause watchdog (?:default|action))|random-detect|bandwidth percent"
        r"|priority strict|service-profile|^qos profile |^interface "
    ),
    "nvue": re.compile(
        r"robustness (?!3$)|polling-interval (?!100$)|min-threshold (?!150000$)|max-threshold (?!1500000$)"
        r"|probability (?!100$)|cable-length (?!100?$)|bw-percent (?!50$|1[23]$)|qos pfc lossless-.* switch-priority"
    ),
    "nxos": re.compile(
        r"pause|remaining percent (?!0$)|priority level|random-detect|watch-dog|service-policy|mode on"
        r"|set qos-group [1-7]|match dscp|^policy-map type (?:qos|queuing)"
    ),
}
"""Lines without which something else holds: they do not say what a system does by itself."""
pytestmark = pytest.mark.laws


def renamed(switch: Switch, name: str) -> Switch:
    """Return a switch with the port names of a system."""
    ports = tuple(
        port._replace(name=PORTS[name].format(number)) for number, port in enumerate(switch.ports, 1)
    )
    return switch._replace(ports=ports, format=name)


def text_of(file: ConfigurationFile) -> str:
    return render_template(file.template, file.content)


def read(name: str, text: str, file: str) -> ReadSwitch:
    system = dialect(name)
    if file.endswith((".yml", ".yaml")):
        return system.read(load_text(text, file, lists=True), ())
    return system.read(system.document(text, file), ())


def maps_of(switch: Switch) -> set[Any]:
    return {
        (
            port.qos.dscp_to_tc and port.qos.dscp_to_tc.targets,
            port.qos.tc_to_queue and port.qos.tc_to_queue.targets,
        )
        for port in switch.ports
        if port.qos is not None
    }


def one_map(switch: Switch) -> bool:
    """Return whether all ports have the maps of the switch, the only ones that every system has."""
    return len(maps_of(switch)) == 1


def whole_polls(switch: Switch) -> Switch:
    """Return a switch whose watchdogs detect after a number of polls, and poll twice in each time at least."""
    poll = switch.qos.poll
    ports = []
    for port in switch.ports:
        dog = port.qos.watchdog if port.qos is not None else None
        if port.qos is None or dog is None or not poll.poll_ms:
            ports.append(port)
            continue
        detection_ms = poll.poll_ms * max(2, dog.triggers_after_ms // poll.poll_ms)
        restoration_ms = max(dog.restoration_ms or 0, detection_ms)
        action = dog.action if dog.action == "alert" else "drop"  # EOS cannot forward
        own = dog._replace(detection_ms=detection_ms, restoration_ms=restoration_ms, action=action)
        ports.append(port._replace(qos=port.qos._replace(watchdog=own)))
    return switch._replace(ports=tuple(ports))


def switches(data: Data) -> list[Switch]:
    return [whole_polls(switch) for switch in fabric_of(data).switches if one_map(switch)]


@pytest.mark.parametrize("name", TITLES)
@given(data=intents(renderable=True))
def test_what_is_read_back_is_what_was_declared(name: str, data: Data) -> None:
    for declared in (renamed(switch, name) for switch in switches(data)):
        for file in (file for file in dialect(name).files(declared) if file.whole):
            back = read(name, text_of(file), file.name)
            assert (back.unread, back.undefined, back.unbound) == ((), (), ())
            if not back.refused:
                assert list(differences(declared, back.switch, dialect(name).losses)) == []


@given(data=intents(renderable=True))
def test_an_intent_makes_equal_fabrics_on_all_systems(data: Data) -> None:
    for switch in switches(data):
        losses = {part: why for name in TITLES for part, why in dialect(name).losses.items()}
        sonic = on_sonic(switch)
        # CONFIG_DB has rows in the order of names, an intent has the ports of hosts first.
        order = {port.name: at for at, port in enumerate(switch.ports)}
        sonic = sonic._replace(ports=tuple(sorted(sonic.ports, key=lambda port: order[port.name])))
        said = [[_stated(port) for port in meaning(sonic, losses)]]
        for name in TITLES:
            declared = renamed(switch, name)
            file = dialect(name).files(declared)[0]
            back = read(name, text_of(file), file.name)
            assume(not back.refused)
            names = {port.name for port in declared.ports}
            # NVUE has one more, which stands for ports without lines.
            own = back.switch._replace(ports=tuple(p for p in back.switch.ports if p.name in names))
            said.append([_stated(port) for port in meaning(own, losses)])
        for other in said:
            assert other == said[0]


def on_sonic(switch: Switch) -> Switch:
    """Return a switch as its CONFIG_DB is read, with rows for its ports."""
    tables = Tables("config_db.json", named_rows_of(switch, complete_rows(switch)))
    (back,) = read_fabric([tables], switch_for_hwsku).switches
    return back


def _stated(port: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Return the parts of a port whose queues carry something; what serves the others is the system's own affair."""
    carrying = {f"queue {number}" for number in port["dscp", ""]}
    return {
        key: value for key, value in port.items() if key[0] not in ("scheduler", "ecn") or key[1] in carrying
    }


@pytest.mark.parametrize("name", TITLES)
@given(data=intents(renderable=True), choice=st.data())
def test_dropping_any_written_line_is_seen(name: str, data: Data, choice: st.DataObject) -> None:
    own = switches(data)
    assume(own)
    declared = renamed(choice.draw(st.sampled_from(own)), name)
    file = dialect(name).files(declared)[0]
    lines = text_of(file).splitlines()
    numbers = [n for n, line in enumerate(lines) if MATTERING[name].search(line)]
    assume(numbers and not read(name, "\n".join(lines), file.name).refused)
    number = choice.draw(st.sampled_from(numbers))
    back = read(name, "\n".join(line for n, line in enumerate(lines) if n != number), file.name)
    seen = back.unread or back.undefined or back.unbound or back.refused
    assert seen or list(differences(declared, back.switch, dialect(name).losses)), lines[number]
