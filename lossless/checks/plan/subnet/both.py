"""The change between two intents of one InfiniBand subnet, and configurations that serve the traffic of both.

The intents must be of the same subnet; each gives its hosts files. Jobs move from one configuration to the other over
one that serves both. With keep_pkey_indexes old P_Keys keep their place in the table of a port in service, and new ones
come behind.

Source: linux-rdma/opensm opensm/osm_pkey_mgr.c @fa74b98 (pkey_mgr_process_physical_port, pkey_mgr_update_port): with
keep_pkey_indexes a key that goes leaves its place empty, and a new one gets the place after the last that was used.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from lossless.checks.lint.run import run
from lossless.checks.plan.subnet.mixtures import (
    FileOfHost,
    SubnetChange,
    SubnetConfiguration,
    lost_keys,
    serves,
    used_levels,
)
from lossless.checks.rules.infiniband.subnet_queries import (
    DROPPED,
    FULL_MEMBER,
    base_of,
    by_key,
    hcas,
    hosts,
    is_on,
    key_tables,
    operational_vls,
    sl2vl,
    vl_of,
    wanted_key,
)
from lossless.checks.rules.registry import RULES, rules_for
from lossless.formats.device_files.infiniband import subnet_files
from lossless.formats.inputs.collect import located
from lossless.formats.inputs.fabrics import documents_at
from lossless.formats.inputs.intents import at_transport, declares_subnet
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import listed
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import ManagerSetting, Member, Partition, number, qos_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet, Weight


def serving_both(old: Subnet, new: Subnet) -> Subnet | None:
    """Return the new configuration extended with the resources that jobs of the old one still use, or None.

    That is: service levels in use keep their lanes, P_Keys that HCAs lose stay, SHARP stays on.
    None if partitions or lanes cannot be merged, if both together would break a rule, or if they let two HCAs
    communicate in a partition in which neither side does.
    """
    kept = _with_partitions(old, new)
    kept = None if kept is None else _with_levels(old, kept)
    if kept is None:
        return None
    kept = _with_sharp(old, kept)
    return None if _errors(kept) - _errors(old) - _errors(new) or _lets_talk(old, new, kept) else kept


def _with_sharp(old: Subnet, new: Subnet) -> Subnet:
    if old.sharp is None or not old.sharp.on or (new.sharp is not None and new.sharp.on):
        return new
    kept = new._replace(sharp=old.sharp)
    enabled = old.option("sharp_enabled")
    return kept if enabled is None else _set(kept, {"sharp_enabled": enabled.text})


def _errors(subnet: Subnet) -> frozenset[str]:
    findings = run(subnet, rules_for("subnet", chosen=frozenset(RULES)), "intent").findings
    return frozenset(finding.code for finding in findings if finding.severity == "error")


def _with_levels(old: Subnet, new: Subnet) -> Subnet | None:
    """Return the new subnet with tables that serve all service levels in use on their old lanes, even levels that go.

    The policy is the new one: jobs with a level keep it, and new requests get a level of the new policy. With QoS off
    on a side the new subnet is unchanged; None if a number of operational VLs is unknown.
    """
    lanes = _lanes_of(old, used_levels(old))
    if not is_on(old, "qos") or not is_on(new, "qos"):
        return new
    if all(vl_of(new, sl) == vl and serves(new, vl) for sl, vl in lanes.items()):
        return new
    return _with_tables(old, new, lanes)


def with_lanes_of_both(old: Subnet, new: Subnet) -> tuple[Subnet, ...]:
    """Return the new configuration with the lanes of both, once with the old lane of levels in use, then with the new.

    So a level that moves to another lane finds a weight on it, whichever tables a port has. Empty where it does not
    help (no level in use moves, or QoS is off), where a number of operational VLs is unknown, or where one of both
    would break a rule.
    """
    lanes = _lanes_of(old, used_levels(old))
    if not is_on(old, "qos") or not is_on(new, "qos"):
        return ()
    if all(vl_of(new, sl) == vl for sl, vl in lanes.items()):
        return ()
    first = _with_tables(old, new, lanes)
    second = None if first is None else _with_tables(old, new, {}, {*lanes.values()})
    both = () if first is None or second is None else (first, second)
    return () if any(_errors(each) - _errors(old) - _errors(new) for each in both) else both


def _lanes_of(subnet: Subnet, levels: Iterable[int]) -> dict[int, int]:
    return {sl: vl for sl in sorted(levels) if (vl := vl_of(subnet, sl)) is not None}


def _with_tables(
    old: Subnet,
    new: Subnet,
    lanes: Mapping[int, int],
    served: Collection[int] = (),
) -> Subnet | None:
    """Return the new subnet with the given lanes of service levels, and weights for these lanes and ``served``.

    None if a side's number of operational VLs is unknown.
    """
    counts = (operational_vls(old), operational_vls(new))
    if counts[0] is None or counts[1] is None:
        return None
    table = [lanes.get(sl, vl_of(new, sl)) for sl in range(len(sl2vl(new)))]
    merged = {
        **_counts(old, new, max(counts[0], counts[1])),
        **dict(_weights(old, new, {*lanes.values(), *served})),
        "qos_sl2vl": ",".join(str(DROPPED if vl is None else vl) for vl in table),
    }
    merging = _set(new, merged)
    return merging._replace(qos=qos_of(merging.options, new.qos.levels, new.qos.origin))


def _counts(old: Subnet, new: Subnet, count: int) -> dict[str, str]:
    if old.qos.max_op_vls is None or new.qos.max_op_vls is None:
        return {}
    code = next(code for code, vls in OPERATIONAL_VLS.items() if vls == count)
    both_told = old.qos.max_vls is not None and new.qos.max_vls is not None
    return {"max_op_vls": str(code), **({"qos_max_vls": str(count)} if both_told else {})}


def _weights(old: Subnet, new: Subnet, lanes: set[int]) -> Iterator[tuple[str, str]]:
    """Yield the new side's arbitration tables that get old weights, for those of ``lanes`` without weight there."""
    missing = {vl for vl in lanes if not serves(new, vl)}
    for key, before, after in (
        ("qos_vlarb_high", old.qos.high, new.qos.high),
        ("qos_vlarb_low", old.qos.low, new.qos.low),
    ):
        added = [entry for entry in before or () if entry.vl in missing]
        if added:
            yield key, _spelled((*(after or ()), *added))


