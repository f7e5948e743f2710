"""``lossless workload`` and ``lossless storm``: what a person sees, what a program reads, and what is refused."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, intent_with

CLUSTER = f"{INTENT}cluster: {{gpus_per_host: 8, nvlink: {{generation: 4, domain: 8}}}}\n"


@pytest.fixture(autouse=True)
def _an_intent(cli: Cli) -> None:  # noqa: ARG001 - it has gone to an empty folder
    Path("fabric.yaml").write_text(CLUSTER)


def test_an_all_to_all_as_a_person_sees_it(cli: Cli) -> None:
    outcome = cli("workload", ".", "--collective", "all-to-all", "--size", "64 MiB", "--compute", "50ms")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
all-to-all of 67.11 MB on 64 GPUs, 8 a host, in domains of 8
each GPU sends 58.72 MB over the fabric and 7.34 MB inside its domain, in 63 steps

time: 4.7 ms at best, by the host links of a GPU
  4.71 ms where domains and fabric alternate
  as nccl-tests counts: algbw 14.29 GB/s, busbw 14.06 GB/s
step: 54.7 ms with the computation

fan-in: up to 56 senders send 1.049 MB to one GPU at once

the busiest of                     on the wire (MB)  time alone (us)
links inside a domain, 3.6 Tb/s                 7.3             16.3
host links of a GPU, 100 Gb/s                  58.7          4,697.6
uplinks of a leaf, 3.2 Tb/s                 1,073.7          2,684.4
links to the other half, 3.2 Tb/s           1,073.7          2,684.4

assumed:
  every link carries its line rate; packet headers, acknowledgments and pauses take nothing
  traffic is spread perfectly over parallel links
  GPUs are numbered in the order of hosts, and a collective follows that order
  what goes on inside a domain overlaps with what goes over the fabric
  no GPU hands on what is for another domain (--algorithm pxn does, as NCCL where it can)
  the 63 steps take nothing besides their bytes (--step-latency)
  every GPU has as much for each other; experts that are asked for more take longer
  fan-in is what may be: all 56 send at once, unscheduled
  nothing of the communication hides behind the computation (--overlap)
""")


def test_an_all_reduce_as_a_person_sees_it(cli: Cli) -> None:
    outcome = cli("workload", "fabric.yaml", "--size", "1GiB")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
all-reduce (hierarchical) of 1.074 GB on 64 GPUs, 8 a host, in domains of 8
each GPU sends 234.9 MB over the fabric and 1.879 GB inside its domain, in 28 steps

time: 18.8 ms at best, by the host links of a GPU
  23 ms where domains and fabric alternate
  as nccl-tests counts: algbw 57.14 GB/s, busbw 112.5 GB/s

fan-in: 1 sender sends 16.78 MB to one GPU at once

the busiest of                     on the wire (GB)  time alone (ms)
links inside a domain, 3.6 Tb/s               1.879            4.176
host links of a GPU, 100 Gb/s                 0.235           18.790
uplinks of a leaf, 3.2 Tb/s                   1.879            4.698
links to the other half, 3.2 Tb/s             1.879            4.698

assumed:
  every link carries its line rate; packet headers, acknowledgments and pauses take nothing
  traffic is spread perfectly over parallel links
  GPUs are numbered in the order of hosts, and a collective follows that order
  what goes on inside a domain overlaps with what goes over the fabric
  the 28 steps take nothing besides their bytes (--step-latency)
""")


def test_what_meets_at_a_port_is_a_command_that_can_be_given(cli: Cli) -> None:
    asked = json.loads(cli("workload", ".", "--collective", "all-to-all", "--format", "json").out)["incast"]
    outcome = cli("simulate", ".", "--closed-form", *shlex.split(asked))
    assert (outcome.code, outcome.err) == (0, "")


OVERSUBSCRIBED = CLUSTER.replace("uplinks: 2 x 800G", "uplinks: 1 x 400G\n    oversubscription: 4")
ORACLE = ("--simulate", "--seeds", "2")


def buffers(text: str) -> str:
    """Return what is said of buffers."""
    (block,) = [part for part in text.split("\n\n") if part.startswith("buffers:")]
    return block


def test_what_buffers_make_of_a_workload_as_a_person_sees_it(cli: Cli) -> None:
    """At 4:1 the uplinks fill and are marked, where the same all-to-all at 1:1 fills nothing."""
    asked = ("workload", ".", "--collective", "all-to-all", "--size", "64 MiB", *ORACLE, "-v")
    assert buffers(cli(*asked).out) == snapshot("""\
