"""What captures of a SONiC switch show: databases, outputs of show and its scripts, answers over gNMI."""

from __future__ import annotations

from lossless.formats.sonic.state.capture import read_capture

__all__ = ["read_capture"]
