"""The scripts of every family, run on hosts with pretended NICs: what holds for all of them."""

from __future__ import annotations

import copy
import re
from functools import cache
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.all_cases import some
from tests.formats.hosts.from_model.fake_nic import ACCELERATIONS, TOOLS, FakeHost, HungError
from tests.formats.hosts.from_model.families import KINDS, broadcom, mlx5_by_dcb, other
from tests.formats.hosts.from_model.made_hosts import host, rendered, script

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lossless.model.fabric.hosts import HostQos

MODES: dict[str, Any] = {"out_of_order": True, "selective_repeat": True}
FAMILIES: dict[str, tuple[HostQos, dict[str, Any]]] = {
    "mlx5 by mlnx_qos": (host(**MODES), {}),
    "mlx5 by mlnx_qos, the kernel's own driver": (
        host(**MODES),
        {"ecn": False, "debugfs": True, "tc": False},
    ),
    "mlx5 by dcb": (mlx5_by_dcb(**MODES), {"ecn": False, "debugfs": True, "tc": False}),
    "thor by dcb": (broadcom(), {"driver": "bnxt_en", "ecn": False, "tc": False, "most_tc": 2}),
    "thor by dcb, without service profiles": (
        broadcom(),
        {"driver": "bnxt_en", "ecn": False, "tc": False, "most_tc": 1, "profiles": False},
    ),
    "thor by niccli": (broadcom(tool="niccli"), {"driver": "bnxt_en", "ecn": False, "tc": False}),
    "other by dcb": (other(), {"driver": "ice", "ecn": False, "tc": False, "order": ["pcp"]}),
}
pytestmark = [pytest.mark.xdist_group("scripts-of-families"), pytest.mark.tools("scripts")]
EVERY = pytest.mark.parametrize("family", FAMILIES)


def fresh(folder: Path, family: str) -> tuple[FakeHost, str]:
    """Return a host of a family as it leaves the factory, and its script."""
    qos, nic = FAMILIES[family]
    fake = FakeHost(folder)
    fake.add_nic("eth0", "rdma0", **nic)
    return fake, script(qos)


class Seen(NamedTuple):
    """What a run printed, which tools it called, and how the host was before and after it."""

    done: subprocess.CompletedProcess[str]
    calls: list[str]
    changes: list[str]
    before: Situation
    after: Situation


class Situation(NamedTuple):
    """How a host is: its state, its sysfs, and the time of change and the hash of every path below its folder."""

    state: dict[str, Any]
    tree: dict[str, str]
    everything: dict[str, tuple[int, str]]


class History(NamedTuple):
    """The runs of the script of a family on one host, in this order, and the host as the last one left it."""

    fresh_check: Seen
    fresh_dry: Seen
    first: Seen
    second: Seen
    check: Seen
    dry: Seen
    host: FakeHost
    text: str


APART = ("mlx5 by mlnx_qos", "thor by dcb", "thor by niccli")
"""Families of which the first run starts a process for every call; together they call every tool."""


def everything(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the time of change and the hash of every path below a folder, but for what remembers calls."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        if path.name not in ("calls", "state", "answer", "lossless-roce.sh") and path != folder:
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = path.lstat().st_mtime_ns, sha256(content).hexdigest()
    return found


def situation(fake: FakeHost) -> Situation:
    """Return how a host is now."""
    return Situation(fake.state, fake.tree(), everything(fake.sysfs.parent))


def seen(fake: FakeHost, text: str, *arguments: str, apart: bool = False) -> Seen:
    """Run a script, and return what can be seen of that."""
    before, calls, changes = situation(fake), len(fake.calls()), len(fake.changes())
    done = fake.run(text, *arguments, apart=apart)
    return Seen(done, fake.calls()[calls:], fake.changes()[changes:], before, situation(fake))


@pytest.fixture(scope="module")
def history_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], History]:
    """What runs on a host of each family do; nothing may change that host any more."""

    def history(family: str) -> History:
        fake, text = fresh(tmp_path_factory.mktemp("family") / "host", family)
        return History(
            fresh_check=seen(fake, text, "--check"),
            fresh_dry=seen(fake, text, "--dry-run"),
            first=seen(fake, text, apart=family in APART),
            second=seen(fake, text),
            check=seen(fake, text, "--check"),
            dry=seen(fake, text, "--dry-run"),
            host=fake,
            text=text,
        )

    return cache(history)


@pytest.fixture
def set_host(history_of: Callable[[str], History], tmp_path: Path, family: str) -> tuple[FakeHost, str]:
    """A host of a family as its script has set it, and the script."""
    history = history_of(family)
    return history.host.copied(tmp_path / "host"), history.text


