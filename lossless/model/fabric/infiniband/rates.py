"""Rates of InfiniBand links, by their usual names, with their codes in opensm."""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple


class Rate(NamedTuple):
    """A rate: its name, bits per second one way, lanes and their speed, and the code of ``rate=`` in partitions.conf.

    ``generation`` is the name of its lane speed (``NDR`` of ``NDR200``): both ends of a link have the same lanes.
    """

    name: str
    bits_per_second: int
    lanes: int
    generation: str
    code: int

    @property
    def width(self) -> str:
        """Width and speed in the notation of topology files: ``4xNDR``."""
        return f"{self.lanes}x{self.generation}"


_G = 10**9
RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("EDR", 100 * _G, 4, "EDR", 16),
        Rate("HDR100", 100 * _G, 2, "HDR", 16),
        Rate("HDR", 200 * _G, 4, "HDR", 17),
        Rate("NDR200", 200 * _G, 2, "NDR", 17),
        Rate("NDR", 400 * _G, 4, "NDR", 21),
        Rate("XDR", 800 * _G, 4, "XDR", 23),
    )
}
"""Rates by name. Codes: opensm's ib_types.h, IB_PATH_RECORD_RATE_*: 16 is 100 Gb/s, 17 200, 21 400, 23 800."""

RATE_CODES: dict[int, int] = {
    gigabits * _G: code
    for gigabits, code in (
        (10, 3),
        (25, 15),
        (40, 7),
        (50, 20),
        (56, 12),
        (100, 16),
        (200, 17),
        (300, 18),
        (400, 21),
        (600, 22),
        (800, 23),
        (1200, 24),
    )
}
"""Code of ``rate=`` in partitions.conf by bits per second; the source is that of :data:`RATES`."""

MTU_CODES: dict[int, int] = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
"""Code of ``mtu=`` in partitions.conf by bytes (InfiniBand specification, PortInfo:NeighborMTU)."""

OPERATIONAL_VLS: dict[int, int] = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}
"""The number of VLs for each code of ``max_op_vls`` (PortInfo:OperationalVLs): 3 is VL0 to VL3."""
