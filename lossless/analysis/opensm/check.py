"""A subnet under a real opensm: it reads the rendered files, and brings the same fabric up in a simulation.

The configuration may come from anywhere, so opensm never gets its text: it gets a file that is made here from the
options that ``profiles/opensm/options.toml`` permits. These are taken from the text as opensm itself would, and the
file is read back before it is used.

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
from lossless.model.fabric.infiniband.subnet import LINE_BYTES, c_number, engines, option

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
    "prefix_routes_file": "prefix-routes.conf",
    "per_module_logging_file": "per-module-logging.conf",
}
"""Files that opensm reads even where no option names them; a simulation must not read those of this very machine.

opensm/osm_subnet.c @b17b4db of linux-rdma/opensm (osm_subn_set_default_opt), and the places that it names.
"""
SIMULATED_VLS = 8
"""How many data VLs ports of ibsim have, and how many entries each of their arbitration tables: their PortInfo has
VLCap 4, VLArbHighCap 8 and VLArbLowCap 8 (read from ibsim 0.10)."""
_ENGINES = "routing_engine"
_UNROUTED = CreditLoopVerdict("unproven", "(none)", "no engine has routed the subnet")
_NO_FALLBACK = "no_fallback"
_BLANKS, _SPACES = b" \t\n", b" \t\n\v\f\r"
"""The blanks that end a key, and the white space of C, which is removed around a value."""
_NVIDIAS = "only NVIDIA's opensm knows it"
_UNLISTED = "no list here permits it"
_NOT_OURS = "its file is not one of those of the subnet"
_OWN_LOG = "it is read, and a simulation has a log of its own"
_WORD = re.compile(r"\w+")


class SweepResult(NamedTuple):
    """The result of opensm on the simulated fabric. ``ended``: it finished its first sweep in time.

    ``notes`` are the differences between the fabric and its simulation.
    """

    sweep: SweepLog
    ended: bool
    seconds: float
    notes: tuple[str, ...]


class NotChecked(NamedTuple):
    """An option, or a word of its value, that opensm or its simulation does not get, and the reason."""

    option: str
    reason: str


class Permitted(NamedTuple):
    """The options of a configuration that opensm reads, and those that it gets in the simulation.

    The files that ``simulated`` options name have no folder. ``unread`` are options whose values opensm never gets (of
    an unknown one it gets the bare key), and ``unsimulated`` those that it reads outside of a simulation alone.
    """

    read: list[tuple[str, str]]
    simulated: list[tuple[str, str]]
    unread: list[NotChecked]
    unsimulated: list[NotChecked]


class OpensmVerdict(NamedTuple):
    """The verdict of opensm on a subnet.

    ``written`` has the known keys that opensm was given, ``reading`` its result of parsing; ``changed`` are those with
    another effective value than the written one: key, written, effective. ``not_checked`` are options that opensm, or
    the simulation, did not get. ``intended`` is the engine that the configuration selects. ``swept`` is
    None if there is no fabric to simulate; ``credits`` has the reason. ``tables`` are the complaints about the tables
    of the running subnet, in words.
    """

    written: dict[str, str]
    reading: OptionsReading
    changed: tuple[tuple[str, str, str], ...]
    not_checked: tuple[NotChecked, ...]
    intended: str
    swept: SweepResult | None
    credits: CreditLoopVerdict
    tables: tuple[str, ...] = ()

    @property
    def complaints(self) -> tuple[str, ...]:
        """All problems in words; empty if opensm took the configuration as intended."""
        return (*_of_reading(self), *(_of_sweep(self, self.swept) if self.swept is not None else ()))


def check_with_opensm(tools: Tools, subnet: Subnet, files: Mapping[str, str]) -> OpensmVerdict:
    """Return the verdict of opensm, which reads rendered files and brings the subnet up in a simulation.

    ``files`` has the texts by name: ``opensm.conf`` and the files that it names. If the cabling of the fabric is
    unknown or impossible, the configuration is read and nothing is simulated.

    Raises:
        SubnetManagerError: no file can state the options, opensm does not read them, no HCA or switch can run the
            manager, the simulator does not start, the subnet does not come up in time, or numpy is not installed.
        ProgramError: a program does not start, takes too long, or prints too much.
    """
    text = files[CONFIGURATION]
    given = permitted(text, files)
    with tempfile.TemporaryDirectory(prefix="lossless-opensm-") as name:
        folder = Path(name)
        reading = _read(tools, file_of(given.read), folder)
        intended = _intended(text)
        graph = subnet_graph(subnet)
        if isinstance(graph, str):
            swept, decision, verdict = None, None, CreditLoopVerdict("unproven", intended, graph)
        else:
            configuration = write_files(folder, files, text)
            fabric = _Fabric(with_derived_guids(subnet), graph, _vls(reading))
            swept, decision = _simulate(tools, fabric, configuration, files)
            verdict = decision.credits if decision is not None else _UNROUTED
    if intended in nvidia_engines():
        verdict = subnet_verdict(subnet)
    tables = decision.complaints if decision is not None else ()
    written = _written(text, given)
    changed = tuple(differences(written, reading.effective))
    # One that opensm says it does not know is a complaint.
    unknown = set(map(_harmless, reading.unrecognized))
    unread = (one for one in given.unread if one.option not in unknown)
    not_checked = tuple(dict.fromkeys((*unread, *(given.unsimulated if swept is not None else ()))))
    return OpensmVerdict(written, reading, changed, not_checked, intended, swept, verdict, tables)


def _written(text: str, given: Permitted) -> dict[str, str]:
    """Return the values of the known options that opensm read, as people read them: ``#`` may be part of a word.

    Where opensm did not get a part of the value, it is as opensm read it.
    """
    meant = options_in(text, as_meant=True)
    dropped = {one.option.partition(" ")[0] for one in given.unread}
    known = {key: value for key, value in given.read if value and option(key) is not None}
    return {key: value if key in dropped else meant.get(key, value) for key, value in known.items()}


def _read(tools: Tools, text: bytes, folder: Path) -> OptionsReading:
    alone = folder / "as-rendered.conf"
    alone.write_bytes(text)
    reading = read_configuration(tools, alone, folder)
    if not reading.read:
        raise SubnetManagerError("opensm did not read the configuration that it was given")
    return reading


class _Fabric(NamedTuple):
    """The subnet to simulate, its graph, and its number of operational virtual lanes."""

    subnet: Subnet
    graph: SubnetGraph
    vls: int


def _vls(reading: OptionsReading) -> int:
    code = c_number(reading.effective.get("max_op_vls", ""))
    return min(OPERATIONAL_VLS.get(code or 0, SIMULATED_VLS), SIMULATED_VLS)


def _simulate(
    tools: Tools, fabric: _Fabric, configuration: Path, files: Mapping[str, str]
) -> tuple[SweepResult, Decision | None]:
    """Return the sweep of the subnet and, if it came up routed, the decision on its tables, else None.

    The subnet is brought up once for its log and, if an engine routed it and it came up, again to query its ports and
    paths.
    """
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
    """Return the function that checks the tables of a running subnet; unlike reading a configuration, it needs numpy.

    Raises:
        SubnetManagerError: numpy is not installed.
    """
    try:
        from lossless.analysis.opensm.decide import decide
    except ImportError as error:
        raise SubnetManagerError(
            f"{error}: {install_command('sim')} adds numpy, which follows the paths"
        ) from None
    return decide


def statements_in(text: str | bytes) -> list[tuple[str, str]]:
    """Return the keys and values of an opensm.conf in the order in which opensm reads them.

    opensm reads a line in pieces of LINE_BYTES. A piece ends at a ``#`` and, as any text in C, at a zero byte; a value
    loses the space and then one pair of quotes around it.

    linux-rdma/opensm opensm/osm_subnet.c @b17b4db (osm_subn_parse_conf_file, clean_val).
    """
    found = []
    for line in (text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")).split(b"\n"):
        for start in range(0, len(line), LINE_BYTES):
            piece = line[start : start + LINE_BYTES].partition(b"\0")[0].partition(b"#")[0].lstrip(_BLANKS)
            if not piece:
                continue
            key = piece.replace(b"\t", b" ").partition(b" ")[0]
            value = piece[len(key) + 1 :].strip(_SPACES)
            if value[:1] in (b'"', b"'") and value[:1] == value[-1:]:
                value = value[1:-1]
            found.append((_decoded(key), _decoded(value)))
    return found


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def permitted(text: str, names: Collection[str]) -> Permitted:
    """Return the options of a configuration that opensm gets; ``names`` are the files of its subnet."""
    given = Permitted([], [], [], [])
    for key, value in statements_in(text):
        known = option(key)
        if known is None:
            # By the key alone opensm says whether it knows it: without a value it sets nothing.
            given.read.append((key, ""))
            given.unread.append(NotChecked(_harmless(key), _UNLISTED))
        elif known.only == "nvidia":
            given.unread.append(NotChecked(key, _NVIDIAS))
        elif not known.given:
            given.unread.append(NotChecked(key, known.withheld or _UNLISTED))
        elif key == _ENGINES:
            _permit_engines(value, given)
        else:
            given.read.append((key, value))
            name = Path(value).name
            if known.given == "simulated":
                given.simulated.append((key, value))
            elif known.given == "own-file" and name in names and name != CONFIGURATION:
                given.simulated.append((key, name))
            elif value != known.default:
                given.unsimulated.append(NotChecked(key, _OWN_LOG if known.given == "read" else _NOT_OURS))
    return given


def _permit_engines(value: str, given: Permitted) -> None:
    nvidia = nvidia_engines()
    others = [engine for engine in _engines(value) if engine not in nvidia]
    left_out = [engine for engine in _engines(value) if engine in nvidia]
    given.unread.extend(NotChecked(f"{_ENGINES} {engine}", _NVIDIAS) for engine in left_out)
    # With nothing but a word that forbids minhop the subnet would never come up.
    if not left_out or {*others} - {_NO_FALLBACK}:
        statement = (_ENGINES, ",".join(others) if left_out else value)
        given.read.append(statement)
        given.simulated.append(statement)


def file_of(statements: Sequence[tuple[str, str]]) -> bytes:
    """Return the contents of a configuration file in which opensm reads exactly these keys and values.

    Raises:
        SubnetManagerError: no file can state them, such as a path with a ``#`` in it.
    """
    lines = []
    for key, value in statements:
        line = f"{key} {value}" if value else key
        # Quotes keep space at the ends, and quotes that belong to the value.
        lines.append(line if statements_in(line) == [(key, value)] else f'{key} "{value}"')
    made = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    if statements_in(made) != list(statements):
        raise SubnetManagerError("opensm would read another configuration than it is given; nothing was run")
    return made


def nvidia_engines() -> frozenset[str]:
    """Return the routing engines that NVIDIA's opensm alone has."""
    return frozenset(engines("nvidia")) - frozenset(engines("upstream"))


