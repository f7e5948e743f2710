"""Results of traffic tests: nccl-tests and rccl-tests, perftest as text and as JSON (``--out_json``), k8s-launch-kit.

nccl-tests print a line for each rank, a table with a row for each message size, and a sum of wrong values. Newer
versions print the name of the test; else it is in the command line, or follows from the ratio of the two bandwidths.
GB/s are 10^9 bytes per second. Older tables have ``error``, the largest deviation, where newer ones have ``#wrong``,
the number of wrong values, and no root. Sources: NVIDIA/nccl-tests src/util.cu, src/common.cu and doc/PERFORMANCE.md
@a0b82b2; older tables NVIDIA/nccl#583, nccl-tests#78, #100.

perftest prints its parameters, then a row for each message size, in Gb/s with ``--report_gbits`` and else in units of
2^20 bytes per second, which it called MB/sec before it called them MiB/sec. A bidirectional test (``-b``) prints the
sum of both directions. Its JSON names no unit: that follows from message rate times message size. Source:
linux-rdma/perftest src/perftest_parameters.c and .h @00b55b6 (print_report_bw, write_test_info_to_file, RESULT_FMT).

``l8k validate --output json`` of NVIDIA's k8s-launch-kit prints JSON documents, one of which has under ``connectivity``
a result for each pair of pods and rail: the nodes, the RDMA device of the source, and the text that ``ib_write_bw``
printed there. That text is read: ``BandwidthGbps`` beside it is the peak, not the average. Source:
NVIDIA/k8s-launch-kit pkg/networkoperatorplugin/connectivity/result.go @109fe2d, matrix.go and rdma.go @1e86910,
connectivity.go @7bce0be (MatrixResult), pkg/target/host/validate.go @0713a6a.

Launchers put a mark before what a process prints: before each line (Open MPI, ``srun --label``), or before each part of
a line (``[0]``, NVIDIA/nccl#1453). Marks are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import PrintedSection, json_of, printed_lines, value_of
from lossless.model.fabric.state import StateReading, captured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.ground.basics.records import Maybe
    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.ground.documents.printed_lines import PrintedLine
    from lossless.model.fabric.state import Identity, StateCapture, StateItem, StateItems

MPI_TAG = re.compile(r"\[[0-9]+,[0-9]+\]<std(?:out|err)>:[ \t]?")
"""The mark that Open MPI puts before each line with ``--tag-output``."""
_LINE_TAG = re.compile(r"^[ \t]*+[0-9]{1,6}: ?(?=[# \t])")
_PART_TAG = re.compile(r"\[[0-9]{1,6}\]")
_MARKED = r"(?:(?:\[[0-9]+,[0-9]+\]<std(?:out|err)>:|\[[0-9]{1,6}\]|[0-9]{1,6}:)[ \t]?)?"
_RANK = re.compile(
    r"#\s++Rank\s++([0-9]{1,6})\s++(?:Group\s++[0-9]++\s++)?Pid\s++[0-9]++\s++on\s++"
    r"(?:(?!device\s)(\S++)\s++)?device\s++[0-9]++\s"
)
_STARTS = re.compile(r"#\s*+nThread\s++[0-9]++\s++nGpus\s")
_NAMED = re.compile(r"#\s*+Collective test starting:\s*+(\w++)")
_COMMAND = re.compile(r"(?:^|[\s/])(\w{1,40})_perf(?:_mpi)?(?=\s|$)")
_VARIABLE = re.compile(r"(?:^|\s)(?:-x\s++|export\s++|)(NCCL_ALGO|NCCL_IB_HCA)=(\S+)")
_BOUNDS = re.compile(r"#\s*+Out of bounds values\s*+:\s*+([0-9]{1,18})\s")
_PLACES = ("out of place", "in place")
_SOCKETS = re.compile(r"\bvia NET/Socket/[0-9]|\bUsing network Socket\b")

_KINDS = re.compile(r"\s*+(RDMA_Write|RDMA_Read|Send|Atomic)([a-zA-Z ]{0,60}) BW Test\s*+")
_PARAMETER = re.compile(r"(Dual-port|Device|Number of qps|Connection type|Mtu|Link type)\s*+:\s*+(\S++)")
_PARAMETERS = {
    "Dual-port": "dual_port",
    "Device": "device",
    "Number of qps": "queue_pairs",
    "Connection type": "connection",
    "Mtu": "mtu",
    "Link type": "link_type",
}
_JSON_PARAMETERS = {
    "Dual_port": "dual_port",
    "Device": "device",
    "Number_of_qps": "queue_pairs",
    "Connection_type": "connection",
    "Mtu": "mtu",
    "Link_type": "link_type",
}
_HEADINGS = re.compile(r"BW average\[(Gb|MB|MiB)/sec\]")
_ROW = re.compile(r"\s*+[0-9]{1,15}(?:\s++[0-9.]{1,24}){4,9}\s*+")
_IS_JSON = re.compile(r'\s*\{\s*"test_info"\s*:')
_SIGN = re.compile(
    rf"^{_MARKED}(?:#\s*+nThread [0-9]+ nGpus |[# \t]*+size[ \t]++count[ \t]++type\b)"
    r"|^[ \t]*+(?:RDMA_Write|RDMA_Read|Send|Atomic)[a-zA-Z ]{0,60} BW Test\b",
    re.MULTILINE,
)
GBPS = {"Gb": 1.0, "MB": 2**20 * 8 / 1e9, "MiB": 2**20 * 8 / 1e9}
"""Gb/s in one unit of perftest, by the word in its heading."""
_SAME = 0.01
"""The share by which message rate times size may differ from a bandwidth: both are rounded."""


def is_form(section: PrintedSection) -> bool:
    """Return whether a text has the head of nccl-tests or of a bandwidth test of perftest, or is the JSON of one."""
    return bool(_SIGN.search(section.head) or _IS_JSON.match(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield the results of every test in a text, or of the one in a JSON document."""
    if _IS_JSON.match(section.head):
        yield from _json(section)
    else:
        yield from results(section)


