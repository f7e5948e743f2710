"""Running opensm: on a configuration file alone, and on a simulated fabric. No process is left running after an error.

Each simulation has a socket name of its own, so that any number run at once; no root, no network and no device is used.
Every process runs under ``timeout`` in a group of its own: it ends on time even if this program is killed.

The simulated fabric is the subnet's nodes and cables as the topology file of ibsim. The form is that of
ibnetdiscover's output, with the additions that ibsim-utils 0.10 needs: every cable at both of its ends, the GUID
before each node, and width and speed in a comment that has the word ``lid`` too.

opensm 3.3.23 ends with 0 after any error, so only its output shows errors. Its messages are from opensm/osm_subnet.c,
osm_ucast_mgr.c, osm_opensm.c and osm_prtn_config.c of linux-rdma/opensm (@d71a924, @917070c, @917070c, @247d0d8), and
from runs of the program itself.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.engines import subnet_graph
from lossless.ground.basics import programs
from lossless.ground.basics.errors import ProgramError, SubnetManagerError
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.model.fabric.infiniband.subnet import Hca, Subnet, SubnetLink, SubnetSwitch


KNOWN_SPEEDS = frozenset({"SDR", "DDR", "QDR", "FDR", "FDR10", "EDR", "HDR", "NDR"})
"""The speeds that ibsim 0.10 can parse; any other is simulated as the fastest of these."""
_FASTEST = "NDR"


class IbsimFabric(NamedTuple):
    """The simulated fabric: the topology file of ibsim as text, and its number of ports.

    ``nodes`` has ibsim's name of each switch and HCA. ``replaced`` are speeds that ibsim cannot parse, and that are
    simulated as NDR. ``subnet`` has a GUID for every node, stated or derived.
    """

    text: str
    subnet: Subnet
    nodes: dict[str, str]
    ports: int
    replaced: tuple[str, ...]


class _End(NamedTuple):
    port: int
    far: str
    far_port: int
    width: str


def ibsim_fabric(subnet: Subnet) -> IbsimFabric:
    """Return the topology of a subnet for ibsim.

    Raises:
        SubnetManagerError: the cabling of the fabric is unknown or impossible.
    """
    graph = subnet_graph(subnet)
    if isinstance(graph, str):
        raise SubnetManagerError(f"nothing to simulate: {graph}")
    named = with_derived_guids(subnet)
    switches, hcas, links = named.switches, named.hcas, named.links
    assert not isinstance(switches, Unknown)
    assert not isinstance(hcas, Unknown)
    assert not isinstance(links, Unknown)
    nodes = {switch.name: f"S{number}" for number, switch in enumerate(switches, 1)}
    nodes |= {hca.name: f"H{number}" for number, hca in enumerate(hcas, 1)}
    replaced = {link.rate.generation for link in links} - KNOWN_SPEEDS
    ends = _ends(links)
    lines = [line for node in switches for line in _switch(node, nodes, ends[node.name])]
    lines += [line for node in hcas for line in _hca(node, nodes, ends[node.name])]
    ports = sum(switch.ports + 1 for switch in switches) + 2 * len(hcas)
    return IbsimFabric("\n".join(lines), named, nodes, ports, tuple(sorted(replaced)))


def _ends(links: Sequence[SubnetLink]) -> defaultdict[str, list[_End]]:
    ends_of: defaultdict[str, list[_End]] = defaultdict(list)
    for link in links:
        speed = link.rate.generation if link.rate.generation in KNOWN_SPEEDS else _FASTEST
        width = f"{link.rate.lanes}x{speed}"
        ends_of[link.a].append(_End(link.a_port or 0, link.b, link.b_port or 0, width))
        ends_of[link.b].append(_End(link.b_port or 0, link.a, link.a_port or 0, width))
    return ends_of


def _switch(switch: SubnetSwitch, nodes: dict[str, str], ends: list[_End]) -> Iterator[str]:
    yield f"switchguid=0x{switch.guid or 0:x}"
    yield f'Switch {switch.ports} "{nodes[switch.name]}"  # "{switch.name}" base port 0 lid 0 lmc 0'
    for end in sorted(ends):
        yield f'[{end.port}] "{nodes[end.far]}"[{end.far_port}]  # "{end.far}" lid 0 {end.width}'
    yield ""


def _hca(hca: Hca, nodes: dict[str, str], ends: list[_End]) -> Iterator[str]:
    # The first port of a simulated HCA has the GUID after that of its node.
    yield f"caguid=0x{(hca.guid or 1) - 1:x}"
    yield f'Ca 1 "{nodes[hca.name]}"  # "{hca.name}"'
    for end in sorted(ends):
        yield f'[{end.port}] "{nodes[end.far]}"[{end.far_port}]  # lid 0 lmc 0 "{end.far}" lid 0 {end.width}'
    yield ""


_UNRECOGNISED = re.compile(r"Unrecognized token: \"?([^\"\n]*)\"?")
_COMPLAINTS = ("-E-", "Invalid Cached Option", "Warning: Cached Option")
_LOG_LINE = re.compile(r"^\w{3} [0-9]+ [0-9:]+ [0-9]+ \[[0-9A-F]+\] 0x([0-9a-f]{2}) -> (.*)$")
_ROUTED = " tables configured on all switches"
_ENGINE = re.compile(rf"(?<!\S)(\S++){_ROUTED}")
_COMMENT = re.compile(r"(?:^|\s)#")
_NO_FALLBACK_NOISE = "'no_fallback'"
"""The word ``no_fallback`` in a log: opensm complains that there is no such engine, and obeys it all the same."""


class OptionsReading(NamedTuple):
    """The result of opensm's reading of a configuration file.

    ``effective`` is the configuration that it wrote back, as texts; keys without a value are left out.
    """

    read: bool
    unrecognized: tuple[str, ...]
    complaints: tuple[str, ...]
    effective: dict[str, str]


class SweepLog(NamedTuple):
    """The log of one sweep over a subnet. ``engine`` is the last one that routed it, None if none did.

    ``failed_engines`` are the messages on engines that gave up, ``partitions`` and ``qos`` those on these two files,
    ``lines`` the errors, without the one on ``no_fallback``.
    """

    up: bool
    engine: str | None
    failed_engines: tuple[str, ...]
    partitions: tuple[str, ...]
    qos: tuple[str, ...]
    lines: tuple[str, ...]


def reading_of(output: str, normalised: str) -> OptionsReading:
    """Return the reading in the output of ``opensm -F FILE -c OTHER``, and in the text of file OTHER."""
    lines = [line.strip() for line in output.split("\n")]
    return OptionsReading(
        read=any(line.startswith("Reading Cached Option File:") for line in lines),
        unrecognized=tuple(match[1] for line in lines if (match := _UNRECOGNISED.search(line))),
        complaints=tuple(line for line in lines if any(word in line for word in _COMPLAINTS)),
        effective=options_in(normalised),
    )


def options_in(text: str, *, as_meant: bool = False) -> dict[str, str]:
    """Return the values of an opensm.conf by key; a ``#`` ends a line anywhere, as for opensm.

    Keys without a value are left out. ``as_meant``: as people read lines, to whom a ``#`` inside a word is part of it.
    """
    options = {}
    for line in text.split("\n"):
        meant = _COMMENT.split(line, maxsplit=1)[0] if as_meant else line.split("#", 1)[0]
        words = meant.split(None, 1)
        if len(words) == 2:
            options[words[0]] = words[1].strip()
    return options


def differences(written: dict[str, str], effective: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the keys whose effective value is not the written one, with both; only keys that opensm knows."""
    return [
        (key, text, effective[key])
        for key, text in written.items()
        if key in effective and _value(text) != _value(effective[key])
    ]