def _engines(text: str) -> list[str]:
    """Return the engines in a value of ``routing_engine``, in order."""
    return [engine.strip() for engine in text.split(",")]


def _intended(text: str) -> str:
    """Return the routing engine that a configuration selects: the first one, minhop if none is stated."""
    stated = dict(statements_in(text)).get(_ENGINES, "(null)")
    return "minhop" if stated == "(null)" else _engines(stated)[0]


def write_files(folder: Path, files: Mapping[str, str], configuration: str) -> Path:
    """Write the files of a subnet into a folder, with the ``opensm.conf`` of its simulation; return the path of this.

    Options that name files name those of the folder; opensm reads no other.

    Raises:
        SubnetManagerError: no file can state these options, such as a path with a ``#`` in it.
    """
    for name, text in files.items():
        if name != CONFIGURATION:
            (folder / name).write_text(text, encoding="utf-8")
    simulated = permitted(configuration, files).simulated
    stated = {key for key, _ in simulated}
    statements = [(key, str(folder / value) if _names_file(key) else value) for key, value in simulated]
    statements += [(key, str(folder / name)) for key, name in READ_ALONE.items() if key not in stated]
    target = folder / CONFIGURATION
    target.write_bytes(file_of(statements))
    return target


def _names_file(key: str) -> bool:
    known = option(key)
    return known is not None and known.given == "own-file"