@EVERY
def test_a_fresh_host_is_set_and_a_second_run_writes_nothing(
    history_of: Callable[[str], History], family: str
) -> None:
    history = history_of(family)
    done = history.first.done
    assert (done.returncode, done.stdout.startswith("lossless-roce: all set, ")) == (0, True), done.stderr
    assert all(": note: " in line for line in done.stderr.splitlines()), done.stderr
    again = history.second
    assert (again.done.returncode, again.done.stdout) == (0, "lossless-roce: all set, 0 changed\n")
    assert (again.after.state, again.after.tree) == (history.first.after.state, history.first.after.tree)
    assert again.changes == []
    checked = history.check.done
    assert (checked.returncode, checked.stdout) == (0, "lossless-roce: nothing differs\n")


@EVERY
def test_a_dry_run_writes_nothing_and_prints_what_a_run_then_does(
    history_of: Callable[[str], History], family: str
) -> None:
    dry, first = history_of(family).fresh_dry, history_of(family).first
    assert dry.done.returncode == 0, dry.done.stderr
    assert (dry.after.state, dry.after.tree, dry.changes) == (dry.before.state, dry.before.tree, [])
    printed = [
        line for line in dry.done.stdout.splitlines() if not line.startswith(("echo ", "mkdir ", "rmdir "))
    ]
    assert printed == first.changes


@EVERY
@pytest.mark.parametrize("is_set", [False, True])
def test_a_dry_run_makes_no_file_or_folder_not_even_for_a_moment(
    history_of: Callable[[str], History], family: str, is_set: bool
) -> None:
    dry = history_of(family).dry if is_set else history_of(family).fresh_dry
    assert dry.done.returncode == 0, dry.done.stderr
    assert (dry.after.everything, dry.after.state) == (dry.before.everything, dry.before.state)
    assert [call for call in dry.calls if call.startswith(("mkdir", "rmdir"))] == []
    left = [line for line in dry.done.stdout.splitlines() if "/kernel/config/" not in line]
    assert (left == []) is is_set, left


@EVERY
def test_a_dry_run_prints_all_of_configfs_as_a_run_sets_it(
    history_of: Callable[[str], History], family: str
) -> None:
    dry, first = history_of(family).fresh_dry, history_of(family).first
    printed = [line for line in dry.done.stdout.splitlines() if "/kernel/config/" in line]
    opened = [line.removeprefix("mkdir ") for line in printed if line.startswith("mkdir ")]
    assert [line.removeprefix("rmdir ") for line in printed if line.startswith("rmdir ")] == opened
    by_cma = family.startswith("mlx5 by mlnx_qos")
    folders = [] if by_cma else ["bnxt_re"] * ("thor" in family) + ["rdma_cm"]
    assert [PurePath(folder).parent.name for folder in opened] == folders
    made = [call.removeprefix("mkdir ") for call in first.calls if call.startswith("mkdir ")]
    assert made == opened


# What each family asks first of a port, of a device, and at the end of a device.
@pytest.mark.tools("hanging")
@pytest.mark.parametrize(
    ("family", "tool"),
    [
        ("mlx5 by mlnx_qos", "ethtool"),
        ("mlx5 by mlnx_qos", "mlnx_qos"),
        ("mlx5 by mlnx_qos", "cma_roce_mode"),
        ("mlx5 by dcb", "dcb"),
        ("thor by dcb", "systemctl"),
        ("thor by dcb", "mkdir"),
        ("thor by niccli", "niccli"),
        ("other by dcb", "ip"),
    ],
)
def test_a_tool_that_hangs_is_ended_and_the_rest_of_its_port_is_left(
    tmp_path: Path, family: str, tool: str
) -> None:
    fake, text = fresh(tmp_path, family)
    # In the words of a shell that does not listen either: it has to be killed.
    (tmp_path / "bin" / tool).write_text("#!/bin/sh\ntrap '' TERM\nsleep 60\n")
    limited = text.replace("--kill-after=2", "--kill-after=0.2")
    done = fake.run(limited, clocked=f"{tool}*", LOSSLESS_TOOL_LIMIT_S="1")
    assert done.returncode in (1, 2)
    assert done.stderr.count(f"lossless-roce: {tool} gave no answer in 1 s; the rest of ") in (1, 2)


def of_first(situation: Situation) -> tuple[object, ...]:
    """Return what the first of two NICs is set to."""
    tree = {path: value for path, value in situation.tree.items() if "17:00.0" in path or "rdma0" in path}
    return situation.state["nics"]["eth0"], situation.state["devices"]["rdma0"], tree


