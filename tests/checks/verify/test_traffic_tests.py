"""Traffic tests get the verdicts of the authors of public reports, and by the pass marks of a configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lossless.api import Options, verify
from lossless.output.report.lint.json_format import json_text
from tests.output.report.contract import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lossless.api import Report

GIB = 1 << 30


class Collective(NamedTuple):
    """One run of nccl-tests: the hosts with their GPUs, the name of the test, and busbw in GB/s by size in bytes."""

    hosts: Sequence[str]
    gpus: int
    busbw: Mapping[int, float]
    name: str = "all_reduce"
    wrong: int = 0
    command: str = ""
    named: bool = True
    factor: float = 0.0

    @property
    def text(self) -> str:
        """The run as nccl-tests prints it (src/util.cu)."""
        ranks = len(self.hosts) * self.gpus
        lines = [self.command] if self.command else []
        lines += [f"# Collective test starting: {self.name}_perf"] if self.named else []
        lines += [
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20"
        ]
        lines += ["#", "# Using devices"]
        lines += [
            f"#  Rank {rank:2d} Group  0 Pid {1000 + rank:6d} on {self.hosts[rank // self.gpus]:>10} "
            f"device {rank % self.gpus:2d} [0000:1b:00] NVIDIA H100 80GB HBM3"
            for rank in range(ranks)
        ]
        heading = "time   algbw   busbw #wrong"
        lines += ["#", f"#       size         count      type   redop    root     {heading}     {heading}"]
        lines += ["#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"]
        factor = self.factor or {"all_reduce": 2 * (ranks - 1) / ranks}.get(self.name, (ranks - 1) / ranks)
        for size, busbw in self.busbw.items():
            algbw = busbw / factor
            cells = f"{size / algbw / 1e3:7.0f}  {algbw:6.2f}  {busbw:6.2f}"
            lines.append(
                f"{size:12d}  {size // 4:12d}     float     sum      -1  {cells}  {self.wrong:5d}  {cells}      0"
            )
        verdict = f"{self.wrong} FAILED" if self.wrong else "0 OK"
        return "\n".join([*lines, f"# Out of bounds values : {verdict}", "# Avg bus bandwidth    : 1.0", ""])


def ibstat(rates: Mapping[str, int], layer: str = "InfiniBand") -> str:
    """Return what ibstat prints of ports with some rates in Gb/s."""
    return "".join(
        f"CA '{name}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n"
        f"\t\tPhysical state: LinkUp\n\t\tRate: {rate}\n\t\tLink layer: {layer}\n"
        for name, rate in rates.items()
    )


def perftest(average: float, unit: str = "Gb", kind: str = "RDMA_Write", **given: object) -> str:
    """Return what perftest prints of one message size (src/perftest_parameters.c)."""
    said = {"device": "mlx5_0", "qps": 1, "mtu": 4096, "link": "IB", "size": 65536} | given
    return (
        f"---------------------------------------\n                    {kind} BW Test\n"
        f" Dual-port       : OFF\t\tDevice         : {said['device']}\n"
        f" Number of qps   : {said['qps']}\t\tTransport type : IB\n"
        " Connection type : RC\t\tUsing SRQ      : OFF\n PCIe relax order: ON\n TX depth        : 128\n"
        f" Mtu             : {said['mtu']}[B]\n Link type       : {said['link']}\n"
        "---------------------------------------\n"
        f" #bytes     #iterations    BW peak[{unit}/sec]    BW average[{unit}/sec]   MsgRate[Mpps]\n"
        f" {said['size']}      5000             {average:.2f}            {average:.2f}\t\t   0.183487\n"
    )


def nics(count: int, rate: int) -> dict[str, int]:
    return {f"mlx5_{number}": rate for number in range(count)}


def of(folder: Path, *texts: str, host: str = "host1") -> Report:
    """Return the report on texts of one host, each in a file of its own."""
    (folder / host).mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / host / f"capture{number}.txt").write_text(text)
    report = verify([folder], options=Options(configured=True))
    assert report.errors == ()
    return report


def outcomes(report: Report) -> list[str]:
    return [test.outcome for test in report.tests]


def found(report: Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in report.findings]


PAIR = ("host1", "host2")


class Published(NamedTuple):
    """A public report: its source, the figures in it, and what its authors concluded."""

    source: str
    texts: tuple[str, ...]
    outcome: str
    note: str


READ_FIRST = [
    Published(
        "nccl-tests#119: two hosts of 8 A100 and 4 x 200 Gb/s; 96 GB/s is the target, and reached",
        (
            ibstat(nics(4, 200)),
            Collective(PAIR, 8, {131072008: 95.5, 132120584: 96.69, 133169160: 95.94}).text,
        ),
        "as expected",
        "4 x 200 Gb/s, 100 GB/s",
    ),
    Published(
        "nccl-tests#153: two hosts of 8 H800 and 8 x 100 Gb/s reach 161 GB/s by NVLS",
        (ibstat(nics(8, 100)), Collective(PAIR, 8, {8 * GIB: 161.0}).text),
        "above the NICs",
        "on two hosts Tree and NVLSTree",
    ),
    Published(
        "nccl#700: one NIC of 200 Gb/s carries 9.84 GB/s: a mistake on the host, ACS is suspected",
        (
            ibstat(nics(4, 200), "Ethernet"),
            Collective(
                PAIR,
                8,
                {GIB: 9.84, 8 * GIB: 9.84},
                command="mpirun -np 16 -H host1:8,host2:8 -x NCCL_IB_HCA=mlx5_0 ./build/all_reduce_perf -b 1G -e 8G",
                named=False,
            ).text,
        ),
        "too low",
        "1 NICs of host1: 1 x 200 Gb/s, 25 GB/s",
    ),
    Published(
        "nccl#2409: 8 x 400 Gb/s, perftest at line rate, 231 GB/s by NCCL; its cause is not in the report",
        (ibstat(nics(8, 400), "Ethernet"), Collective(PAIR, 8, {GIB: 216.5, 8 * GIB: 231.0}).text),
        "too low",
        "8 x 400 Gb/s, 400 GB/s",
    ),
    Published(
        "nccl#2409: the same ports reach 392 Gb/s in perftest",
        (ibstat(nics(8, 400), "Ethernet"), perftest(392.0, link="Ethernet")),
        "as expected",
        "mlx5_0 has 400 Gb/s",
    ),
    Published(
        "perftest#225: 11,728.47 MB/sec at 100 Gb/s are within the expected range",
        (ibstat({"mlx5_0": 100}), perftest(11728.47, "MB")),
        "as expected",
        "an MTU of 4096 leaves 99.4% of it",
    ),
    Published(
        "nccl-tests#232: one H100 with 4 x 400 Gb/s reaches 50 of 200 GB/s; one GPU feeds all four",
        (
            ibstat(nics(4, 400)),
            Collective(
                PAIR,
                1,
                {8 * GIB: 49.8, 16 * GIB: 50.0},
                command="mpirun -x NCCL_ALGO=Tree -np 2 ./all_reduce_perf -b 2M -e 16G -f 2",
            ).text,
        ),
        "too low",
        "its PCIe link may be the limit",
    ),
]

READ_LAST = [
    Published(
        "nccl-tests#309: four hosts of 8 H100 and 8 x 400 Gb/s reach 365.84 GB/s, which is accepted",
        (ibstat(nics(8, 400)), Collective(("a", "b", "c", "d"), 8, {8 * GIB: 365.2, 16 * GIB: 365.84}).text),
        "as expected",
        "8 x 400 Gb/s, 400 GB/s",
    ),
    Published(
        "nccl-tests#309: two of them reach 470 GB/s by NVLSTree",
        (ibstat(nics(8, 400)), Collective(PAIR, 8, {16 * GIB: 470.0}).text),
        "above the NICs",
        "on two hosts Tree and NVLSTree",
    ),
    Published(
        "nccl-tests#169: six hosts with 8 x 100 Gb/s reach 40 GB/s; the cause is not in the report",
        (ibstat(nics(8, 100), "Ethernet"), Collective("abcdef", 8, {GIB: 40.0, 8 * GIB: 40.0}).text),
        "too low",
        "8 x 100 Gb/s, 100 GB/s",
    ),
    Published(
        "nccl-tests#283: 248 hosts drop below 300 GB/s with 512 MiB; the cause is not in the report",
        (ibstat(nics(8, 400)), Collective([f"n{at}" for at in range(248)], 8, {GIB // 2: 299.0}).text),
        "not checked",
        "the curve is not flat",
    ),
    Published(
        "nccl-tests#265: a bond of 2 x 200 Gb/s carries 395 Gb/s in perftest",
        (
            ibstat({"mlx5_bond_0": 400}, "Ethernet"),
            perftest(395.0, device="mlx5_bond_0", qps=8, link="Ethernet"),
        ),
        "as expected",
        "mlx5_bond_0 has 400 Gb/s",
    ),
    Published(
        "nccl-tests#265: NCCL gets 240 Gb/s of it, half of what is expected",
        (ibstat({"mlx5_bond_0": 400}, "Ethernet"), Collective(PAIR, 1, {8 * GIB: 30.0}).text),
        "too low",
        "1 x 400 Gb/s, 50 GB/s",
    ),
    Published(
        "nccl#412: 15.3 GB/s on twelve hosts with one NIC of 200 Gb/s; 24 GB/s are expected of a NIC at a PCI switch",
        (ibstat(nics(1, 200)), Collective([f"n{at}" for at in range(12)], 8, {8 * GIB: 15.3}).text),
        "too low",
        "1 x 200 Gb/s, 25 GB/s",
    ),
    Published(
        "dgx-spark-playbooks#102: 3.04 GB/s over one cable of 200 Gb/s that is two devices of 100 Gb/s",
        (
            ibstat({"rocep1s0f0": 100, "roceP2p1s0f0": 100}, "Ethernet"),
            Collective(PAIR, 1, {8 * GIB: 3.04, 16 * GIB: 3.04}, "all_gather").text,
        ),
        "too low",
        "2 x 100 Gb/s, 25 GB/s",
    ),
    Published(
        "dgx-spark-playbooks#103: 23.74 GB/s once NCCL is built from its release",
        (
            ibstat({"rocep1s0f0": 100, "roceP2p1s0f0": 100}, "Ethernet"),
            Collective(PAIR, 1, {8 * GIB: 23.7, 16 * GIB: 23.74}, "all_gather").text,
        ),
        "as expected",
        "2 x 100 Gb/s, 25 GB/s",
    ),
]

ALONE = "".join(Collective((host,), 1, {}).text.partition("# Out")[0] for host in "abc")
THROUGH_THE_NIC = (
    "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_bond_0:1/RoCE ; OOB bond0:10.0.0.1<0>\n"
    "h:1:2 [0] NCCL INFO NCCL_SHM_DISABLE set by environment to 1.\n"
    "h:1:2 [0] NCCL INFO Channel 00 : 0[52000] -> 1[57000] [send] via NET/IB/0\n"
)


def by_part(text: str) -> str:
    """Return a run with the mark of its process before each part of a line that was written at once."""
    marked = [
        line.replace("     -1  ", "     -1[0]  ").replace("      0  ", "      0[0]  ")
        for line in text.splitlines()
    ]
    return "".join(f"[0]{line}\n" for line in marked)


READ_UNSEEN = [
    Published(
        "nccl#949: 48 GB/s by a ring are the line rate of 2 x 200 Gb/s, once ACS is off",
        (ibstat(nics(2, 200)), Collective(PAIR, 8, {8 * GIB: 48.0}, command="-x NCCL_ALGO=RING").text),
        "as expected",
        "2 x 200 Gb/s, 50 GB/s",
    ),
    Published(
        "nccl#949: 56 % of it before",
        (ibstat(nics(2, 200)), Collective(PAIR, 8, {8 * GIB: 28.0}, command="-x NCCL_ALGO=RING").text),
        "too low",
        "2 x 200 Gb/s, 50 GB/s",
    ),
    Published(
        "nccl#1453: 5.3 GB/s of eight NICs, here of 400 Gb/s, in lines of which each part is marked",
        (ibstat(nics(8, 400)), by_part(Collective(PAIR, 8, {GIB // 2: 5.31, GIB: 5.35}).text)),
        "too low",
        "8 x 400 Gb/s, 400 GB/s",
    ),
    Published(
        "nccl-tests#152: 30 of 100 GB/s",
        (ibstat(nics(4, 200)), Collective(("gpu32", "gpu37"), 8, {GIB: 30.0, 4 * GIB: 30.2}).text),
        "too low",
        "4 x 200 Gb/s, 100 GB/s",
    ),
    Published(
        "nccl#495: 75 of 100 GB/s are a bit low",
        (ibstat(nics(8, 100), "Ethernet"), Collective(PAIR, 8, {GIB: 75.0, 2 * GIB: 75.1}).text),
        "too low",
        "8 x 100 Gb/s, 100 GB/s",
    ),
    Published(
        "nccl#1454: 14 GB/s on 300 hosts with four NICs, here of 400 Gb/s; the cause is not in the report",
        (ibstat(nics(4, 400)), Collective([f"n{at}" for at in range(300)], 8, {8 * GIB: 14.0}).text),
        "too low",
        "4 x 400 Gb/s, 200 GB/s",
    ),
    Published(
        "nccl#1184: wrong values over a bond",
        (ibstat(nics(1, 200)), Collective(PAIR, 8, {262144: 0.81, 524288: 0.79}, wrong=237858).text),
        "wrong data",
        "237,858 wrong values",
    ),
    Published(
        "nccl-tests#71: average 0 on four hosts, as each process ran by itself",
        (ibstat(nics(1, 100)), ALONE + Collective(("d",), 1, {GIB: 0.001}, factor=1.0).text),
        "not checked",
        "each process ran by itself",
    ),
    Published(
        "nccl-tests#29: 6 of 50 GB/s on four hosts, as GPUDirect RDMA is off",
        (ibstat(nics(4, 100)), Collective(("a", "b", "c", "d"), 8, {GIB // 4: 6.0, GIB // 2: 6.1}).text),
        "too low",
        "4 x 100 Gb/s, 50 GB/s",
    ),
    Published(
        "nccl#243: 5.7 GB/s of 2 x 100 Gb/s, whatever the number of NICs; the cause is not in the report",
        (ibstat(nics(2, 100)), Collective(PAIR, 1, {GIB: 5.7, 3 * GIB: 5.71}).text),
        "too low",
        "2 x 100 Gb/s, 25 GB/s",
    ),
    Published(
        "ucx#8851: ib_read_bw reaches 23 GB/s of 200 Gb/s",
        (
            ibstat({"mlx5_1": 200}),
            perftest(23300.0, "MB", kind="RDMA_Read", device="mlx5_1", size=8388608),
        ),
        "as expected",
        "mlx5_1 has 200 Gb/s",
    ),
    Published(
        "nv_peer_memory#78: two GPUs of one host through its NIC",
        (THROUGH_THE_NIC + Collective(("h",), 2, {GIB: 9.0}).text,),
        "not checked",
        "the share that NET carried in its log is unknown",
    ),
]


@pytest.mark.parametrize(
    "report",
    [*READ_FIRST, *READ_LAST, *READ_UNSEEN],
    ids=lambda report: report.source.partition(":")[0],
)
def test_published_results_get_the_verdict_of_their_authors(report: Published, tmp_path: Path) -> None:
    (test,) = of(tmp_path, *report.texts).tests
    assert (test.outcome, report.note in test.note) == (report.outcome, True), test


def test_one_slow_host_is_named_by_its_partners(tmp_path: Path) -> None:
    """NVIDIA/nccl-tests#106: the maintainers conclude that node 644 has a problem; 284 or 678 has one too."""
    pairs = {
        ("se02gn644", "se02gn699"): 49.36,
        ("se02gn632", "se02gn641"): 88.36,
        ("se02gn284", "se02gn678"): 49.28,
        ("se02gn641", "se02gn644"): 49.30,
        ("se02gn404", "se02gn699"): 86.81,
    }
    report = of(tmp_path, "".join(Collective(pair, 8, {8 * GIB: rate}).text for pair, rate in pairs.items()))
    assert {(f.code, f.elements) for f in report.findings} == {
        ("HCT015", ("se02gn284", "se02gn678")),
        ("HCT015", ("se02gn644",)),
    }


