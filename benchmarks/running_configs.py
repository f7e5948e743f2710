"""How long configurations of EOS take to lint beyond a bare interpreter's start, in the same run.

100 configurations of 500 lines, no two of which are identical, and one of 50,000 lines: what an example renders, among
the addresses, sessions and filters of a switch in service. The time is that of the processor, in seconds.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import BARE, report, seconds
from lossless.formats.device_files.switches import other_files
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load

if TYPE_CHECKING:
    from collections.abc import Iterator

INTENT = Path(__file__).parent.parent / "examples" / "roce-256-mixed" / "fabric.yaml"
LOSSLESS = str(Path(sys.executable).parent / "lossless")
ROUNDS = 5
MANY, MANY_LINES, LONG_LINES = 100, 500, 50_000
PORT = re.compile(r"^interface Ethernet.*\n", re.MULTILINE)


def main() -> None:
    """Print the time of both beyond that of a bare interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        many, long = Path(folder) / "many", Path(folder) / "long"
        qos = _qos()
        for number in range(MANY):
            _write(many / f"spine{number}.cfg", qos, number, MANY_LINES)
        _write(long / "spine0.cfg", qos, 0, LONG_LINES)
        report(
            [
                (f"{MANY} files of {MANY_LINES} lines", _over_bare(many), 1.0, "s"),
                (f"1 file of {LONG_LINES:,} lines", _over_bare(long), 3.0, "s"),
            ]
        )


def _over_bare(folder: Path) -> float:
    lint = [LOSSLESS, "lint", str(folder)]
    subprocess.run(lint, stdout=subprocess.DEVNULL, check=True)
    return statistics.median(_processor_s(lint) - _processor_s(BARE) for _ in range(ROUNDS))


def _processor_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write(path: Path, qos: str, number: int, lines: int) -> None:
    path.parent.mkdir(exist_ok=True)
    text = f"hostname {path.stem}\n!\n" + PORT.sub(lambda line: _port(line[0], number), qos)
    missing = lines - text.count("\n")
    rest = (line for _, line in zip(range(missing), _rest(number), strict=False))
    path.write_text(text + "\n".join(rest) + "\n", encoding="utf-8")


def _qos() -> str:
    fabric = resolve(load_intent(load(INTENT)))
    switch = next(each for each in fabric.switches if each.name == "spine1")
    return next(file.text for file in other_files(switch) if file.path.endswith("qos.cfg"))


def _port(line: str, number: int) -> str:
    which = line.split("Ethernet")[1].strip()
    octet = sum(which.encode()) % 250
    return (
        f"{line}   description leaf{number}-{which}\n   mtu 9214\n   no switchport\n"
        f"   ip address 10.{number}.{octet}.1/31\n"
    )


def _rest(number: int) -> Iterator[str]:
    """Yield a routing session, a filter and what else there is, without end."""
    yield f"router bgp {65000 + number}"
    yield from (f"   neighbor 10.{number}.{n}.0 remote-as {65100 + n}" for n in range(60))
    yield from ("!", "ip access-list HOSTS")
    n = 0
    while True:
        n += 10
        yield f"   {n} permit udp 10.{number}.{n % 250}.0/24 any eq 4791"


if __name__ == "__main__":
    main()