def seat_of(subnet: Subnet) -> str:
    """Return the name of the HCA or switch of the subnet manager with the highest priority, of the active ones if any.

    If the node of this manager is unknown, it is the first HCA.

    Raises:
        SubnetManagerError: the node is unknown, and the fabric has no HCA.
    """
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
    lines = run.text("opensm.log").split("\n")
    kept = [line for line in lines if not any(path in line for path in absent)]
    return [line.replace(f"{run.folder}/", "") for line in kept]


def _notes(simulation: IbsimFabric) -> tuple[str, ...]:
    if not simulation.replaced:
        return ()
    return (f"ibsim does not know {', '.join(simulation.replaced)}: those links are simulated as NDR",)


def _of_reading(verdict: OpensmVerdict) -> Iterator[str]:
    for key in verdict.reading.unrecognized:
        yield f"opensm does not know the key {_harmless(key)}"
    for line in verdict.reading.complaints:
        secret = next((word for word in _WORD.findall(line) if _is_secret(word)), None)
        yield f"opensm: {line}" if secret is None else f"opensm complains of the value of {secret}"
    for key, text, now in verdict.changed:
        yield f"opensm takes {key} " + (
            "otherwise than written" if _is_secret(key) else f"as {now}, written is {text}"
        )


def _harmless(key: str) -> str:
    """Return an unknown key without the value after ``=`` where that is a secret, else as it is."""
    bare = key.partition("=")[0]
    return bare if _is_secret(bare) else key


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
    """The numbers of keys that opensm read, and read with another value than the given one; the keys not checked."""

    read: int
    changed: int
    not_checked: tuple[NotChecked, ...]


class SimulatedSubnet(NamedTuple):
    """The subnet in the simulation: whether it came up, the seconds of the sweep, the engine, size and partitions."""

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
    """Return opensm's verdict on a subnet as the record that the report prints."""
    return OpensmResult(
        file=subnet.files[0] if subnet.files else subnet.origin.file,
        subnet=subnet.name,
        accepted=not verdict.complaints,
        configuration=ConfigurationKeys(len(verdict.written), len(verdict.changed), verdict.not_checked),
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
