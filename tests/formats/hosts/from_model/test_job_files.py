"""The environment of jobs: what files say of it is what their readers understand, and what the fabric has."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from lossless.formats.device_files.environment import render_template
from lossless.formats.hosts.from_model.scripts import job_files
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.findings import Origin
from lossless.ground.documents import load_text
from lossless.model.fabric.hosts import HostQos, Transport
from tests.formats.hosts.from_model.test_kubernetes_files import hosts
from tests.formats.intent.intent_texts import SHAPE, said_of, spoilt


def host_of(text: str) -> HostQos:
    return resolve(load_intent(load_text(text, "fabric.yaml"))).hosts[0].qos


def files(text: str) -> dict[str, str]:
    """Return the text of each file of the hosts of an intent."""
    return {file.path: render_template(file.template, file.context) for file in job_files(host_of(text))}


def read_by_nccl(text: str) -> dict[str, str]:
    """Return what NCCL makes of its configuration (NVIDIA/nccl src/misc/param.cc @081eafa, setEnvFile).

    A line with ``#`` in front says nothing, the first ``=`` ends the name, nothing is trimmed or unquoted; of values
    1023 bytes are kept, and the first of two settings of a name stays.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not line.startswith("#") and equals:
            found.setdefault(name, value[:1023])
    return found


def jobs(text: str) -> dict[str, str]:
    return read_by_nccl(files(text)["jobs.env"])


def test_an_intent_that_says_nothing_of_jobs_sets_what_the_fabric_needs_and_no_more() -> None:
    assert jobs(SHAPE) == {"NCCL_IB_TC": "106", "NCCL_IB_TIMEOUT": "20", "NCCL_IB_RETRY_CNT": "7"}
    assert read_by_nccl(files(SHAPE)["nccl.conf"]) == jobs(SHAPE)


def test_everything_that_is_stated_is_set() -> None:
    text = spoilt(
        SHAPE,
        hosts(
            "rdma_devices: [mlx5_1, mlx5_2]",
            "nccl: {ib_fifo_tc: 192, ib_gid_index: 3, ib_timeout: 22, ib_retry_count: 6, "
            "ib_qps_per_connection: 4, socket_interfaces: [eth0], gin_ib_tc: 104}",
            "ucx: {gid_index: 3}",
            "mori: {traffic_class: 104}",
            "environment: {NCCL_DEBUG: WARN, UCX_TLS: 'rc,cuda'}",
        ),
    )
    assert jobs(text) == {
        "NCCL_IB_TC": "106",
        "NCCL_IB_FIFO_TC": "192",
        "NCCL_GIN_IB_TC": "104",
        "NCCL_IB_GID_INDEX": "3",
        "NCCL_IB_TIMEOUT": "22",
        "NCCL_IB_RETRY_CNT": "6",
        "NCCL_IB_QPS_PER_CONNECTION": "4",
        "NCCL_SOCKET_IFNAME": "=eth0",
        "NCCL_IB_HCA": "=mlx5_1,mlx5_2",
        "UCX_IB_TRAFFIC_CLASS": "106",
        "UCX_IB_GID_INDEX": "3",
        "UCX_NET_DEVICES": "mlx5_1:1,mlx5_2:1",
        "MORI_RDMA_TC": "104",
        "NCCL_DEBUG": "WARN",
        "UCX_TLS": "rc,cuda",
    }
    assert all(name.startswith("NCCL_") for name in read_by_nccl(files(text)["nccl.conf"]))


def test_one_device_is_not_taken_for_ten_others() -> None:
    chosen = jobs(spoilt(SHAPE, hosts("rdma_devices: [mlx5_1]")))["NCCL_IB_HCA"]
    assert chosen == "=mlx5_1"
    assert not matches(chosen, "mlx5_10")
    assert matches(chosen.removeprefix("="), "mlx5_10")


def matches(listed: str, device: str) -> bool:
    """Return whether NCCL takes a device: by its name with ``=``, without by how it begins (NVIDIA/nccl docs, env)."""
    exact, names = listed.startswith("="), listed.removeprefix("=").split(",")
    return device in names if exact else any(device.startswith(name) for name in names)


@given(st.integers(0, 63).filter(lambda dscp: dscp != 48))
def test_nccl_and_ucx_are_told_the_byte_of_the_lossless_class(dscp: int) -> None:
    text = spoilt(SHAPE, ("dscp: 26, priority: 3", f"dscp: {dscp}, priority: 3"), hosts("ucx: {}"))
    told = jobs(text)
    assert told["NCCL_IB_TC"] == told["UCX_IB_TRAFFIC_CLASS"]
    assert int(told["NCCL_IB_TC"]) >> 2 == dscp


def test_where_jobs_set_their_byte_themselves_none_is_set() -> None:
    assert "NCCL_IB_TC" not in jobs(spoilt(SHAPE, hosts("traffic_class: unset", "ucx: {}")))
    assert "UCX_IB_TRAFFIC_CLASS" not in jobs(spoilt(SHAPE, hosts("traffic_class: unset", "ucx: {}")))


