"""``ibdiagnet2.sharp_an_info``: capabilities and settings of SHARP's aggregation node in each switch.

``SW_GUID=0xfc6a1c0300f86080`` and, below it, ``name = value``. Source: suhrobdomoiZ/yadro-test-2026
internal/parser and other public readers of such files. The trees of SHARP (ibdiagnet2.sharp) and its counters
(ibdiagnet2.sharp_pm) are in no public file, and are not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.state.ibdiagnet_counters import guid_of, said
from lossless.ground.documents.printed_lines import value_of

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import Identity, StateItems

_SWITCH = re.compile(r"SW_GUID\s*=\s*(\S+)")
_SETTING = re.compile(r"([A-Za-z][\w\[\]]*)\s*=\s*+(.*)")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is an ibdiagnet2.sharp_an_info: one of the first lines is a ``SW_GUID``."""
    return any(_SWITCH.fullmatch(line.text.strip()) for line in section.lines[:300])


def read(section: PrintedSection) -> StateItems:
    """Yield the capabilities and settings of the SHARP aggregation node in each switch."""
    identity: Identity = ()
    for line in section.lines:
        text = line.text.strip()
        if switch := _SWITCH.fullmatch(text):
            identity = (("guid", guid_of(switch[1])),)
        elif (setting := _SETTING.fullmatch(text)) and identity:
            yield said(identity, f"sharp_{setting[1]}", value_of(setting[2]), section.place(line, setting[1]))
        elif text.strip("-") and not text.startswith("#"):
            yield section.problem(line, f"no setting of an aggregation node: {text!r}")