def _value(text: str) -> str | int:
    """Return a number where a text is one, so that 18 and 0x12 are the same; else the text.

    A text is returned without quotes around it, and without spaces at commas and colons.
    """
    bare = text.strip().strip('"')
    try:
        return int(bare, 0)
    except ValueError:
        return re.sub(r"(?:(?<!\s)\s++)?([,:])\s*+", r"\1", bare)


def sweep_of(log: Iterable[str]) -> SweepLog:
    """Return the result of a sweep from the lines of an opensm log."""
    entries = list(_entries(log))
    routed = [text for _, text in entries if _ROUTED in text]
    engines = [match[1] for text in routed if (match := _ENGINE.search(text))]
    errors = [text for level, text in entries if level == 0x01 and _NO_FALLBACK_NOISE not in text]
    return SweepLog(
        up=any("SUBNET UP" in text for _, text in entries),
        engine=engines[-1] if engines else None,
        failed_engines=tuple(text for _, text in entries if _skipped(text)),
        partitions=tuple(text for _, text in entries if _of_partitions(text)),
        qos=tuple(text for _, text in entries if "ERR AC" in text or "qos_policy" in text.lower()),
        lines=tuple(dict.fromkeys(errors)),
    )


def _entries(log: Iterable[str]) -> Iterator[tuple[int, str]]:
    for line in log:
        if match := _LOG_LINE.match(line.rstrip("\n")):
            yield int(match[1], 16), match[2]


