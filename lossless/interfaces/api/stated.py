"""How an intent states thresholds that were swept or tuned."""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple

INTENT_KEYS = {
    "dynamic_th": "dynamic_th",
    "kmin_bytes": "min",
    "kmax_bytes": "max",
    "pmax_percent": "probability",
    "headroom_bytes": "xoff",
    "queue_dynamic_th": "queue.dynamic_th",
}
"""The keys of an intent by the thresholds of a sweep; ``trimming`` is stated by what a class is trimmed into."""

SWEEP_INSTEAD = "lossless sweep --vary queue_dynamic_th=-6..1 tries thresholds of a lossy class"
"""What is done of a lossy class, which is not tuned."""


class StatedThresholds(NamedTuple):
    """How an intent states a setting: the line that does, and the text of its file before and after."""

    file: str
    line: str
    before: str
    after: str
