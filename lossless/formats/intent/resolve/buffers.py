"""Buffer choices of an intent for one switch kind: buffer model, form of the pools, refused combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.pool_sizes import RATIO, stated_pools
from lossless.ground.basics.errors import InputError
from lossless.model.fabric.qos import DynamicBuffers, Pool
from lossless.model.hardware.buffer_names import EGRESS_LOSSLESS_POOL
from lossless.model.hardware.buffers import BufferDefaults
from lossless.model.hardware.capacity import backs_headroom
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import SONIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import BufferModel
    from lossless.model.hardware.model import Asic, Hwsku

DEFAULT_ALPHA_EXPONENT = 0
"""The default_dynamic_th of every switch (sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c)."""
LOSSLESS_MTU_BYTES = 1024
"""The largest lossless packet for the headroom calculation where the intent has no ``lossless_mtu`` (same file)."""
SMALL_PACKET_PERCENT = 100
"""The percentage of small packets for the headroom calculation where the intent has no ``small_packets``.

It is the value that SONiC configured until sonic-buildimage pull request 20632 (2024-10, 50 since), gives the most
headroom, and is the assumption of NVIDIA's own rows.
"""
NO_BUFFERS = BufferDefaults("", (), (), None)
"""The defaults of a switch whose buffers no public source documents."""
_MOST_RATIO = 65_535
"""DEFAULT_LOSSLESS_BUFFER_PARAMETER|over_subscribe_ratio is a uint16 (sonic-default-lossless-buffer-parameter.yang
@a3488c1)."""


def buffer_model(loaded: LoadedIntent, kind: SwitchKind) -> BufferModel:
    """Return the buffer model of a kind of switch.

    Raises:
        InputError: SONiC has no dynamic model for it, or none that supports the declared ratio.
    """
    if loaded.intent.buffers.model.get(kind.role) != "dynamic":
        return "traditional"
    problems = list(_refused(loaded, kind))
    if problems:
        raise InputError([loaded.problem(origin, message) for origin, message in problems])
    return "dynamic"


def _refused(loaded: LoadedIntent, kind: SwitchKind) -> Iterator[tuple[Origin, str]]:
    asic, stated = kind.profile.asic, stated_pools(loaded, kind)
    ratio = stated.ratio
    if asic.formula is None:
        message = (
            f"buffers.model: SONiC has no dynamic buffer model for {kind.profile.name} ({asic.name}); "
            f"switches here that have one: {', '.join(_with_formula())}"
        )
        yield loaded.origin("buffers", "model", kind.role), message
        return
    at = stated.values[RATIO][1] if ratio is not None else loaded.origin("buffers")
    dotted = ".".join(map(str, at.path))
    if ratio is not None and asic.formula == "barefoot":
        yield (
            at,
            (
                f"{dotted}: on {kind.profile.name} ({asic.name}) the dynamic buffer model "
                "takes its own size of the shared headroom pool, whatever ratio is configured; leave it out"
            ),
        )
    elif ratio is not None and (ratio != int(ratio) or ratio > _MOST_RATIO):
        yield (
            at,
            (
                f"{dotted}: the dynamic buffer model divides by a whole number of at most "
                f"{_MOST_RATIO:,}; {ratio:g} is none"
            ),
        )


def _with_formula() -> Iterator[str]:
    return (name for name in switch_names() if load_switch(name).asic.formula is not None)


def dynamic_buffers(loaded: LoadedIntent, kind: SwitchKind) -> DynamicBuffers:
    """Return the settings of the dynamic model. Without a declared ratio each group has its own headroom."""
    policy, ratio = loaded.intent.buffers, stated_pools(loaded, kind).ratio
    mtu_bytes, percent = policy.lossless_mtu, policy.small_packets
    return DynamicBuffers(
        default_dynamic_th=DEFAULT_ALPHA_EXPONENT,
        oversubscription=None if ratio is None else int(ratio),
        lossless_mtu_bytes=LOSSLESS_MTU_BYTES if mtu_bytes is None else mtu_bytes,
        small_packet_percent=SMALL_PACKET_PERCENT if percent is None else percent,
        origin=loaded.origin("buffers"),
    )


def dynamic_pools(asic: Asic, defaults: BufferDefaults, origin: Origin) -> tuple[Pool, ...]:
    """Return the pools of the dynamic model: the switch sizes all but the one that spans the whole buffer.

    On Barefoot chips the switch sizes none: older releases use the vendor's sizes whatever is configured, newer ones
    the configured sizes, and fail without them (buffer_pool_barefoot.lua @fbc3657 and @e6b0c5b).

    Source: sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-O28/buffers_defaults_objects.j2
    @5b13506; sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d and buffer_pool_barefoot.lua @fbc3657.
    """
    fixed = asic.formula == "barefoot"
    return tuple(
        Pool(
            name=pool.name,
            kind=pool.type,
            mode=pool.mode,
            size_bytes=pool.size_bytes if fixed or pool.name == EGRESS_LOSSLESS_POOL else None,
            shared_headroom_bytes=None,
            origin=origin,
        )
        for pool in defaults.pools
    )


def buffer_defaults(loaded: LoadedIntent, kind: SwitchKind, templates: Sequence[str]) -> BufferDefaults:
    """Return the pools and profiles of a switch kind, from the first of the named templates that has lossless buffers.

    A switch that SONiC does not support and that runs another system has none: its own values are unknown.

    Raises:
        InputError: no HWSKU of the product ships lossless buffers for it, or none in the declared form.
    """
    wanted = loaded.intent.buffers.pools.get(kind.role)
    shipped = [defaults for template in templates if (defaults := _own(kind, template))]
    if not shipped and kind.profile.format != SONIC:
        return NO_BUFFERS
    if not shipped:
        raise InputError([loaded.problem(kind.hardware_origin, _without_buffers(kind))])
    if wanted is None or _form(shipped[0]) == wanted:
        return shipped[0]
    others = (_of_others(kind, template, wanted) for template in templates)
    substitute = next((defaults for defaults in others if defaults), None)
    if substitute is None:
        raise InputError(
            [loaded.problem(loaded.origin("buffers", "pools", kind.role), _without_form(kind, wanted))]
        )
    return substitute


def _own(kind: SwitchKind, template: str) -> BufferDefaults | None:
    defaults = kind.hwsku.buffer_defaults(template)
    return defaults if defaults is not None and backs_headroom(kind.hwsku, defaults) else None


def _of_others(kind: SwitchKind, template: str, wanted: str) -> BufferDefaults | None:
    """Return another HWSKU's template of a form, None where none of that form holds this HWSKU's headroom."""
    for hwsku in kind.profile.hwskus:
        defaults = hwsku.buffer_defaults(template)
        if (
            defaults is not None
            and _in_form(hwsku, defaults, wanted)
            and backs_headroom(kind.hwsku, defaults)
        ):
            return defaults
    return None


def _in_form(hwsku: Hwsku, defaults: BufferDefaults, wanted: str) -> bool:
    """Return whether a HWSKU ships these pools in a form and backs its headroom; those for lossy fabrics do not."""
    return _form(defaults) == wanted and backs_headroom(hwsku, defaults)


def _form(defaults: BufferDefaults) -> str:
    return "single" if sum(pool.type == "ingress" for pool in defaults.pools) == 1 else "split"


def _without_buffers(kind: SwitchKind) -> str:
    others = [h.name for h in kind.profile.hwskus if any(backs_headroom(h, d) for d in h.buffers)]
    return (
        f"HWSKU {kind.hwsku.name} ships no buffers for lossless groups; "
        f"HWSKUs of {kind.profile.name} that do: {', '.join(others) or 'none'}"
    )


def _without_form(kind: SwitchKind, wanted: str) -> str:
    pools = "a single ingress pool" if wanted == "single" else "ingress pools split into lossless and lossy"
    identical = [h.name for h in kind.profile.hwskus if any(_in_form(h, d, wanted) for d in h.buffers)]
    return (
        f"buffers.pools: no HWSKU of {kind.profile.name} ships {pools} for the headroom of {kind.hwsku.name}; "
        f"HWSKUs with {pools}: {', '.join(identical) or 'none'}"
    )