def test_equal_pairs_and_two_tests_have_no_outlier(tmp_path: Path) -> None:
    pairs = {("a", "b"): 88.4, ("c", "d"): 86.8, ("a", "d"): 80.0}
    same = "".join(Collective(pair, 8, {8 * GIB: rate}).text for pair, rate in pairs.items())
    assert found(of(tmp_path, same)) == []
    two = "".join(
        Collective(pair, 8, {8 * GIB: rate}).text for pair, rate in ((PAIR, 88.0), (("a", "b"), 40.0))
    )
    assert found(of(tmp_path, two)) == []


def test_a_partner_that_is_fast_elsewhere_is_not_named(tmp_path: Path) -> None:
    pairs = {("a", "b"): 44.0, ("a", "c"): 88.0, ("c", "d"): 88.0}
    report = of(tmp_path, "".join(Collective(pair, 8, {8 * GIB: rate}).text for pair, rate in pairs.items()))
    assert [(f.code, f.elements) for f in report.findings] == [("HCT015", ("b",))]


REACHED = {"mlx5_0": 197.0, "mlx5_1": 120.0}


class TestPorts:
    """Ports of three hosts, of each a result of perftest."""

    def _report(self, folder: Path, rates: Mapping[str, int]) -> Report:
        for host in ("a", "b", "c"):
            texts = [perftest(rate, device=name) for name, rate in REACHED.items()]
            report = of(folder, ibstat(rates), *texts, host=host) if rates else of(folder, *texts, host=host)
        return report

    def test_a_rail_that_is_slow_at_every_host_is_named(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, {"mlx5_0": 200, "mlx5_1": 200})
        outliers = [f.elements for f in report.findings if f.code == "HCT015"]
        assert outliers == [("mlx5_1",)]

    @pytest.mark.parametrize("rates", [{"mlx5_0": 200, "mlx5_1": 100}, {}])
    def test_ports_of_other_or_unknown_rates_are_not_compared(
        self, rates: Mapping[str, int], tmp_path: Path
    ) -> None:
        assert [f for f in self._report(tmp_path, rates).findings if f.code == "HCT015"] == []