def _spelled(weights: Iterable[Weight]) -> str:
    return ",".join(f"{entry.vl}:{entry.weight}" for entry in weights)


def _set(subnet: Subnet, texts: Mapping[str, str]) -> Subnet:
    """Return a subnet with other texts of options; options that the subnet lacks are appended."""
    present = {option.key for option in subnet.options}
    changed = (option._replace(text=texts.get(option.key, option.text)) for option in subnet.options)
    added = (
        ManagerSetting(key, text, subnet.origin, True) for key, text in texts.items() if key not in present
    )
    return subnet._replace(options=(*changed, *added))


def _with_partitions(old: Subnet, new: Subnet) -> Subnet | None:
    """Return the new subnet, in which no HCA loses a P_Key; None if partitions or their members are not all listed."""
    bases = {base_of(key) for key in lost_keys(old, new)}
    if not bases:
        return new
    if isinstance(new.partitions, Unknown) or not old.partitions or not new.partitions:
        return None
    before, after = by_key(old), by_key(new)
    concerned = {base: (before.get(base, []), after.get(base, [])) for base in bases}
    if any(_is_unlisted(*parts) for parts in concerned.values()):
        return None
    merged = {base: _merged(base, old, new, *parts) for base, parts in concerned.items()}
    kept = [merged.pop(base) if base in merged else part for base, parts in after.items() for part in parts]
    names = {part.name for part in kept}
    gone = [
        part._replace(name=f"{part.name}-old") if part.name in names else part for part in merged.values()
    ]
    return new._replace(partitions=(*kept, *gone))


def _is_unlisted(before: Sequence[Partition], after: Sequence[Partition]) -> bool:
    """Return whether a P_Key is new, or of several partitions on one side, or of members that are not listed HCAs."""
    members = (member for part in (*before, *after) for member in part.members)
    return (
        not before
        or max(len(before), len(after)) > 1
        or any(member.word is not None or member.hca is None for member in members)
    )


