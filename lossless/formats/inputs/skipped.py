"""Finds the reason why a file that was named or found is not checked."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from lossless.formats.inputs.discover import HELM, fits, is_helm_template
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.files import beginning
from lossless.ground.basics.findings import SkippedFile
from lossless.ground.documents.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = 1 << 10
"""Bytes of a manifest that include its first file and the hash of that."""
_LOOKED_INTO = 1 << 16
"""Bytes of a file that are read to find its kind."""
_BEGINNING = 1 << 12
"""Characters of a text in which the form of a capture is searched."""
_TEXTS = (".sh", ".bash", ".py", ".rsc", ".log", ".out", ".set", ".cli", ".cmd")
"""Suffixes of scripts, logs and configurations of other systems, which are no inputs, but whose text is examined."""
_SETS_UP_HOST = re.compile(
    r"^[ \t]*(?:sudo )?(?:mlnx_qos|cma_roce_tos|mlxconfig|mlxreg|dcb (?:pfc|app|ets|buffer)|lldptool|niccli|bnxtqos)\b"
    r"|/sys/class/infiniband/\S{1,64}/tc/",
    re.MULTILINE,
)
_PRINTED = re.compile(r"^(?P<ibv_devinfo>hca_id:\s)", re.MULTILINE)
"""The beginnings of outputs of hosts about their ports, searched in texts that have no form of capture."""
_RESOURCE = re.compile(r"\b(?:NicConfigurationTemplate|NicDevice|NicClusterPolicy|SriovNetworkNodePolicy)\b")
_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})
_NOT_OURS = "no intent, and no configuration that is read"


OWN = frozenset({"lossless.toml", "lossless-baseline.json"})
"""Names of files that configure checks: they are used, not skipped."""


def why_skipped(file: str) -> SkippedFile:
    """Return why a file is not checked, by its folder, its name and its beginning."""
    if is_in_rendered_tree(file):
        return SkippedFile(file, "rendered by lossless: what is to be, not what is")
    if not fits(file) and not file.lower().endswith(_TEXTS):
        return SkippedFile(file, "a kind of file that is not read")
    from lossless.ground.documents.folder import link_refusal

    if why := link_refusal(file):
        return SkippedFile(file, f"not read: it {why}")
    try:
        raw = beginning(file, _LOOKED_INTO)
        text = decode(raw, file)
    except OSError as error:
        return SkippedFile(file, f"not readable: {error.strerror}", named=True)
    except InputError:
        return SkippedFile(file, "not readable as text")
    reason = next(_reasons(file, text, whole=len(raw) < _LOOKED_INTO), "")
    return SkippedFile(file, reason or _NOT_OURS, named=bool(reason))


def is_in_rendered_tree(file: str) -> bool:
    """Return whether a file is in a tree that this program rendered, in a folder of a device or beside those."""
    folder = os.path.dirname(os.path.abspath(file))
    return _has_manifest(folder) or _has_manifest(os.path.dirname(folder))


def _has_manifest(folder: str) -> bool:
    manifest = os.path.join(folder, "manifest.json")
    if os.path.islink(manifest):
        from lossless.ground.documents.folder import link_refusal

        if link_refusal(manifest):
            return False
    try:
        return b'"sha256"' in beginning(manifest, _HEADER)
    except OSError:
        return False


def _reasons(file: str, text: str, *, whole: bool) -> Iterator[str]:
    """Yield the reason why a text of a known kind is not checked, none for any other text."""
    from lossless.formats.hosts.read.scripts import is_script
    from lossless.formats.switches.other_systems import other_system, seems_of_switch

    name = file.lower()
    if name.endswith(".json"):
        if whole and _is_patch(text):
            yield "a JSON patch: lossless lint --patch FILE CONFIG checks what it makes of a configuration"
    elif name.endswith((".yaml", ".yml")):
        if is_helm_template(text):
            yield HELM
        elif _RESOURCE.search(text):
            yield "a Kubernetes resource that is not read"
    elif system := other_system(text):
        yield f"a configuration of {system}, a system that is not read"
    elif is_script(text):
        yield "a script that sets up hosts or a job: name the file, and lossless lint reads what it sets"
    elif _SETS_UP_HOST.search(text):
        yield "commands that set up hosts, and no shell script: not read; lossless lint reads what hosts print"
    elif form := _capture_form(text, file):
        yield f"a capture ({form}): lossless verify reads it"
    elif printed := _PRINTED.search(text):
        yield f"an output of {printed.lastgroup}, which is not read"
    elif seems_of_switch(text):
        yield "a configuration of a switch whose system is not recognized"


def _is_patch(text: str) -> bool:
    if not text.lstrip().startswith("["):
        return False
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return bool(data) and all(
        isinstance(item, dict) and item.get("op") in _OPERATIONS and "path" in item for item in data
    )


def _capture_form(text: str, file: str) -> str:
    """Return the name of the form of capture that a text begins with, empty if it has none."""
    from lossless.formats.inputs.capture_forms import read_capture

    captures = read_capture(text[:_BEGINNING], file)
    return captures[0].form if captures else ""
