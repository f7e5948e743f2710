"""The choice of files in a folder that may be inputs: by their suffix, and by the contents of a broken file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lossless.formats.inputs.subnet_manager import SUFFIXES as MANAGERS_SUFFIXES
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.formats.switches.registry import SUFFIXES as SWITCH_SUFFIXES
from lossless.ground.basics.files import beginning
from lossless.ground.basics.limits import FILE_BYTES

if TYPE_CHECKING:
    from re import Pattern

FACTS_SUFFIXES = (".facts", ".txt", ".conf", ".env")
"""Suffixes of files with facts that hosts print about themselves, other than JSON and YAML."""
SUFFIXES = (".json", ".yaml", ".yml", *dict.fromkeys((*MANAGERS_SUFFIXES, *FACTS_SUFFIXES, *SWITCH_SUFFIXES)))
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders of other tools; those whose name begins with a dot are skipped too."""


def fits(name: str) -> bool:
    """Return whether a file has the suffix of a kind of input."""
    return name.lower().endswith(SUFFIXES)


def is_skipped(folder: str) -> bool:
    """Return whether a folder of this name belongs to another tool, and is not searched."""
    return folder.startswith(".") or folder in SKIPPED


def seems_ours(file: str) -> bool:
    """Return whether a file, even one that cannot be parsed, is meant to be an intent or, in JSON, a CONFIG_DB.

    A file without read permission counts as one, since no other message would mention it.
    """
    try:
        raw = beginning(file, FILE_BYTES)
    except PermissionError:
        return True
    except OSError:
        return False
    return bool(_telling(file.lower().endswith(".json")).search(raw))


@cache
def _telling(is_json: bool) -> Pattern[bytes]:
    """Return the pattern by which a broken file is taken for a CONFIG_DB (JSON) or an intent."""
    import re

    if is_json:
        return re.compile(b'"(?:%s)"\\s*:\\s*\\{' % "|".join(sorted(READ_TABLES)).encode())
    return re.compile(b"^[\"']?lossless[\"']?[ \\t]*:[ \\t]*[\"']?v[0-9]", re.MULTILINE)


HELM = "a Helm template, which is no YAML: not read; lint what helm template prints"


def is_helm_template(text: str) -> bool:
    """Return whether a text has actions of Helm and sets variables or devices of RDMA jobs."""
    return "{{" in text and any(word in text for word in ("NCCL_", "UCX_", "MORI_", "rdma/"))
