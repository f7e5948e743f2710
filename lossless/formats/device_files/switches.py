"""Renders the files of one switch, reads them back and compares, with notes on settings that they leave out.

The file of a SONiC switch has its tables, and extras beside it; other systems have files of their own. Notes are on
load balancing, trimming, attributes that files of a system do not carry, and fixed behavior of chips.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.base_merge import (
    COMPLETE,
    QOS_ALONE,
    QOS_WITH_DELETES,
    Deployment,
    PlannedFile,
    asic_deployment,
    extra_files,
    onto_base,
)
from lossless.formats.device_files.environment import render_template
from lossless.formats.sonic.capabilities.releases import release_problems, releases
from lossless.formats.sonic.from_model import chassis_rows, tables
from lossless.formats.switches.contract import SONIC_LOSSES, differences
from lossless.formats.switches.registry import SONIC, TITLES, dialect
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.units import format_rate, joined
from lossless.model.fabric.attributes import BY_KEY, is_set
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lossless.formats.device_files.base_merge import Extra, UpdatePlan
    from lossless.formats.sonic.capabilities.releases import FixedTrim
    from lossless.formats.switches.contract import ConfigurationFile, Dialect
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.cabling import Trimming
    from lossless.model.fabric.model import Fabric, Switch


TEMPLATE = "sonic/config_db.json.j2"


def switch_files(
    switch: Switch, base: Document | None, extras: Collection[Extra] = ()
) -> tuple[tuple[PlannedFile, ...], UpdatePlan | None]:
    """Return the files of a switch: its own, and on a base the requested extras beside it.

    The second value is the update plan of a SONiC switch with a base, if a patch was requested, else None.

    Raises:
        RenderError: the base does not fit, the release or system does not support a setting, extras are requested for
            one ASIC of several, or the text of the template does not match the tables.
    """
    if not switch.runs_sonic:
        return other_files(switch), None
    rendered, content = contents(switch, base)
    if switch.asic:
        return (_file_of_asic(switch, base, content, extras),), None
    if base is None:
        return (_sonic_file(switch, "qos.json", rendered)._replace(deployment=QOS_ALONE),), None
    files = [_sonic_file(switch, "config_db.json", content)._replace(deployment=COMPLETE)]
    if not extras:
        return tuple(files), None

    beside, plan = extra_files(switch, base, content, extras)
    if "qos" in extras:
        files.append(_sonic_file(switch, "qos.json", rendered)._replace(deployment=QOS_WITH_DELETES))
    return (*files, *beside), plan


def _file_of_asic(
    switch: Switch, base: Document | None, content: Mapping[str, Any], extras: Collection[Extra]
) -> PlannedFile:
    """Return the file of one ASIC of several: ``config_db0.json`` on a base, ``qos0.json`` without one.

    Raises:
        RenderError: extras are requested, or the text of the template does not match the tables.
    """
    if extras:
        why = "are made for switches with one ASIC; render without them"
        raise RenderError(f"{switch.name}: {', '.join(extras)} {why}")
    kind = "config_db" if base else "qos"
    file = _sonic_file(switch, f"{kind}{switch.asic.removeprefix('asic')}.json", content)
    return file._replace(deployment=asic_deployment(switch.asic, complete=base is not None))


def contents(switch: Switch, base: Document | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables that are rendered for a switch, and the content of its file: its base with these tables.

    Without a base the content is these tables alone.

    Raises:
        RenderError: its release does not support a rendered row, or the base does not fit.
    """
    rendered: dict[str, Any] = chassis_rows(tables(switch), base.data if base else {})
    problems = list(release_problems(switch, rendered, base.data if base else None))
    if problems:
        raise RenderError(
            "\n".join(f"{base.file if base else switch.name}: {problem}" for problem in problems)
        )
    return rendered, rendered if base is None else onto_base(switch, rendered, base)


def switch_file(switch: Switch, base: Document | None) -> PlannedFile:
    """Return the file of a SONiC switch: ``config_db.json`` on a base, or ``qos.json`` with the rendered tables alone.

    Of one ASIC it has the number in its name; of another system it is the first file.

    Raises:
        RenderError: as :func:`switch_files`.
    """
    files, _ = switch_files(switch, base)
    return files[0]