def of_second(situation: Situation) -> tuple[object, ...]:
    """Return what the second of two NICs is set to."""
    tree = {path: value for path, value in situation.tree.items() if "18:00.0" in path or "rdma1" in path}
    return situation.state["nics"]["eth1"], situation.state["devices"]["rdma1"], tree


@pytest.mark.tools("hanging")
@EVERY
def test_nothing_is_set_on_a_nic_once_a_tool_has_hung_on_it(tmp_path: Path, family: str) -> None:
    new, text = fresh(tmp_path / "new", family)
    new.add_nic("eth1", "rdma1", "0000:18:00.0", **FAMILIES[family][1])
    whole = new.copied(tmp_path / "whole")
    assert whole.run(text).returncode == 0
    own = [at for at, call in enumerate(whole.calls()) if re.search(r"eth0|rdma0|17:00", call)]
    for at in some(own, 29, family):
        fake = new.copied(tmp_path / f"hung-{at}")
        then: list[Situation] = []

        def hung(fake: FakeHost = fake, at: int = at, then: list[Situation] = then) -> None:
            if len(fake.calls()) == at and not then:
                then.append(situation(fake))
                raise HungError

        done = fake.run(text, hung=hung)
        call = whole.calls()[at]
        assert (len(then), done.returncode, done.stdout) == (1, 1, ""), (call, done.stderr)
        after = situation(fake)
        assert of_first(after) == of_first(then[0]), (call, done.stderr)
        assert of_second(after) == of_second(situation(whole)), (call, done.stderr)
        assert not [each for each in fake.calls()[at:] if re.search(r"eth0|rdma0|17:00", each)], call
        said = [line for line in done.stderr.splitlines() if not line.startswith("lossless-roce: note: ")]
        assert said[0].startswith(f"lossless-roce: {call.split()[0]} gave no answer in "), said
        first = "eth0" if re.search(r"eth0|17:00", call) and "rdma0" not in call else "rdma0"
        assert any(
            line.startswith(f"lossless-roce: {first}: nothing more is read or set") for line in said
        ), said


@pytest.mark.tools("hanging")
def test_one_port_that_hangs_keeps_no_other_from_being_set(tmp_path: Path) -> None:
    fake, text = fresh(tmp_path, "mlx5 by mlnx_qos")
    fake.add_nic("eth1", "rdma1", "0000:18:00.0")
    (tmp_path / "bin" / "mlnx_qos").write_text("#!/bin/sh\nexec sleep 60\n")
    done = fake.run(text, clocked="mlnx_qos -i eth0*", LOSSLESS_TOOL_LIMIT_S="2")
    assert done.returncode == 1
    assert "lossless-roce: mlnx_qos gave no answer in 2 s; the rest of eth0 is left\n" in done.stderr
    assert [call for call in fake.calls() if "mlnx_qos -i eth0" in call] == []
    assert (fake.state["nics"]["eth1"]["trust"], fake.state["nics"]["eth1"]["pfc"][3]) == ("dscp", 1)


def test_a_run_that_takes_too_long_calls_no_tool_any_more(tmp_path: Path) -> None:
    fake, text = fresh(tmp_path, "other by dcb")
    done = fake.run(text, LOSSLESS_RUN_LIMIT_S="0")
    assert done.returncode in (1, 2)
    assert "is not called: all took more than 0 s" in done.stderr
    assert fake.changes() == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_gives_the_script_the_time_that_it_may_take(kind: str) -> None:
    unit, text = rendered(KINDS[kind])["lossless-roce.service"], script(KINDS[kind])
    start, stop = (
        int(re.findall(rf"^Timeout{word}Sec=(\d+)$", unit, re.MULTILINE)[0]) for word in ("Start", "Stop")
    )
    run, kill = (
        int(re.findall(pattern, text)[0])
        for pattern in (r"LOSSLESS_RUN_LIMIT_S:-(\d+)", r"--kill-after=(\d+)")
    )
    assert run + kill < start
    assert 2 * kill < stop


@pytest.mark.parametrize("kind", KINDS)
def test_every_program_that_a_script_names_is_bounded(kind: str) -> None:
    text = script(KINDS[kind])
    bounded = set(re.findall(r"^    (\w+)\(\) \{ bounded \1 \"\$@\"; \}$", text, re.MULTILINE))
    code = re.sub(r"<<'END'.*?^END$|^ *#.*$|'[^']*'", "", text, flags=re.MULTILINE | re.DOTALL)
    outside = {*TOOLS, "awk", "cat", "readlink", "tr"}
    named = {
        word for word in outside if re.search(rf"(?:^ *|\$\(|\| |! |&& |\\\n *){word} ", code, re.MULTILINE)
    }
    assert named <= bounded, named - bounded