class TestWrongData:
    def test_it_is_an_error_and_no_bandwidth_is_checked(self, tmp_path: Path) -> None:
        text = Collective(PAIR, 8, {8 * GIB: 30.0}, wrong=7).text
        report = of(tmp_path, ibstat(nics(8, 400)), text)
        assert (found(report), outcomes(report)) == ([("HCT013", "error")], ["wrong data"])

    def test_a_deviation_of_an_old_version_is_none(self, tmp_path: Path) -> None:
        text = (
            Collective(PAIR, 8, {8 * GIB: 96.0})
            .text.replace("#wrong", " error")
            .replace("      0\n", "  2e-06\n")
        )
        assert outcomes(of(tmp_path, ibstat(nics(4, 200)), text)) == ["as expected"]


class TestExpectedRange:
    @pytest.mark.parametrize(
        ("name", "hosts", "busbw", "outcome"),
        [
            ("all_reduce", 2, 187.6, "too high"),  # 100 GB/s x 15/16 x 2 at most
            ("all_reduce", 2, 185.0, "above the NICs"),
            ("all_reduce", 2, 87.0, "as expected"),
            ("all_reduce", 2, 85.0, "too low"),
            ("all_gather", 4, 96.0, "as expected"),
            ("alltoall", 2, 22.0, "as expected"),  # 12.5 GB/s of one NIC x 15/8
            ("alltoall", 2, 19.0, "too low"),
            ("alltoall", 8, 13.0, "as expected"),
            ("alltoall", 8, 15.0, "too high"),
            ("sendrecv", 2, 12.0, "as expected"),
            ("gather", 2, 12.0, "not checked"),
        ],
    )
    def test_by_collective_and_number_of_hosts(
        self, name: str, hosts: int, busbw: float, outcome: str, tmp_path: Path
    ) -> None:
        names = [f"host{number}" for number in range(1, hosts + 1)]
        run = Collective(names, 8, {8 * GIB: busbw * 1.02 if outcome == "too high" else busbw}, name)
        assert outcomes(of(tmp_path, ibstat(nics(8, 100)), run.text)) == [outcome]

    def test_a_ring_that_exceeds_the_nics_used_others(self, tmp_path: Path) -> None:
        run = Collective(PAIR, 8, {8 * GIB: 150.0}, command="mpirun -x NCCL_ALGO=RING all_reduce_perf -b 8G")
        report = of(tmp_path, ibstat(nics(8, 100)), run.text)
        assert (outcomes(report), found(report)) == (["too high"], [("HCT014", "info")])

    def test_a_curve_that_still_rises_is_not_checked(self, tmp_path: Path) -> None:
        run = Collective(PAIR, 8, {1 << 20: 20.0, 1 << 21: 40.0})
        report = of(tmp_path, ibstat(nics(8, 100)), run.text)
        assert (outcomes(report), found(report)) == (["not checked"], [])

    def test_the_intent_has_the_rates(self, tmp_path: Path) -> None:
        from tests.checks.verify.running import INTENT

        (tmp_path / "fabric.yaml").write_text(INTENT["fabric.yaml"])
        (test,) = of(tmp_path, Collective(PAIR, 8, {8 * GIB: 40.0}).text).tests
        assert "by the intent" in test.note


