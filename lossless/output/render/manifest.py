"""The manifest of a tree: every file with its checksum, its target, the way to apply it, and the effect on traffic.

It lies beside the folders of the devices. It holds no time and no machine's name: the same tree twice has the same
manifest twice.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.device_files.deployment import Deployment, UpdatePlan

NAME = "manifest.json"
VERSION = 2
"""2 tells how files are brought onto their devices; 1 did not."""


class ManifestEntry(NamedTuple):
    """The facts of one file of the tree; ``changed`` is whether it differs from the previous file.

    ``sha256`` is None for a ``secret`` file: it would let others try keys until one fits.
    """

    path: str
    sha256: str | None
    executable: bool
    deployment: Deployment | None
    changed: bool
    secret: bool = False

    @property
    def mode(self) -> int:
        """The permissions of the file."""
        return 0o600 if self.secret else 0o755 if self.executable else 0o644


def manifest_text(entries: Iterable[ManifestEntry], changes: Iterable[UpdatePlan] = ()) -> str:
    """Return the manifest, one file a line and one change a line, in the order of paths."""
    files = [_entry(entry) for entry in sorted(entries, key=lambda entry: entry.path)]
    return (
        f'{{\n  "version": {VERSION},\n  "files": {_lines(files)},\n'
        f'  "changes": {_lines(list(map(_change, changes)))}\n}}\n'
    )


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = ",\n".join("    " + encode(row) for row in rows)
    return f"[\n{lines}\n  ]" if lines else "[]"


def _entry(entry: ManifestEntry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": entry.path,
        "device": entry.path.partition("/")[0],
        "sha256": entry.sha256,
        "mode": f"{entry.mode:04o}",
    }
    if entry.deployment is not None:
        target, apply, hitless, why, ports_stay_up = entry.deployment
        # What hits nothing takes no port down.
        stay_up = ports_stay_up if ports_stay_up is not None else hitless or None
        data |= {"target": target, "apply": apply, "hitless": hitless, "ports_stay_up": stay_up, "why": why}
    return data


def _change(change: UpdatePlan) -> dict[str, Any]:
    return {
        "device": change.device,
        "how": change.how,
        "ports_down": change.ports_down,
        "why": change.why,
        "harms": change.harms,
    }


def listed_paths(path: str, text: str) -> list[str]:
    """Return the paths that a manifest lists.

    Raises:
        RenderError: it is not one of ours.
    """
    try:
        listed: list[object] = [entry["path"] for entry in json.loads(text)["files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        listed = [None]
    paths = [listed_path for listed_path in listed if isinstance(listed_path, str)]
    if len(paths) < len(listed):
        raise RenderError(f"{path}: not a manifest of ours; name another folder")
    return paths
