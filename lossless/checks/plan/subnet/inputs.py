"""The change between two intents of one InfiniBand subnet: checks that they match, and the files of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.subnet.both import serving_both, with_lanes_of_both
from lossless.checks.plan.subnet.model import FileOfHost, SubnetChange, SubnetConfiguration
from lossless.formats.device_files.infiniband.files import subnet_files
from lossless.formats.inputs.collect import located
from lossless.formats.inputs.fabrics import documents_at
from lossless.formats.inputs.intents import at_transport, declares_subnet
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.known import Unknown
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.infiniband.subnet import Subnet


def subnet_intents(
    current: Sequence[str | PathLike[str]], target: Document
) -> tuple[Document, Document] | None:
    """Return the intents of a change of an InfiniBand subnet; None where no side is one.

    Raises:
        InputError: one side is a subnet, and the other is none.
    """
    documents, errors = documents_at(current[0]) if len(current) == 1 else ([], [])
    alone = documents[0] if len(documents) == 1 and not errors else None
    before = alone if alone is not None and declares_subnet(alone) else None
    if declares_subnet(target) and before is None:
        says = "the target is an InfiniBand subnet: what is in service has to be an intent of it, and no other file"
        raise InputError([at_transport(target, says)])
    if before is None:
        return None
    if not declares_subnet(target):
        raise InputError([at_transport(before, "this is an InfiniBand subnet, and the target is none")])
    return before, target


def subnet_change(before: tuple[Document, Subnet], after: tuple[Document, Subnet]) -> SubnetChange:
    """Return the change between two subnets, each with the intent that declares it.

    Raises:
        InputError: they are no change of one subnet, or something cannot be written as it is stated.
    """
    (before_file, old), (after_file, new) = before, after
    problems = [Problem(after_file.file, None, None, says) for says in _apart(old, new)]
    if problems:
        raise InputError(problems)
    between = serving_both(old, new)
    return SubnetChange(
        _configuration("the subnet in service", old, before_file),
        _configuration("the target", new, after_file),
        None if between is None else _configuration("what serves both", between, after_file),
        tuple(_configuration("the way", each, after_file) for each in with_lanes_of_both(old, new)),
    )


def _apart(old: Subnet, new: Subnet) -> Iterator[str]:
    """Yield why two subnets are no change of one."""
    if "ufm" in (old.manager, new.manager):
        yield "subnet_manager.manager: ufm: a plan is made for opensm; UFM starts and configures its own"
    if old.flavour != new.flavour:
        yield f"flavour: {old.flavour} becomes {new.flavour}: another opensm is installed by other means"
    if {(s.key, s.variable) for s in old.secrets} != {(s.key, s.variable) for s in new.secrets}:
        yield "subnet_manager.keys differ: a plan neither reads nor changes the keys that protect a subnet"
    before, after = _consists(old), _consists(new)
    for what, parts in before.items():
        if parts != after[what]:
            names = sorted({str(each[0]) for each in parts ^ after[what]})
            yield f"{what} differ ({listed(names)}): a plan changes what a subnet is told, not what it consists of"
    switches = {switch.name for switch in new.switches} if not isinstance(new.switches, Unknown) else set()
    told = [str(manager.node) for manager in new.managers if manager.node in switches]
    if told:
        yield f"{listed(told)}: the subnet manager of a switch is configured in its own CLI, which no plan has"


def _consists(subnet: Subnet) -> dict[str, frozenset[tuple[object, ...]]]:
    """Return the switches, HCAs, links and managers of a subnet, as values that can be compared."""
    switches = () if isinstance(subnet.switches, Unknown) else subnet.switches
    hcas = () if isinstance(subnet.hcas, Unknown) else subnet.hcas
    links = () if isinstance(subnet.links, Unknown) else subnet.links
    return {
        "switches": frozenset((each.name, each.profile.name, each.guid) for each in switches),
        "HCAs": frozenset((each.name, each.profile.name, each.guid) for each in hcas),
        "links": frozenset((each.a, each.a_port, each.b, each.b_port, each.rate.name) for each in links),
        "subnet managers": frozenset((each.node, each.hca) for each in subnet.managers),
    }


def _configuration(title: str, subnet: Subnet, document: Document) -> SubnetConfiguration:
    """Return a configuration with the files of each host, without the keys that protect the subnet.

    Raises:
        InputError: something cannot be written as it is stated.
    """
    made, troubles = subnet_files(subnet._replace(secrets=()), {})
    if troubles:
        raise InputError(located(document, each.origin.path, each.message) for each in troubles)
    files: dict[str, dict[str, FileOfHost]] = {}
    for file in made:
        host, _, name = file.path.partition("/")
        target = file.deployment.target if file.deployment is not None else name
        files.setdefault(host, {})[name] = FileOfHost(name, target, file.text)
    return SubnetConfiguration(title, subnet, files)
