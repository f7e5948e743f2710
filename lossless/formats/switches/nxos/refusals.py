"""Settings of ports and of the switch that NX-OS refuses, or accepts without the intended effect; see :mod:`.policies`.

Sources: Cisco-NX-OS-device.yang 9.3(1) of ydk-models-cisco-nx-os 9.3.1 (``disableAction``, ``overrideInterface``) and
the configurations that :mod:`lossless.formats.switches.nxos.read.grammar` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.policies import policy_refusals
from lossless.formats.switches.nxos.read.rows import QOS
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import joined
from lossless.model.fabric.configured_switch import RefusedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.switches.nxos.read.rows import Key, NxosConfig, NxosSetting
    from lossless.formats.switches.nxos.to_model.switch import NxosSwitch
    from lossless.ground.basics.findings import Origin

_WATCHDOG = "priority-flow-control watch-dog-interval on"
_MODES = {
    "auto": "PFC runs only if the DCBX of the peer agrees",
    "off": "what it classifies as lossless is dropped there under congestion",
}
"""The effects of the modes of PFC that do not turn it on."""
_VALUES = (
    "qos-groups, CoS and queues are 0 to 7, DSCPs 0 to 63, shares and probabilities 0 to 100 %, priority levels "
    "1 to 8, the MTU of a class 576 to 9,216, buffers 5,000 B and more"
)


def refusals(config: NxosConfig, reader: NxosSwitch) -> Iterator[RefusedSetting]:
    """Yield settings that NX-OS refuses, or that have another effect than their words suggest."""
    for origin, text in config.impossible:
        yield RefusedSetting(f"{text!r} has a value out of range", _VALUES, "", origin)
    for origin, text, meant in config.refused:
        yield RefusedSetting(f"{text!r} is no command of NX-OS", "it sets nothing", meant, origin)
    ports = _PortRefusals(config, reader)
    yield from ports.overridden()
    yield from ports.watched_by_ports_alone()
    yield from ports.watched_without_pfc()
    yield from ports.only_logged()
    if reader.no_drop:
        yield from ports.not_on()
        yield from ports.stormy()
        yield from ports.paused_by_link()
    yield from policy_refusals(config, reader)


class _PortRefusals:
    """The settings of the ports that are not shut down, including those of profiles and port channels."""

    def __init__(self, config: NxosConfig, reader: NxosSwitch) -> None:
        self._config = config
        self._reader = reader
        settings = {port: reader.settings_of(port) for port in reader.ports()}
        self._ports = {
            port: own for port, own in settings.items() if (up := own.get(("up",))) is None or up.value
        }

    def _with(self, key: Key, *values: object) -> dict[str, NxosSetting]:
        """Return the setting of each port that has one of some values."""
        stated = {port: own[key] for port, own in self._ports.items() if key in own}
        return {port: setting for port, setting in stated.items() if setting.value in values}

    def _mode(self, port: str) -> str:
        return self._reader.mode(self._ports[port])

    def overridden(self) -> Iterator[RefusedSetting]:
        """Yield the line that turns the PFC of all ports off."""
        off, on = self._config.switch.get(("override",)), self._with(("pfc",), "on", "auto")
        if off is not None and on:
            yield RefusedSetting(
                "priority-flow-control override-interface mode off is set",
                "it overrides the PFC of every port, and nothing is paused",
                "no priority-flow-control override-interface mode off",
                off.origin,
                tuple(on),
            )

    def watched_by_ports_alone(self) -> Iterator[RefusedSetting]:
        """Yield the first line of a port's watchdog where the switch has none."""
        switch, watched = self._config.switch.get(("watchdog",)), self._with(("watchdog",), True)
        said = self._config.says_watchdog and not self._config.is_part
        if said and watched and (switch is None or not switch.value):
            for where, origin, ports in _gathered(watched, apart=False):
                yield RefusedSetting(
                    f"the PFC watchdog is on at {where}, and not on the switch",
                    "it needs the line of the switch too, and watches nothing without it",
                    f"before the interfaces: {_WATCHDOG}",
                    origin,
                    ports,
                )

    def watched_without_pfc(self) -> Iterator[RefusedSetting]:
        """Yield lines of watchdogs at ports that have no PFC."""
        if ("override",) in self._config.switch:
            return
        watched = self._with(("watchdog",), True)
        off = [port for port in watched if self._mode(port) == "off" or ("pfc",) not in self._ports[port]]
        for where, origin, ports in _gathered({port: watched[port] for port in off}):
            yield RefusedSetting(
                f"the PFC watchdog is on at {where}, and PFC is not",
                "it watches queues that PFC can stop",
                "priority-flow-control mode on",
                origin,
                ports,
            )

    def only_logged(self) -> Iterator[RefusedSetting]:
        """Yield watchdogs that only write a message."""
        for where, origin, ports in _gathered(self._with(("log-only",), True)):
            yield RefusedSetting(
                f"the PFC watchdog of {where} has disable-action",
                "a stuck queue is written to the log, and nothing ends the storm",
                _WATCHDOG,
                origin,
                ports,
            )

    def not_on(self) -> Iterator[RefusedSetting]:
        """Yield ports without PFC that classify traffic although a class is no-drop, or that no port has it on."""
        if ("override",) in self._config.switch:
            return
        nowhere, stated = not self._reader.anywhere_on, False
        for mode, why in _MODES.items():
            lines = self._with(("pfc",), mode)
            classifying = {
                p: s for p, s in lines.items() if nowhere or ("policy", QOS, "input") in self._ports[p]
            }
            stated = stated or bool(classifying)
            for where, origin, ports in _gathered(classifying):
                what = f"a class is no-drop, and PFC is {mode} at {where}"
                yield RefusedSetting(what, why, "priority-flow-control mode on", origin, ports)
        if self._ports and nowhere and not stated:
            no_drop = next(iter(self._reader.no_drop.values()))
            yield RefusedSetting(
                f"class {no_drop.name} is no-drop, and no interface has PFC on",
                f"without a line its mode is auto: {_MODES['auto']}",
                "below each interface: priority-flow-control mode on",
                no_drop.origin,
                tuple(self._ports),
            )

    def stormy(self) -> Iterator[RefusedSetting]:
        """Yield limits to unicast at ports with PFC."""
        stated = {port: own[("storm",)] for port, own in self._ports.items() if ("storm",) in own}
        limited = {p: s for p, s in stated.items() if s.value < 100 and self._mode(p) == "on"}
        for where, origin, ports in _gathered(limited):
            yield RefusedSetting(
                f"storm control drops unicast above {limited[ports[0]].value:g} % of the rate of {where}",
                "that drops packets of a no-drop class, which PFC cannot prevent",
                "no storm-control unicast level",
                origin,
                ports,
            )

    def paused_by_link(self) -> Iterator[RefusedSetting]:
        """Yield link-level flow control at ports with PFC."""
        lines = {**self._with(("flowcontrol", "send"), "on"), **self._with(("flowcontrol", "receive"), "on")}
        for where, origin, ports in _gathered({p: s for p, s in lines.items() if self._mode(p) == "on"}):
            yield RefusedSetting(
                f"link-level flow control is on beside PFC at {where}",
                "a pause of the link stops all classes, the lossy ones too",
                "flowcontrol receive off, and flowcontrol send off",
                origin,
                ports,
            )


def _gathered(
    lines: Mapping[str, NxosSetting], *, apart: bool = True
) -> Iterator[tuple[str, Origin, tuple[str, ...]]]:
    """Yield ports in words, their line and their names: ports of one value as one, those of a port profile apart.

    The setting of a profile is reported once for all its ports. With ``apart`` False, the profile's line is the one to
    show.
    """
    profiles = {s.origin for s in lines.values() if str(s.origin.path[:1]).startswith("('port-profile ")}
    same = grouped(
        ((s.value, s.origin if apart and s.origin in profiles else None), port) for port, s in lines.items()
    )
    for ports in same.values():
        shown = next((lines[p].origin for p in ports if lines[p].origin in profiles), lines[ports[0]].origin)
        yield joined(ports, 4), shown, tuple(ports)
