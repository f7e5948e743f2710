"""Reads sharp_am.cfg: a key and its value a line, ``#`` before a comment; masks values of secret keys of any file.

No open source documents all keys and their meaning, so only the syntax is checked here.

Values are masked wherever content of files that only their owner may read is shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.documents.marked_document import Marks, lines_of
from lossless.model.fabric.infiniband.subnet import ManagerSetting, options

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document


def masked(text: str) -> str:
    """Return a text with the values of the keys that protect a subnet replaced by stars, the same number for each."""
    keys = "|".join(sorted({*SECRETS, *(key for key, definition in options().items() if definition.secret)}))
    return re.sub(rf"^([ \t]*(?:{keys})[ \t=]+)[^\n]*$", r"\1****", text, flags=re.MULTILINE)


_LINE = re.compile(r"\s*([A-Za-z_]\w*+)(?:\s*+=\s*+|\s++)(\S++(?:[^\S\n]++\S++)*)\s*+$")
KEYS = frozenset(
    {
        "dynamic_tree_algorithm",
        "dynamic_tree_allocation",
        "enable_exclusive_lock",
        "enable_job_pkey_on_tree",
        "enable_reproducibility",
        "enable_seamless_restart",
        "enable_topology_api",
        "fabric_update_interval",
        "ib_port_guid",
        "ib_qpc_sl",
        "ib_sat_qpc_sl",
        "lst_file_retries",
        "lst_file_timeout",
        "max_mads_on_the_wire",
        "max_tree_radix",
        "max_trees",
        "max_trees_to_build",
        "per_prio_default_quota",
        "per_prio_default_sat_quota",
        "per_prio_max_quota",
        "smx_enabled_protocols",
        "smx_protocol",
        "smx_sock_interface",
        "tree_radix",
    }
)
"""Keys that identify a sharp_am.cfg, not all that exist.

Sources: docs.nvidia.com sharpv370 and sharpv310, and kobibar/OpenAI.recipe.old OpenAI.recipe.md @c314151.
"""
SECRETS = frozenset({"am_key", "sa_key", "service_key"})
"""Keys of sharp_am.cfg that protect the subnet: fields of the options of its manager (header of 2023)."""


def read_sharp(text: str, file: str) -> tuple[Document, tuple[ManagerSetting, ...]]:
    """Return the document of a sharp_am.cfg, and its settings; values of secret keys are masked in both."""
    marks = Marks(file, text)
    matches = []
    for start, line in lines_of(marks.text):
        content = line.partition("#")[0]
        match = _LINE.match(content)
        if match is not None:
            matches.append((start, match))
        elif content.strip():
            at = start + len(content) - len(content.lstrip())
            marks.wrong(
                at, f"{content.strip()!r} is no key with a value; expected them on one line, a blank between"
            )
    for start, match in matches:
        if match[1] in SECRETS:
            marks.hide(start + match.start(2), start + match.end(2))
    settings = [_setting(marks, start, match) for start, match in matches]
    return marks.document({setting.key: setting.text for setting in settings}), tuple(settings)


def looks_like_sharp(text: str) -> bool:
    """Return whether a text is a sharp_am.cfg: over half of its lines with content begin with one of :data:`KEYS`."""
    words = [match[1] for match in re.finditer(r"^[ \t]*([^#\s]\S*)", text, re.MULTILINE)]
    known = sum(word in KEYS for word in words)
    return known > 0 and 2 * known > len(words)


def _setting(marks: Marks, start: int, match: re.Match[str]) -> ManagerSetting:
    begin, end = start + match.start(2), start + match.end(2)
    marks.mark((match[1],), begin, end, (start + match.start(1), start + match.end(1)))
    return ManagerSetting(match[1], marks.seen(begin, end), Origin(marks.file, (match[1],)))
