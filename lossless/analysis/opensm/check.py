"""A subnet under a real opensm: it reads the rendered files, and brings the same fabric up in a simulation.

The result, :class:`OpensmVerdict`, is the record that the report prints.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.analysis.opensm.run import (
    differences,
    ibsim_fabric,
    live,
    options_in,
    read_configuration,
    sweep,
    sweep_of,
)
from lossless.analysis.routing.infiniband.credit_loops import CreditLoopVerdict, subnet_verdict
from lossless.analysis.routing.infiniband.engines import subnet_graph
from lossless.ground.basics.errors import SubnetManagerError
from lossless.ground.basics.programs import install_command
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import c_number, engines, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lossless.analysis.opensm.decide import Decision
    from lossless.analysis.opensm.run import (
        IbsimFabric,
        LiveSubnet,
        OptionsReading,
        SweepLog,
        SweepRun,
        Tools,
    )
    from lossless.analysis.routing.infiniband.engines import SubnetGraph
    from lossless.model.fabric.infiniband.subnet import Subnet


CONFIGURATION = "opensm.conf"
READ_ALONE = {
    "partition_config_file": "partitions.conf",
    "qos_policy_file": "qos-policy.conf",
    "torus_config": "torus-2QoS.conf",
}
"""Files that opensm reads even where no option names them; a simulation must not read those of this very machine."""
OUTWARD = frozenset(
    {"event_plugin_name", "event_plugin_options", "daemon", "console", "console_port", "event_db_dump_file"}
)
"""Options by which opensm loads a library, leaves the session in which it is ended, listens on a port or writes a file
of any name. They are read, and no simulation is given them: the text may come from anywhere."""
SIMULATED_VLS = 8
"""How many data VLs ports of ibsim have, and how many entries each of their arbitration tables: their PortInfo has
VLCap 4, VLArbHighCap 8 and VLArbLowCap 8 (read from ibsim 0.10)."""
_ENGINES = "routing_engine"
_UNROUTED = CreditLoopVerdict("unproven", "(none)", "no engine has routed the subnet")
_NO_FALLBACK = "no_fallback"
_WORD = re.compile(r"\w+")


class SweepResult(NamedTuple):
    """The result of opensm on the simulated fabric. ``ended``: it finished its first sweep in time.

    ``notes`` are the differences between the fabric and its simulation.
    """

    sweep: SweepLog
    ended: bool
    seconds: float
    notes: tuple[str, ...]


class OpensmVerdict(NamedTuple):
    """The verdict of opensm on a subnet.

    ``written`` has the keys that opensm was given, ``reading`` its result of parsing them; ``changed`` are those with
    another effective value than the written one: key, written, effective. ``left_out`` are keys that only NVIDIA's
    opensm knows; upstream's does not get them. ``intended`` is the engine that the configuration selects. ``swept`` is
    None if there is no fabric to simulate; ``credits`` has the reason. ``tables`` lists in words how the tables of the
    running subnet differ from the intended ones.
    """

    written: dict[str, str]
    reading: OptionsReading
    changed: tuple[tuple[str, str, str], ...]
    left_out: tuple[str, ...]
    intended: str
    swept: SweepResult | None
    credits: CreditLoopVerdict
    tables: tuple[str, ...] = ()

    @property
    def complaints(self) -> tuple[str, ...]:
        """All problems in words; empty if opensm took the configuration as intended."""
        return (*_of_reading(self), *(_of_sweep(self, self.swept) if self.swept is not None else ()))


def check_with_opensm(tools: Tools, subnet: Subnet, files: Mapping[str, str]) -> OpensmVerdict:
    """Let opensm read rendered files and bring the subnet up in a simulation, which ends before the return.

    ``files`` has the texts by name: ``opensm.conf`` and the files that it names. If the cabling of the fabric is
    unknown, the configuration is read and nothing is simulated.

    Raises:
        SubnetManagerError: no HCA or switch can run the manager, or the simulator does not start.
    """
    kept, left_out = for_upstream(files[CONFIGURATION])
    with tempfile.TemporaryDirectory(prefix="lossless-opensm-") as name:
        folder = Path(name)
        reading = _read(tools, kept, folder)
        intended = _intended(files[CONFIGURATION])
        graph = subnet_graph(subnet)
        if isinstance(graph, str):
            swept, decision, verdict = None, None, CreditLoopVerdict("unproven", intended, graph)
        else:
            configuration = write_files(folder, files, kept)
            fabric = _Fabric(with_derived_guids(subnet), graph, _vls(reading))
            swept, decision = _simulate(tools, fabric, configuration, files)
            verdict = decision.credits if decision is not None else _UNROUTED
    if intended in nvidia_engines():
        verdict = subnet_verdict(subnet)
    tables = decision.complaints if decision is not None else ()
    written = options_in(kept, as_meant=True)
    changed = tuple(differences(written, reading.effective))
    return OpensmVerdict(written, reading, changed, left_out, intended, swept, verdict, tables)


def _read(tools: Tools, text: str, folder: Path) -> OptionsReading:
    alone = folder / "as-rendered.conf"
    alone.write_text(text, encoding="utf-8")
    reading = read_configuration(tools, alone, folder)
    if not reading.read:
        raise SubnetManagerError("opensm did not read the configuration that it was given")
    return reading


class _Fabric(NamedTuple):
    """The simulated fabric as a graph of numbers, and its number of operational virtual lanes."""

    subnet: Subnet
    graph: SubnetGraph
    vls: int


def _vls(reading: OptionsReading) -> int:
    code = c_number(reading.effective.get("max_op_vls", ""))
    return min(OPERATIONAL_VLS.get(code or 0, SIMULATED_VLS), SIMULATED_VLS)


def _simulate(
    tools: Tools, fabric: _Fabric, configuration: Path, files: Mapping[str, str]
) -> tuple[SweepResult, Decision | None]:
    """Bring the subnet up once for its log; then bring it up again, to query its ports and paths."""
    decide = _decide()
    simulation, seat = ibsim_fabric(fabric.subnet), seat_of(fabric.subnet)
    run = sweep(tools, simulation, configuration, configuration.parent, seat)
    log = sweep_of(_log_of(run, files))
    swept = SweepResult(log, run.ended, run.seconds, _notes(simulation))
    if log.engine is None or not log.up:
        return swept, None
    with live(tools, simulation, configuration, configuration.parent, seat) as up:
        return swept, decide(up, fabric.subnet, fabric.graph, log.engine, fabric.vls, seat)


def _decide() -> Callable[[LiveSubnet, Subnet, SubnetGraph, str, int, str], Decision]:
    """Return the function that checks tables; it needs numpy, which reading a configuration does not."""
    try:
        from lossless.analysis.opensm.decide import decide
    except ImportError as error:
        raise SubnetManagerError(
            f"{error}: {install_command('sim')} adds numpy, which follows the paths"
        ) from None
    return decide


def for_upstream(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a configuration without the keys and engines that NVIDIA's opensm alone knows, and those words."""
    kept, left_out = [], []
    for line in text.splitlines():
        words = line.split("#", 1)[0].split(None, 1)
        known = option(words[0]) if words else None
        nvidia_only = (
            [engine for engine in _engines(words[1]) if engine in nvidia_engines()]
            if words[:1] == [_ENGINES]
            else []
        )
        if known is not None and known.only == "nvidia":
            left_out.append(known.key)
        elif nvidia_only:
            left_out += [f"{_ENGINES} {engine}" for engine in nvidia_only]
            others = [engine for engine in _engines(words[1]) if engine not in nvidia_only]
            # With nothing but a word that forbids minhop the subnet would never come up.
            kept += [f"{_ENGINES} {','.join(others)}"] if {*others} - {_NO_FALLBACK} else []
        else:
            kept.append(line)
    return "\n".join(kept) + "\n", tuple(left_out)


