"""The scripts that take a snapshot of a host or a switch for this program to read; they need no more than a shell."""

from __future__ import annotations

from pathlib import Path

from lossless.ground.basics.data_files import data_dir


def collector(*, switch: bool = False) -> str:
    """Return the text of the script for hosts, or of that for a SONiC switch.

    Raises:
        LosslessError: the installation is damaged.
    """
    folder, name = ("sonic", "lossless-collect-switch.sh") if switch else ("hosts", "lossless-collect.sh")
    return Path(data_dir("templates"), folder, "collect", name).read_text(encoding="utf-8")