def _sonic_file(switch: Switch, name: str, content: Mapping[str, Any]) -> PlannedFile:
    text = render_template(
        TEMPLATE, {"tables": sorted(content.items(), key=lambda item: natural_key(item[0]))}
    )
    if json.loads(text) != content:
        raise RenderError(f"template {TEMPLATE} wrote something else than the tables of {switch.name}")
    return PlannedFile(f"{switch.device}/{name}", text)


def other_files(switch: Switch) -> tuple[PlannedFile, ...]:
    """Return the files of a switch with another system than SONiC.

    Raises:
        RenderError: its system refuses a declared value, or has no place for it.
    """
    system = dialect(switch.format)
    return tuple(_system_file(switch, system, file) for file in system.files(switch))


def _system_file(switch: Switch, system: Dialect, file: ConfigurationFile) -> PlannedFile:
    text = render_template(file.template, file.content)
    path = f"{switch.device}/{file.name}"
    planned = PlannedFile(path, text, deployment=Deployment(file.target, file.apply, None, file.why))
    if not file.whole:
        return planned
    read = system.read(_document(system, text, path), ())
    title = TITLES[switch.format]
    problems = [f"{switch.name}: {title} does not take it: {r.what}: {r.why}" for r in read.refused]
    problems += [f"{switch.name}: {title} {line}" for line in _left(switch, system, read.switch)]
    if problems:
        raise RenderError(*dict.fromkeys(problems))
    return planned


def read_back(switch: Switch) -> Switch:
    """Return a switch of another system than SONiC as read back from its rendered configuration.

    Raises:
        RenderError: its system refuses a declared value, or has no place for it.
    """
    system = dialect(switch.format)
    whole = next(file for file in system.files(switch) if file.whole)
    planned = _system_file(switch, system, whole)
    back = system.read(_document(system, planned.text, planned.path), ()).switch
    return back._replace(format=switch.format)


def _document(system: Dialect, text: str, path: str) -> Document:
    if not path.endswith((".yml", ".yaml")):
        return system.document(text, path)
    from lossless.ground.documents import load_text

    return load_text(text, path, lists=True)


def _left(switch: Switch, system: Dialect, read: Switch) -> Iterator[str]:
    """Yield a message for each declared setting of a switch that its rendered file does not give its ports."""
    at = grouped((difference[1:], difference.port) for difference in differences(switch, read, system.losses))
    for (part, what, declared, said), names in at.items():
        where = BY_KEY[part].shown(what)
        yield f"has no place for {where} as declared on {joined(names, 4)}: {declared}, its file would say {said}"


_NO_ARS = SONIC_LOSSES["adaptive"]
_WITHOUT = {
    "adaptive": _NO_ARS,
    "dlb": _NO_ARS,
    "flowlet": _NO_ARS,
    "spray": "SONiC has no table for spraying",
}
_BESIDE = "configure it beside these files"


def _load_balancing(fabric: Fabric) -> Iterator[str]:
    """Yield a note for each declared load balancing other than ecmp that no file sets, with switches and reason."""
    order = fabric.packet_order
    if order is None:
        return
    choices = ((switch, order.at_role(_role(switch))) for switch in fabric.switches)
    left = ((choice, switch) for switch, choice in choices if choice != "ecmp")
    by_why = grouped(
        ((choice, why), switch.name) for choice, switch in left if (why := _unset(choice, switch))
    )
    for (choice, why), names in by_why.items():
        yield f"{joined(names, 4)}: no file sets load balancing {choice}: {why}"


def _role(switch: Switch) -> str:
    tier = known_tier(switch.tier)
    return tier.word if tier else "switch"


def _unset(choice: str, switch: Switch) -> str:
    """Return why the files of a switch do not set a declared load balancing on all links to switches, else empty."""
    if switch.format not in TITLES:
        return f"{_WITHOUT[choice]}; {_BESIDE}"
    if choice != "adaptive" or "adaptive" not in dialect(switch.format).carries:
        return f"what is rendered for {TITLES[switch.format]} has no place for it; {_BESIDE}"
    between = [port for port in switch.ports if port.placed and port.leads_to == "switch"]
    left = [port for port in between if not port.adaptive]
    if not left:
        return ""
    if any(port.lag is not None for port in left):
        return "members of LAGs are not routed adaptively"
    chip = switch.profile.asic.name if switch.profile is not None else "the chip"
    speeds = joined(sorted({format_rate(port.speed_bps) for port in left if port.speed_bps is not None}))
    return f"{chip} is not known to route adaptively over links of {speeds}"