def _skipped(text: str) -> bool:
    if _NO_FALLBACK_NOISE in text:
        return False
    return any(
        words in text
        for words in (
            "cannot find or setup routing engine",
            "cannot build lid matrices",
            "cannot build fwd tables",
            "disabling UPDN algorithm",
            "disabling DNUP algorithm",
            "No routing engine able to successfully configure",
        )
    )


def _of_partitions(text: str) -> bool:
    return "PARSE ERROR" in text or "PARSE WARN" in text or "Partition configuration in error" in text


READ_S = 5.0
"""The longest time that opensm may take to read one file; it takes a hundredth of a second."""
START_S = 10.0
"""The longest time that a simulator may take to read its topology."""
SWEEP_S = 20.0
"""The longest time that a sweep may take: 1,024 hosts take one second. An engine that may have no fallback, and cannot
route, never ends."""
LOG_FLAGS = 0x47
"""The log flags of opensm: errors, information, messages of the parsers of partitions and QoS, and dumps of routes."""
PACKETS_AT_ONCE = 64
"""Management packets under way at a time in a simulation, regardless of the configuration: with 4, opensm's default, a
sweep takes twice as long, and without a limit opensm 3.3.23 has waited permanently under ibsim."""
_AT_ONCE = b"\nforce_log_flush TRUE\n"
"""The option that flushes the log: else a subnet that is up appears there ten seconds later, at the next sweep."""
_POLL_S = 0.005
_SLACK_S = 2.0
_NOT_STARTED = (126, 127)
_KILLED = (124, 128 + signal.SIGKILL, -signal.SIGKILL)
"""The exit codes of ``timeout`` where a program cannot be executed, and where its time is over (timeout(1) of GNU)."""
"""How many seconds ``timeout`` may take beyond its limit, on a machine that is busy."""


class SweepRun(NamedTuple):
    """A sweep that is over: whether opensm ended with 0, the seconds it took, and the folder of its log and dumps."""

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
        """Return the output and errors of a program that queries the subnet; it is killed after ``timeout_s``.

        Raises:
            ProgramError: it does not start, or prints too much.
        """
        # Not in the environment: there timeout would load the library too, and take the answers.
        preloaded = ("env", f"LD_PRELOAD={self.library}", *command)
        return _said(_run(preloaded, self.environment, timeout_s, self.folder, given))

    def text(self, name: str) -> str:
        """Return the text of a file that opensm wrote, empty where it wrote none."""
        return _text(self.folder / name)


def read_configuration(tools: Tools, path: Path, folder: Path) -> OptionsReading:
    """Return the result of opensm's reading of a configuration file, without any fabric.

    Raises:
        ProgramError: opensm does not start, takes too long, or prints too much.
    """
    target = folder / "effective.conf"
    command = (tools.opensm, "-F", str(path.resolve()), "-c", str(target))
    done = _run(command, _environment(folder, None), READ_S, folder)
    if done.code in _NOT_STARTED:
        raise ProgramError("opensm does not start")
    if done.code in _KILLED:
        raise ProgramError(f"opensm gave no answer in {READ_S:g} s, and was ended")
    return reading_of(_said(done), _text(target))


