"""Rules of several fabrics: promtool takes them, each alert fires where it should, and thresholds are the fabric's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from lossless.formats.telemetry.collection import gnmic_files
from lossless.formats.telemetry.grafana.fabric_board import fabric_board
from lossless.formats.telemetry.metrics import BY_NAME, FOREIGN
from lossless.formats.telemetry.prometheus.files import fabric_files
from lossless.formats.telemetry.prometheus.inventory import inventory, times
from lossless.formats.telemetry.prometheus.recordings import EXPORTER_PORT
from tests.formats.telemetry.grafana.test_boards import panels
from tests.formats.telemetry.prometheus.rendered import metrics_in, read, rules, run, written
from tests.formats.telemetry.subjects import example, rails, subnet, torus
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

SUBJECTS: dict[str, Callable[[], Fabric | Subnet]] = {
    "roce-256": lambda: example("roce-256"),
    "thor-64": lambda: example("thor-64"),
    "rails": lambda: rails(2),
    "torus": torus,
    "subnet": subnet,
    "ufm": lambda: subnet()._replace(manager="ufm"),
}
_LABEL = re.compile(r"\$labels\.(\w+)")


@pytest.fixture(params=SUBJECTS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(tmp_path, SUBJECTS[request.param]())


@pytest.mark.tools("prometheus")
def test_promtool_takes_rules_and_configuration(folder: Path) -> None:
    assert run(folder, "promtool", "check", "rules", *(path.name for path in folder.glob("*.rules")))[0] == 0
    assert run(folder, "promtool", "check", "config", "prometheus.yml")[0] == 0


@pytest.mark.tools("prometheus")
@pytest.mark.parametrize("name", ["roce-256", "ufm"])
def test_each_alert_fires_on_its_series_and_nothing_fires_on_a_healthy_fabric(
    name: str, tmp_path: Path
) -> None:
    code, said = run(written(tmp_path, SUBJECTS[name]()), "promtool", "test", "rules", "alerts.tests.yml")
    assert code == 0, said


def test_each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not(folder: Path) -> None:
    tests = [
        test["name"] for test in read((folder / "alerts.tests.yml").read_text(encoding="utf-8"))["tests"]
    ]
    expected = [f"{rule['alert']} {what}" for rule in rules(folder) for what in ("fires", "does not fire")]
    assert [name for name in tests if not name.startswith("nothing")] == expected


@pytest.mark.tools("prometheus")
def test_a_rule_that_never_fires_and_one_that_always_does_fail_their_tests(tmp_path: Path) -> None:
    folder = written(tmp_path, subnet())
    alerts = folder / "alerts.rules"
    text = alerts.read_text(encoding="utf-8")
    for broken in (text.replace(">= 3", ">= 300"), text.replace(">= 3", ">= 0")):
        alerts.write_text(broken, encoding="utf-8")
        assert run(folder, "promtool", "test", "rules", "alerts.tests.yml")[0] == 1


def test_expressions_ask_for_metrics_that_somebody_serves_or_records(folder: Path) -> None:
    every = [rule for path in folder.glob("*.rules") for rule in rules(folder, path.name)]
    recorded = {rule["record"] for rule in every if "record" in rule}
    asked = set().union(*(metrics_in(rule["expr"]) for rule in every))
    assert asked - recorded - BY_NAME.keys() - FOREIGN.keys() <= {
        # Values that a fabric has only where it lends headroom.
        "lossless:intended_headroom_pool:bytes",
    }


def test_texts_of_alerts_use_labels_that_the_alert_has(folder: Path) -> None:
    tests = read((folder / "alerts.tests.yml").read_text(encoding="utf-8"))["tests"]
    fires = [test["promql_expr_test"][0]["exp_samples"] for test in tests if test["name"].endswith(" fires")]
    for rule, samples in zip(rules(folder), fires, strict=True):
        has = set(re.findall(r'(\w+)="', samples[0]["labels"]))
        used = {name for text in rule["annotations"].values() for name in _LABEL.findall(text)}
        assert used - {"neighbor", "neighbor_port", "rail"} <= has, rule["alert"]


def test_what_to_run_next_are_commands_and_options_of_ours(folder: Path) -> None:
    from lossless.interfaces.cli.app import COMMANDS

    runbooks = [rule["annotations"]["runbook"] for rule in rules(folder)]
    commands = {name for text in runbooks for name in re.findall(r"lossless (\w+) INTENT", text)}
    assert commands
    assert commands <= set(COMMANDS)


@pytest.mark.tools("prometheus")
@given(intents(renderable=True))
@settings(max_examples=5, deadline=None)
def test_promtool_takes_the_rules_of_any_small_fabric(
    tmp_path_factory: pytest.TempPathFactory, intent: dict[str, object]
) -> None:
    folder = written(tmp_path_factory.mktemp("rules"), fabric_of(intent))
    assert run(folder, "promtool", "check", "rules", *(path.name for path in folder.glob("*.rules")))[0] == 0


def test_thresholds_are_those_of_the_fabric(tmp_path: Path) -> None:
    values = {
        (rule["record"], rule["labels"].get("kind")): rule["expr"]
        for rule in rules(written(tmp_path, example("roce-256")), "intent.rules")
    }
    assert values["lossless:intended_headroom:bytes", "leaf-host-400G"] == "vector(231424)"
    assert values["lossless:intended_headroom:bytes", "leaf-up-800G"] == "vector(362496)"
    assert values["lossless:intended_kmax:bytes", "spine-down-800G"] == f"vector({3200 * 1024})"
    assert values["lossless:intended_watchdog:seconds", "leaf-host-400G"] == "vector(1.2)"


def test_ports_have_their_neighbors_and_where_they_lead_to() -> None:
    ports = {(port.switch, port.interface): port for port in inventory(example("roce-256")).ports}
    host, up = ports["leaf1", "Ethernet0"], ports["leaf1", "Ethernet128"]
    assert host.known["leads_to"] == "host"
    assert host.known["neighbor"] == "host1"
    assert up.known["leads_to"] == "up"
    back = ports[up.known["neighbor"], up.known["neighbor_port"]]
    assert back.known["leads_to"] == "down"
    assert (back.known["neighbor"], back.known["neighbor_port"]) == ("leaf1", "Ethernet128")


def test_what_the_intent_has_out_of_service_is_not_missed(tmp_path: Path) -> None:
    fabric = fabric_of(_LOSSY | {"failures": {"out_of_service": ["spine1"]}})
    intended = inventory(fabric)
    assert "spine1" not in {switch.place.name for switch in intended.switches}
    down = {port.interface for port in intended.ports if port.switch == "leaf1" and not port.up}
    assert down == {port.interface for port in intended.ports if port.known["neighbor"] == "spine1"} != set()
    alerts = {rule["alert"]: rule["expr"] for rule in rules(written(tmp_path, fabric))}
    assert 'out_of_service!="true"' in alerts["LosslessPortDown"]
    (answer,) = (panel for panel in panels(fabric_board(fabric)) if panel.title == "Switches that answer")
    assert answer.good_from == len(intended.switches) == 3
    assert "spine1" not in gnmic_files(fabric, 10)["collection/gnmic/gnmic.yml"]


def test_targets_have_the_port_that_the_exporter_listens_on() -> None:
    from lossless.interfaces.cli.exporter import exporter_command

    (listen,) = (option.default for option in exporter_command.params if option.name == "listen")
    assert listen == f":{EXPORTER_PORT}"


def test_ports_of_a_fabric_without_tiers_lead_to_switches() -> None:
    assert {port.leads_to for port in inventory(torus()).ports} == {"host", "switch"}


def test_a_storm_is_one_alert_over_a_cycle_of_the_watchdog() -> None:
    # 1.2 s to detect, 1.2 s to restore, 0.6 s for each poll, and a scrape after 10 s; a scrape that fails is outlasted.
    assert times(example("roce-256")).storm == 20
    # 4.096 us x 2^20 x 8: twice that is below the five minutes in which things settle.
    assert times(example("roce-256")).patience == 35


def test_counters_that_a_driver_does_not_have_are_not_missed() -> None:
    names = {
        name: set(re.findall(r"alert: (\w+)", fabric_files(example(name))["prometheus/alerts.rules"]))
        for name in ("roce-256", "thor-64")
    }
    assert "LosslessHostCountersMissing" in names["roce-256"]
    assert "LosslessHostCountersMissing" not in names["thor-64"]


def test_a_fabric_without_lossless_classes_is_only_watched_for_what_is_not_there() -> None:
    lossy = fabric_of(_LOSSY)
    names = set(re.findall(r"alert: (\w+)", fabric_files(lossy)["prometheus/alerts.rules"]))
    assert "LosslessSwitchScrapeFailed" in names
    assert not {name for name in names if "Storm" in name or "Drops" in name or "Paused" in name}


_LOSSY = {
    "lossless": "v1",
    "fabric": "lossy",
    "transport": "rocev2",
    "classes": {"default": {"dscp": "rest", "priority": 0}},
    "pfc": "off",
    "congestion_control": "dcqcn",
    "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"},
    "topology": {
        "leaf_spine": {
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            "host_links": "1 x 400G",
            "uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m"},
        }
    },
}
