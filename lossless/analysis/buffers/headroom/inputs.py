"""User inputs of the headroom methods for a link, in a small module of their own for the public interface."""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple


class HeadroomInputs(NamedTuple):
    """User inputs, None for those that are not stated.

    ``small_packet_percent`` counts packets of 64 bytes; ``gearbox_ns`` is one way, ``peer_response_ns`` the response
    time of a peer to a pause. ``port_mtu_bytes``, ``lanes`` and ``shared_headroom`` are for a link without a file.
    """

    lossless_mtu_bytes: int | None = None
    small_packet_percent: int | None = None
    gearbox_ns: int | None = None
    peer_response_ns: int | None = None
    port_mtu_bytes: int | None = None
    lanes: int | None = None
    shared_headroom: bool | None = None
