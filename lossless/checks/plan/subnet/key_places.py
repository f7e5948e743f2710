"""Which place of its table a P_Key gets on ports in service: old keys keep theirs, new ones come behind.

Source: linux-rdma/opensm opensm/osm_pkey_mgr.c @fa74b98 (pkey_mgr_process_physical_port, pkey_mgr_update_port): with
keep_pkey_indexes a key that goes leaves its place empty, and a new one gets the place after the last that was used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.infiniband.partitions import base_of, key_tables, wanted_key
from lossless.checks.rules.infiniband.subnet_queries import hcas, hosts, is_on
from lossless.model.fabric.infiniband.subnet import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.plan.subnet.mixtures import SubnetChange
    from lossless.model.fabric.infiniband.subnet import Subnet


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
    """Return the partitions of a port's table by their places; None where a key is gone."""
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
