"""Alerts on the monitoring itself: missing targets, scrapes, counters and ports. Silence must not pass for health.

:class:`AlertContext` has the inputs of all alerts of a fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import any_of, named
from lossless.formats.telemetry.prometheus.bench import (
    INTENT,
    KNOWN,
    PORT,
    Alert,
    AlertCase,
    FabricSeries,
    duration,
    line,
    matching,
    rising,
    steady,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.prometheus.bench import Labels, Line, Severity
    from lossless.formats.telemetry.prometheus.inventory import AlertTimes, HostFacts, IntendedPort, Inventory


class AlertContext(NamedTuple):
    """The inputs of a fabric's alert rules: the inventory of its intent, windows in seconds, and host facts.

    ``pfc_only``: senders react only to pauses. ``polled``: the flex counter groups with intended polling."""

    intended: Inventory
    every: AlertTimes
    hosts: HostFacts
    pfc_only: bool
    polled: tuple[str, ...]

    @property
    def of(self) -> FabricSeries:
        """The selectors of the fabric's series."""
        return FabricSeries(self.intended.fabric)


SWITCHES_JOB, HOSTS_JOB, UFM_JOB = "lossless-switches", "lossless-hosts", "lossless-ufm"
HOUR_S = 3600
TO_HOST = matching("leads_to", "host")
_SWITCHES, _HOSTS = matching("job", SWITCHES_JOB), matching("job", HOSTS_JOB)
SWITCH_DOWN = "LosslessSwitchDown"
SCRAPE_FAILED = "LosslessSwitchScrapeFailed"
TARGET_MISSING = "LosslessSwitchNotATarget"
POLLING_OFF = "LosslessCounterPollingOff"
DATABASE_DOWN = "LosslessSwitchDatabaseDown"
LINK_FLAPS = "LosslessLinkFlaps"
_CHECK_PROMETHEUS = (
    "Prometheus, Status, Targets: the job and its labels fabric, switch and instance must be those of the "
)
_SCRAPE_JOBS = "rendered prometheus.yml."