@EVERY
def test_check_finds_a_fresh_host_and_writes_nothing(
    history_of: Callable[[str], History], family: str
) -> None:
    check = history_of(family).fresh_check
    assert check.done.returncode == 1
    assert "lossless-roce: eth0: MTU is 1500, must be 9000\n" in check.done.stderr
    assert (check.after.state, check.after.tree, check.changes) == (check.before.state, check.before.tree, [])


IGNORED = {
    *("pci", "pfc_changes", "tunable_refused", "qos_refused", "most_tc", "profiles", "uid", "firmware"),
    *("lldpad", "dcb_version", "configfs", *(f"{name}_field_select" for name in ACCELERATIONS)),
}
"""What says how a pretended host is, not what it is set to."""
UNUSED = {
    "mlx5 by mlnx_qos": {"apps", "ets", "order"},
    "mlx5 by dcb": {"trust", "map", "order"},
    "thor by dcb": {"trust", "map", "order", "cable", "pfc-prevention-tout"},
    "thor by niccli": {"trust", "map", "order", "cable", "pfc-prevention-tout", "dcbx", "willing"},
    "other by dcb": {"trust", "map", "cable", "pfc-prevention-tout"},
}
"""What a family's tool does not set, or its driver does not have."""
BY_SERVICE_PROFILE = {"roce_prio", "roce_dscp", "cnp_prio", "cnp_dscp"}


def places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every single value below one."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [found for key, part in inside if key not in IGNORED for found in places(part, *path, key)]
    yield from below or [path]


def spoiled(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, str):
        words = {"off": "on", "on": "off", "os": "fw", "dscp": "pcp", "RoCE v2": "IB/RoCE v1"}
        return words.get(value) or {"ets": "strict", "strict": "ets"}[value]
    return value ^ 1


def changed(state: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """Return a state in which one value is another."""
    new = copy.deepcopy(state)
    holder = new
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = spoiled(holder[path[-1]])
    return new


def is_set_by(family: str, path: tuple[Any, ...]) -> bool:
    """Whether a value is one that the family sets."""
    unused = next(names for name, names in UNUSED.items() if family.startswith(name))
    if FAMILIES[family][1].get("profiles", True):
        unused = unused | BY_SERVICE_PROFILE
    # Only the TCs that are there have a share, and niccli shows no more of them.
    shares = "tc-bw" in path or "tc-tsa" in path
    return unused.isdisjoint(path) and not (shares and "thor" in family and path[-1] > 1)


@EVERY
def test_check_sees_any_one_value_that_is_another(set_host: tuple[FakeHost, str], family: str) -> None:
    fake, text = set_host
    right = fake.state
    # One place of a list stands for all of it: one that carries something.
    settings: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for path in places(right):
        if is_set_by(family, path) and (not isinstance(path[-1], int) or path[-1] in (1, 2, 3, 29)):
            settings.setdefault(tuple(key for key in path if not isinstance(key, int)), path)
    chosen = list(settings.values())
    for path in some(chosen, 4, family):
        fake.put(changed(right, path))
        checked = fake.run(text, "--check")
        assert checked.returncode == 1, path
        assert len(checked.stderr.splitlines()) >= 1
    fake.put(right)
    assert fake.run(text, "--check").returncode == 0


SYSFS = ("mtu", "traffic_class", "/ecn/", "/cc_params/")


@EVERY
def test_check_sees_any_one_file_that_has_another_value(set_host: tuple[FakeHost, str]) -> None:
    fake, text = set_host
    files = [
        name for name in fake.tree() if name.endswith(SYSFS[:2]) or any(part in name for part in SYSFS[2:])
    ]
    files = [name for name in files if not name.endswith("np_cnp_prio_mode")]
    assert files
    for name in files:
        path = fake.sysfs / name
        path.write_text(f"{int(path.read_text()) ^ 1}\n")
    checked = fake.run(text, "--check")
    assert (checked.returncode, checked.stdout) == (1, "")
    reported = [line for line in checked.stderr.splitlines() if ": note: " not in line]
    assert len(reported) == len(files), reported


@EVERY
def test_what_differs_is_set_again_and_nothing_else(set_host: tuple[FakeHost, str]) -> None:
    fake, text = set_host
    right, before = fake.state, len(fake.changes())
    wrong = copy.deepcopy(right)
    wrong["nics"]["eth0"]["pfc"] = [0] * 8
    fake.put(wrong)
    done = fake.run(text)
    assert (done.returncode, done.stdout) == (0, "lossless-roce: all set, 1 changed\n")
    assert fake.state["nics"]["eth0"]["pfc"] == right["nics"]["eth0"]["pfc"]
    assert len(fake.changes()) == before + 1
