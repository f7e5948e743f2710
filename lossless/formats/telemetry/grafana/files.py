"""The dashboards of a fabric or a subnet as files, with the provider that loads them into Grafana."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.grafana.build import dashboards
from lossless.formats.telemetry.grafana.fabric_board import fabric_board
from lossless.formats.telemetry.grafana.host_board import host_board
from lossless.formats.telemetry.grafana.storm_board import storm_board
from lossless.formats.telemetry.grafana.subnet_boards import subnet_fabric_board, subnet_host_board
from lossless.formats.telemetry.grafana.switch_board import switch_board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.telemetry.grafana.board import Board
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

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
    """Return the dashboards of a fabric; none for a network that a cloud provider operates."""
    if not fabric.switches:
        return ()
    hosts = (host_board(fabric),) if fabric.hosts else ()
    storm = (storm_board(fabric),) if fabric.classes.lossless else ()
    return (fabric_board(fabric), switch_board(fabric), *hosts, *storm)


def boards_of_subnet(subnet: Subnet) -> tuple[Board, ...]:
    """Return the dashboards of an InfiniBand subnet."""
    return (subnet_fabric_board(subnet), subnet_host_board(subnet))


def dashboard_files(fabric: Fabric) -> dict[str, str]:
    """Return the files of a fabric, by their path below the folder of telemetry.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    return _files(fabric.name, boards_of(fabric))


def subnet_dashboard_files(subnet: Subnet) -> dict[str, str]:
    """Return the files of an InfiniBand subnet, by their path below the folder of telemetry.

    Raises:
        RenderError: ``grafana-foundation-sdk`` is not installed.
    """
    return _files(subnet.name, boards_of_subnet(subnet))


def _files(name: str, boards: Sequence[Board]) -> dict[str, str]:
    if not boards:
        return {}
    texts = dashboards(name, boards)
    return {f"{FOLDER}/{file}": text for file, text in texts.items()} | {PROVIDER: _PROVIDER}
