"""Expressions evaluated by a real promtool on expositions: scrapes become its input series.

A series is what an exporter prints, with the labels of its target added as Prometheus does it. Successive scrapes give
its values; where one does not have it, it is missing at that time.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from tests.real_tools import program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

INTERVAL_S = 15
_SERIES = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_GRAFANA = (
    (re.compile(r'="\$fabric"'), '=~".+"'),
    (re.compile(r"\$__rate_interval"), f"{4 * INTERVAL_S}s"),
    (re.compile(r"\$\w+|\$\{\w+\}"), ".+"),
)
"""What Grafana puts in place of variables: at least four scrapes, and all of what a reader can choose."""


class Scrape(NamedTuple):
    """What a target answers at one time, and the labels that the scrape configuration gives it."""

    text: str
    target: Mapping[str, str]


def input_series(times: Sequence[Sequence[Scrape]]) -> list[dict[str, str]]:
    """Return the series of successive scrapes of some targets, one ``INTERVAL_S`` apart, as promtool takes them."""
    values: dict[str, list[str]] = {}
    for number, scrapes in enumerate(times):
        for name, value in (sample for scrape in scrapes for sample in samples(scrape)):
            found = values.setdefault(name, [])
            found += ["_"] * (number - len(found))
            found.append(value)
    return [{"series": name, "values": " ".join(found)} for name, found in values.items()]


def samples(scrape: Scrape) -> Iterator[tuple[str, str]]:
    """Yield each series with its value; a label of the exporter wins over one of its target (``honor_labels``)."""
    for line in scrape.text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        match = _SERIES.fullmatch(line)
        assert match is not None, line
        labels = {**scrape.target, **dict(_LABEL.findall(match[2] or ""))}
        written = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
        yield f"{match[1]}{{{written}}}", match[3]
    up = ",".join(f'{name}="{value}"' for name, value in sorted(scrape.target.items()))
    yield f"up{{{up}}}", "1"


def as_grafana_asks(expression: str) -> str:
    """Return an expression of a panel with its variables filled in."""
    for variable, value in _GRAFANA:
        expression = variable.sub(value, expression)
    return expression


def without_data(
    folder: Path, series: Sequence[Mapping[str, str]], expressions: Iterable[str], at_s: int
) -> list[str]:
    """Return which expressions give nothing at a time, all asked in one run of promtool.

    Raises:
        AssertionError: promtool says anything else than which expressions differ.
    """
    asked = {f"count({expression}) > bool 0": expression for expression in expressions}
    checks = [
        {"expr": expr, "eval_time": f"{at_s}s", "exp_samples": [{"labels": "{}", "value": 1}]}
        for expr in asked
    ]
    group = {"interval": f"{INTERVAL_S}s", "input_series": list(series), "promql_expr_test": checks}
    # JSON is YAML.
    suite = {"evaluation_interval": f"{INTERVAL_S}s", "tests": [group]}
    (folder / "queries.json").write_text(json.dumps(suite), encoding="utf-8")
    command = [program("promtool"), "test", "rules", "queries.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    said = done.stdout + done.stderr
    failed = [expression for expr, expression in asked.items() if f"expr: {json.dumps(expr)}" in said]
    assert "err:" not in said, said
    assert bool(failed) == bool(done.returncode), said
    return failed
