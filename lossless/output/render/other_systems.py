"""The files of a switch that runs another system than SONiC: laid out by templates, read back, and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.meaning import PARTS, differences
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import joined
from lossless.output.render.environment import render_template
from lossless.output.render.planned_files import Deployment, PlannedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.contract import ConfigurationFile, Dialect
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric, Switch


def other_files(switch: Switch) -> tuple[PlannedFile, ...]:
    """Return the files of a switch.

    Raises:
        RenderError: its system refuses what is declared, or has no place for it.
    """
    system = dialect(switch.format)
    return tuple(_file(switch, system, file) for file in system.files(switch))


def _file(switch: Switch, system: Dialect, file: ConfigurationFile) -> PlannedFile:
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
    """Return a switch as its rendered files are read.

    Raises:
        RenderError: its system refuses what is declared, or has no place for it.
    """
    system = dialect(switch.format)
    whole = next(file for file in system.files(switch) if file.whole)
    planned = _file(switch, system, whole)
    back = system.read(_document(system, planned.text, planned.path), ()).switch
    return back._replace(format=switch.format)


def _document(system: Dialect, text: str, path: str) -> Document:
    if not path.endswith((".yml", ".yaml")):
        return system.document(text, path)
    from lossless.ground.documents import load_text

    return load_text(text, path, lists=True)


def _left(switch: Switch, system: Dialect, read: Switch) -> Iterator[str]:
    """Yield what of a switch its files do not say."""
    at = grouped((difference[1:], difference.port) for difference in differences(switch, read, system.losses))
    for (part, what, declared, said), names in at.items():
        where = f"{PARTS[part]} ({what})" if what else PARTS[part]
        yield f"has no place for {where} as declared on {joined(names, 4)}: {declared}, its file would say {said}"


def system_notes(fabric: Fabric) -> Iterator[str]:
    """Yield what the files of switches leave out, by the system that they run."""
    if fabric.packet_order is not None and (choices := {*fabric.packet_order.all_choices()} - {"ecmp"}):
        yield f"no file sets load balancing {joined(sorted(choices))}: configure it beside these files"
    if fabric.trimming is not None:
        yield (
            f"no file sets trimming of {', '.join(fabric.trimming.classes)}: queues drop until SWITCH_TRIMMING (SONiC "
            "202505 and later) is configured beside these files"
        )
    if fabric.ultra_ethernet:
        yield "no file sets hosts: no public tool sets the transport of Ultra Ethernet NICs"
    by_format: dict[str, list[str]] = {}
    for switch in fabric.switches:
        if switch.format in TITLES:
            by_format.setdefault(switch.format, []).append(switch.name)
    for name, switches in by_format.items():
        by_why = grouped((why, PARTS[part]) for part, why in dialect(name).losses.items())
        for why, parts in by_why.items():
            yield f"{joined(switches, 4)} ({TITLES[name]}): no file sets {joined(parts)}: {why}"