def results(section: PrintedSection) -> StateItems:
    """Yield the results of every test in a text.

    Of nccl-tests: ``test_rank`` (the host of a rank), ``test_name``, ``test_algorithm`` and ``test_adapters`` (those
    that a variable chooses), ``test_sockets`` where the log shows them, and for each size and place ``test_bus`` and
    ``test_algorithmic`` in GB/s and ``test_wrong``; ``test_out_of_bounds`` is of the whole test. Of perftest:
    ``perftest_kind``, its parameters (``perftest_device``, ...), and for each size ``perftest_average`` in Gb/s.
    """
    yield from _collectives(section)
    yield from _perftest(section)


class _Table(NamedTuple):
    """The headings of a table of nccl-tests before the time; ``counts``: the last column counts wrong values."""

    before: tuple[str, ...]
    counts: bool


def _collectives(section: PrintedSection) -> StateItems:
    number, table = 0, None
    commanded = _command(section.title)
    is_open = is_empty = False
    for line in section.lines:
        text = _without_marks(line.text)
        begins = _STARTS.match(text) or (not is_open and _table(text))
        # Each process prints the head where several ran by themselves: one test follows them.
        if begins and not (is_open and is_empty):
            number, table, is_open, is_empty = number + 1, None, True, True
            yield from _said(section, line, number, commanded)
        test: Identity = (("test", str(number)),)
        if rank := _RANK.match(text):
            where = (*test, ("rank", rank[1]), ("line", str(line.number)))
            yield _reading(section, line, where, "test_rank", rank[2] or UNKNOWN, "Rank")
        elif named := _NAMED.match(text):
            commanded = {**commanded, "test_name": named[1].removesuffix("_perf")}
            if is_open and is_empty:
                yield from _said(section, line, number, commanded)
        elif headed := _table(text):
            table = headed
        elif bounds := _BOUNDS.match(text):
            yield _reading(section, line, test, "test_out_of_bounds", int(bounds[1]), "Out of bounds")
            table, is_open = None, False
        elif _SOCKETS.search(text):
            yield _reading(section, line, test, "test_sockets", True, "Socket")
        elif table is not None and (row := _row(text, table)) is not None:
            is_empty = False
            yield from _measured(section, line, test, table, row)
        elif _command(text):
            commanded = {**commanded, **_command(text)}


def _without_marks(line: str) -> str:
    """Return a line of nccl-tests without the marks of a launcher; a line of a log keeps ``[0]``, its GPU."""
    text = _LINE_TAG.sub("", MPI_TAG.sub("", line))
    if "[" not in text or " NCCL " in text:
        return text
    return _PART_TAG.sub(" ", text).lstrip() if _PART_TAG.match(text) else text


