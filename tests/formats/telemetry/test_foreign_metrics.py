"""Names that other people's exporters give: as a real node_exporter writes them, gated by the release that has them."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from lossless.formats.telemetry.metrics import (
    FOREIGN,
    HW_COUNTERS_SINCE,
    ethtool_metric,
    pause_counters,
)
from tests.formats.telemetry.grafana.test_boards import expressions, metrics
from tests.formats.telemetry.promtool import Scrape, as_grafana_asks, input_series, without_data
from tests.real_tools import program

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "prometheus-node-exporter"
HOST = {"fabric": "roce-256", "job": "lossless-hosts", "instance": "host1"}
CAPTURE = "captures/state/hosts"


def release(text: str) -> tuple[int, ...]:
    """Return a release as numbers that compare."""
    return tuple(map(int, text.split(".")))


@pytest.mark.parametrize(
    ("counter", "metric"),
    [
        ("rx_prio3_pause", "node_ethtool_received_prio3_pause"),
        ("pfc_pri3_rx_duration_us", "node_ethtool_pfc_pri3_received_duration_us"),
        # From node_exporter's own tests, collector/ethtool_linux_test.go.
        ("port.rx_errors", "node_ethtool_port_received_errors"),
        ("Queue[0] AllocFails", "node_ethtool_queue_0_allocfails"),
        ("Tx LPI entry count", "node_ethtool_transmitted_lpi_entry_count"),
        ("[3]: tx_bytes", "node_ethtool_3_transmitted_bytes"),
        ("     err", "node_ethtool_err"),
    ],
)
def test_counters_of_drivers_get_the_names_that_node_exporter_gives_them(counter: str, metric: str) -> None:
    assert f"node_{ethtool_metric(counter)}" == metric


@pytest.mark.parametrize("driver", ["mlx5", "bnxt_re"])
def test_pauses_of_known_drivers_are_in_the_catalogue(driver: str) -> None:
    for priority in range(8):
        named = pause_counters(driver, priority)
        assert named is not None
        assert {f"node_{ethtool_metric(counter)}" for counter in named if counter} <= FOREIGN.keys()


def test_a_driver_that_nobody_knows_has_none() -> None:
    assert pause_counters("irdma", 3) is None


def test_pauses_of_broadcom_are_called_as_its_driver_prints_them(reference: Path) -> None:
    printed = (reference / CAPTURE / "ethtool/ethq-bnxt_en.txt").read_text(encoding="utf-8")
    named = pause_counters("bnxt_re", 3)
    assert named is not None
    assert named.drops is None
    assert set(filter(None, named)) <= set(re.findall(r"^\s*(\w+):", printed, re.MULTILINE))


@pytest.fixture
def port_counters(reference: Path, tmp_path: Path) -> Path:
    """Return a sysfs with the RDMA device of a capture."""
    lines = (reference / CAPTURE / "sysfs/procfs/mlx5_0.txt").read_text(encoding="utf-8").splitlines()
    device = tmp_path / "class/infiniband/mlx5_0"
    for path, value in (line.split("=", 1) for line in lines if not line.startswith("#") and "=" in line):
        (device / path).parent.mkdir(parents=True, exist_ok=True)
        (device / path).write_text(f"{value}\n", encoding="utf-8")
    return tmp_path


def exposed(sysfs: Path) -> str:
    """Return what node_exporter exposes of the RDMA devices of a sysfs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    flags = ("--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={sysfs}")
    with subprocess.Popen(
        [program(PROGRAM), *flags, f"--web.listen-address={address}"], stderr=subprocess.PIPE
    ) as started:
        try:
            return _answer(f"http://{address}/metrics", started)
        finally:
            started.terminate()


def _answer(url: str, started: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        try:
            with urlopen(url, timeout=30) as answer:
                return str(answer.read(), "utf-8")
        except URLError:
            assert started.poll() is None, started.stderr and started.stderr.read()
            time.sleep(0.05)
    raise AssertionError(f"{PROGRAM} does not answer")


@pytest.mark.tools("prometheus")
def test_a_real_node_exporter_has_what_its_release_should_have(port_counters: Path) -> None:
    version = subprocess.run([program(PROGRAM), "--version"], capture_output=True, text=True, check=True)
    runs = release(re.findall(r"version (\d+\.\d+\.\d+)", version.stdout + version.stderr)[0])
    found = set(re.findall(r"^node_infiniband_\w+", exposed(port_counters), re.MULTILINE))
    infiniband = {name: metric for name, metric in FOREIGN.items() if name.startswith("node_infiniband_")}
    # The capture has no such file.
    absent = {"node_infiniband_np_cnp_packets_sent_total"} - found
    due = {name for name, metric in infiniband.items() if release(metric.since) <= runs}
    assert due - absent <= found
    assert not found & (infiniband.keys() - due)


@pytest.mark.tools("prometheus")
def test_queries_give_data_on_what_a_real_node_exporter_exposes(port_counters: Path, tmp_path: Path) -> None:
    """Of its release: queries of hw_counters and of ethtool are left out."""
    text = exposed(port_counters)
    found = set(re.findall(r"^node_infiniband_\w+", text, re.MULTILINE))
    asked = [
        as_grafana_asks(expression)
        for expression in expressions()
        if (names := metrics(expression)) and names <= found and "> 0" not in expression
    ]
    assert len(asked) >= 8
    assert without_data(tmp_path, input_series([[Scrape(text, HOST)]] * 3), asked, 30) == []


@pytest.mark.tools("prometheus")
def test_queries_of_hw_counters_give_data_on_captured_ones(reference: Path, tmp_path: Path) -> None:
    """What a newer node_exporter makes of the files of a capture, by the names of its source."""
    from lossless.formats.hosts.state.prometheus import _INFINIBAND as SYSFS

    lines = (reference / CAPTURE / "sysfs/procfs/mlx5_0.txt").read_text(encoding="utf-8").splitlines()
    values = {
        line.split("=")[0].rpartition("/")[2]: line.split("=")[1] for line in lines if "hw_counters" in line
    }
    hardware = {name for name, metric in FOREIGN.items() if metric.since == HW_COUNTERS_SINCE}
    samples = {
        name: values[file]
        for name in hardware
        if (file := SYSFS[name.removeprefix("node_infiniband_")]) in values
    }
    text = "\n".join(f'{name}{{device="mlx5_0",port="1"}} {value}' for name, value in samples.items())
    asked = [
        as_grafana_asks(expression)
        for expression in expressions()
        if (names := metrics(expression)) and names <= samples.keys() and "> 0" not in expression
    ]
    assert len(asked) >= 6
    assert without_data(tmp_path, input_series([[Scrape(text, HOST)]] * 3), asked, 30) == []
