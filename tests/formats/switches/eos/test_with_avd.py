"""pyavd validates and renders configurations of EOS: what it renders is read as what it was rendered from."""

from __future__ import annotations

from functools import cache
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyavd  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st
from pyavd.constants import (  # type: ignore[import-untyped]
    EOS_CLI_CONFIG_GEN_JINJA2_CONFIG_TEMPLATE,
    EOS_CLI_CONFIG_GEN_JINJA2_PRECOMPILED_TEMPLATE_PATH,
)
from pyavd.templater import Templar  # type: ignore[import-untyped]

from lossless.api import load_fabrics
from lossless.formats.device_files.environment import render_template
from lossless.formats.inputs.switches import read_switch
from lossless.formats.switches.eos.read.grammar import EcnThresholds, EosConfig, Key, Setting, Settings
from lossless.formats.switches.eos.read.structured import config_of_data, read_running_config
from lossless.formats.switches.registry import dialect
from lossless.ground.basics.findings import Origin
from lossless.ground.documents import load, load_text
from tests.formats.switches.eos.structured_config import structured_config
from tests.paths import ROOT
from tests.strategies import fabric_of, intents

pytestmark = pytest.mark.tools("avd")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Port, Switch


@cache
def templates() -> Any:
    """Return what :func:`pyavd.get_device_config` makes again for each device.

    jinja2 calls modules of templates by the address of their loader, and one that is freed takes along those of the
    next that is given its address.
    """
    return Templar(precompiled_templates_path=EOS_CLI_CONFIG_GEN_JINJA2_PRECOMPILED_TEMPLATE_PATH)


def rendered(data: dict[str, Any]) -> str:
    """Return the text that pyavd makes of a structured configuration."""
    result = pyavd.validate_structured_config(data)
    assert [(v.path, v.message) for v in result.validation_result.violations] == []
    text = templates().render_template_from_file(
        template_file=EOS_CLI_CONFIG_GEN_JINJA2_CONFIG_TEMPLATE, template_vars=result.validated_data
    )
    return str(text)


def plain(config: EosConfig) -> dict[str, dict[Key, Any]]:
    """Return the settings of a switch, of its profiles and of its interfaces, without their places."""
    blocks = {"switch": config.switch, **config.profiles, **config.interfaces}
    return {name: {key: setting.value for key, setting in block.items()} for name, block in blocks.items()}


def structured_files(reference: Path) -> Iterator[Path]:
    return (reference / "captures" / "dialects" / "eos").glob("*.yml")


def test_structured_configurations_say_what_their_rendered_text_says(reference: Path) -> None:
    for file in structured_files(reference):
        if "headroom_pool_limit" in file.read_text():
            continue  # newer than the schema of pyavd 6.4.0
        document = load(file)
        assert plain(read_running_config(rendered(document.data), "leaf1")[1]) == plain(
            config_of_data(document)
        ), file


@pytest.mark.parametrize("forced", [True, False])
def test_a_forced_recovery_is_read_from_both_forms(forced: bool) -> None:
    timer = {"timeout": "1", "polling_interval": "0.1", "recovery_time": "2", "forced": forced}
    data = {
        "qos_profiles": [
            {"name": "ROCE", "priority_flow_control": {"watchdog": {"enabled": True, "timer": timer}}}
        ]
    }
    configs = [
        read_running_config(rendered(data), "leaf1")[1],
        config_of_data(load_text(dumps(data), "leaf1.json")),
    ]
    assert [config.profiles["ROCE"]["watchdog", "forced"].value for config in configs] == [forced, forced]


def test_a_port_whose_recovery_is_forced_is_written_so_in_both_forms() -> None:
    """No intent asks for it; a switch that was read has it, and keeps it until a later step of a plan."""
    intent = load(ROOT / "examples" / "roce-256-mixed" / "fabric.yaml")
    switch = next(s for s in load_fabrics([intent]).fabrics[0].switches if s.name == "spine1")
    mixed = (_forced(port) if number % 3 else port for number, port in enumerate(switch.ports))
    running = switch._replace(ports=tuple(mixed))
    text, avd = (render_template(file.template, file.content) for file in dialect("eos").files(running))
    for written in (text, rendered(load_text(avd, "avd.yml", lists=True).data)):
        document = read_running_config(written, "spine1")[0]
        document.dialect = "eos"
        assert recoveries(read_switch(document).read.switch) == recoveries(running)
    assert {"quiet", "fixed"} <= set(recoveries(running).values())