def sweep(tools: Tools, simulation: IbsimFabric, configuration: Path, folder: Path, at: str) -> SweepRun:
    """Return the sweep in which opensm brings a simulated subnet up once, from the node ``at``.

    Its log and dumps stay in ``folder``.

    Raises:
        SubnetManagerError: the simulator does not become ready.
        ProgramError: a program does not start.
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
        SubnetManagerError: the simulator does not become ready, or the subnet does not come up in time.
        ProgramError: a program does not start.
    """
    with _fabric(tools, simulation, folder, at) as environment:
        flushed = folder / "live.conf"
        flushed.write_bytes(configuration.read_bytes() + _AT_ONCE)
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
    """Run the simulator while the block runs; yield the environment variables by which programs use its fabric."""
    net, log = folder / "net", folder / "ibsim.log"
    net.write_text(simulation.text, encoding="utf-8")
    environment = _environment(folder, simulation.nodes[at])
    with _started(_ibsim(tools, simulation, net), environment, log, START_S + 3 * SWEEP_S) as process:
        _wait_for("simulator ready", log, process, START_S)
        yield environment


def _ibsim(tools: Tools, simulation: IbsimFabric, net: Path) -> tuple[str, ...]:
    """Return the command of a simulator that has room for all nodes, switches and ports."""
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
) -> programs.Done:
    return programs.run(
        ("timeout", "-s", "KILL", str(timeout_s), *command),
        environment,
        # umad2sim makes a folder sys-PID where its program works, and a program that is cut off leaves it.
        folder=str(folder),
        given=given.encode(),
        longest_s=timeout_s + _SLACK_S,
        contained=True,
    )


def _said(done: programs.Done) -> str:
    return (done.out + done.err).decode(errors="replace")


@contextmanager
def _started(
    command: Sequence[str], environment: dict[str, str], output: Path, longest_s: float
) -> Iterator[programs.Running]:
    """Run a process while the block runs, and end its whole group after it."""
    limited = ("timeout", "-k", "1", "-s", "KILL", str(longest_s), *command)
    # Not where this program works: see _run.
    folder, logs = str(output.parent), (str(output.parent / "opensm.log"),)
    with programs.running(
        limited, environment, folder=folder, output=str(output), logs=logs, longest_s=longest_s + _SLACK_S
    ) as process:
        yield process


def _wait_for(words: str, path: Path, process: programs.Running, longest_s: float) -> None:
    """Wait until a text appears in the output file of a process.

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


_ALSO = ("/usr/sbin", "/usr/local/sbin", "/sbin")
"""Folders of administrators' programs, which are not on every PATH."""
_LIBRARIES = ("lib/*/umad2sim/libumad2sim.so", "lib*/umad2sim/libumad2sim.so")
HOW_TO_INSTALL = (
    "on Debian and Ubuntu: apt-get install --no-install-recommends opensm ibsim-utils infiniband-diags"
)


class Tools(NamedTuple):
    """The paths of opensm, of ibsim and of its library libumad2sim.so."""

    opensm: str
    ibsim: str
    library: str


def find_program(name: str) -> str | None:
    """Return the path of a program on PATH or in a folder of administrators, None where it is not installed."""
    return programs.find_program(name, _ALSO)


def find_tools() -> Tools:
    """Return the programs that a simulation needs.

    Raises:
        SubnetManagerError: one is not installed; the message has the command to install it.
    """
    opensm, ibsim = find_program("opensm"), find_program("ibsim")
    library = next((str(path) for pattern in _LIBRARIES for path in sorted(Path("/usr").glob(pattern))), None)
    if opensm is None or ibsim is None or library is None:
        paths = {"opensm": opensm, "ibsim": ibsim, "libumad2sim.so": library}
        missing = ", ".join(name for name, path in paths.items() if path is None)
        raise SubnetManagerError(f"not installed: {missing}; {HOW_TO_INSTALL}")
    return Tools(opensm, ibsim, library)