class TestNotComparable:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (Collective(("host1",), 8, {8 * GIB: 480.0}).text, "all ranks are on host1"),
            (
                "".join(Collective((host,), 2, {}).text.partition("# Out")[0] for host in PAIR)
                + Collective(("host1",), 2, {8 * GIB: 9.0}).text,
                "each process ran by itself",
            ),
            (Collective((), 8, {8 * GIB: 9.0}, factor=1.0).text, "names no hosts"),
            (Collective(PAIR, 8, {8 * GIB: 9.0}, "all_gather", named=False).text, "names"),
        ],
    )
    def test_the_reason_is_said(self, text: str, reason: str, tmp_path: Path) -> None:
        (test,) = of(tmp_path, ibstat(nics(8, 400)), text).tests
        assert (test.outcome, reason in test.note) == ("not checked", True), test

    def test_no_rate_of_a_nic(self, tmp_path: Path) -> None:
        report = of(tmp_path, Collective(PAIR, 8, {8 * GIB: 92.7}).text, perftest(96.2))
        assert outcomes(report) == ["not checked", "not checked"]
        assert [item.code for item in report.not_checked] == ["HCT014", "HCT014"]

    def test_a_port_that_is_down_has_no_rate(self, tmp_path: Path) -> None:
        down = ibstat(nics(1, 100)).replace("State: Active", "State: Down")
        assert outcomes(of(tmp_path, down, perftest(96.2))) == ["not checked"]