def _merged(
    base: int, old: Subnet, new: Subnet, before: Sequence[Partition], after: Sequence[Partition]
) -> Partition:
    """Return a partition with the members of both sides, full if either side has full membership.

    If these are the old members, and the sides differ in members alone, the old partition is returned unchanged.
    """
    sides = [_held(subnet, base) for subnet in (old, new)]
    both = {name: max(side.get(name, 0) for side in sides) for name in {**sides[0], **sides[1]}}
    partition = (*after, *before)[0]
    if both == sides[0] and (not after or _differ_in_members_alone(before[0], after[0])):
        return before[0]
    guids = hcas(old)
    members = tuple(
        Member(name, guids[name].guid, None, "full" if key & FULL_MEMBER else "limited", partition.origin)
        for name, key in both.items()
    )
    return partition._replace(members=members)


def _differ_in_members_alone(before: Partition, after: Partition) -> bool:
    """Return whether two partitions are the same but for their members."""
    return before._replace(members=(), origin=after.origin) == after._replace(members=())


def _held(subnet: Subnet, base: int) -> dict[str, int]:
    """Return the highest P_Key of a partition for each HCA that has one: that of a full member, if it has both."""
    held = {name: [key for key in keys if base_of(key) == base] for name, keys in key_tables(subnet).items()}
    return {name: max(keys) for name, keys in held.items() if keys}


def _lets_talk(old: Subnet, new: Subnet, both: Subnet) -> bool:
    """Return whether two HCAs may talk in a partition of ``both`` in which they may talk neither before nor after."""
    tables = [key_tables(subnet) for subnet in (old, new, both)]
    # HCAs with the same tables on all sides stand for each other, and so does one for itself and its like.
    kinds = {tuple(frozenset(table[hca]) for table in tables) for hca in tables[0]}
    for one, other in product(kinds, repeat=2):
        before, after, now = (_talks(a, b) for a, b in zip(one, other, strict=True))
        if now - before - after:
            return True
    return False


def _talks(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    """Return the partitions in which two HCAs may talk: they share it, and one of them is a full member."""
    return frozenset(
        base_of(key)
        for key in one
        for theirs in other
        if base_of(key) == base_of(theirs) and (key | theirs) & FULL_MEMBER
    )


def subnet_intents(
    current: Sequence[str | PathLike[str]], target: Document
) -> tuple[Document, Document] | None:
    """Return the intents of a change of an InfiniBand subnet; None where neither side is one.

    Raises:
        InputError: one side is a subnet, and the other is not the intent of one.
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
        InputError: they are no change of one subnet, or a setting cannot be written into its file.
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
    """Yield the reasons why no plan leads from one subnet to the other: only opensm's configuration may differ."""
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
    """Return a subnet's configuration with the files of each host, without the keys that protect the subnet.

    Raises:
        InputError: a setting cannot be written into its file.
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


def misplaced_key(change: SubnetChange) -> str | None:
    """Return a message if the target gives NCCL another P_Key index than its P_Key has after the change, else None."""
    old, new = change.current.subnet, change.target.subnet
    place, wanted = _stated_place(new), wanted_key(new)
    if (
        place is None
        or wanted is None
        or not (is_on(old, "keep_pkey_indexes") and is_on(new, "keep_pkey_indexes"))
    ):
        return None
    before, after = key_tables(old), key_tables(new)
    computing = {host.name for host in hosts(new).values() if host.role == "compute"}
    for name, hca in hcas(new).items():
        if hca.host not in computing:
            continue
        places = _places(before[name], after[name])
        real = next((n for n, base in enumerate(places) if base == base_of(wanted[1])), None)
        if real is not None and real != place:
            return (
                f"{wanted[0].name}: ports keep the places of their P_Keys, so {wanted[1]:#06x} gets place {real} on "
                f"{name}, and NCCL_IB_PKEY is {place}: set keep_pkey_indexes: FALSE under subnet_manager.options for "
                "this change, which then is made with all jobs stopped"
            )
    return None


def _places(before: Sequence[int], after: Sequence[int]) -> list[int | None]:
    """Return the partition at each place of a port's P_Key table after a change; None where a key is gone."""
    first, left = base_of(after[0]), {base_of(key) for key in after}
    held: list[int | None] = [base if (base := base_of(key)) in left else None for key in before]
    new = [base_of(key) for key in after if base_of(key) not in held]
    if held[0] != first:
        return [*map(base_of, after)]
    return [*held, *new]


def _stated_place(subnet: Subnet) -> int | None:
    if subnet.job is None:
        return None
    stated = [each.text for each in subnet.job.environment if each.key == "NCCL_IB_PKEY"]
    return number(stated[-1]) if stated else None
