"""Plans between two intents of one InfiniBand subnet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.assemble import PlanLimits
from lossless.ground.basics.errors import InputError, Problem

if TYPE_CHECKING:
    from lossless.checks.plan.plan import Plan
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.options import Options
    from lossless.model.fabric.infiniband.subnet import Subnet


def plan_of_subnet(before: Document, after: Document, limits: PlanLimits, options: Options) -> Plan:
    """Return the plan between two intents of one subnet.

    Raises:
        InputError: one cannot be read or has errors, or they do not go together; or limits are stated.
        NoPlan: jobs of the target would find another P_Key than theirs.
    """
    from lossless.checks.plan.subnet.assemble import subnet_plan
    from lossless.checks.plan.subnet.both import subnet_change

    if options.rdma_dscps or limits != PlanLimits():
        says = "an InfiniBand subnet has no DSCPs, and no port goes down in its plan: leave these options out"
        raise InputError([Problem(after.file, None, None, says)])
    old, new = (_sound_subnet(document, options) for document in (before, after))
    return subnet_plan(subnet_change((before, old), (after, new)), (before.file, after.file))


def _sound_subnet(document: Document, options: Options) -> Subnet:
    from lossless.interfaces.api.errors_of_intents import require_no_errors
    from lossless.interfaces.api.render import sound

    report, declared = sound(document, options)
    require_no_errors(report, document)
    assert declared.subnet is not None
    return declared.subnet