def watching_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on gaps of the monitoring, and on ports that are down or missing."""
    yield _intent_missing(context)
    if context.intended.switches:
        yield from _switch_alerts(context)
    if context.intended.hosts:
        yield _host_not_a_target(context)
        yield host_scrape_failed(context.intended.fabric, context.intended.hosts[0], context.every)
    yield from _port_alerts(context)


def _seconds(context: AlertContext) -> int:
    return context.every.settles + 2 * context.every.sample


def _intent_missing(context: AlertContext) -> Alert:
    """Return the alert on missing recorded series of the intent, with which other alerts compare."""
    info = "switch:info" if context.intended.switches else "host:info"
    fabric = {"fabric": context.intended.fabric}
    return Alert(
        name="LosslessIntentNotLoaded",
        severity="warning",
        expr=f"absent({context.of.intended(info)})",
        for_s=context.every.settles,
        summary="The intent of {{ $labels.fabric }} is not loaded: no alert on it can fire",
        description="Prometheus has no recorded values of the intent. Every other alert compares with them.",
        runbook="promtool check config prometheus.yml; rule_files must name intent.rules of the last render.",
        fires=AlertCase((("up", steady(1)),), _seconds(context), fabric),
        quiet=AlertCase((line(f"{INTENT}{info}", fabric, steady(1)),), _seconds(context)),
    )


def _switch_alerts(context: AlertContext) -> Iterator[Alert]:
    switch = {"fabric": context.intended.fabric, "switch": context.intended.switches[0].place.name}
    place = context.intended.switches[0].place
    known = {"tier": place.tier} | ({"rail": place.rail} if place.rail else {})
    info = line(f"{INTENT}switch:info", switch | known, steady(1))
    yield _not_a_target(context, switch, known, info)
    yield _scrape_failed(context, switch)
    names = {unit.place.name for unit in context.intended.switches}
    links = (port for port in context.intended.ports if port.up and port.known.get("neighbor") in names)
    link = next(links, None)
    if link is not None:
        yield _switch_down(context, link)
    yield _database_down(context, switch)
    if context.polled:
        yield _polling_off(context, switch)


def _up(job: str, labels: Labels, value: int) -> Line:
    return line("up", {"job": job, **labels}, steady(value))


def _not_a_target(context: AlertContext, switch: Labels, known: Labels, info: Line) -> Alert:
    """Return the alert on a switch of the intent whose name is in no series and in no failed scrape.

    Either Prometheus has no such target, or the switch reports another name, which no other alert would match.
    One gnmic serves many switches from one target: counters of their queues show that they are monitored.
    """
    of = context.of
    served = f"{of.sonic('info')} or {of.sonic('queue_sent_packets_total')}"
    watched = f"({of('up', _SWITCHES)} == 0 or {served})"
    return Alert(
        name=TARGET_MISSING,
        severity="warning",
        expr=f"{context.of.intended('switch:info')}\nunless on (fabric, switch) {watched}",
        for_s=context.every.settles,
        summary="{{ $labels.switch }} is not watched: nothing that is scraped has its name",
        description="The intent has the switch {{ $labels.switch }}. Either no target of the job "
        + SWITCHES_JOB
        + " is it, or the hostname in its DEVICE_METADATA is another one: then alerts on it cannot fire.",
        runbook=_CHECK_PROMETHEUS + _SCRAPE_JOBS + " Where the hostname differs: lossless exporter --switch "
        "{{ $labels.switch }}.",
        fires=AlertCase((info,), _seconds(context), switch | known),
        quiet=AlertCase((info, _up(SWITCHES_JOB, switch, 0)), _seconds(context)),
    )


def _scrape_failed(context: AlertContext, switch: Labels) -> Alert:
    """Return the alert on scrapes that fail for longer than a switch takes to boot; silence it for longer upgrades."""
    job = {"job": SWITCHES_JOB}
    return Alert(
        name=SCRAPE_FAILED,
        severity="warning",
        expr=f"{context.of('up', _SWITCHES)} == 0",
        for_s=context.every.settles,
        summary="{{ $labels.switch }} cannot be scraped",
        description="Nothing is known of {{ $labels.switch }}: neither pauses nor drops there raise an alert.",
        runbook="curl -s http://{{ $labels.switch }}:PORT/metrics; on the switch: systemctl status lossless-exporter.",
        fires=AlertCase((_up(SWITCHES_JOB, switch, 0),), _seconds(context), job | switch),
        quiet=AlertCase((_up(SWITCHES_JOB, switch, 1),), _seconds(context)),
        follows=((SWITCH_DOWN, ("fabric", "switch")), (TARGET_MISSING, ("fabric", "switch"))),
    )


def _switch_down(context: AlertContext, link: IntendedPort) -> Alert:
    """Return the alert on a switch that cannot be scraped, and to which each scraped neighbor has its links down.

    Without the second sign it may forward, and only its exporter or the management network is down. It waits as long as
    a switch takes to boot; silence it for longer upgrades.
    """
    of = context.of
    meant = of.intended("port:info", 'leads_to!="host"', 'out_of_service!="true"')
    links = f"{of.sonic('interface_up')}\n* on ({PORT}) group_left (neighbor) {meant}"
    dark = (
        f'label_replace(\nmax by (fabric, neighbor) (\n{links}\n) == 0, "switch", "$1", "neighbor", "(.+)")'
    )
    identity, labels = _labels(context, link)
    switch = {"fabric": context.intended.fabric, "switch": link.known["neighbor"]}
    info = line(f"{INTENT}port:info", labels, steady(1))
    name, away = named("interface_up").name, _up(SWITCHES_JOB, switch, 0)
    return Alert(
        name=SWITCH_DOWN,
        severity="critical",
        expr=f"{of('up', _SWITCHES)} == 0\nand on (fabric, switch) {dark}",
        for_s=context.every.settles,
        summary="{{ $labels.switch }} is down: it does not answer, and no neighbor has a link to it",
        description="Hosts at {{ $labels.switch }} have lost its links, traffic through it was rerouted or is lost: "
        "timeouts and retransmissions of hosts follow from it.",
        runbook="Its console, power and fans; show interfaces status on a neighbor. lossless topology INTENT shows "
        "what the fabric tolerates. A switch that is out for long belongs in failures of the intent.",
        fires=AlertCase(
            (info, away, line(name, identity, steady(0))), _seconds(context), {"job": SWITCHES_JOB} | switch
        ),
        quiet=AlertCase((info, away, line(name, identity, steady(1))), _seconds(context)),
    )


def _database_down(context: AlertContext, switch: Labels) -> Alert:
    """Return the alert on a database of a switch that does not answer, or stays empty after the boot."""
    name, database = named("database_up").name, {"database": "COUNTERS_DB"}
    return Alert(
        name=DATABASE_DOWN,
        severity="warning",
        expr=f"{context.of.sonic('database_up')} == 0",
        for_s=context.every.settles,
        summary="{{ $labels.database }} of {{ $labels.switch }} does not answer, or is empty",
        description="Whatever alerts need from {{ $labels.database }} is absent.",
        runbook="On the switch: docker ps; sonic-db-cli {{ $labels.database }} DBSIZE; show services.",
        fires=AlertCase((line(name, switch | database, steady(0)),), _seconds(context), switch | database),
        quiet=AlertCase((line(name, switch | database, steady(1)),), _seconds(context)),
        follows=((SCRAPE_FAILED, ("fabric", "switch")),),
    )


def _polling_off(context: AlertContext, switch: Labels) -> Alert:
    """Return the alert on counter groups whose intended polling is off, long after SONiC enables it at a boot.

    SONiC up to 202405 waits three minutes with that (dockers/docker-orchagent/enable_counters.py of sonic-buildimage),
    so this one waits twice as long as others.
    """
    name, group = named("polling_enabled").name, {"group": context.polled[0]}
    groups = f'group=~"{any_of(context.polled)}"'
    seconds = 2 * context.every.settles + 2 * context.every.sample
    return Alert(
        name=POLLING_OFF,
        severity="warning",
        expr=f"{context.of.sonic('polling_enabled', groups)} == 0",
        for_s=2 * context.every.settles,
        summary="{{ $labels.switch }} does not poll counter group {{ $labels.group }}",
        description="The exporter serves no counters of this group: alerts on them cannot fire.",
        runbook="On the switch: counterpoll show; the rendered FLEX_COUNTER_TABLE has it enabled.",
        fires=AlertCase((line(name, switch | group, steady(0)),), seconds, switch | group),
        quiet=AlertCase((line(name, switch | group, steady(1)),), seconds),
        follows=((DATABASE_DOWN, ("fabric", "switch")),),
    )


def _host_not_a_target(context: AlertContext) -> Alert:
    """Return the alert on a host of the intent without a target: only info, because hosts are added one by one."""
    host = {"fabric": context.intended.fabric, "instance": context.intended.hosts[0]}
    info = line(f"{INTENT}host:info", host, steady(1))
    up = context.of("up", _HOSTS)
    return Alert(
        name="LosslessHostNotATarget",
        severity="info",
        expr=f"{context.of.intended('host:info')}\nunless on (fabric, instance) {up}",
        for_s=context.every.settles,
        summary="{{ $labels.instance }} is not scraped: Prometheus has no such target",
        description="The intent has the host {{ $labels.instance }}, and no target of the job "
        + HOSTS_JOB
        + " is it.",
        runbook=_CHECK_PROMETHEUS + _SCRAPE_JOBS,
        fires=AlertCase((info,), _seconds(context), host),
        quiet=AlertCase((info, _up(HOSTS_JOB, host, 0)), _seconds(context)),
    )


def host_scrape_failed(fabric: str, name: str, every: AlertTimes) -> Alert:
    """Return the alert on a host whose node_exporter does not answer: only info, because hosts are serviced often."""
    host, seconds = {"fabric": fabric, "instance": name}, every.settles + 2 * every.sample
    return Alert(
        name="LosslessHostScrapeFailed",
        severity="info",
        expr=f"{FabricSeries(fabric)('up', _HOSTS)} == 0",
        for_s=every.settles,
        summary="{{ $labels.instance }} cannot be scraped",
        description="Nothing is known of the NICs of {{ $labels.instance }}.",
        runbook="systemctl status node_exporter on {{ $labels.instance }}.",
        fires=AlertCase((_up(HOSTS_JOB, host, 0),), seconds, {"job": HOSTS_JOB, **host}),
        quiet=AlertCase((_up(HOSTS_JOB, host, 1),), seconds),
    )


def _port_alerts(context: AlertContext) -> Iterator[Alert]:
    """Yield the alerts on ports that are down or flap, and the alert on ports that a switch lacks.

    A port to a host that does not answer, and may be switched off, is reported as info.
    """
    ports = context.intended.ports
    to_host = next((port for port in ports if port.leads_to == "host" and port.up), None)
    to_switch = next((port for port in ports if port.leads_to != "host" and port.up), None)
    if to_switch is not None:
        yield _port_down(context, to_switch, "warning", 'leads_to!="host"')
    if to_host is not None:
        yield _port_down(context, to_host, "info", TO_HOST)
        yield _link_to_host_down(context, to_host)
    port = to_switch or to_host
    if port is not None:
        yield _link_flaps(context, port)
        yield _port_missing(context, port)


def _labels(context: AlertContext, port: IntendedPort) -> tuple[Labels, Labels]:
    identity = {"fabric": context.intended.fabric, **port.identity}
    return identity, identity | port.known


def _port_down(context: AlertContext, port: IntendedPort, severity: Severity, leads_to: str) -> Alert:
    """Return the alert on a port of the intent that is down for minutes.

    A host that is switched off is no fault. Excluded are links out of service in the intent (``failures``), and those
    to a switch that cannot be scraped, during whose upgrade all of its links are down, to a port that its switch has
    not, or to a host that answers: all of these have their own alert.
    """
    of = context.of
    away = f'label_replace({of("up", _SWITCHES)} == 0, "neighbor", "$1", "switch", "(.+)")'
    gone = f'label_replace(\n{_missing(context)},\n"neighbor", "$1", "switch", "(.+)")'
    gone = f'label_replace({gone}, "neighbor_port", "$1", "interface", "(.+)")'
    elsewhere = f"{away}\nunless on (fabric, neighbor, neighbor_port) {gone}"
    if severity == "info":
        elsewhere = _answering_hosts(context)
    identity, labels = _labels(context, port)
    info = line(f"{INTENT}port:info", labels, steady(1))
    name = named("interface_up").name
    return Alert(
        name="LosslessPortDown",
        severity=severity,
        expr=f"{_down(context, leads_to)}\nunless on (fabric, neighbor) {elsewhere}",
        for_s=context.every.settles,
        summary="{{ $labels.switch }} {{ $labels.interface }} to {{ $labels.neighbor }} is down",
        description="The intent uses this link; what it carried goes over the others, or nowhere.",
        runbook="show interfaces status {{ $labels.interface }}; show interfaces transceiver eeprom "
        "{{ $labels.interface }}; the other end is {{ $labels.neighbor }} {{ $labels.neighbor_port }}.",
        fires=AlertCase((info, line(name, identity, steady(0))), _seconds(context), labels),
        quiet=AlertCase((info, line(name, identity, steady(1))), _seconds(context)),
        follows=((SCRAPE_FAILED, ("fabric", "switch")),),
    )


def _down(context: AlertContext, leads_to: str) -> str:
    """Return the expression for ports of the intent that are down, without links that it has out of service."""
    meant = context.of.intended("port:info", leads_to, 'out_of_service!="true"')
    return f"({context.of.sonic('interface_up')} == 0)\n* on ({PORT}) group_left ({KNOWN}) {meant}"


def _answering_hosts(context: AlertContext) -> str:
    return f'label_replace({context.of("up", _HOSTS)} == 1, "neighbor", "$1", "instance", "(.+)")'


def _link_to_host_down(context: AlertContext, port: IntendedPort) -> Alert:
    """Return the alert on a port that is down although its host answers: a cable, a module or a NIC is at fault."""
    identity, labels = _labels(context, port)
    host = {"fabric": context.intended.fabric, "instance": port.known["neighbor"]}
    info = line(f"{INTENT}port:info", labels, steady(1))
    down = line(named("interface_up").name, identity, steady(0))
    return Alert(
        name="LosslessHostLinkDown",
        severity="warning",
        expr=f"{_down(context, TO_HOST)}\nand on (fabric, neighbor) {_answering_hosts(context)}",
        for_s=context.every.settles,
        summary="{{ $labels.switch }} {{ $labels.interface }} to {{ $labels.neighbor }} is down, and the host is not",
        description="{{ $labels.neighbor }} answers, and has one link less than the intent: its jobs lose a rail, or "
        "fail when they start.",
        runbook="ip link; rdma link; ethtool -m on {{ $labels.neighbor }}; show interfaces transceiver eeprom "
        "{{ $labels.interface }} on {{ $labels.switch }}. Clean or replace the cable, then look at the NIC.",
        fires=AlertCase((info, down, _up(HOSTS_JOB, host, 1)), _seconds(context), labels),
        quiet=AlertCase((info, down, _up(HOSTS_JOB, host, 0)), _seconds(context)),
        follows=((SCRAPE_FAILED, ("fabric", "switch")),),
    )


def status_changes(of: FabricSeries, window: str) -> str:
    """Return the expression for changes of the status of ports: as counted, else as far as scrapes saw them."""
    counted, seen = of.sonic("interface_status_changes_total"), of.sonic("interface_up")
    return f"(increase({counted}[{window}]) or changes({seen}[{window}]))"


def _link_flaps(context: AlertContext, port: IntendedPort) -> Alert:
    """Return the alert on a port of the intent that went down three times in an hour.

    One or two may be restarts of the peer. On releases that do not count changes of the status, the scrapes show only
    changes that last until one.
    """
    of = context.of
    identity, labels = _labels(context, port)
    info = line(f"{INTENT}port:info", labels, steady(1))
    counter = named("interface_status_changes_total").name
    meant = of.intended("port:info", 'out_of_service!="true"')
    return Alert(
        name=LINK_FLAPS,
        severity="warning",
        expr=f"({status_changes(of, duration(HOUR_S))} / 2 >= 3)\n* on ({PORT}) group_left ({KNOWN}) {meant}",
        for_s=0,
        summary="{{ $labels.switch }} {{ $labels.interface }} to {{ $labels.neighbor }} went down "
        '{{ $value | printf "%.0f" }} times in an hour',
        description="Each time packets on the link are lost, and flows move to others and back: RDMA retransmits.",
        runbook="show interfaces transceiver eeprom {{ $labels.interface }}; show interfaces counters errors; show "
        "interfaces fec status: clean or replace the cable at both ends.",
        fires=AlertCase(
            (info, line(counter, identity, rising(8 * context.every.sample / HOUR_S))), HOUR_S, labels
        ),
        quiet=AlertCase((info, line(counter, identity, steady(9))), HOUR_S),
    )


def _missing(context: AlertContext) -> str:
    """Return the expression for ports of the intent that a scraped switch does not have."""
    of = context.of
    return (
        f"(\n{of.intended('port:info')}\nunless on ({PORT}) {of.sonic('interface_up')}\n)\n"
        f"and on (fabric, switch) {of.sonic('info')}"
    )


def _port_missing(context: AlertContext, port: IntendedPort) -> Alert:
    """Return the alert on a port of the intent that a scraped switch does not have: another breakout, HWSKU or name."""
    identity, labels = _labels(context, port)
    switch = {"fabric": context.intended.fabric, "switch": port.switch}
    info = line(f"{INTENT}port:info", labels, steady(1))
    here = line(named("info").name, switch, steady(1))
    return Alert(
        name="LosslessPortMissing",
        severity="warning",
        expr=_missing(context),
        for_s=context.every.settles,
        summary="{{ $labels.switch }} has no port {{ $labels.interface }}",
        description="The intent uses {{ $labels.interface }} towards {{ $labels.neighbor }}; the switch has none.",
        runbook="show interfaces status; show interfaces breakout current-mode; compare with the rendered PORT table.",
        fires=AlertCase((info, here), _seconds(context), labels),
        quiet=AlertCase(
            (info, here, line(named("interface_up").name, identity, steady(1))), _seconds(context)
        ),
        follows=((DATABASE_DOWN, ("fabric", "switch")),),
    )
