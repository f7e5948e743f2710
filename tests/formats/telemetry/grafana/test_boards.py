"""What panels say and ask: metrics that exist, with labels that they have; counters as rates; a title and a unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest

from lossless.formats.telemetry.grafana.build import boards_of
from lossless.formats.telemetry.grafana.host_board import Unit
from lossless.formats.telemetry.metrics import FOREIGN, METRICS
from tests.formats.telemetry.grafana.subject_boards import SUBJECTS, boards
from tests.formats.telemetry.subjects import example, rails, torus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.grafana.host_board import Board, Panel

CATALOGUE = {metric.name: metric for metric in METRICS} | FOREIGN
TARGET = {"fabric", "job", "instance", "tier", "rail", "namespace"}
"""Labels that a scrape adds."""
_WORDS = {"by", "on", "or", "and", "unless", "bool", "group_left", "vector"}
_BRACES, _STRINGS = re.compile(r"\{[^}]*\}"), re.compile(r'"[^"]*"')
_GROUPING = re.compile(r"\b(?:by|on) \(([^)]*)\)")
_NAME = re.compile(r"(?<![\w$])[A-Za-z_:][\w:]*(?!\w*\s*\()")


def metrics(expression: str) -> set[str]:
    """Return the metrics of an expression: names that are no function, no label and no word."""
    bare = _GROUPING.sub("", _BRACES.sub("", re.sub(r"\[[^]]*\]", "", expression)))
    return {name for name in _NAME.findall(bare) if name not in _WORDS}


def labels(expression: str) -> set[str]:
    """Return the labels that an expression selects or groups by."""
    selected = (_STRINGS.sub("", braces[1:-1]) for braces in _BRACES.findall(expression))
    grouped = (name for group in _GROUPING.findall(expression) for name in group.split(","))
    return {
        name
        for part in (*(text.split(",") for text in selected), list(grouped))
        for name in (re.sub(r"[^\w].*", "", item.strip()) for item in part)
        if name
    }


def panels(board: Board) -> Iterator[Panel]:
    """Yield the panels of a dashboard."""
    for row in board.rows:
        yield from row.panels


def expressions() -> Iterator[str]:
    """Yield every expression of every dashboard once."""
    yield from dict.fromkeys(
        query.expression
        for subject in SUBJECTS
        for board in boards(subject)
        for panel in panels(board)
        for query in panel.queries
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('topk(3, sum by (a, b) (rate(x_total{c="d_e"}[$__rate_interval]))) > 0', {"x_total"}),
        ('8 * rate(x:y[1m]) / on (switch) (8 * z{a!="b"}) unless (w > 1)', {"x:y", "z", "w"}),
        ("count(u == bool 4) or vector(0)", {"u"}),
    ],
)
def test_metrics_of_an_expression_are_found(expression: str, expected: set[str]) -> None:
    assert metrics(expression) == expected


def test_every_metric_is_in_a_catalogue() -> None:
    assert {name for expression in expressions() for name in metrics(expression)} <= CATALOGUE.keys()


def test_every_label_is_one_that_the_metric_or_its_scrape_has() -> None:
    for expression in expressions():
        known = {label for name in metrics(expression) for label in CATALOGUE[name].labels}
        assert labels(expression) <= known | TARGET, expression


def test_labels_in_the_names_of_series_are_left_by_the_expression() -> None:
    for subject in SUBJECTS:
        for panel in (panel for board in boards(subject) for panel in panels(board)):
            for query in panel.queries:
                grouped = _GROUPING.findall(query.expression.partition("(")[0] + query.expression)
                shown = set(re.findall(r"\{\{(\w+)\}\}", query.legend))
                left = {name.strip() for group in grouped[:1] for name in group.split(",")}
                known = {label for name in metrics(query.expression) for label in CATALOGUE[name].labels}
                assert shown <= (left or known | TARGET), (panel.title, query)


def test_counters_are_rates_over_the_interval_that_grafana_chooses_and_gauges_are_not() -> None:
    for expression in expressions():
        rated = set(re.findall(r"rate\((\w+)(?:\{[^}]*\})?\[\$__rate_interval\]\)", expression))
        counters = {name for name in metrics(expression) if CATALOGUE[name].kind != "gauge"}
        assert rated == counters, expression
        assert expression.count("[") == expression.count("[$__rate_interval]")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_panels_say_what_they_show(subject: str) -> None:
    for board in boards(subject):
        titles = [panel.title for panel in panels(board)]
        assert len(titles) == len(set(titles)), board.name
        for panel in panels(board):
            assert panel.description.endswith((".", ")")), panel.title
            assert panel.unit in get_args(Unit)
            assert bool(panel.queries) != (panel.kind == "text")
            assert len(panel.queries) <= len("ABCDEFGH")


def test_series_of_one_panel_have_different_names() -> None:
    for subject in SUBJECTS:
        for panel in (panel for board in boards(subject) for panel in panels(board)):
            if len(panel.queries) > 1 and panel.title not in ("Hosts that pause their switch",):
                legends = [query.legend for query in panel.queries]
                assert len(legends) == len(set(legends)), panel.title


def test_lossless_priorities_of_the_intent_are_named_and_chosen() -> None:
    fabric, switch, *_ = boards("roce-256")
    assert "rdma (priority 3)" in fabric.description
    assert [variable.chosen for variable in fabric.variables if variable.name == "priority"] == [("3",)]
    assert "Lossless class rdma, priority 3" in [row.title for row in switch.rows]


def test_headroom_and_marking_are_those_of_the_intent() -> None:
    _, switch, *_ = boards("roce-256")
    shown = {panel.title: panel for panel in panels(switch)}
    groups = {
        group.buffer.xoff_bytes
        for leaf in example("roce-256").switches
        for port in leaf.ports
        if port.qos and (group := port.qos.groups[3]) and group.buffer
    }
    assert set(shown["rdma: headroom in use"].limits) == groups
    assert "from 800 KiB to 3200 KiB, there 20%" in shown["rdma: ECN marks"].description


def test_each_tier_has_a_row_and_rails_have_one_where_there_are_rails() -> None:
    def rows(of: tuple[Board, ...]) -> list[str]:
        return [row.title for row in of[0].rows]

    assert rows(boards_of(example("roce-256"))) == ["Now", "Leaves", "Spines", "Hosts", "Scraping"]
    assert "Rails" in rows(boards_of(rails(1)))
    assert "Switches" in rows(boards_of(torus()))


def test_a_fabric_without_lossless_classes_has_no_dashboard_of_storms() -> None:
    fabric = example("roce-256")
    lossy = tuple(cls._replace(lossless=False) for cls in fabric.classes.classes)
    made = boards_of(fabric._replace(classes=fabric.classes._replace(classes=lossy)))
    assert [board.name for board in made] == ["fabric", "switch", "host"]


def test_a_network_that_a_cloud_runs_has_none() -> None:
    assert boards_of(example("efa-train")) == ()


@pytest.mark.parametrize(("subject", "metric"), [("roce-256", "_prio3_"), ("thor-64", "pri3")])
def test_pauses_of_hosts_have_the_names_of_their_driver(subject: str, metric: str) -> None:
    asked = {
        name
        for board in boards(subject)
        for panel in panels(board)
        for query in panel.queries
        for name in metrics(query.expression)
        if name.startswith("node_ethtool_")
    }
    assert asked
    assert all(metric in name for name in asked)


def test_switches_of_a_subnet_are_shown_where_ufm_sees_them() -> None:
    def asked(subject: str) -> set[str]:
        found = (
            query.expression
            for board in boards(subject)
            for panel in panels(board)
            for query in panel.queries
        )
        return {name for expression in found for name in metrics(expression) if name.startswith("Port")}

    assert asked("ufm") >= {"PortXmitWaitExtended", "PortRcvErrorsExtended"}
    assert asked("infiniband") == set()
