"""Expositions become what promtool evaluates: labels, successive values, and expressions that give nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.formats.telemetry.promtool import Scrape, as_grafana_asks, input_series, without_data

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tools("prometheus")

LEAF = {"job": "lossless-switches", "switch": "leaf1"}


def test_labels_of_the_target_are_added_and_those_of_the_exporter_win() -> None:
    series = input_series([[Scrape('# TYPE a_total counter\na_total{switch="real",b="x"} 7\n', LEAF)]])
    assert series == [
        {"series": 'a_total{b="x",job="lossless-switches",switch="real"}', "values": "7"},
        {"series": 'up{job="lossless-switches",switch="leaf1"}', "values": "1"},
    ]


def test_a_series_is_missing_at_times_when_nobody_printed_it() -> None:
    times = [[Scrape("a 1", {})], [Scrape("b 2", {})], [Scrape("a 3\nb 4", {})]]
    values = {found["series"]: found["values"] for found in input_series(times)}
    assert values == {"a{}": "1 _ 3", "b{}": "_ 2 4", "up{}": "1 1 1"}


def test_variables_of_grafana_stand_for_all_that_a_reader_can_choose() -> None:
    panel = 'rate(a_total{switch=~"$switch",x="${x}"}[$__rate_interval])'
    assert as_grafana_asks(panel) == 'rate(a_total{switch=~".+",x=".+"}[60s])'


def test_only_expressions_that_give_nothing_are_named(tmp_path: Path) -> None:
    series = input_series([[Scrape(f"a_total {value}", LEAF)] for value in (1, 2, 4)])
    asked = ["rate(a_total[1m])", "rate(b_total[1m])", "a_total > 5", "a_total > 3"]
    assert without_data(tmp_path, series, asked, at_s=30) == ["rate(b_total[1m])", "a_total > 5"]


def test_an_expression_that_nobody_can_parse_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="parse error"):
        without_data(tmp_path, [], ["rate(a["], at_s=0)