def _said(section: PrintedSection, line: PrintedLine, number: int, said: Mapping[str, str]) -> StateItems:
    for name, value in said.items():
        yield _reading(section, line, (("test", str(number)),), name, value, "")


def _command(text: str) -> dict[str, str]:
    """Return the name of a test and the variables that a line has; empty for a line without either."""
    name = _COMMAND.search(text)
    chosen = dict(_VARIABLE.findall(text))
    found = {
        "test_name": name[1] if name else "",
        "test_algorithm": chosen.get("NCCL_ALGO", ""),
        "test_adapters": chosen.get("NCCL_IB_HCA", ""),
    }
    return {key: value for key, value in found.items() if value} if name or chosen else {}


def _table(text: str) -> _Table | None:
    words = text.removeprefix("#").split()
    if words[:3] != ["size", "count", "type"] or not {"time", "busbw"} <= {*words}:
        return None
    return _Table(tuple(words[: words.index("time")]), "#wrong" in words)


def _row(text: str, table: _Table) -> tuple[int, list[str]] | None:
    """Return the message size and the measurements of a row: four words for each place; None for another line."""
    words = text.split()
    if len(words) < 7 or not all(word.isascii() and word.isdecimal() for word in words[:2]):
        return None
    # Old versions leave the column blank where nothing is reduced.
    has_blank = "redop" in table.before and not words[3].isalpha()
    rest = words[len(table.before) - has_blank :]
    return (int(words[0]), rest) if len(rest) >= 4 and len(words[0]) < 16 else None


def _measured(
    section: PrintedSection, line: PrintedLine, test: Identity, table: _Table, row: tuple[int, list[str]]
) -> StateItems:
    size, words = row
    for index, place in enumerate(_PLACES):
        cells = words[4 * index : 4 * index + 4]
        if len(cells) < 4:
            return
        where = (*test, ("size", str(size)), ("place", place))
        yield _reading(section, line, where, "test_algorithmic", _number(cells[1]), "algbw", "GB/s")
        yield _reading(section, line, where, "test_bus", _number(cells[2]), "busbw", "GB/s")
        wrong = _number(cells[3]) if table.counts else UNKNOWN
        yield _reading(section, line, where, "test_wrong", wrong, "#wrong")


def _number(word: str) -> Maybe[int | float]:
    value = value_of(word)
    return value if isinstance(value, int | float) else UNKNOWN


def _perftest(section: PrintedSection) -> StateItems:
    number, unit = 0, ""
    for line in section.lines:
        if kind := _KINDS.fullmatch(line.text):
            number, unit = number + 1, ""
            both = " Bidirectional" if "Bidirectional" in kind[2] else ""
            yield _reading(section, line, _of(number), "perftest_kind", f"{kind[1]}{both}", kind[1])
        elif number and line.text.split()[:1] == ["#bytes"] and (headings := _HEADINGS.search(line.text)):
            unit = headings[1]
        elif unit and _ROW.fullmatch(line.text):
            words = line.text.split()
            where = (*_of(number), ("size", words[0]))
            average = _number(words[3])
            gbps = average * GBPS[unit] if isinstance(average, int | float) else average
            yield _reading(section, line, where, "perftest_average", gbps, "BW average", "Gb/s")
        elif number and not unit:
            for name, word in _PARAMETER.findall(line.text):
                value = value_of(word.removesuffix("[B]"))
                yield _reading(section, line, _of(number), f"perftest_{_PARAMETERS[name]}", value, name)


def _of(number: int) -> Identity:
    return (("test", f"perftest {number}"),)