class TestPerftest:
    def test_both_directions_count_twice(self, tmp_path: Path) -> None:
        both = "RDMA_Write Bidirectional"
        assert outcomes(of(tmp_path, ibstat(nics(1, 100)), perftest(190.0, kind=both))) == ["as expected"]
        assert outcomes(of(tmp_path, ibstat(nics(1, 100)), perftest(99.0, kind=both))) == ["too low"]

    @pytest.mark.parametrize(
        ("average", "unit", "outcome"),
        [(11200.0, "MB", "as expected"), (11200.0, "MiB", "as expected"), (11000.0, "MB", "too low")],
    )
    def test_units_of_two_to_the_twentieth(
        self, average: float, unit: str, outcome: str, tmp_path: Path
    ) -> None:
        """11,200 x 2^20 x 8 are 93.95 Gb/s, and 94 % of 99.4 Gb/s are 93.41."""
        assert outcomes(of(tmp_path, ibstat(nics(1, 100)), perftest(average, unit))) == [outcome]

    def test_one_queue_pair_of_a_bond_measures_one_link(self, tmp_path: Path) -> None:
        one = of(
            tmp_path, ibstat({"mlx5_bond_0": 200}, "Ethernet"), perftest(97.0, device="mlx5_bond_0", mtu=1024)
        )
        assert outcomes(one) == ["not checked"]
        assert "one queue pair of a bond" in one.tests[0].note

    def test_a_small_mtu_lowers_the_expected_rate(self, tmp_path: Path) -> None:
        """NVIDIA/nccl-tests#191: 184.94 Gb/s over 2 x 100 Gb/s with an MTU of 1024 and 8 queue pairs."""
        text = perftest(184.94, device="mlx5_bond_1", mtu=1024, link="Ethernet", qps=8)
        (test,) = of(tmp_path, ibstat({"mlx5_bond_1": 200}, "Ethernet"), text).tests
        assert (test.outcome, round(test.low or 0, 1)) == ("as expected", 185.2)

    @pytest.mark.parametrize(("average", "rate"), [(98.38, 0.187645), (11728.0, 0.187645)])
    def test_json_has_its_unit_from_the_message_rate(
        self, average: float, rate: float, tmp_path: Path
    ) -> None:
        data = {
            "test_info": {
                "test": "RDMA_Write_BW_Test",
                "Dual_port": "OFF",
                "Device": "mlx5_0",
                "Number_of_qps": 1,
                "Mtu": 4096,
                "Link_type": "IB",
            },
            "results": {"MsgSize": 65536, "n_iterations": 5000, "BW_average": average, "MsgRate": rate},
        }
        (test,) = of(tmp_path, ibstat(nics(1, 100)), json.dumps(data, indent=1)).tests
        assert (test.outcome, round(test.measured or 0, 1)) == ("as expected", 98.4)