def system_notes(fabric: Fabric, based: Collection[str] = ()) -> Iterator[str]:
    """Yield notes on settings that rendered files leave out: load balancing, trimming, UEC, and attributes by system.

    ``based`` are switches with a base, which may set the attributes.
    """
    yield from _load_balancing(fabric)
    yield from trimming_notes(fabric)
    if fabric.ultra_ethernet:
        yield "no file sets hosts: no public tool sets the transport of Ultra Ethernet NICs"
    lost = grouped(
        ((switch.format, key, why), switch.name)
        for switch in fabric.switches
        if switch.name not in based
        for key, why in losses_of(switch).items()
    )
    told = grouped(((system, tuple(names), why), key) for (system, key, why), names in lost.items())
    for (system, names, why), keys in told.items():
        titles = joined([BY_KEY[key].title for key in keys])
        yield f"{joined(names, 4)} ({TITLES.get(system, SONIC[1])}): no file sets {titles}: {why}"


def losses_of(switch: Switch) -> dict[str, str]:
    """Return the attributes that a switch has and the files of its system do not carry, each with the reason.

    Adaptive routing is left out: it has a note on load balancing.
    """
    losses = SONIC_LOSSES if switch.runs_sonic else dialect(switch.format).losses
    # What is not routed adaptively is told with what the switch does instead.
    return {key: why for key, why in losses.items() if key != "adaptive" and is_set(BY_KEY[key], switch)}


def trimming_notes(fabric: Fabric) -> Iterator[str]:
    """Yield notes on packet trimming that files do not set or chips do otherwise; none if the fabric does not trim."""
    if fabric.trimming is not None:
        yield from _without(fabric, fabric.trimming)
        yield from _untested(fabric)
        yield from _fixed(fabric, fabric.trimming)


def _without(fabric: Fabric, trimming: Trimming) -> Iterator[str]:
    names = [switch.name for switch in fabric.switches if not switch.runs_sonic]
    if names:
        classes = ", ".join(trimming.classes)
        yield f"{joined(names, 4)}: no file sets trimming of {classes}, which is rendered for SONiC alone: queues drop"


def _untested(fabric: Fabric) -> Iterator[str]:
    facts = releases().trimming
    by_release = grouped(
        (switch.release, switch.name) for switch in fabric.switches if switch.release in facts.untested
    )
    for release, names in by_release.items():
        yield (
            f"{joined(names, 4)}: SONiC {release} has the tables of trimming, and its own tests skip trimming there "
            f"({facts.untested_source}): try it on one switch first"
        )


def _fixed(fabric: Fabric, trimming: Trimming) -> Iterator[str]:
    """Yield a note for each fixed trimming behavior of a switch chip that differs from the declared one."""
    by_chip = {fixed.asic: fixed for fixed in releases().trimming.fixed}
    whys = (
        (why, switch.name)
        for switch in fabric.switches
        if switch.runs_sonic and switch.profile and (fixed := by_chip.get(switch.profile.asic.name))
        for why in _instead(switch, fixed, trimming)
    )
    for why, names in grouped(whys).items():
        yield f"{joined(names, 4)}: {why}"


def _instead(switch: Switch, fixed: FixedTrim, trimming: Trimming) -> Iterator[str]:
    if trimming.size_bytes != fixed.size_bytes:
        yield (
            f"{fixed.asic} trims packets to {fixed.size_bytes} B and no other size ({fixed.source}); trimming.size is "
            f"{trimming.size_bytes} B"
        )
    queue, declared = fixed.queues.get(str(switch.hwsku_name), fixed.queue), switch.qos.trimming
    if declared is not None and declared.queue != queue:
        yield (
            f"{fixed.asic} sends trimmed packets by queue {queue}, which no queue_index changes ({fixed.source}): set "
            f"sai_pkt_trim_queue_index in config.bcm of {switch.hwsku_name} to {declared.queue}, the queue of class "
            f"{trimming.into}"
        )