def nvidia_engines() -> frozenset[str]:
    """Return the routing engines that NVIDIA's opensm alone has."""
    return frozenset(engines("nvidia")) - frozenset(engines("upstream"))


def _engines(text: str) -> list[str]:
    """Return the engines of a value, in order."""
    return [engine.strip() for engine in text.split(",")]


def _intended(text: str) -> str:
    """Return the engine that a configuration selects: the first, minhop if none is stated."""
    stated = options_in(text).get(_ENGINES, "(null)")
    return "minhop" if stated == "(null)" else _engines(stated)[0]


def write_files(folder: Path, files: Mapping[str, str], configuration: str) -> Path:
    """Write files below a folder, change the options that name them accordingly, and return the configuration.

    A file that an option names and that is not among them keeps its name. Options that reach outside the simulation are
    left out.
    """
    for name, text in files.items():
        if name != CONFIGURATION:
            (folder / name).write_text(text, encoding="utf-8")
    lines = [line for line in configuration.splitlines() if OUTWARD.isdisjoint(line.split(None, 1)[:1])]
    for number, line in enumerate(lines):
        words = line.split("#", 1)[0].split()
        known = option(words[0]) if len(words) == 2 else None
        if known is not None and known.kind == "file" and Path(words[1]).name in files:
            lines[number] = f"{words[0]} {folder / Path(words[1]).name}"
    stated = options_in("\n".join(lines))
    lines += [f"{key} {folder / name}" for key, name in READ_ALONE.items() if key not in stated]
    target = folder / CONFIGURATION
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def seat_of(subnet: Subnet) -> str:
    """Return the name of the HCA or switch from which the first subnet manager works."""
    active = [manager for manager in subnet.managers if not manager.standby] or list(subnet.managers)
    best = max(active, key=lambda manager: manager.priority or 0, default=None)
    hcas = () if isinstance(subnet.hcas, Unknown) else subnet.hcas
    if best is not None and best.hca is not None:
        return best.hca
    if best is not None and not isinstance(best.node, Unknown):
        return next((hca.name for hca in hcas if hca.host == best.node), best.node)
    if not hcas:
        raise SubnetManagerError("no host of the fabric can run a subnet manager")
    return hcas[0].name