def test_results_that_are_cut_anywhere_are_no_error(tmp_path: Path) -> None:
    whole = ibstat(nics(2, 100)) + Collective(PAIR, 2, {0: 0.01, 8 * GIB: 20.0}).text + perftest(98.0)
    (tmp_path / "host1").mkdir()
    for end in range(0, len(whole), 7):
        (tmp_path / "host1" / "capture.txt").write_text(whole[:end])
        verify([tmp_path])


def test_json_without_a_size_is_said_not_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(
        '{"test_info": {"test": "RDMA_Write_BW_Test"}, "results": {"BW_average": 98.4, "MsgRate": 0.18}}'
    )
    report = verify([tmp_path])
    assert [problem.message for problem in report.errors] == ["the size of the messages is missing: not read"]


def test_the_report_in_json_has_every_verdict(tmp_path: Path) -> None:
    texts = [perftest(98.0), perftest(60.0), Collective(("host1",), 8, {8 * GIB: 400.0}).text]
    report = parsed(json_text(of(tmp_path, ibstat(nics(1, 100)), *texts)))
    assert [test["outcome"] for test in report["tests"]] == ["as expected", "too low", "not checked"]


def test_pass_marks_can_be_set(tmp_path: Path) -> None:
    texts = (ibstat(nics(8, 100)), Collective(PAIR, 8, {8 * GIB: 80.0}).text)
    assert outcomes(of(tmp_path, *texts)) == ["too low"]
    (tmp_path / "lossless.toml").write_text("[bandwidth]\ncollective = 0.8\n")
    assert outcomes(of(tmp_path, *texts)) == ["as expected"]
    (tmp_path / "lossless.toml").write_text("[bandwidth]\ncollective = 80\n")
    report = verify([tmp_path], options=Options(configured=True))
    assert [problem.message for problem in report.errors] == [
        "collective: 80 is no share; expected a number above 0, up to 1"
    ]


