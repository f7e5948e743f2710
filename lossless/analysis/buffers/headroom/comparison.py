"""The configured headroom on the ports of a fabric, beside the results of the three headroom methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.headroom.cases import link_case, port_case
from lossless.analysis.buffers.headroom.formulas import cable_plus_mtu_bytes
from lossless.analysis.buffers.headroom.methods import HeadroomCase, MethodResult, answers, silent
from lossless.analysis.buffers.headroom.port import computed_headroom, given_headroom, lossless_profile
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.buffers.headroom.cases import SourcedTraffic
    from lossless.analysis.buffers.headroom.inputs import HeadroomInputs
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.model import Hwsku, SwitchProfile


class NoHeadroom(NamedTuple):
    """The reason for the absence of headroom."""

    reason: str


NO_PFC = NoHeadroom("PFC is off: there is no lossless group")


class ConfiguredHeadroom(NamedTuple):
    """The headroom of a group: configured in the file, or computed by the switch from its configuration.

    ``headroom_bytes`` is less than ``xoff_bytes`` where nothing backs it, see ``port.given_headroom``. ``name`` is that
    of the profile, None where the switch makes it.
    """

    name: str | None
    by: Literal["file", "switch"]
    headroom_bytes: int
    xoff_bytes: int
    xon_bytes: int | None
    reserved_bytes: int | None


class HeadroomComparison(NamedTuple):
    """One kind of link: the configured headroom and the result of each method.

    ``configured`` is None for a link without a file; ``switch`` is then empty. ``cable_m`` is the real length where it
    is known. ``case`` is the input of the methods, None where too little is known.
    """

    switch: str
    switches: tuple[str, ...]
    ports: int
    elements: tuple[str, ...]
    priorities: tuple[int, ...]
    profile: SwitchProfile | None
    hwsku: Hwsku | None
    speed_bps: int | None
    cable_m: int | None
    configured_cable_m: int | None
    configured: ConfiguredHeadroom | NoHeadroom | MissingInput | None
    answers: tuple[MethodResult, ...]
    case: HeadroomCase | None

    def margin_bytes(self, answer: MethodResult) -> int | None:
        """Return the configured headroom less the need, None where either is unknown."""
        if not isinstance(self.configured, ConfiguredHeadroom) or answer.need is None:
            return None
        return self.configured.headroom_bytes - answer.need.headroom_bytes

    @property
    def least_bytes(self) -> int | None:
        """The cable there and back and one frame: with less headroom, a link at line rate is sure to drop frames."""
        if self.case is None:
            return None
        return cable_plus_mtu_bytes(self.case.speed_bps, self.case.cable_m, self.case.mtu_bytes)


def of_link(
    profile: SwitchProfile,
    hwsku: Hwsku,
    speed_bps: int,
    cable_m: int,
    stated: HeadroomInputs,
    assumed: SourcedTraffic,
) -> HeadroomComparison:
    """Return the comparison of a link without a file: the results of the three methods."""
    case = link_case(profile, hwsku, speed_bps, cable_m, stated, assumed)
    return HeadroomComparison(
        switch="",
        switches=(),
        ports=0,
        elements=(),
        priorities=(),
        profile=profile,
        hwsku=hwsku,
        speed_bps=speed_bps,
        cable_m=cable_m,
        configured_cable_m=None,
        configured=None,
        answers=answers(case),
        case=case,
    )


def of_ports(ports: PortSet, stated: HeadroomInputs, assumed: SourcedTraffic) -> Iterator[HeadroomComparison]:
    """Yield one comparison for each profile of the lossless groups of some ports; most ports have one."""
    by_headroom: dict[ConfiguredHeadroom | NoHeadroom | MissingInput, list[int]] = {}
    for priority in ports.qos.pfc.priorities:
        by_headroom.setdefault(_configured(ports, priority), []).append(priority)
    case = port_case(ports, stated, assumed)
    for configured, priorities in (by_headroom or {NO_PFC: []}).items():
        yield _compared(ports, tuple(priorities), configured, case)


def _compared(
    ports: PortSet,
    priorities: tuple[int, ...],
    configured: ConfiguredHeadroom | NoHeadroom | MissingInput,
    case: HeadroomCase | MissingInput,
) -> HeadroomComparison:
    return HeadroomComparison(
        switch=ports.switch.name,
        switches=ports.switches,
        ports=ports.places,
        elements=ports.elements,
        priorities=priorities,
        profile=ports.switch.profile,
        hwsku=ports.switch.hwsku,
        speed_bps=ports.speed_bps,
        cable_m=ports.cable.known_m,
        configured_cable_m=ports.cable.configured_m,
        configured=configured,
        answers=silent(case.reason) if isinstance(case, MissingInput) else answers(case),
        case=None if isinstance(case, MissingInput) else case,
    )


def _configured(ports: PortSet, priority: int) -> ConfiguredHeadroom | NoHeadroom | MissingInput:
    profile = lossless_profile(ports, priority)
    if isinstance(profile, MissingInput):
        return _computed(ports) if ports.switch.qos.buffer_model == "dynamic" else profile
    if profile is None:
        return _absent(ports, priority)
    return ConfiguredHeadroom(
        name=profile.name or None,
        by="file",
        headroom_bytes=given_headroom(ports.switch, profile),
        xoff_bytes=profile.xoff_bytes,
        xon_bytes=profile.xon_bytes,
        reserved_bytes=profile.reserved_bytes,
    )


def _absent(ports: PortSet, priority: int) -> NoHeadroom:
    group = ports.qos.groups[ports.qos.pausing_group(priority)]
    if group is not None and group.buffer is not None:
        return NoHeadroom(f"{group.buffer.name} has no xoff: the group is lossy")
    none_at_0 = "0 m is configured, and SONiC makes no lossless group for that"
    return NoHeadroom(none_at_0 if ports.cable.configured_m == 0 else "there is no lossless group")


def _computed(ports: PortSet) -> ConfiguredHeadroom | MissingInput:
    need = computed_headroom(ports)
    if isinstance(need, MissingInput):
        return need
    stated = need.headroom_bytes
    return ConfiguredHeadroom(None, "switch", stated, stated, need.xon_bytes, need.reserved_bytes)
