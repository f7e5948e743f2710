"""What is known of network adapters; import :class:`NicProfile` from :mod:`lossless.hardware.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lossless.records import NamedTuple


class Parameter(NamedTuple):
    """One tunable of a network adapter: its firmware default, unit and range.

    A bound is None where no checkable source states it. ``source`` is a key of the profile's ``sources``.
    """

    default: int
    unit: str
    minimum: int | None
    maximum: int | None
    source: str
    note: str


class StallPrevention(NamedTuple):
    """When an adapter stops pausing its switch because its own receiver is stuck, in milliseconds."""

    tunable: str
    default_ms: int
    auto_ms: int
    minimum_ms: int
    maximum_ms: int
    source: str


class NicProfile(NamedTuple):
    """One network adapter product.

    ``rates_bps`` are the rates of one port; ``ports`` the most ports of one card, None where unknown.
    ``pci_id`` is ``vendor:device`` in hexadecimal. ``dcqcn`` maps a firmware setting without its port suffix
    (``RPG_AI_RATE``) to its default: defaults differ by version, so a renderer never relies on one and always
    writes the value. ``infiniband`` names the rates of one port on InfiniBand, slowest first; empty, it has none.
    """

    name: str
    product: str
    vendor: str
    driver: Literal["mlx5", "bnxt_re"]
    rates_bps: tuple[int, ...]
    ports: int | None
    pci_id: str | None
    dcqcn: Mapping[str, Parameter]
    cnp_dscp: int | None
    cnp_priority: int | None
    stall_prevention: StallPrevention | None
    sources: Mapping[str, str]
    infiniband: tuple[str, ...] = ()
