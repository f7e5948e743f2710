"""The catalog keeps to the names and units of Prometheus, and to what databases have."""

from __future__ import annotations

import json
import re

import pytest

from lossless.formats.sonic.state.forms import GROUP_OF
from lossless.formats.sonic.state.rows import BY_FIELD
from lossless.formats.telemetry.exposition.redis_reader import fields_of
from lossless.formats.telemetry.metrics import BY_NAME, METRICS, PREFIX, Metric, any_of, named
from lossless.formats.telemetry.prometheus.files import fabric_files
from tests.formats.telemetry.grafana.test_boards import expressions
from tests.formats.telemetry.subjects import example

_UNITS = {"us": (1, 1_000_000), "bytes": (1, 1), "packets": (1, 1), "storms": (1, 1), "": (1, 1)}


def _counters(metric: Metric) -> list[tuple[str, str, tuple[int, int]]]:
    """Return the counters of a metric in COUNTERS_DB, with what they are of and how they are scaled."""
    return [
        (counter, "priority" if "priority" in metric.labels else source.of, (source.times, source.per))
        for source in metric.sources
        if source.database == "COUNTERS_DB"
        for counter in source.counters
    ]


def test_each_metric_has_one_name() -> None:
    assert len(BY_NAME) == len(METRICS)
    assert named("info") is METRICS[0]
    with pytest.raises(KeyError):
        named("pfc_frames")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name.removeprefix(PREFIX))
def test_a_metric_is_named_by_its_kind_and_unit(metric: Metric) -> None:
    assert re.fullmatch(r"lossless_sonic_[a-z_]+[a-z]", metric.name)
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    stem = metric.name.removesuffix("_total")
    unit = metric.unit.replace(" ", "_")
    assert stem.endswith(unit) or metric.name.endswith("_errors_total") or unit == "storms"
    assert metric.labels[0] == "switch"
    assert bool(metric.sources) != bool(metric.origin)
    assert metric.help.endswith(".")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name.removeprefix(PREFIX))
def test_a_value_is_scaled_from_the_unit_of_its_field(metric: Metric) -> None:
    for source in metric.sources:
        if source.database == "COUNTERS_DB":
            for counter in source.counters:
                fields = fields_of(source, counter, "N" if "priority" in metric.labels else None)
                assert fields
                assert {_UNITS[BY_FIELD[field].unit] for field in fields} == {(source.times, source.per)}


def test_names_match_as_they_are_in_a_regular_expression_of_promql() -> None:
    names = ("eth1.5", "Ethernet1/1", 'a"b', "a\\b", "(a|b)+[c]*?{1}^$")
    # Of the escapes of a PromQL string, those that are written here are those of JSON.
    pattern = json.loads(f'"{any_of(names)}"')
    assert all(re.fullmatch(pattern, name) for name in names)
    assert not re.fullmatch(pattern, "eth1x5")
    assert any_of(["eth1.5", 3]) == "eth1[.]5|3"


def test_of_each_counter_it_is_known_what_polls_it() -> None:
    counters = {(counter, of) for metric in METRICS for counter, of, _ in _counters(metric)}
    assert counters - GROUP_OF.keys() == set()


def test_the_exporter_serves_by_default_what_rules_and_dashboards_read() -> None:
    files = fabric_files(example("roce-256"))
    texts = [*expressions(), *(text for name, text in files.items() if name.endswith(".rules"))]
    read = {name for text in texts for name in re.findall(rf"{PREFIX}[a-z_]+", text)}
    assert {metric.name for metric in METRICS if metric.read != "none"} == read


def test_what_the_exporter_serves_of_all_numbers_is_read_of_all() -> None:
    """Other metrics are read beside a label of lossless ones, or joined with what the intent has lossless."""
    of_all = {metric.name for metric in METRICS if metric.read == "all"}
    numbered = re.compile(r'(?:priority|queue|pg)(?:=~?|!~)"')
    unfiltered = {
        name
        for text in expressions()
        for name, labels in re.findall(rf"({PREFIX}[a-z_]+){{([^}}]*)}}", text)
        if not {"priority", "queue", "pg"}.isdisjoint(BY_NAME[name].labels)
        if not numbered.search(labels) or '!~"' in labels
    }
    assert {name for name in unfiltered if "watchdog" not in name} == of_all
