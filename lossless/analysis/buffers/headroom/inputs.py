"""What a person may state of a link for the headroom methods; small, so that the public face can show it."""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple


class HeadroomInputs(NamedTuple):
    """What a person states, None where nothing is stated.

    ``small_packet_percent`` counts packets of 64 bytes; ``gearbox_ns`` is one way, ``peer_response_ns`` how long a
    peer takes to obey a pause. ``port_mtu_bytes``, ``lanes`` and ``shared_headroom`` are for a link that is in no file.
    """

    lossless_mtu_bytes: int | None = None
    small_packet_percent: int | None = None
    gearbox_ns: int | None = None
    peer_response_ns: int | None = None
    port_mtu_bytes: int | None = None
    lanes: int | None = None
    shared_headroom: bool | None = None