buffers: safe
  closed forms, for any traffic: safe
  all-to-all among 16 NICs, up to 8 MiB each, class rdma: safe
    ports          how many  fed by ports  peak queue depth (B)  paused
    host to leaf         16             -                     -  none
    leaf to spine         8             8                25,344  none
    spine to leaf         8             2                25,344  none
    leaf to host         16            10                35,328  none
    drops     none
    PFC       never
    ECN       marks nothing
    headroom  not used
  incast of 14 NICs into host1:port1, 8 MiB each, class rdma: safe
    ports          how many  fed by ports  peak queue depth (B)  paused
    host to leaf         14             -                     -  none
    leaf to spine         3             4             1,174,272  none
    spine to leaf         3             2                 8,448  none
    leaf to host          1            10            23,451,648  none
    drops     none
    PFC       never
    ECN       marks in 2 of 2 seeds, first after 3.36 us
    headroom  not used
  PFC load: within limits\
""")
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    outcome = cli(*asked)
    assert outcome.code == 0
    assert buffers(outcome.out) == snapshot("""\
buffers: safe
  closed forms, for any traffic: safe
  all-to-all among 16 NICs, up to 8 MiB each, class rdma: safe
    ports          how many  fed by ports  peak queue depth (B)  paused
    host to leaf         16             -                     -  none
    leaf to spine         4             8            11,237,568  none
    spine to leaf         4             1                 9,216  none
    leaf to host         16             8               413,376  none
    drops     none
    PFC       never
    ECN       marks in 2 of 2 seeds, first after 10.93 us
    headroom  not used
  incast of 14 NICs into host1:port1, 8 MiB each, class rdma: safe
    ports          how many  fed by ports  peak queue depth (B)  paused
    host to leaf         14             -                     -  none
    leaf to spine         2             5            19,692,288  none
    spine to leaf         2             1                 4,224  none
    leaf to host          1             9            26,476,032  none
    drops     none
    PFC       never
    ECN       marks in 2 of 2 seeds, first after 3.78 us
    headroom  not used
  PFC load: within limits\
""")
    assert "  buffers: every peer takes as long to obey PFC as IEEE 802.3 allows at its rate\n" in outcome.out


def test_on_rails_a_ring_meets_nobody_and_needs_no_spine(cli: Cli) -> None:
    """Each NIC of a host is on a leaf of its own, and so is the ring of its GPU."""
    shape = """  rail_optimised:
    units: 1
    rails: 4
    hosts_per_unit: 4
    spines: 2
    host_links: 4 x 400G
    uplinks: 1 x 800G
    cables: {host: 3m, uplink: 30m}
"""
    start, end = CLUSTER.index("  leaf_spine:"), CLUSTER.index("networks:")
    rails = CLUSTER[:start] + shape + CLUSTER[end:]
    Path("fabric.yaml").write_text(
        rails.replace("gpus_per_host: 8", "gpus_per_host: 4").replace("domain: 8", "domain: 4")
    )
    data = json.loads(cli("workload", ".", "--size", "8 MiB", *ORACLE, "--format", "json").out)
    (run,) = data["buffers"]["runs"]
    assert [(one["sender"], one["receiver"], one["ports"], one["fan_in"]) for one in run["ports"]] == [
        ("host", "leaf", 16, 0),
        ("leaf", "host", 16, 1),
    ]


@pytest.mark.parametrize(
    ("intent", "options", "code", "overall"),
    [
        (CLUSTER, ("--collective", "all-to-all", "--size", "1 MiB"), 0, "safe"),
        (CLUSTER.replace("  watchdog:", "  watchdog: off #"), ("--size", "1 MiB"), 1, "unsafe"),
        (CLUSTER, ("--algorithm", "sharp"), 2, "not checked"),
        (
            CLUSTER.replace("storage: {on: separate", "storage: {on: fabric, class: default"),
            ("--collective", "storage-read", "--sources", "8"),
            2,
            "not checked",
        ),
        (
            CLUSTER.replace("storage: {on: separate", "storage: {on: fabric, class: rdma"),
            ("--collective", "storage-write", "--sources", "8", "--size", "8 MiB"),
            0,
            "safe",
        ),
    ],
    ids=["safe", "no watchdog", "switches reduce", "lossy storage", "checkpoints"],
)
def test_the_verdict_is_the_exit_code(
    intent: str, options: tuple[str, ...], code: int, overall: str, cli: Cli
) -> None:
    Path("fabric.yaml").write_text(intent)
    outcome = cli("workload", ".", *options, *ORACLE, "--format", "json")
    assert (outcome.code, outcome.err) == (code, "")
    assert json.loads(outcome.out)["buffers"]["overall"] == overall


def test_why_storage_is_not_checked(cli: Cli) -> None:
    Path("fabric.yaml").write_text(CLUSTER.replace("storage: {on: separate", "storage: {on: fabric"))
    outcome = cli("workload", ".", "--collective", "storage-read", "--sources", "8", "--simulate")
    assert (
        buffers(outcome.out)
        == """\