def recoveries(switch: Switch) -> dict[str, str]:
    """Return the rule by which each port with a watchdog restores a queue."""
    return {p.name: p.qos.watchdog.recovery for p in switch.ports if p.qos is not None and p.qos.watchdog}


def _forced(port: Port) -> Port:
    if port.qos is None or port.qos.watchdog is None:
        return port
    return port._replace(qos=port.qos._replace(watchdog=port.qos.watchdog._replace(recovery="fixed")))


# --- any settings ---

_ANYWHERE = Origin("leaf1")
_CURVES = st.builds(
    EcnThresholds, st.integers(1, 10**6), st.integers(10**6, 10**8), st.one_of(st.none(), st.integers(1, 100))
)
_MS = st.integers(2, 6000).map(lambda n: n * 10)


def _settings(values: dict[Key, Any]) -> Settings:
    return {key: Setting(value, _ANYWHERE) for key, value in values.items()}


@st.composite
def blocks(draw: st.DrawFn) -> dict[Key, Any]:
    """Return what a profile may say."""
    said: dict[Key, Any] = {}
    if draw(st.booleans()):
        said["pfc",] = draw(st.booleans())
        said |= {("no-drop", priority): draw(st.booleans()) for priority in draw(st.sets(st.integers(0, 7)))}
    for number in draw(st.sets(st.integers(0, 7))):
        said["queue", number] = True
        strict = draw(st.sampled_from([None, True, False]))
        if strict is not None:
            said["queue", number, "strict"] = strict
        if draw(st.booleans()):
            said["queue", number, "percent"] = draw(st.integers(1, 100))
        if draw(st.booleans()):
            said["queue", number, "ecn"] = draw(_CURVES)
    return said


@st.composite
def configs(draw: st.DrawFn) -> EosConfig:
    """Return what a switch may say."""
    config = EosConfig("leaf1", "leaf1")
    said: dict[Key, Any] = {("hostname",): "leaf1"}
    said |= {
        ("dscp", dscp): draw(st.integers(0, 7)) for dscp in draw(st.sets(st.integers(0, 63), max_size=9))
    }
    said |= {("cos", cos): draw(st.integers(0, 7)) for cos in draw(st.sets(st.integers(0, 7)))}
    said |= {("tx-queue", tc): draw(st.integers(0, 7)) for tc in draw(st.sets(st.integers(0, 7)))}
    if draw(st.booleans()):
        said |= {("watchdog", name): draw(_MS) for name in ("timeout", "recovery-time", "polling-interval")}
        said["watchdog", "action"] = draw(st.sampled_from(["drop", "errdisable", "notify-only"]))
    config.switch = _settings(said)
    config.profiles = {"ROCE": _settings(draw(blocks()))}
    ports = draw(st.sets(st.integers(1, 64), max_size=4))
    for number in ports:
        port: dict[Key, Any] = {("routed",): True, ("mtu",): draw(st.integers(1500, 9214))}
        port["trust",] = draw(st.sampled_from(["dscp", "cos", "none"]))
        port["speed",] = draw(st.sampled_from([100, 200, 400])) * 10**9
        if draw(st.booleans()):
            port["profile",] = "ROCE"
        config.interfaces[f"Ethernet{number}/1"] = _settings(port)
    return config


@given(configs())
def test_settings_are_read_back_from_what_pyavd_renders_of_them(config: EosConfig) -> None:
    data = structured_config(config)
    assert plain(read_running_config(rendered(data), "leaf1")[1]) == plain(config)


@given(intents(renderable=True))
def test_what_is_written_for_avd_is_rendered_as_our_own_text(intent: dict[str, Any]) -> None:
    for switch in fabric_of(intent).switches:
        text, avd = (render_template(file.template, file.content) for file in dialect("eos").files(switch))
        theirs = plain(read_running_config(rendered(load_text(avd, "avd.yml", lists=True).data), "leaf1")[1])
        ours = plain(read_running_config(text, "leaf1")[1])
        del ours["switch"]["hostname",]  # that of a comment
        assert theirs == ours


@pytest.mark.parametrize(
    "data",
    [
        {
            "ethernet_interfaces": [
                {"name": "Ethernet1", "priority_flow_control": {"priorities": [{"priority": 9}]}}
            ]
        },
        {"priority_flow_control": {"watchdog": {"action": "alert"}}},
    ],
)
def test_the_validator_refuses_what_eos_does_not_have(data: dict[str, Any]) -> None:
    """The oracle can say no."""
    assert pyavd.validate_structured_config(data).validation_result.violations