def test_a_stated_byte_counts_before_that_of_the_hosts() -> None:
    text = spoilt(SHAPE, hosts("nccl: {ib_tc: 104}", "ucx: {traffic_class: 98}"))
    assert (jobs(text)["NCCL_IB_TC"], jobs(text)["UCX_IB_TRAFFIC_CLASS"]) == ("104", "98")


@given(st.integers(1, 31), st.integers(0, 7))
def test_a_file_says_how_long_a_queue_pair_waits(timeout: int, retries: int) -> None:
    text = files(spoilt(SHAPE, hosts(f"nccl: {{ib_timeout: {timeout}, ib_retry_count: {retries}}}")))[
        "nccl.conf"
    ]
    told = read_by_nccl(text)
    patience_s = 4.096e-6 * 2 ** int(told["NCCL_IB_TIMEOUT"]) * (int(told["NCCL_IB_RETRY_CNT"]) + 1)
    assert f"= {patience_s:.1f} s." in text
    patience_ns = Transport(timeout, retries, Origin("fabric.yaml")).patience_ns
    assert patience_ns is not None
    assert abs(patience_ns / 10**9 - patience_s) < 1e-6


def test_a_queue_pair_without_a_timeout_never_gives_up() -> None:
    text = spoilt(SHAPE, hosts("nccl: {ib_timeout: 0}"))
    assert "never gives up" in files(text)["nccl.conf"]


def test_lines_are_names_and_values_that_no_reader_must_unquote() -> None:
    for text in files(spoilt(SHAPE, hosts("environment: {A: 'x/y:1,2=3^%+@', B_2: -1}"))).values():
        for line in text.splitlines():
            assert line.startswith("# ") or re.fullmatch(r"[A-Z][A-Z0-9_]*=[A-Za-z0-9_./:,=^+%@-]+", line), (
                line
            )


def test_the_environment_of_a_host_names_where_each_value_was_written() -> None:
    qos = host_of(spoilt(SHAPE, hosts("nccl: {ib_timeout: 22}", "environment: {NCCL_DEBUG: WARN}")))
    places = {variable.name: ".".join(map(str, variable.origin.path)) for variable in qos.jobs.variables}
    assert places["NCCL_IB_TIMEOUT"] == "hosts.nccl.ib_timeout"
    assert places["NCCL_DEBUG"] == "hosts.environment.NCCL_DEBUG"
    assert places["NCCL_IB_RETRY_CNT"] == "hosts.nccl"


REFUSED: dict[str, tuple[str, str]] = {
    "blank": (
        "environment: {NCCL_NET: AWS Libfabric}",
        "13:27: hosts.environment.NCCL_NET: 'AWS Libfabric' cannot stand in every file that it goes into; "
        "expected 1 to 255 letters, digits and any of _ . / : , = ^ + % @ -",
    ),
    "shell": (
        'environment: {X: "$(reboot)"}',
        "13:20: hosts.environment.X: '$(reboot)' cannot stand in every file that it goes into; expected 1 to 255 "
        "letters, digits and any of _ . / : , = ^ + % @ -",
    ),
    "two-lines": (
        'environment: {X: "1\\nNCCL_IB_TC=0"}',
        "13:20: hosts.environment.X: '1\\nNCCL_IB_TC=0' cannot stand in every file that it goes into; expected 1 "
        "to 255 letters, digits and any of _ . / : , = ^ + % @ -",
    ),
    "name": (
        "environment: {export X: 1}",
        "13:17: hosts.environment: 'export X' is no variable; expected at most 64 capital letters, digits and "
        "'_', beginning with a letter",
    ),
    "word": (
        "environment: {NCCL_CROSS_NIC: true}",
        "13:33: hosts.environment.NCCL_CROSS_NIC: true is no text; write 1 or 0, or the word in quotes",
    ),
    "list": (
        "environment: {X: [1]}",
        "13:20: hosts.environment.X: expected a number or text, found a list",
    ),
    "no-mapping": (
        "environment: [X]",
        "13:16: hosts.environment: expected a mapping of variables, found a list",
    ),
    "own-key": (
        "environment: {NCCL_IB_TC: 106}",
        "13:17: hosts.environment: NCCL_IB_TC is set by hosts.nccl.ib_tc",
    ),
    "interface": (
        'nccl: {socket_interfaces: ["eth0; rm -rf /"]}',
        "13:29: hosts.nccl.socket_interfaces: 'eth0; rm -rf /' is not an interface name; expected at most 15 "
        "letters, digits, '.', '_' and '-', beginning with a letter or digit",
    ),
    "interface-outside": (
        "nccl: {socket_interfaces: [../../x]}",
        "13:29: hosts.nccl.socket_interfaces: '../../x' is not an interface name; expected at most 15 letters, "
        "digits, '.', '_' and '-', beginning with a letter or digit",
    ),
    "gid": (
        "ucx: {gid_index: 256}",
        "13:20: hosts.ucx.gid_index: 256 is not an index of the GID table; expected a whole number from 0 to 255",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_stand_in_a_file_is_refused_at_its_place(case: str) -> None:
    line, said = REFUSED[case]
    assert said_of(spoilt(SHAPE, hosts(line))) == [said]
