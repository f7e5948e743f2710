"""Files below /sys, one line each: ``ports/1/hw_counters/out_of_sequence=0``, full paths, or the output of ``grep``.

A path below the folder of a device does not name the device: then the file's name does, where it begins with a name of
a device or interface as Linux gives them. Sources: Linux Documentation/ABI/stable/sysfs-class-infiniband @031616c (data
in 4-byte words, lifespan in ms); drivers/infiniband/core/sysfs.c @0147ebc (widths); MLNX_OFED's ecn/ folder of an
interface.
"""

from __future__ import annotations

import pathlib
import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents.printed_lines import value_of
from lossless.model.fabric.state import BY_NAME, StateReading, sysfs_ceiling

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import CountedSince, Identity, StateItems

_ASSIGNED = re.compile(
    r"\s*(?:([\w./:@-]++)=|(?!\S*=)([\w./:@-][\w./@-]*+)(?::|\s++(?:=|:(?!\S*=))))\s*+(.*)"
)
"""The pattern of a line on a file below /sys. Groups: the path before an equals sign, or before a colon or a blank;
the content. A path has colons as well."""
_SIGN = re.compile(
    r"^[^\S\n]*+(?>(?:/sys/class/\S+?/)?(?:ports/[0-9]+/\w|hw_counters/\w|ecn/roce_[nr]p/\w))[^\s=:]*+\s*+[=:]",
    re.MULTILINE,
)
_PLACED = re.compile(r"(?:/sys/)?class/(?:infiniband|net)/([^/]+)/(.+)")
_PORT = re.compile(r"(?:.*/)?ports/([0-9]+)/.")
_ENABLED = re.compile(r"ecn/roce_([nr]p)/enable/([0-7])")
DEVICE = re.compile(
    r"(?:mlx[45]|mthca|hfi1|qib|irdma|i40iw|bnxt_re|qedr|mana|efa|rxe|siw|hns|erdma|ionic|cxgb4|ocrdma|vmw_pvrdma)"
    r"_?(?:bond_?)?[0-9]+|(?:rocep|rdmap|ibp|roceo|rdmao|ibo|roces|rdmas|ibs|ibP|rdmaP|roceP)\w+"
    r"|(?:eth|ib|bond|swp)[0-9]+|en[opsxP]\w+|wlan[0-9]+"
)
"""Names that the kernel, udev and rdma-core's rules give to RDMA devices and interfaces."""
_HARDWARE = "hw_counters"
_SETTINGS = {"lifespan": "ms"}


def is_form(section: PrintedSection) -> bool:
    """Return whether the first lines have a file of an RDMA device or its port, or of an interface's ECN."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield the content of every file below /sys; one for which the kernel prints ``N/A`` is UNKNOWN."""
    stem = re.split(r"[.-]", pathlib.PurePath(section.file).name, maxsplit=1)[0]
    default = stem if DEVICE.fullmatch(stem) else ""
    for line in section.lines:
        if not line.text.strip() or line.text.lstrip().startswith(("#", "==>")):
            continue
        match = _ASSIGNED.match(line.text)
        if match is None:
            yield section.problem(
                line, f"expected path=value as of a file below /sys, not {line.text.strip()!r}"
            )
            continue
        written = match[1] or match[2]
        placed = _PLACED.fullmatch(written)
        device, path = (placed[1], placed[2]) if placed else (default, written)
        yield _reading(device, path, match[3].rstrip(), section.place(line, path))


def _reading(device: str, path: str, word: str, place: Path) -> StateReading:
    identity: Identity = (("device", device),) if device else ()
    port = _PORT.match(path)
    enabled = _ENABLED.fullmatch(path)
    if port:
        identity += (("port", port[1]),)
    if enabled:
        identity += (("priority", enabled[2]),)
    name = f"roce_{enabled[1]}_enabled" if enabled else path.rpartition("/")[2]
    counter = BY_NAME.get(name) if "/counters/" in f"/{path}" else None
    unit = counter.unit if counter else _SETTINGS.get(name, "")
    value = UNKNOWN if word.startswith("N/A") else value_of(word)
    return StateReading(
        (*identity, ("path", path)),
        name,
        value,
        unit,
        _since(path, name),
        place,
        path,
        sysfs_ceiling(counter) if counter else None,
    )


def _since(path: str, name: str) -> CountedSince:
    """Return since when the counter in a file counts, ``now`` for a setting.

    It is ``unknown`` below ``counters``, which anyone on the fabric may clear.
    """
    if name in _SETTINGS:
        return "now"
    folders = path.split("/")
    if _HARDWARE in folders or "statistics" in folders:
        return "boot"
    return "unknown" if "counters" in folders or "counters_ext" in folders else "now"
