"""How an intent states thresholds that were swept or tuned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.class_changes import class_changes, intent_line
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.edits import edited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.document import Document
    from lossless.model.hardware.load import Folder

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


def stated_setting(
    document: Document, class_name: str, setting: ThresholdSetting, profile_dirs: Sequence[Folder] = ()
) -> StatedThresholds:
    """Return an intent with a setting of a class's thresholds; every other byte of it stays.

    Raises:
        InputError: it states that already, leaves no place for it, or its switches cannot hold the setting.
    """
    values = {
        key: value for name, key in INTENT_KEYS.items() if (value := getattr(setting, name)) is not None
    }
    changes = class_changes(load_intent(document), class_name, values)
    if setting.trimming == 0:
        message = "to drop instead of trimming, take trimming out by hand, and what only it needs"
        raise InputError([Problem(document.file, None, None, message)])
    if not changes:
        raise InputError([Problem(document.file, None, None, "it states that already")])
    after = edited_intent(document, changes)
    resolve(load_intent(load_text(after, document.file)), profile_dirs)
    return StatedThresholds(document.file, intent_line(changes), document.text, after)


def edited_intent(document: Document, changes: Sequence[ValueChange]) -> str:
    """Return the text of an intent with some changes.

    Raises:
        InputError: what is written there leaves no place for them.
    """
    after = edited(document, changes)
    if after is None:
        message = f"what is written there leaves no place for {intent_line(tuple(changes))}"
        raise InputError([Problem(document.file, None, None, message)])
    return after