def test_sockets_in_the_log_explain_a_low_result(tmp_path: Path) -> None:
    log = "host1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
    head, _, tail = Collective(PAIR, 8, {8 * GIB: 3.0}).text.partition("#       size")
    (test,) = of(tmp_path, ibstat(nics(8, 100)), f"{head}{log}#       size{tail}").tests
    assert (test.outcome, "TCP carried it" in test.note) == ("too low", True)


@pytest.mark.parametrize(
    ("log", "carried"),
    [
        ("via NET/IB/0/GDRDMA", "RDMA carried it, with GPUDirect (GDRDMA)"),
        ("via NET/IB/0", "RDMA carried it without GPUDirect (GDRDMA)"),
        ("via NET/Socket/0", "TCP carried it, not RDMA"),
    ],
)
def test_the_log_shows_what_carried_any_result(log: str, carried: str, tmp_path: Path) -> None:
    line = f"host1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] {log}\n"
    for rate in (96.0, 30.0):
        head, _, tail = Collective(PAIR, 8, {8 * GIB: rate}).text.partition("#       size")
        (test,) = of(tmp_path, ibstat(nics(8, 100)), f"{head}{line}#       size{tail}").tests
        assert carried in test.note, test


@pytest.mark.parametrize("mark", ["[1,0]<stdout>:", "0: ", "[0] "])
def test_marks_of_launchers_are_left_out(mark: str, tmp_path: Path) -> None:
    text = "".join(f"{mark}{line}\n" for line in Collective(PAIR, 8, {8 * GIB: 96.0}).text.splitlines())
    (test,) = of(tmp_path, ibstat(nics(8, 100)), text).tests
    assert (test.outcome, test.measured) == ("as expected", 96.0)


def test_counters_that_rose_meanwhile_are_named(tmp_path: Path) -> None:
    for folder, count in (("before", 5), ("after", 12350)):
        (tmp_path / folder).mkdir()
        counters = f"link mlx5_0/1 out_of_sequence {count} rx_write_requests {count}\n"
        of(tmp_path / folder, ibstat(nics(1, 100)), counters, perftest(60.0))
    (test,) = verify([tmp_path / "after"], since=[tmp_path / "before"]).tests
    assert (test.outcome, "meanwhile rose out_of_sequence of host1 mlx5_0 by 12,345" in test.note) == (
        "too low",
        True,
    ), test


def test_a_bond_is_known_by_its_interface(tmp_path: Path) -> None:
    report = of(
        tmp_path, ibstat(nics(1, 200), "Ethernet"), "mlx5_0 port 1 ==> bond0 (Up)\n", perftest(98.0, mtu=1024)
    )
    assert "one queue pair of a bond" in report.tests[0].note


class TestLaunchKit:
    """The JSON of ``l8k validate`` (NVIDIA/k8s-launch-kit pkg/networkoperatorplugin/connectivity/result.go)."""

    def _report(self, folder: Path, *pairs: tuple[str, str, float], **given: object) -> Report:
        results = [
            {
                "Test": {
                    "Kind": 4,
                    "SrcNode": source,
                    "DstNode": target,
                    "Rail": "rail-0",
                    "SrcRDMADev": "mlx5_0",
                },
                "OK": rate > 0,
                "BandwidthGbps": rate + 1,
                "Stdout": perftest(rate, link="Ethernet") if rate else "",
                "Family": "ib_write_bw",
            }
            | given
            for source, target, rate in pairs
        ]
        other = {"Test": {"SrcNode": "a", "DstNode": "b"}, "OK": True, "Family": "rping", "Stdout": ""}
        document = {
            "connectivity": {"PingResults": [other, *results], "Summary": {"TotalTests": len(results)}}
        }
        for node in {name for pair in pairs for name in pair[:2]}:
            (folder / node).mkdir(exist_ok=True)
            (folder / node / "ibstat.txt").write_text(ibstat(nics(1, 400), "Ethernet"))
        (folder / "validate.json").write_text(f'{{"version": "ok"}}\n{json.dumps(document)}\n')
        return verify([folder])

    def test_each_pair_is_a_test_of_perftest_at_its_node(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, ("a", "b", 391.0), ("b", "a", 196.0))
        assert [(test.name, test.outcome, test.measured, test.elements) for test in report.tests] == [
            ("RDMA_Write of mlx5_0 to b", "as expected", 391.0, ("a:mlx5_0",)),
            ("RDMA_Write of mlx5_0 to a", "too low", 196.0, ("b:mlx5_0",)),
        ]

    def test_a_node_that_is_slow_with_each_other_is_an_outlier(self, tmp_path: Path) -> None:
        slow = [(source, target, 200.0) for source, target in ("ab", "ba", "ac", "ca")]
        report = self._report(tmp_path, *slow, ("b", "c", 390.0), ("c", "b", 390.0))
        assert [f.elements for f in report.findings if f.code == "HCT015"] == [("a",)]

    def test_a_test_that_failed_is_not_checked_and_one_expected_to_fail_is_none(self, tmp_path: Path) -> None:
        (test,) = self._report(tmp_path, ("a", "b", 0.0), Error="server start").tests
        assert (test.outcome, test.note) == ("not checked", "it failed: server start")
        assert self._report(tmp_path, ("a", "b", 0.0), OK=True).tests == ()


