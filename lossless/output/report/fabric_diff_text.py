"""Drift of many switches as text and as data: those with the same drift together, and in total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.natural_order import natural_key
from lossless.ground.basics.wording import listed
from lossless.output.report.columns import cut, wrapped
from lossless.output.report.diff_text import VERSION, causes_of, device_drift, not_compared_lines
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.checks.drift.drift import Drift

_NAMES = 6


def fabric_drift_lines(drifts: Iterable[Drift], style: TextStyle = PLAIN) -> list[str]:
    """Return each drift below the names of the switches that have it."""
    devices_of = grouped((tuple(causes_of(drift.rows)), drift.device) for drift in drifts if drift.rows)
    return cut([_together(devices, causes, style) for causes, devices in devices_of.items()], style)


def _together(devices: Sequence[str], causes: Sequence[str], style: TextStyle) -> str:
    number = f" ({len(devices):,} switches)" if len(devices) > 1 else ""
    below = cut([wrapped(cause, style, "  ") for cause in causes], style, "  ")
    return "\n".join([wrapped(f"{visible(named(devices))}{number}:", style), *below])


def named(devices: Iterable[str]) -> str:
    """Return the names of switches, the first ones of many."""
    return listed(sorted(devices, key=natural_key), _NAMES)


def fabric_summary(intent: str, drifts: Sequence[Drift], missing: Sequence[str]) -> list[str]:
    """Return how many switches were compared, how many differ, and of which there is no file."""
    rows = sum(len(drift.rows) for drift in drifts)
    drifted = sum(1 for drift in drifts if drift.rows)
    differ = f"{drifted:,} differ{'s' if drifted == 1 else ''} from {intent} in {rows:,} row{'' if rows == 1 else 's'}"
    same = "configured as it declares" if drifted else f"configured as {intent} declares"
    parts = [differ] if drifted else []
    parts += [f"{len(drifts) - drifted:,} {same}"] if drifted < len(drifts) else []
    lines = ["; ".join([f"{len(drifts):,} of {len(drifts) + len(missing):,} switches compared", *parts])]
    lines += [f"no configuration here of {named(missing)}"] if missing else []
    return lines + not_compared_lines(drifts)


def fabric_drift_json(
    intent: str, drifts: Sequence[Drift], missing: Sequence[str], errors: Sequence[Any]
) -> str:
    """Return a comparison of many switches as one JSON object; ``errors`` are the files that were not compared."""
    import json

    data = {
        "version": VERSION,
        "intent": intent,
        "devices": [device_drift(drift) for drift in drifts],
        "missing": list(missing),
        "errors": list(errors),
        "total": _total(drifts, missing, errors),
    }
    return json.dumps(data, indent=2)


def _total(drifts: Sequence[Drift], missing: Sequence[str], errors: Sequence[Any]) -> dict[str, int]:
    changes = [drift.change for drift in drifts if drift.change is not None]
    return {
        "compared": len(drifts),
        "drifted": sum(1 for drift in drifts if drift.rows),
        "rows": sum(len(drift.rows) for drift in drifts),
        "patch": sum(1 for change in changes if change.how == "patch"),
        "reload": sum(1 for change in changes if change.how == "reload"),
        "refused": len(drifts) - len(changes),
        "ports_down": sum(len(change.ports_down) for change in changes),
        "missing": len(missing),
        "errors": len(errors),
    }
