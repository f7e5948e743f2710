"""``lossless lint --plan DIR``: the progress of switches in a plan, and rows that are neither old nor new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.interfaces.cli.app import FINDINGS, OK
from lossless.interfaces.cli.terminal import out, out_json

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERSION = 1
"""Of the names in the JSON object."""


def show(plan_dir: str, configs: Sequence[str], output_format: str) -> int:
    """Print how far the switches of some files are; 0 where all have done all, 1 where anything is left."""
    from lossless import api
    from lossless.output.report.plan_text import progress_lines

    reached, missing, steps = api.plan_progress(plan_dir, configs)
    if output_format == "json":
        devices = [{**device._asdict(), "finished": device.finished} for device in reached]
        out_json({"version": _VERSION, "steps": steps, "devices": devices, "missing": list(missing)})
    else:
        out("\n".join(progress_lines(reached, missing, steps)))
    return OK if all(device.finished for device in reached) and not missing else FINDINGS
