"""Converts a dashboard to Grafana's JSON with Grafana's own typed builders: layout of panels, links, limits.

Panels share a line evenly: up to six number panels, or two or three others. The rest is the same for each dashboard:
the data source as a variable, and links to the other dashboards of the fabric. It is read-only in
Grafana, because the next render would overwrite edits made there.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.extras import install_command
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana_foundation_sdk.builders.dashboard import Dashboard, DashboardLink
    from grafana_foundation_sdk.models.dashboard import DataSourceRef

    from lossless.formats.telemetry.grafana.board import Board, BoardName, BoardVariable, Panel

_COLUMNS, _IN_LINE, _NUMBERS_IN_LINE = 24, 3, 6
"""Columns of Grafana's grid, and how many panels share a line."""
_LINES = {"number": 4, "lines": 8, "states": 8, "table": 8, "text": 8}
"""Height of a panel by its kind, in lines of the grid (of 30 pixels)."""
_PARAMETER = {
    "switch": "var-switch=${__field.labels.switch}",
    "host": "var-host=${__field.labels.instance}",
    "fabric": "",
    "storm": "",
}
"""The URL parameter with which a series links to another dashboard: the device of the series."""
_UID_LENGTH = 40
"""Most characters of a UID (grafana/grafana pkg/services/dashboards/errors.go, ErrDashboardUidTooLong)."""
REFRESH, SINCE = "30s", "now-1h"
"""Refresh interval and initial time range of a dashboard (ours); a reader changes both in Grafana."""


class _BoardLinks(NamedTuple):
    """The UID of each dashboard of a fabric."""

    uids: dict[BoardName, str]
    tag: str


def require_sdk() -> None:
    """Check that the extra is installed.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    if find_spec("grafana_foundation_sdk") is None:
        raise RenderError(
            f"dashboards are built with `grafana-foundation-sdk`: {install_command('telemetry')}"
        )


def uid_of(fabric: str, board: BoardName) -> str:
    """Return the UID of a dashboard: the same for every render, another one for each fabric."""
    uid = f"lossless-{re.sub(r'[^A-Za-z0-9_-]', '-', fabric)}-{board}"
    if uid == f"lossless-{fabric}-{board}" and len(uid) <= _UID_LENGTH:
        return uid
    return f"lossless-{sha256(fabric.encode()).hexdigest()[:16]}-{board}"


def dashboards(fabric: str, boards: Sequence[Board]) -> dict[str, str]:
    """Return the JSON of the dashboards of one fabric, by file name.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    require_sdk()
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    encoder = JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False)
    links = _BoardLinks({board.name: uid_of(fabric, board.name) for board in boards}, fabric)
    texts = {board.name: encoder.encode(_trimmed(_built(board, links).build())) for board in boards}
    return {f"lossless-{name}.json": f"{text}\n" for name, text in texts.items()}


def _trimmed(made: Any) -> Any:
    """Remove keys of the SDK that current Grafana no longer supports (a test compares), and hide constants."""
    from grafana_foundation_sdk.models.dashboard import VariableHide

    for variable in made.templating.list_val:
        variable.auto = variable.auto_min = variable.auto_count = None
        if variable.type_val == "constant":
            variable.hide = VariableHide.HIDE_VARIABLE
    for panel in made.panels:
        if panel.type_val == "table":
            panel.options.footer = None
    return made


def _built(board: Board, links: _BoardLinks) -> Dashboard:
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models.dashboard import DashboardCursorSync

    made = dashboard.Dashboard(board.title).uid(links.uids[board.name]).description(board.description)
    made.tags(["lossless", links.tag]).readonly().tooltip(DashboardCursorSync.CROSSHAIR)
    made.time(SINCE, "now").refresh(REFRESH).timezone("browser")
    made.link(_to_all(links))
    made.with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
    made.with_variable(dashboard.ConstantVariable("fabric").label("Fabric").value(links.tag))
    for variable in board.variables:
        made.with_variable(_variable(variable))
    number = 0
    for row in board.rows:
        number += 1
        made.with_row(dashboard.Row(row.title).id(number))
        for panel, width in _placed(row.panels):
            number += 1
            made.with_panel(_panel(panel, links).id(number).span(width).height(_LINES[panel.kind]))
    return made