def _log_of(run: SweepRun, files: Mapping[str, str]) -> list[str]:
    """Return the lines of the log without the folder's name and without complaints about missing optional files."""
    absent = [f"{run.folder / name}" for name in READ_ALONE.values() if name not in files]
    lines = run.text("opensm.log").splitlines()
    kept = [line for line in lines if not any(path in line for path in absent)]
    return [line.replace(f"{run.folder}/", "") for line in kept]


def _notes(simulation: IbsimFabric) -> tuple[str, ...]:
    if not simulation.replaced:
        return ()
    return (f"ibsim does not know {', '.join(simulation.replaced)}: those links are simulated as NDR",)


def _of_reading(verdict: OpensmVerdict) -> Iterator[str]:
    for key in verdict.reading.unrecognized:
        bare = key.partition("=")[0]
        yield f"opensm does not know the key {bare if _is_secret(bare) else key}"
    for line in verdict.reading.complaints:
        secret = next((word for word in _WORD.findall(line) if _is_secret(word)), None)
        yield f"opensm: {line}" if secret is None else f"opensm complains of the value of {secret}"
    for key, text, now in verdict.changed:
        yield f"opensm takes {key} " + (
            "otherwise than written" if _is_secret(key) else f"as {now}, written is {text}"
        )


def _is_secret(key: str) -> bool:
    """Return whether the value of a key protects the subnet, and is never shown."""
    known = option(key)
    return known is not None and known.secret


def _of_sweep(verdict: OpensmVerdict, swept: SweepResult) -> Iterator[str]:
    if not swept.ended:
        yield "opensm had to be stopped: it did not finish its first sweep in time"
    if not swept.sweep.up:
        yield "the subnet does not come up"
    if swept.sweep.engine not in (verdict.intended, None) and verdict.intended not in nvidia_engines():
        yield f"the routing engine is {swept.sweep.engine}; {verdict.intended} is meant"
    for line in dict.fromkeys((*swept.sweep.failed_engines, *swept.sweep.partitions, *swept.sweep.lines)):
        yield f"opensm: {line}"
    if verdict.credits.state == "loop":
        yield f"credit loop of {len(verdict.credits.loop)} hops"
    elif verdict.credits.state == "unproven" and swept.sweep.up and verdict.intended not in nvidia_engines():
        yield f"credit loops: {verdict.credits.why}"
    yield from verdict.tables


class ConfigurationKeys(NamedTuple):
    """How many keys opensm was given, and read with another value; ``left_out`` are those that only NVIDIA's has."""

    read: int
    changed: int
    left_out: tuple[str, ...]


class SimulatedSubnet(NamedTuple):
    """The subnet in the simulation: whether it came up, after how long, and by which engine it is routed."""

    up: bool
    seconds: float
    engine: str | None
    switches: int
    hcas: int
    partitions: str
    notes: tuple[str, ...]


class OpensmResult(NamedTuple):
    """The result of opensm on one subnet; ``simulated`` is None if there is no fabric to simulate.

    It is ``accepted`` if there are no ``complaints``. ``intended_engine`` is the one that the configuration selects.
    """

    file: str
    subnet: str
    accepted: bool
    configuration: ConfigurationKeys
    intended_engine: str
    simulated: SimulatedSubnet | None
    credit_loops: CreditLoopVerdict
    complaints: tuple[str, ...]


def opensm_result(subnet: Subnet, verdict: OpensmVerdict) -> OpensmResult:
    """Return the result of a subnet as it was simulated."""
    return OpensmResult(
        file=subnet.files[0] if subnet.files else subnet.origin.file,
        subnet=subnet.name,
        accepted=not verdict.complaints,
        configuration=ConfigurationKeys(len(verdict.written), len(verdict.changed), verdict.left_out),
        intended_engine=verdict.intended,
        simulated=None if verdict.swept is None else _simulated(subnet, verdict.swept),
        credit_loops=verdict.credits,
        complaints=verdict.complaints,
    )


def _simulated(subnet: Subnet, swept: SweepResult) -> SimulatedSubnet:
    switches, hcas = subnet.switches, subnet.hcas
    return SimulatedSubnet(
        up=swept.sweep.up,
        seconds=round(swept.seconds, 3),
        engine=swept.sweep.engine,
        switches=len(switches) if isinstance(switches, tuple) else 0,
        hcas=len(hcas) if isinstance(hcas, tuple) else 0,
        partitions=_partitions(subnet, swept),
        notes=swept.notes,
    )


def _partitions(subnet: Subnet, swept: SweepResult) -> str:
    if any("retrying with default config" in line for line in swept.sweep.partitions):
        return "the file is in error: every port is a full member of 0x7fff"
    if subnet.partitions is None:
        return "no file: every port is a full member of 0x7fff"
    count = len(subnet.partitions) if isinstance(subnet.partitions, tuple) else 0
    return f"{count} from the file" + (", with warnings" if swept.sweep.partitions else "")
