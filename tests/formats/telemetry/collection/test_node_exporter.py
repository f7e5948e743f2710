"""Flags of node_exporter: every counter that is asked for, no other, and what systemd and the program make of them."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from lossless.formats.telemetry.collection import (
    PATH,
    flags,
    node_exporter_files,
    subnet_node_exporter_files,
)
from lossless.formats.telemetry.metrics import ethtool_metric
from tests.formats.telemetry.grafana.test_boards import expressions, metrics
from tests.formats.telemetry.subjects import example, subnet
from tests.formats.telemetry.test_foreign_metrics import PROGRAM
from tests.real_tools import program

if TYPE_CHECKING:
    from pathlib import Path


def arguments(drop_in: str) -> list[str]:
    """Return what systemd starts: ``%%`` and ``$$`` stand for one, ``$ARGS`` is empty by default."""
    command = drop_in.rpartition("ExecStart=")[2].replace("\\\n", " ").replace("$ARGS", "")
    return [word.replace("$$", "$").replace("%%", "%") for word in shlex.split(command)]


def included(words: list[str]) -> re.Pattern[str]:
    """Return the counters that are let through."""
    (flag,) = (word for word in words if word.startswith("--collector.ethtool.metrics-include="))
    return re.compile(flag.partition("=")[2])


@pytest.mark.parametrize("name", ["roce-256", "thor-64"])
def test_every_counter_that_a_panel_asks_for_is_let_through_and_no_ring(name: str) -> None:
    pattern = included(arguments(node_exporter_files(example(name))[PATH]))
    let = list(pattern.pattern.strip("^()$").split("|"))
    own = {f"node_{ethtool_metric(counter)}" for counter in let}
    asked = {metric for expression in expressions() for metric in metrics(expression) if "ethtool" in metric}
    driver = "prio3" if name == "roce-256" else "pri3"
    assert {metric for metric in asked if f"_{driver}_" in f"{metric}_"} <= own
    assert not pattern.search("rx0_packets")
    assert not pattern.search("rx_prio3_pause_transition")


def test_what_systemd_starts_are_the_flags_as_the_program_gets_them() -> None:
    words = arguments(node_exporter_files(example("roce-256"))[PATH])
    assert words == [f"/usr/bin/{PROGRAM}", *flags(example("roce-256"))]


def test_interfaces_are_named_where_the_intent_names_them() -> None:
    fabric = example("roce-256")
    assert not any("device-include" in flag for flag in flags(fabric))
    named = tuple(host._replace(qos=host.qos._replace(interfaces=("eth1", "eth2"))) for host in fabric.hosts)
    assert "--collector.ethtool.device-include=^(eth1|eth2)$" in flags(fabric._replace(hosts=named))


def test_infiniband_needs_no_counters_of_ethernet() -> None:
    assert arguments(subnet_node_exporter_files(subnet())[PATH])[1:] == ["--collector.infiniband"]


@pytest.mark.tools("prometheus")
def test_the_program_takes_them() -> None:
    words = [program(PROGRAM), *flags(example("roce-256")), "--version"]
    assert subprocess.run(words, capture_output=True, check=False, timeout=60).returncode == 0
    wrong = [words[0], "--collector.ethtool.metric-include=x", "--version"]
    assert subprocess.run(wrong, capture_output=True, check=False, timeout=60).returncode != 0


@pytest.mark.tools("systemd")
def test_systemd_has_nothing_to_say_about_the_drop_in(tmp_path: Path) -> None:
    fabric = example("roce-256")
    vlan = tuple(host._replace(qos=host.qos._replace(interfaces=("eth1.100",))) for host in fabric.hosts)
    drop_in = node_exporter_files(fabric._replace(hosts=vlan))[PATH]
    assert arguments(drop_in)[1:] == [*flags(fabric._replace(hosts=vlan))]
    text = drop_in.replace(f"/usr/bin/{PROGRAM}", "/bin/true")
    unit = tmp_path / "lossless-test.service"
    unit.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert "lossless-test" not in done.stderr