def _placed(panels: Sequence[Panel]) -> Iterator[tuple[Panel, int]]:
    """Yield panels, each with its width in columns."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    others = [panel for panel in panels if panel.kind != "number"]
    for group, most in ((numbers, _NUMBERS_IN_LINE), (others, _IN_LINE)):
        rest = iter(group)
        for count in _shares(len(group), -(-len(group) // most)):
            for width in _shares(_COLUMNS, count):
                yield next(rest), width


def _shares(whole: int, parts: int) -> list[int]:
    """Return whole numbers that add up to another and differ by 1 at most, the larger first."""
    return [whole // parts + (part < whole % parts) for part in range(parts)]


@cache
def _source() -> DataSourceRef:
    from grafana_foundation_sdk.models.dashboard import DataSourceRef

    return DataSourceRef(type_val="prometheus", uid="${datasource}")


def _variable(variable: BoardVariable) -> Any:
    from grafana_foundation_sdk.builders.dashboard import QueryVariable
    from grafana_foundation_sdk.models.dashboard import VariableOption, VariableRefresh, VariableSort

    chosen = list(variable.chosen)
    first = VariableOption(text=chosen or ["All"], value=chosen or ["$__all"])
    made = QueryVariable(variable.name).label(variable.label).query(variable.query).datasource(_source())
    made.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.NATURAL_ASC)
    return made.multi(True).include_all(True).all_value(".+").current(first)


def _to_all(links: _BoardLinks) -> DashboardLink:
    from grafana_foundation_sdk.builders.dashboard import DashboardLink
    from grafana_foundation_sdk.models.dashboard import DashboardLinkType

    made = DashboardLink(links.tag).type(DashboardLinkType.DASHBOARDS).tags(["lossless", links.tag])
    return made.keep_time(True).include_vars(True)


def _panel(panel: Panel, links: _BoardLinks) -> Any:
    made = _KINDS[panel.kind](panel)
    made.title(panel.title)
    if panel.kind == "text":
        return made
    made.description(panel.description).datasource(_source()).unit(panel.unit)
    for letter, query in zip("ABCDEFGH", panel.queries, strict=False):
        made.with_target(_target(panel, query.expression, query.legend).ref_id(letter))
    opened = [name for name in panel.opens if name in links.uids]
    if opened:
        made.links([_opens(name, links) for name in opened if not _PARAMETER[name]])
        made.data_links([_opens(name, links) for name in opened if _PARAMETER[name]])
    return made


def _target(panel: Panel, expression: str, legend: str) -> Any:
    from grafana_foundation_sdk.builders.prometheus import Dataquery
    from grafana_foundation_sdk.models.prometheus import PromQueryFormat, QueryEditorMode

    made = Dataquery().expr(expression).legend_format(legend).editor_mode(QueryEditorMode.CODE)
    if panel.kind == "table":
        return made.instant().format(PromQueryFormat.TABLE)
    return made.instant() if panel.kind == "number" else made.range()


def _opens(name: BoardName, links: _BoardLinks) -> DashboardLink:
    from grafana_foundation_sdk.builders.dashboard import DashboardLink

    parameters = "&".join(filter(None, (_PARAMETER[name], "${__url_time_range}", "${datasource:queryparam}")))
    return DashboardLink(f"Dashboard: {name}").url(f"/d/{links.uids[name]}?{parameters}")


def _lines(panel: Panel) -> Any:
    from grafana_foundation_sdk.builders import common, timeseries
    from grafana_foundation_sdk.models import common as models

    legend = common.VizLegendOptions().display_mode(models.LegendDisplayMode.LIST).show_legend(True)
    made = timeseries.Panel().legend(legend.placement(models.LegendPlacement.BOTTOM).calcs([]))
    made.tooltip(
        common.VizTooltipOptions().mode(models.TooltipDisplayMode.MULTI).sort(models.SortOrder.DESCENDING)
    )
    made.line_width(1).fill_opacity(0).min(0)
    if panel.limits:
        made.thresholds(_steps(*((value, "red") for value in panel.limits)))
        dashed = common.GraphThresholdsStyleConfig().mode(models.GraphThresholdsStyleMode.DASHED)
        made.thresholds_style(dashed)
    return made


def _number(panel: Panel) -> Any:
    from grafana_foundation_sdk.builders import common, stat
    from grafana_foundation_sdk.models.common import BigValueColorMode, BigValueGraphMode

    values = common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False)
    made = stat.Panel().graph_mode(BigValueGraphMode.NONE).color_mode(BigValueColorMode.VALUE)
    return made.reduce_options(values).thresholds(_colored(panel))


def _states(panel: Panel) -> Any:
    from grafana_foundation_sdk.builders import statetimeline
    from grafana_foundation_sdk.models.common import VisibilityMode

    made = statetimeline.Panel().show_value(VisibilityMode.NEVER).merge_values(True)
    return made.thresholds(_colored(panel)).color_scheme(_by_thresholds())


def _table(panel: Panel) -> Any:  # noqa: ARG001
    from grafana_foundation_sdk.builders import table

    return table.Panel().show_header(True)


def _text(panel: Panel) -> Any:
    from grafana_foundation_sdk.builders import text
    from grafana_foundation_sdk.models.text import TextMode

    return text.Panel().mode(TextMode.MARKDOWN).content(panel.description)


_KINDS = {"lines": _lines, "number": _number, "states": _states, "table": _table, "text": _text}


def _colored(panel: Panel) -> Any:
    if panel.good_from is not None:
        return _steps((panel.good_from, "green"), below="red")
    if panel.bad_from is not None:
        return _steps((panel.bad_from, "red"), below="green")
    return _steps(below="text")


def _by_thresholds() -> Any:
    from grafana_foundation_sdk.builders.dashboard import FieldColor
    from grafana_foundation_sdk.models.dashboard import FieldColorModeId

    return FieldColor().mode(FieldColorModeId.THRESHOLDS)


def _steps(*steps: tuple[float, str], below: str = "transparent") -> Any:
    from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
    from grafana_foundation_sdk.models.dashboard import Threshold, ThresholdsMode

    all_steps = [Threshold(value=None, color=below), *(Threshold(value, color) for value, color in steps)]
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(all_steps)
