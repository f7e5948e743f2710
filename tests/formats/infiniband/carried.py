"""What the files of a subnet manager carry of a subnet: the one place that says what they have no place for.

Rendering and reading back gives the same: ``carried(read(render(subnet))) == carried(subnet)``. Not carried are the
hardware, the wiring, names of ports (GUIDs are), what levels are for, where managers run, and jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.infiniband.from_model import NAMES, guid_of, guids_by_name, stated_options
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.infiniband.derived_policy import policy_of
from lossless.model.fabric.infiniband.qos_policy import MTU_CODES, RATE_CODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.infiniband.qos_policy import PolicyBlock
    from lossless.model.fabric.infiniband.subnet import ManagerHost, Member, Partition, Subnet


class Carried(NamedTuple):
    """A subnet as its files have it, without places; ``options`` without those that name the other files.

    ``keys`` names the keys that protect it: their values are in no model.
    """

    options: dict[str, str]
    keys: frozenset[str]
    engines: tuple[str, ...]
    no_fallback: bool
    partitions: tuple[tuple[Any, ...], ...] | None
    policy: tuple[Any, ...] | None
    roots: tuple[int | None, ...] | None
    compute: tuple[int | None, ...] | None
    sharp: tuple[tuple[str, str], ...]


def carried(subnet: Subnet, manager: ManagerHost | None = None) -> Carried:
    """Return what the files of one of a subnet's managers carry."""
    pairs = stated_options(subnet, manager)
    routing, found, known = subnet.routing, subnet.partitions, guids_by_name(subnet)
    policy = policy_of(subnet)
    return Carried(
        options={pair.key: pair.text for pair in pairs if pair.key not in NAMES},
        keys=frozenset(secret.key for secret in subnet.secrets),
        engines=routing.engines,
        no_fallback=routing.no_fallback,
        partitions=None
        if found is None or isinstance(found, Unknown)
        else tuple(_partition(known, one) for one in found),
        policy=policy
        and (
            tuple((ulp.match, ulp.numbers, ulp.sl) for ulp in policy.ulps),
            *(tuple(map(_block, blocks)) for blocks in (policy.groups, policy.levels, policy.rules)),
        ),
        roots=None if routing.roots is None else tuple(guid_of(known, one) for one in routing.roots),
        compute=None if routing.compute is None else tuple(guid_of(known, one) for one in routing.compute),
        sharp=tuple((one.key, one.text) for one in subnet.sharp.settings) if subnet.sharp else (),
    )


def _partition(guids: Mapping[str, int | None], one: Partition) -> tuple[Any, ...]:
    rate = one.rate if one.rate is not None else RATE_CODES.get(one.rate_bps or 0)
    mtu = one.mtu if one.mtu is not None else MTU_CODES.get(one.mtu_bytes or 0)
    members = tuple(_member(guids, member) for member in one.members)
    return one.name, one.pkey, one.index0, one.ipoib, rate, mtu, one.sl, one.scope, one.default, members


def _member(guids: Mapping[str, int | None], one: Member) -> tuple[str | int | None, str]:
    guid = one.guid if one.guid is not None or one.hca is None else guid_of(guids, one.hca)
    return one.word or guid, one.membership


def _block(block: PolicyBlock) -> tuple[Any, ...]:
    return block.kind, tuple((line.word, line.text) for line in block.lines)
