"""What ``lossless simulate`` is asked: every option takes effect, and a bad one earns a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.run import prepare
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, intent_with
from tests.interfaces.cli.simulating import SMALL, TWELVE_PORTS, report_of


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare(rare=True)


def scenario_of(cli: Cli, *options: str, text: str = INTENT, file: str = "fabric.yaml") -> str:
    Path(file).write_text(text)
    outcome = cli("simulate", file, "--format", "json", *SMALL, *options)
    (run,) = report_of(outcome)["verdicts"][0]["packet_level"]["runs"]
    scenario: str = run["scenario"]
    return scenario


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "incast of 15 NICs into host1:port1, 65,536 B each, class rdma"),
        (("--workload", "ring"), "ring among 16 NICs, 65,536 B each, class rdma"),
        (("--size", "3 MiB"), "incast of 15 NICs into host1:port1, 3 MiB each, class rdma"),
        (("--size", "512 kB"), "incast of 15 NICs into host1:port1, 0.4883 MiB each, class rdma"),
        (("--nics", "4"), "incast of 3 NICs into host1:port1, 65,536 B each, class rdma"),
        (("--target", "host5:port2"), "incast of 15 NICs into host5:port2, 65,536 B each, class rdma"),
        (("--class", "rdma"), "incast of 15 NICs into host1:port1, 65,536 B each, class rdma"),
        (("--class", "3"), "incast of 15 NICs into host1:port1, 65,536 B each, class rdma"),
        (
            ("--link-down", "leaf1:Ethernet32", "--link-down", "spine2:Ethernet0"),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, leaf1:Ethernet32, spine2:Ethernet0 down",
        ),
        (
            ("--load-balancing", "spray"),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, load balancing spray to NICs that take"
            " packets in order",
        ),
        (
            ("--load-balancing", "adaptive", "--reorder", "64"),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, load balancing adaptive to NICs that take"
            " packets up to 64 frames ahead",
        ),
        (
            ("--load-balancing", "flowlet", "--reorder", "Any"),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, load balancing flowlet to NICs that take"
            " packets in any order",
        ),
        (
            ("--dead-nic",),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, host1:port1 dead: it pauses its switch"
            " permanently",
        ),
        (
            ("--slow-nic", "100G"),
            "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, host1:port1 slow: it takes in 100 Gb/s",
        ),
    ],
)
def test_every_option_is_in_the_scenario_that_is_said_to_have_run(
    cli: Cli, options: tuple[str, ...], said: str
) -> None:
    assert scenario_of(cli, *options) == said


def test_storage_is_in_the_scenario_where_it_shares_the_fabric(cli: Cli) -> None:
    shared = intent_with("storage: {on: separate,", "storage: {on: fabric,")
    assert scenario_of(cli, "--storage", "20%", text=shared) == (
        "incast of 15 NICs into host1:port1, 65,536 B each, class rdma, 20% storage in class default besides"
    )


def test_a_nic_may_be_assumed_at_a_deployed_switch(cli: Cli) -> None:
    Path("config_db.json").write_text(TWELVE_PORTS)
    without, with_nic = (cli("simulate", ".", "-v", *SMALL, *more) for more in ((), ("--nic", "connectx-7")))
    assert "no NIC is known" in without.out
    assert "no NIC is known" not in with_nic.out
    assert "1 seed," in without.out
    assert "2 seeds," in with_nic.out


REFUSED = [
    ("--workload", "shuffle", "Invalid value for '--workload': 'shuffle' is not one of 'incast', "),
    ("--load-balancing", "drill", "Invalid value for '--load-balancing': 'drill' is not one of 'dlb', "),
    ("--reorder", "64", "--reorder: under ecmp a flow keeps one path, and its packets their order"),
    (
        "--reorder",
        "0",
        "Invalid value for '--reorder': '0' is no number of frames; expected 1 to 1,048,576, or any",
    ),
    ("--reorder", "-4", "Invalid value for '--reorder': '-4' is no number of frames"),
    ("--reorder", "2000000", "Invalid value for '--reorder': '2000000' is no number of frames"),
    ("--size", "8", "Invalid value for '--size': '8' has no unit; write it like 800 KiB or 150 kB"),
    ("--size", "-5MB", "Invalid value for '--size': '-5MB' is not a size"),
    ("--size", "0B", "lossless: size is 0; expected at least 1 byte"),
    ("--nics", "1", "Invalid value for '--nics': 1 is not in the range x>=2."),
    ("--nics", "many", "Invalid value for '--nics': 'many' is no whole number of the digits 0 to 9"),
    ("--storage", "150%", "Invalid value for '--storage': '150%' is not a percentage"),
    ("--storage", "0.2", "Invalid value for '--storage': '0.2' is not a percentage"),
    ("--storage", "100%", "lossless: storage is 100%; expected 0 % to below 100 %"),
    (
        "--storage",
        "20%",
        "lossless: networks.storage is separate: there is no storage on this fabric to mix in",
    ),
    ("--slow-nic", "-1G", "Invalid value for '--slow-nic': '-1G' is not a rate"),
    (
        "--slow-nic",
        "fast",
        "Invalid value for '--slow-nic': 'fast' is not a rate; write it like 400G or 1.6T",
    ),
    ("--seeds", "0", "Invalid value for '--seeds': 0 is not in the range x>=1."),
    ("--max-events", "0", "Invalid value for '--max-events': 0 is not in the range x>=1."),
    ("--max-events", "10", "allow more with --max-events"),
    ("--format", "yaml", "Invalid value for '--format': 'yaml' is not one of 'text', 'json'"),
    (
        "--target",
        "nobody",
        "lossless: --target: no NIC port is called 'nobody'; there are host1:port1, host1:port2",
    ),
    ("--class", "gold", "lossless: --class: no lossless class is called 'gold'; there is rdma"),
    (
        "--link-down",
        "leaf1:Ethernet1",
        "lossless: --link-down: no port is called 'leaf1:Ethernet1'; did you mean leaf1:Ethernet16?",
    ),
    (
        "--slow-nic",
        "0G",
        "lossless: --slow-nic: the slow NIC takes in nothing; a NIC that never resumes is a dead",
    ),
    (
        "--nic",
        "connectx-99",
        "lossless: --nic: no network adapter profile is called 'connectx-99'; did you mean "
        "connectx-8? (others: connectx-7, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)",
    ),
]


def refused(cli: Cli, *options: str) -> str:
    """Return what is said of options that cannot be."""
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("simulate", ".", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    return outcome.err


@pytest.mark.parametrize(("option", "value", "said"), REFUSED)
def test_a_bad_value_earns_a_message_and_code_two(cli: Cli, option: str, value: str, said: str) -> None:
    assert said in refused(cli, option, value)


@pytest.mark.parametrize(("option", "value", "_said"), REFUSED)
def test_a_bad_value_is_told_by_the_name_of_its_option(cli: Cli, option: str, value: str, _said: str) -> None:
    assert option.removeprefix("--") in refused(cli, option, value)


def test_too_much_work_is_refused_with_what_would_make_it_less(cli: Cli) -> None:
    assert refused(cli, "--size", "100GiB") == (
        "lossless: this would take about 57,566,822,400 events, more than the 2,000,000,000 allowed; "
        "make --size, --nics or --seeds smaller, or allow more with --max-events\n"
    )


def test_few_events_are_told_by_their_number(cli: Cli) -> None:
    assert "more than the 10,000 allowed" in refused(cli, "--max-events", "10000")


def test_a_receiver_may_be_dead_and_slow(cli: Cli) -> None:
    Path("config_db.json").write_text(TWELVE_PORTS)
    outcome = cli("simulate", ".", "--dead-nic", "--slow-nic", "10G")
    assert (outcome.code, outcome.err) == (0, "")
    says = "dead: it pauses its switch permanently, NIC at leaf1:Ethernet0 slow: it takes in 10 Gb/s"
    assert says in " ".join(outcome.out.split())


def test_a_lossless_class_that_is_not_run_is_named(cli: Cli) -> None:
    second = "  storage: {dscp: 34, priority: 4, lossless: true, bandwidth: 20%}\n  cnp: {"
    text = intent_with("  cnp: {", second).replace(
        "priority: 0, bandwidth: 50%", "priority: 0, bandwidth: 30%"
    )
    Path("fabric.yaml").write_text(text)
    said = "the packet-level model did not run class storage; --class storage runs it"
    first, other, forms = (
        cli("simulate", "fabric.yaml", *more)
        for more in (SMALL, (*SMALL, "--class", "storage"), ("--closed-form",))
    )
    assert said in " ".join(first.out.split())
    assert "did not run" not in other.out + forms.out
    assert [first.hint.partition("  #")[0], other.hint.partition("  #")[0]] == [
        "lossless simulate fabric.yaml --class storage",
        "lossless lint fabric.yaml",
    ]
