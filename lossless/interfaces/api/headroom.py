"""Headroom of a link by the vendor's table, by SONiC's formula and by physics, beside the configured headroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.comparison import (
    HeadroomInputs as HeadroomInputs,
    Headrooms as Headrooms,
)
from lossless.interfaces.api.fabrics import fabrics_at
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from lossless.analysis.buffers.headroom.comparison import SourcedTraffic

NOTHING_STATED = HeadroomInputs()


def headroom_of_link(
    profile: str,
    speed_bps: int,
    cable_m: int,
    *,
    hwsku: str | None = None,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Return the headroom that each of the three methods requires for a lossless PG, by profile, speed and cable.

    ``hwsku`` defaults to the HWSKU that an intent would use; ``stated`` overrides inputs of the formula.

    Raises:
        ProfileError: no such profile or HWSKU, or the switch does not support the speed.
    """
    from lossless.analysis.buffers.headroom.comparison import hwsku_for, of_link
    from lossless.model.hardware.load import load_switch

    switch = load_switch(profile, options.profile_dirs)
    chosen = hwsku_for(switch, hwsku, speed_bps)
    return Headrooms((of_link(switch, chosen, speed_bps, cable_m, stated, _assumed()),))


def headroom_of_ports(
    path: str | PathLike[str],
    ports: Sequence[str] = (),
    *,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Return the required headroom of ports of an intent or of configurations, beside the configured headroom.

    ``ports`` are names such as ``leaf1:Ethernet0``, on a single device ``Ethernet0``. Without names, one port of every
    kind of lossless port is reported.

    Raises:
        InputError: the intent or a configuration cannot be read, or there is none.
        LosslessError: no such switch or port, or one without QoS.
    """
    from lossless.analysis.buffers.headroom.comparison import named_port, of_ports
    from lossless.model.fabric.view import View

    views = [View(fabric) for fabric in fabrics_at(path, options, "compute headroom for")]
    sets = [named_port(views, name) for name in ports] or [
        port_set for view in views for port_set in view.lossless_sets
    ]
    assumed = _assumed()
    return Headrooms(tuple(each for port_set in sets for each in of_ports(port_set, stated, assumed)))


def _assumed() -> SourcedTraffic:
    """Return the default MTUs and share of small packets of the formula, each with its source."""
    from lossless.analysis.buffers.headroom.comparison import SourcedTraffic
    from lossless.analysis.buffers.headroom.methods import SourcedValue
    from lossless.formats.intent.resolve.class_buffers import LOSSLESS_MTU_BYTES, SMALL_PACKET_PERCENT
    from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES

    return SourcedTraffic(
        SourcedValue(DEFAULT_SWITCH_MTU_BYTES, "SONiC's default"),
        SourcedValue(LOSSLESS_MTU_BYTES, "SONiC's default"),
        SourcedValue(SMALL_PACKET_PERCENT, "SONiC's default until 2024-10"),
    )
