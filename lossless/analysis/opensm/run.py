"""Running opensm: on a file alone, and on a simulated fabric. No process is left running, even after an error.

Each simulation has a socket name of its own, so that any number run at once; no root, no network and no device is used.
Every process runs under ``timeout`` in a group of its own: it ends on time even if this program is killed.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.analysis.opensm.read_output import OptionsReading, reading_of
from lossless.ground.basics import programs
from lossless.ground.basics.errors import SubnetManagerError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.opensm.ibsim_file import IbsimFabric
    from lossless.analysis.opensm.tools import Tools

READ_S = 5.0
"""Longest that reading one file may take; it takes a hundredth of a second."""
START_S = 10.0
"""Longest that a simulator may take to read its topology."""
SWEEP_S = 20.0
"""Longest that a sweep may take: 1,024 hosts take one second. An engine that may have no
fallback, and cannot route, never ends."""
LOG_FLAGS = 0x47
"""Errors, information, messages of the parsers of partitions and QoS, and dumps of routes."""
PACKETS_AT_ONCE = 64
"""Management packets under way at a time in a simulation, regardless of the configuration: with 4, opensm's default, a
sweep takes twice as long, and without a limit opensm 3.3.23 has waited permanently under ibsim."""
_AT_ONCE = "\nforce_log_flush TRUE\n"
"""Without this a subnet that is up appears in the log ten seconds later, with its next sweep."""
_POLL_S = 0.005
_SLACK_S = 2.0
"""How long ``timeout`` may take beyond its limit, on a machine that is busy."""


class SweepRun(NamedTuple):
    """A sweep that has ended: whether by itself, and where its log and dumps lie."""

    ended: bool
    seconds: float
    folder: Path

    def text(self, name: str) -> str:
        """Return the text of a file that opensm wrote, empty where it wrote none."""
        return _text(self.folder / name)


class LiveSubnet(NamedTuple):
    """A subnet that is up, its manager running; ``environment`` and ``library`` let a program talk to it."""

    folder: Path
    environment: dict[str, str]
    library: str

    def ask(self, *command: str, given: str = "", timeout_s: float = 5.0) -> str:
        """Return the output of a program that queries the subnet; empty if it takes too long."""
        # Not in the environment: there timeout would load the library too, and take the answers.
        preloaded = ("env", f"LD_PRELOAD={self.library}", *command)
        return _run(preloaded, self.environment, timeout_s, self.folder, given)

    def text(self, name: str) -> str:
        """Return the text of a file that opensm wrote, empty where it wrote none."""
        return _text(self.folder / name)


def read_configuration(tools: Tools, path: Path, folder: Path) -> OptionsReading:
    """Let opensm read a configuration file, without any fabric, and return the result."""
    target = folder / "effective.conf"
    command = (tools.opensm, "-F", str(path.resolve()), "-c", str(target))
    done = _run(command, _environment(folder, None), READ_S, folder)
    return reading_of(done, _text(target))


def sweep(tools: Tools, simulation: IbsimFabric, configuration: Path, folder: Path, at: str) -> SweepRun:
    """Let opensm bring a simulated subnet up once, from the node ``at``; its log and dumps stay in
    ``folder``.

    Raises:
        SubnetManagerError: the simulator does not start.
    """
    with _fabric(tools, simulation, folder, at) as environment:
        started = time.monotonic()
        command = (*_opensm(tools, configuration, folder), "-o")
        with _started(command, environment, folder / "opensm.out", SWEEP_S) as process:
            code = process.wait()
        return SweepRun(code == 0, time.monotonic() - started, folder)


@contextmanager
def live(
    tools: Tools, simulation: IbsimFabric, configuration: Path, folder: Path, at: str
) -> Iterator[LiveSubnet]:
    """Hold a simulated subnet up while the block runs, for diagnostic programs to ask.

    Raises:
        SubnetManagerError: the simulator does not start, or the subnet does not come up in time.
    """
    with _fabric(tools, simulation, folder, at) as environment:
        flushed = folder / "live.conf"
        flushed.write_text(configuration.read_text(encoding="utf-8") + _AT_ONCE, encoding="utf-8")
        # A log that is there is continued, and that of a sweep before says already what is waited for.
        (folder / "opensm.log").unlink(missing_ok=True)
        command = _opensm(tools, flushed, folder)
        with _started(command, environment, folder / "opensm.out", 3 * SWEEP_S) as process:
            _wait_for("SUBNET UP", folder / "opensm.log", process, SWEEP_S)
            yield LiveSubnet(folder, environment, tools.library)


def _opensm(tools: Tools, configuration: Path, folder: Path) -> tuple[str, ...]:
    log = folder / "opensm.log"
    dumps = ("--dump_files_dir", str(folder), "-D", hex(LOG_FLAGS), "--maxsmps", str(PACKETS_AT_ONCE))
    return (
        "env",
        f"LD_PRELOAD={tools.library}",
        tools.opensm,
        "-F",
        str(configuration),
        "-f",
        str(log),
        *dumps,
    )


@contextmanager
def _fabric(tools: Tools, simulation: IbsimFabric, folder: Path, at: str) -> Iterator[dict[str, str]]:
    """Run the simulator while the block runs; yield the environment in which programs use its fabric."""
    net, log = folder / "net", folder / "ibsim.log"
    net.write_text(simulation.text, encoding="utf-8")
    environment = _environment(folder, simulation.nodes[at])
    with _started(_ibsim(tools, simulation, net), environment, log, START_S + 3 * SWEEP_S) as process:
        _wait_for("simulator ready", log, process, START_S)
        yield environment


def _ibsim(tools: Tools, simulation: IbsimFabric, net: Path) -> tuple[str, ...]:
    """Return the command of a simulator that has room for all nodes, switches, ports and addresses."""
    nodes = len(simulation.nodes)
    room = ("-N", str(nodes + 1), "-S", str(nodes + 1), "-P", str(simulation.ports + 1))
    return (tools.ibsim, "-s", "-n", *room, str(net))


def _environment(folder: Path, at: str | None) -> dict[str, str]:
    own = {"OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder)}
    if at is not None:
        own |= {"IBSIM_SOCKNAME": f"lossless-{os.getpid()}-{secrets.token_hex(4)}", "SIM_HOST": at}
    return programs.environment(**own)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _run(
    command: Sequence[str], environment: dict[str, str], timeout_s: float, folder: Path, given: str = ""
) -> str:
    done = programs.run(
        ("timeout", "-s", "KILL", str(timeout_s), *command),
        environment,
        # umad2sim makes a folder sys-PID where its program works, and a program that is cut off leaves it.
        folder=str(folder),
        given=given.encode(),
        longest_s=timeout_s + _SLACK_S,
    )
    return (done.out + done.err).decode(errors="replace")


@contextmanager
def _started(
    command: Sequence[str], environment: dict[str, str], output: Path, longest_s: float
) -> Iterator[programs.Running]:
    """Run a process while the block runs, and end its whole group after it."""
    limited = ("timeout", "-k", "1", "-s", "KILL", str(longest_s), *command)
    # Not where this program works: see _run.
    folder, logs = str(output.parent), (str(output.parent / "opensm.log"),)
    with programs.running(limited, environment, folder=folder, output=str(output), logs=logs) as process:
        yield process


def _wait_for(words: str, path: Path, process: programs.Running, longest_s: float) -> None:
    """Wait until a text appears in a file.

    Raises:
        SubnetManagerError: it does not appear in time, or the process ends before.
    """
    until, known_bytes = time.monotonic() + longest_s, 0
    while True:
        ended = process.ended()
        # Only what is new is searched: a log of a thousand hosts has hundreds of thousands of lines.
        new = _bytes(path, max(0, known_bytes - len(words)))
        known_bytes = max(0, known_bytes - len(words)) + len(new)
        if words.encode() in new:
            return
        if ended or time.monotonic() > until:
            lines = [line for line in _text(path).splitlines() if line.strip()]
            last = lines[-1] if lines else "nothing was said"
            raise SubnetManagerError(f"{path.name} never said {words!r}; its last words: {last}")
        time.sleep(_POLL_S)


def _bytes(path: Path, start: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read()
    except FileNotFoundError:
        return b""
