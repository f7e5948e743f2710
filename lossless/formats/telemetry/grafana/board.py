"""A dashboard as plain data: variables, rows and panels. :mod:`.build` lays them out and writes Grafana's JSON."""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.records import NamedTuple

Kind = Literal["lines", "number", "states", "table", "text"]
BoardName = Literal["fabric", "switch", "host", "storm"]
Unit = Literal["none", "short", "bool_yes_no", "percentunit", "pps", "bps", "cps", "bytes", "s", "string"]
"""Ids of units in Grafana (grafana/grafana packages/grafana-data/src/valueFormats/categories.ts)."""


class Query(NamedTuple):
    """A PromQL expression, and the legend of its series, with labels in double braces."""

    expression: str
    legend: str


class Panel(NamedTuple):
    """One panel. ``limits`` are values in its unit that are drawn as dashed lines; ``opens`` names linked dashboards.

    A panel of kind ``text`` has no queries and shows its description, in Markdown. A number or a state is red
    from ``bad_from`` on, or below ``good_from``; where both are None it has no color.
    """

    title: str
    description: str
    unit: Unit
    queries: tuple[Query, ...]
    kind: Kind = "lines"
    opens: tuple[BoardName, ...] = ()
    limits: tuple[float, ...] = ()
    bad_from: float | None = None
    good_from: float | None = None


class BoardRow(NamedTuple):
    """Panels below one heading."""

    title: str
    panels: tuple[Panel, ...]


class BoardVariable(NamedTuple):
    """A choice of the reader among the values that ``query`` returns; ``chosen`` at first, all where that is empty."""

    name: str
    label: str
    query: str
    chosen: tuple[str, ...] = ()


class Board(NamedTuple):
    """One dashboard of a fabric."""

    name: BoardName
    title: str
    description: str
    variables: tuple[BoardVariable, ...]
    rows: tuple[BoardRow, ...]
