"""Converts dashboards to Grafana's JSON with its own typed builders; the files of a fabric's or a subnet's dashboards.

Panels share a line evenly: up to six number panels, or up to three others. The rest is the same for each dashboard:
the data source as a variable, and links to the other dashboards of the fabric. It is read-only in
Grafana, because the next render would overwrite edits made there.

A provider among the files loads them into Grafana. A subnet has dashboards of the whole of it and of its hosts; UFM
Telemetry alone has its switches.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lossless.formats.telemetry.grafana.fabric_board import FIRING, fabric_board
from lossless.formats.telemetry.grafana.host_board import (
    DEVICE,
    DEVICE_VARIABLE,
    HOST,
    HOST_VARIABLE,
    HOSTS,
    UFM,
    Board,
    BoardRow,
    Panel,
    Query,
    host_board,
    node,
    per,
    rate,
    series,
    top,
    traffic,
    transport,
)
from lossless.formats.telemetry.grafana.storm_board import storm_board
from lossless.formats.telemetry.grafana.switch_board import switch_board
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.programs import install_command
from lossless.ground.basics.records import NamedTuple, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana_foundation_sdk.builders.dashboard import Dashboard, DashboardLink
    from grafana_foundation_sdk.models.dashboard import DataSourceRef

    from lossless.formats.telemetry.grafana.host_board import BoardName, BoardVariable, Unit
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


_COLUMNS, _IN_LINE, _NUMBERS_IN_LINE = 24, 3, 6
"""Columns of Grafana's grid, and how many panels of other kinds and of kind ``number`` share a line."""
_LINES = {"number": 4, "lines": 8, "states": 8, "table": 8, "text": 8}
"""Height of a panel by its kind, in lines of the grid (of 30 pixels)."""
_PARAMETER = {
    "switch": "var-switch=${__field.labels.switch}",
    "host": "var-host=${__field.labels.instance}",
    "fabric": "",
    "storm": "",
}
"""The URL parameter with which a series links to another dashboard: its device; empty where the whole panel links."""
_UID_LENGTH = 40
"""Most characters of a UID (grafana/grafana pkg/services/dashboards/errors.go, ErrDashboardUidTooLong)."""
REFRESH, SINCE = "30s", "now-1h"
"""Refresh interval and initial time range of a dashboard (ours); a reader changes both in Grafana."""


class _BoardLinks(NamedTuple):
    """The UID of each dashboard of a fabric, and the tag of all: the fabric's name."""

    uids: dict[BoardName, str]
    tag: str


def why_no_dashboards() -> str:
    """Return why no dashboard can be built, with the command that installs the SDK; empty where it is installed."""
    if find_spec("grafana_foundation_sdk") is not None:
        return ""
    return (
        "dashboards are built with `grafana-foundation-sdk`, which is not installed: "
        f"{install_command('telemetry')}"
    )


def uid_of(fabric: str, board: BoardName) -> str:
    """Return the UID of a dashboard: the same for every render, another one for each fabric's name."""
    uid = f"lossless-{re.sub(r'[^A-Za-z0-9_-]', '-', fabric)}-{board}"
    if uid == f"lossless-{fabric}-{board}" and len(uid) <= _UID_LENGTH:
        return uid
    return f"lossless-{sha256(fabric.encode()).hexdigest()[:16]}-{board}"


def dashboards(fabric: str, boards: Sequence[Board]) -> dict[str, str]:
    """Return the JSON of the dashboards of one fabric, by file name.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    reason = why_no_dashboards()
    if reason:
        raise RenderError(reason)
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    encoder = JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False)
    links = _BoardLinks({board.name: uid_of(fabric, board.name) for board in boards}, fabric)
    texts = {board.name: encoder.encode(_trimmed(_built(board, links).build())) for board in boards}
    return {f"lossless-{name}.json": f"{text}\n" for name, text in texts.items()}


def _trimmed(made: Any) -> Any:
    """Remove keys of the SDK that current Grafana no longer supports, and hide variables that are constants."""
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
    """Yield the panels of a row, numbers first, each with its width in columns of the grid."""
    numbers = [panel for panel in panels if panel.kind == "number"]
    others = [panel for panel in panels if panel.kind != "number"]
    for group, most in ((numbers, _NUMBERS_IN_LINE), (others, _IN_LINE)):
        rest = iter(group)
        for count in _shares(len(group), -(-len(group) // most)):
            for width in _shares(_COLUMNS, count):
                yield next(rest), width


def _shares(whole: int, parts: int) -> list[int]:
    """Return ``parts`` whole numbers whose sum is ``whole``; they differ by 1 at most, the larger ones first."""
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


FOLDER = "grafana/dashboards"
PROVIDER = "grafana/provisioning/dashboards/lossless.yaml"
INSTALLED = "/etc/grafana/dashboards/lossless"
"""The folder on the Grafana machine from which the provider loads dashboards."""
_PROVIDER = f"""apiVersion: 1
providers:
  - name: lossless
    folder: Lossless
    type: file
    options:
      path: {INSTALLED}