buffers: not checked
  not run: storage rides class default, which is lossy: where buffers are short it is dropped, and
    pauses nobody"""
    )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("gpus_per_host: 0", ":19: cluster.gpus_per_host: 0 is not a number of GPUs in one host"),
        (
            "gpus_per_hosts: 8",
            "unknown key 'gpus_per_hosts'; did you mean gpus_per_host? (others: nics_per_host, "
            "gpus, bandwidth_per_gpu, rails, nvlink, ualink)",
        ),
        ("gpus_per_host: 8, nvlink: {generation: 7, domain: 8}", "generation"),
        ("gpus_per_host: 8, nvlink: {generation: 5, domain: 0}", "domain"),
        (
            "gpus_per_host: 8, nvlink: {generation: 5, domain: 8}, ualink: {rate: 800G, domain: 8}",
            "give either nvlink or ualink, not both",
        ),
        ("gpus_per_host: 8, ualink: {rate: 0G, domain: 8}", "a GPU that sends nothing needs no fabric"),
        ("gpus_per_host: 300", "gpus_per_host"),
        ("gpus_per_host: eight", "gpus_per_host"),
    ],
)
def test_a_cluster_that_has_no_meaning_is_refused_where_it_stands(keys: str, told: str, cli: Cli) -> None:
    text = f"{INTENT}cluster:\n  {{{keys}}}\n"
    Path("fabric.yaml").write_text(text)
    outcome = cli("workload", ".")
    assert (outcome.code, outcome.out) == (2, "")
    line = len(text.splitlines())
    assert outcome.err.startswith((f"fabric.yaml:{line}:", f"./fabric.yaml:{line}:"))
    assert told in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--collective", "all-reuce"), "'all-reuce' is not one of"),
        (
            ("--collective", "all-to-all", "--algorithm", "ring"),
            "all-to-all has no algorithm 'ring'; it has direct, pxn",
        ),
        (("--gpus", "0"), "0 is not in the range x>=1"),
        (("--gpus", "65"), "65 GPUs are asked for; the fabric has 64"),
        (("--gpus", "12"), "12 GPUs are no whole number of domains of 8; ask for a multiple of it"),
        (("--size", "much"), "much"),
        (("--overlap", "120%"), "120%"),
        (
            ("--collective", "storage-read"),
            "networks.storage is separate: nothing of a storage-read passes this fabric",
        ),
    ],
)
def test_what_cannot_be_asked_is_said(options: tuple[str, ...], told: str, cli: Cli) -> None:
    outcome = cli("workload", ".", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("keys", [
    "gpus_per_host: 8, nvlink: {generation: 5, domain: 72}",
    "gpus_per_host: 3",
    "gpus_per_host: 1, nics_per_host: 8",
    "gpus_per_host: 8, nvlink: {generation: 4, domain: 6}",
])  # fmt: skip
def test_what_does_not_divide_is_estimated_or_told(keys: str, cli: Cli) -> None:
    """A domain larger than the cluster, three GPUs on two NICs, more NICs than links: rules check those."""
    Path("fabric.yaml").write_text(f"{INTENT}cluster: {{{keys}}}\n")
    for collective in ("all-reduce", "all-to-all"):
        outcome = cli("workload", ".", "--collective", collective)
        told = "no whole number of domains of 6" in outcome.err
        assert (outcome.code, bool(outcome.out)) == ((2, False) if "domain: 6" in keys else (0, True))
        assert told == ("domain: 6" in keys)


def test_what_a_program_reads_of_a_workload(cli: Cli) -> None:
    data = json.loads(cli("workload", ".", "--format", "json", "--size", "8 MB").out)
    assert data["version"] == 1
    assert (data["algorithm"], data["gpus"], data["domain_gpus"]) == ("hierarchical", 64, 8)
    assert data["per_gpu"] == {
        "inside_bytes": 14_000_000,
        "fabric_bytes": 1_750_000,
        "busiest_bytes": 1_750_000,
    }
    # Domains and fabric one after the other take longer than the slower of both.
    assert data["apart_ns"] > data["time_ns"] == round(max(part["time_ns"] for part in data["parts"]))


def test_a_dead_host_as_a_person_sees_it(cli: Cli) -> None:
    outcome = cli("storm", ".", "--from", "host3")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
host3 pauses permanently: class rdma, priority 3
7 of 7 other hosts stall, 64 of 64 GPUs with its own; the last after 1.4 ms
the watchdog of leaf1:Ethernet20 triggers after 1.8 s

links                   stopped  of  first after (us)  last after (us)
its leaf to host3             2   2           at once          at once
spines to its leaf            4   4             660.2            660.2
hosts to its leaf             6   6             754.9            754.9
other leaves to spines        4   4           1,107.3          1,107.3
hosts to other leaves         8   8           1,401.6          1,401.6

assumed:
  every host sends at line rate, evenly to all other hosts
  senders always have data, and DCQCN does not slow them down
  traffic is shared evenly over all shortest paths that go up and then down; uneven hashing fills
    some buffers sooner
  buffers are empty at the start, and traffic that is not paused keeps its rate
  peers take as long to obey a pause as IEEE 802.3 allows
""")