def _json(section: PrintedSection) -> Iterator[StateItem]:
    document = json_of(section)
    if isinstance(document, Problem):
        yield document
        return
    information, measured = document.get("test_info"), document.get("results")
    if not isinstance(information, dict) or not isinstance(measured, dict):
        yield section.problem(section.lines[0], "no test_info and results of perftest: not read")
        return
    lines = section.lines
    kind = str(information.get("test", ""))
    name = kind.partition("_BW_")[0].replace("_Bidirectional", " Bidirectional")
    if "_BW_" not in kind:
        yield section.problem(lines[0], f"{kind or 'this test'} measures no bandwidth: not read")
        return
    yield _reading(section, _with(lines, '"test"'), _of(1), "perftest_kind", name, "test")
    for key, parameter in _JSON_PARAMETERS.items():
        if key in information:
            value = value_of(str(information[key]))
            yield _reading(section, _with(lines, f'"{key}"'), _of(1), f"perftest_{parameter}", value, key)
    size, average, rate = (measured.get(key) for key in ("MsgSize", "BW_average", "MsgRate"))
    line = _with(lines, '"BW_average"')
    gbps = _gbps(size, average, rate)
    if not isinstance(size, int):
        yield section.problem(line, "the size of the messages is missing: not read")
        return
    if gbps is UNKNOWN:
        yield section.problem(
            line, "the unit of BW_average is not known: it does not fit MsgRate and MsgSize"
        )
    where = (*_of(1), ("size", str(size)))
    yield _reading(section, line, where, "perftest_average", gbps, "BW_average", "Gb/s")


def _gbps(size: object, average: object, rate: object) -> Maybe[float]:
    """Return a bandwidth in Gb/s, by the unit in which it agrees with the message rate; UNKNOWN where none does."""
    if not (isinstance(size, int) and isinstance(average, int | float) and isinstance(rate, int | float)):
        return UNKNOWN
    carried = rate * 1e6 * size * 8 / 1e9
    fitting = (average * unit for unit in GBPS.values() if abs(average * unit - carried) <= _SAME * carried)
    return next(fitting, UNKNOWN) if carried else UNKNOWN


def _with(lines: Sequence[PrintedLine], key: str) -> PrintedLine:
    return next((line for line in lines if key in line.text), lines[0])


def _reading(
    section: PrintedSection,
    line: PrintedLine,
    where: Identity,
    name: str,
    value: Maybe[int | float | str],
    heading: str,
    unit: str = "",
) -> StateReading:
    path = section.place(line, heading or name)
    return StateReading(where, name, value, unit, "now", path, heading or name)


_BANDWIDTHS = ("ib_write_bw", "gpudirect_dmabuf")
"""The families of tests of k8s-launch-kit that measure a bandwidth."""


def read_launch_kit(printed: PrintedJson, _command: object, file: str) -> Iterator[StateCapture]:
    """Yield a capture for each node from which k8s-launch-kit measured bandwidth; none for other JSON.

    The readings of a test are those of perftest, and ``perftest_peer``, the other node. A test without a bandwidth has
    ``perftest_failed``, the error, instead. A test that failed as expected has no readings.
    """
    whole = printed.value.get("connectivity") if isinstance(printed.value, dict) else None
    tests = whole.get("PingResults") if isinstance(whole, dict) else None
    measured = [
        (number, each)
        for number, each in enumerate(tests if isinstance(tests, list) else (), start=1)
        if isinstance(each, dict) and isinstance(each.get("Test"), dict) and each.get("Family") in _BANDWIDTHS
    ]
    nodes = grouped((str(each["Test"].get("SrcNode", "")), (number, each)) for number, each in measured)
    for node, same in nodes.items():
        items = [item for number, each in same for item in _of_pair(file, printed.line, number, each)]
        yield captured(file, "k8s-launch-kit", items, node or None)


def _of_pair(file: str, line: int, number: int, result: Mapping[str, Any]) -> StateItems:
    test, text = result["Test"], str(result.get("Stdout") or "")
    section = PrintedSection(file, "", None, printed_lines(text))
    readings = [item for item in _perftest(section) if isinstance(item, StateReading)]
    path = ("traffic test", line, "PingResults", number)
    if not any(reading.name == "perftest_average" for reading in readings):
        if result.get("OK") is True:
            return
        error = str(result.get("Error") or "no bandwidth")[:160]
        readings = [StateReading((), "perftest_failed", error, "", "now", path, "Error")]
    named = {
        "perftest_kind": "RDMA_Write",
        "perftest_device": str(test.get("SrcRDMADev") or ""),
        "perftest_peer": str(test.get("DstNode") or ""),
    }
    known = {reading.name for reading in readings}
    readings += [
        StateReading((), name, value, "", "now", path, name)
        for name, value in named.items()
        if value and name not in known
    ]
    for reading in readings:
        others = tuple(part for part in reading.identity if part[0] != "test")
        yield reading._replace(identity=(("test", f"perftest {number}"), *others), path=path)
