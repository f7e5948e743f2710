"""Files of an InfiniBand host in a step: its new files, and the settings of ``run.sh``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lossless.checks.plan.plan import sha256
from lossless.model.fabric.infiniband.subnet import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.plan.plan import FileGroup

SERVICE_S = 120
"""Longest that systemctl may take to stop or start opensm: systemd ends what it stops after 90 s by default."""
STATE_S = 300
"""Longest until the manager is in the state that it should be in, and has swept the subnet. A choice: a thousand hosts
take a second in a simulation; a standby waits a minute before it takes over, by default."""
LIMIT_S = 4 * SERVICE_S + 2 * STATE_S + 120
"""Longest for a group: the change, and its rollback."""
FOLDER = "/etc/lossless/plan"
"""Where a host has the files of plans."""
NONE = "-"


def shell_limits() -> dict[str, object]:
    """Return the time limits and secret keys with which the script is rendered."""
    keys = "|".join(key for key, known in options().items() if known.secret)
    return {"service_s": SERVICE_S, "state_s": STATE_S, "keys": keys}


def host_group_files(group: FileGroup) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of a group: ``settings`` and ``files`` are read by ``run.sh``.

    A file without a target on a host (variables of a job) is beside them and is not installed.
    """
    expects, leaves = group.states or (NONE, NONE)
    yield "settings", f"{group.how} {expects} {leaves} {group.device or NONE} {group.log or NONE}\n"
    placed = [file for file in group.files if file.target.startswith("/")]
    lines = [f"{sha256(f.before) or NONE} {sha256(f.after) or NONE} {f.target} {f.name}\n" for f in placed]
    yield "files", "".join(lines)
    for file in group.files:
        if file.after is not None:
            yield file.name, file.after


def sums(named: dict[str, str]) -> str:
    """Return the file by which ``run.sh`` finds out whether all files have arrived."""
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in named.items())