def test_a_slow_host_as_a_person_sees_it(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("storm", ".", "--from", "host3:port1", "--drain-rate", "40G", "--traffic", "incast")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
host3:port1 takes in no more than 40G a port: class rdma, priority 3
7 of 7 other hosts are held back; the last after 523 us
no watchdog ends this: packets still move

links                    slowed  of  first after (us)  last after (us)
its leaf to host3:port1       1   1           at once          at once
spines to its leaf            4   4              95.6             95.6
hosts to its leaf             6   6             109.6            109.6
other leaves to spines        4   4             353.2            353.2
hosts to other leaves         8   8             523.1            523.1

assumed:
  every host sends at line rate, all of it to host3
  senders always have data, and DCQCN does not slow them down
  traffic is shared evenly over all shortest paths that go up and then down; uneven hashing fills
    some buffers sooner
  buffers are empty at the start, and traffic that is not paused keeps its rate
  peers take as long to obey a pause as IEEE 802.3 allows
  host3 takes in 40G a port: packets move, so the watchdog does not trigger
""")


def test_the_spread_is_drawn(cli: Cli) -> None:
    outcome = cli("storm", ".", "--from", "host3", "--svg", "storm.svg", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "drawn in storm.svg\n")
    assert json.loads(outcome.out)["gpus"] == {"stopped": 64, "all": 64}
    text = "".join(ET.fromstring(Path("storm.svg").read_text()).itertext())
    assert "pause propagation from host3" in text
    assert "at once" in text
    # Nothing is told by colour alone.
    assert "storm source" in text
    assert "4 of 4 paused" in text
    said = cli("storm", ".", "--from", "host3").out.splitlines()[1:3]
    assert said[0].startswith("7 of 7 other hosts stall, 64 of 64 GPUs with its own; the last after ")
    assert [line in text for line in said] == [True, True]
    assert "links that are not stopped" in text
    assert "0 m" not in text


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (
            ("workload", ".", "--gpus", "12"),
            "12 GPUs are no whole number of domains of 8; ask for a multiple of it",
        ),
        (("workload", ".", "--gpus", "800"), "800 GPUs are asked for; the fabric has 64"),
        (("workload", ".", "--algorithm", "direct"), "all-reduce has no algorithm 'direct'"),
        (("workload", ".", "--size", "1"), "'1' has no unit"),
        (("workload", "gone.yaml"), "gone.yaml: no such file"),
        (("storm", ".", "--from", "leaf1"), "no host 'leaf1' in this fabric"),
        (("storm", ".", "--from", "host3:eth9"), "host3 has no port 'eth9'; it has port1, port2"),
        (("storm", ".", "--from", "host3", "--class", "cnp"), "no lossless class 'cnp'; there is rdma"),
        (("storm", ".", "--from", "host3", "--drain-rate", "0G"), "'0G' is no speed"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(cli: Cli, args: tuple[str, ...], told: str) -> None:
    outcome = cli(*args)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert "Traceback" not in outcome.err


def test_a_fabric_without_tiers_or_lossless_classes_is_not_guessed_at(cli: Cli) -> None:
    Path("fabric.yaml").write_text(intent_with("lossless: true, ", ""))
    assert (
        cli("storm", ".", "--from", "host3").err
        == "lossless: no class of the fabric is lossless: no port sends PFC\n"
    )