class TestNearestNic:
    """A list of NICs beside the matrix of ``nvidia-smi topo -m``: two GPUs, each with a NIC behind its PCI switch."""

    TOPOLOGY = (
        "\tGPU0\tGPU1\tNIC0\tNIC1\tNIC2\tCPU Affinity\n"
        "GPU0\t X \tNV18\tPIX\tSYS\tNODE\t0-55\n"
        "GPU1\tNV18\t X \tSYS\tPXB\tSYS\t56-111\n"
        "NIC Legend:\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: mlx5_2\n"
    )

    def _found(
        self,
        folder: Path,
        hca: str,
        ports: str | None = None,
        topology: str = TOPOLOGY,
        gpus: int = 2,
    ) -> list[tuple[str, tuple[str, ...]]]:
        command = f"mpirun -x NCCL_IB_HCA={hca} all_reduce_perf -b 8G"
        test = Collective(PAIR, gpus, {8 * GIB: 48.0}, command=command).text
        report = of(folder, ibstat(nics(2, 400)) if ports is None else ports, topology, test)
        return [(f.severity, f.elements) for f in report.findings if f.code == "HCT020"]

    @pytest.mark.parametrize("hca", ["mlx5_0", "=mlx5_0", "^mlx5_1,mlx5_2", "mlx5_0:1"])
    def test_the_nearest_one_that_is_left_out_is_named(self, hca: str, tmp_path: Path) -> None:
        assert self._found(tmp_path, hca) == [("warning", ("host1:mlx5_1",))]

    @pytest.mark.parametrize("hca", ["mlx5_0,mlx5_1", "mlx5", "^mlx5_2"])
    def test_a_list_with_both_is_none(self, hca: str, tmp_path: Path) -> None:
        assert self._found(tmp_path, hca) == []

    @pytest.mark.parametrize(
        "ports",
        [
            ibstat({"mlx5_0": 400, "mlx5_1": 100}),
            ibstat({"mlx5_0": 400}) + ibstat({"mlx5_1": 400}, "Ethernet"),
            ibstat({"mlx5_0": 400}) + ibstat({"mlx5_1": 400}).replace("Active", "Down"),
            "",
        ],
    )
    def test_a_port_that_is_down_slower_of_another_layer_or_unknown_is_none(
        self, ports: str, tmp_path: Path
    ) -> None:
        assert self._found(tmp_path, "mlx5_0", ports) == []

    def test_a_port_that_is_far_too_is_not_missed(self, tmp_path: Path) -> None:
        far = self.TOPOLOGY.replace("SYS\tPXB\tSYS", "SYS\tNODE\tSYS")
        assert self._found(tmp_path, "mlx5_0", topology=far) == []

    def test_a_path_through_the_bridge_of_the_cpu_is_not_far(self, tmp_path: Path) -> None:
        near = self.TOPOLOGY.replace("GPU1\tNV18\t X \tSYS", "GPU1\tNV18\t X \tPHB")
        assert self._found(tmp_path, "mlx5_0", topology=near) == []

    def test_a_job_on_fewer_gpus_may_leave_nics_out(self, tmp_path: Path) -> None:
        assert self._found(tmp_path, "mlx5_0", gpus=1) == []

    def test_a_log_without_ranks_is_information(self, tmp_path: Path) -> None:
        log = "host1:57:58 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0\n"
        report = of(tmp_path, ibstat(nics(2, 400)), self.TOPOLOGY, log)
        assert [(f.code, f.severity) for f in report.findings] == [("HCT020", "info")]
