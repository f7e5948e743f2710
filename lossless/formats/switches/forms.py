"""The forms in which switches that do not run SONiC print their state."""

from __future__ import annotations

from lossless.model.fabric.state import CaptureForm

_EOS = "JSON of EOS (ECN marks of queues, PFC frames of ports, drops of traffic classes)"
_NXOS = "`show interface priority-flow-control` and `show interface flowcontrol` of NX-OS"
FORMS = (
    CaptureForm("switch", "EOS", _EOS, "switches.printed_state", "json", reads="read_eos"),
    CaptureForm("switch", "NX-OS", _NXOS, "switches.printed_state", "text", reads="read_nxos"),
)