"""


def boards_of(fabric: Fabric) -> tuple[Board, ...]:
    """Return the dashboards of a fabric: without switches only that of its hosts, and none without hosts."""
    hosts = (host_board(fabric),) if fabric.hosts else ()
    if not fabric.switches:
        return hosts
    storm = (storm_board(fabric),) if fabric.classes.lossless else ()
    return (fabric_board(fabric), switch_board(fabric), *hosts, *storm)


def boards_of_subnet(subnet: Subnet) -> tuple[Board, ...]:
    """Return the dashboards of an InfiniBand subnet."""
    return (subnet_fabric_board(subnet), subnet_host_board(subnet))


def dashboard_files(fabric: Fabric) -> dict[str, str]:
    """Return a fabric's dashboards and their provider, by path below the folder of telemetry; none without devices.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    return _files(fabric.name, boards_of(fabric))


def subnet_dashboard_files(subnet: Subnet) -> dict[str, str]:
    """Return an InfiniBand subnet's dashboards and their provider, by path below the folder of telemetry.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    return _files(subnet.name, boards_of_subnet(subnet))


def _files(name: str, boards: Sequence[Board]) -> dict[str, str]:
    if not boards:
        return {}
    texts = dashboards(name, boards)
    return {f"{FOLDER}/{file}": text for file, text in texts.items()} | {PROVIDER: _PROVIDER}


_SHOWN = 10
_PORT = "{{node_guid}} port {{port_num}}"
_DEVICE = "{{instance}} {{device}}"


def subnet_fabric_board(subnet: Subnet) -> Board:
    """Return the dashboard of a whole InfiniBand subnet."""
    ufm = subnet.manager == "ufm"
    seen = "Switches by UFM Telemetry" if ufm else "Without UFM no exporter reads the counters of switches"
    return Board(
        "fabric",
        f"{subnet.name}: fabric",
        f"The InfiniBand subnet {subnet.name}. {seen}; hosts by node_exporter.",
        (),
        (_now(subnet, ufm=ufm), *(_switches() if ufm else ()), *_rails(subnet), _hosts()),
    )


def subnet_host_board(subnet: Subnet) -> Board:
    """Return the dashboard of the hosts of an InfiniBand subnet."""
    return Board(
        "host",
        f"{subnet.name}: host",
        f"InfiniBand ports of hosts of {subnet.name}: traffic, waiting for credits, errors and retransmission.",
        (HOST_VARIABLE, DEVICE_VARIABLE),
        (traffic("Traffic"), _links(), transport()),
    )


def _now(subnet: Subnet, *, ufm: bool) -> BoardRow:
    hosts = 0 if isinstance(subnet.hosts, Unknown) else len(subnet.hosts)
    hcas = 0 if isinstance(subnet.hcas, Unknown) else len(subnet.hcas)
    active = f"sum({node('infiniband_state_id', HOSTS)} == bool 4)"
    panels = [
        _stat_number(
            "Hosts that answer",
            f"Hosts whose last scrape succeeded. The intent has {hosts}.",
            per("", series("up", HOSTS)),
            hosts,
        ),
        _stat_number(
            "Ports of hosts that are active",
            f"Ports that the subnet manager has brought up. The intent has {hcas}.",
            active,
            hcas,
        ),
    ]
    if ufm:
        seen = "Whether the last scrape of UFM Telemetry succeeded."
        panels.append(_stat_number("UFM Telemetry answers", seen, per("", series("up", UFM)), 1))
    return BoardRow("Now", (*panels, FIRING))


def _stat_number(title: str, description: str, expression: str, intended: int) -> Panel:
    return Panel(title, description, "short", (Query(expression, ""),), "number", good_from=intended)


def _switches() -> Iterator[BoardRow]:
    def panel(title: str, description: str, unit: Unit, counter: str) -> Panel:
        return Panel(title, description, unit, (Query(top(_SHOWN, rate(series(counter, UFM))), _PORT),))

    yield BoardRow(
        "Switches and their links",
        (
            panel(
                "Ports that wait for credits",
                "Ticks in which a port had data and no credits: the receiver is congested. Compare ports "
                "with each other; the length of a tick depends on the hardware.",
                "cps",
                "PortXmitWaitExtended",
            ),
            panel("Packets sent", "The ports that send most packets.", "pps", "PortXmitPktsExtended"),
            panel(
                "Packets discarded",
                "Packets that a port discards at its output: they waited too long, or the port is down.",
                "pps",
                "PortXmitDiscardsExtended",
            ),
            panel("Packets with errors", "Packets received with an error.", "pps", "PortRcvErrorsExtended"),
            panel(
                "Symbol errors",
                "Errors that neither FEC nor retransmission of the link corrected: change the cable or the "
                "transceiver.",
                "cps",
                "SymbolErrorCounterExtended",
            ),
            panel("Links that go down", "How often links go down.", "cps", "LinkDownedCounterExtended"),
        ),
    )


def _rails(subnet: Subnet) -> Iterator[BoardRow]:
    """Yield the row of rails of a subnet, if hosts have several HCAs: HCA n of every host is rail n."""
    if isinstance(subnet.hcas, Unknown) or len({hca.rail for hca in subnet.hcas}) < 2:
        return
    names = dict.fromkeys((hca.rail, hca.device) for hca in sorted(subnet.hcas, key=lambda hca: hca.rail))
    said = ", ".join(f"{device} is rail {rail}" for rail, device in names)

    def panel(title: str, what: str, unit: Unit, expression: str) -> Panel:
        query = Query(per("device", expression), "{{device}}")
        return Panel(f"Rails: {title}", f"{what} By device: {said}.", unit, (query,), opens=("host",))

    sent = f"8 * {rate(node('infiniband_port_data_transmitted_bytes_total', HOSTS))}"
    waits = rate(node("infiniband_port_transmit_wait_total", HOSTS))
    yield BoardRow(
        "Rails",
        (
            panel("traffic", "Bits that all hosts send on a rail.", "bps", sent),
            panel("waiting for credits", "Ticks in which hosts had data and no credits.", "cps", waits),
        ),
    )


def _hosts() -> BoardRow:
    def panel(title: str, description: str, unit: Unit, counter: str) -> Panel:
        of = rate(node(f"infiniband_{counter}", HOSTS))
        query = Query(top(_SHOWN, per("instance, device", of)), _DEVICE)
        return Panel(title, description, unit, (query,), opens=("host",))

    return BoardRow(
        "Hosts",
        (
            panel(
                "Hosts that wait for credits",
                "Ticks in which a host had data and no credits from its leaf.",
                "cps",
                "port_transmit_wait_total",
            ),
            panel(
                "Hosts with errors", "Packets received with an error.", "pps", "port_errors_received_total"
            ),
            panel(
                "Hosts whose link goes down", "How often links of hosts go down.", "cps", "link_downed_total"
            ),
        ),
    )


def _links() -> BoardRow:
    def lines(title: str, description: str, unit: Unit, **counters: str) -> Panel:
        queries = tuple(
            Query(rate(node(f"infiniband_{counter}", HOST, DEVICE)), f"{_DEVICE} {called}".rstrip())
            for counter, called in counters.items()
        )
        return Panel(title, description, unit, queries)

    data = rate(node("infiniband_port_data_transmitted_bytes_total", HOST, DEVICE))
    share = f"{data} / {node('infiniband_rate_bytes_per_second', HOST, DEVICE)}"
    return BoardRow(
        "Links",
        (
            Panel(
                "Share of the rate sent",
                "What each port sends, as a share of its rate.",
                "percentunit",
                (Query(share, _DEVICE),),
            ),
            lines(
                "Waiting for credits",
                "Ticks in which a port had data and no credits.",
                "cps",
                port_transmit_wait_total="",
            ),
            lines(
                "Errors of the link",
                "Symbol errors, links that recover or go down: a cable or a transceiver.",
                "cps",
                symbol_error_total="symbol errors",
                link_error_recovery_total="recovered",
                link_downed_total="down",
                local_link_integrity_errors_total="integrity",
            ),
            lines(
                "Packets lost",
                "Packets received with an error, and packets discarded at the output.",
                "pps",
                port_errors_received_total="errors",
                port_discards_transmitted_total="discards",
            ),
        ),
    )
