"""Derives the buffer policy of an intent from the buffers of devices, tier by tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.majority import most
from lossless.formats.importing.model import DraftBuffers
from lossless.formats.importing.pools import stated_ratios
from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.buffer_names import INGRESS_LOSSY_POOL
from lossless.model.hardware.capacity import backs_headroom, widest_split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lossless.formats.importing.model import ImportDevice
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.tier import Tier
    from lossless.model.hardware.model import Cage

_NEVER = -8
"""The exponent of the smallest alpha: a profile with it and nothing reserved takes no buffer."""


class _LanedPort(NamedTuple):
    """A port and its lanes."""

    port: Port
    lanes: set[int]


def find_buffers(devices: Sequence[ImportDevice]) -> DraftBuffers:
    """Return the buffer policy that most devices of each tier have."""
    notes: list[str] = []
    words = {
        "model": _by_tier(devices, _model, "traditional", notes),
        "pools": _by_tier(devices, _form, "", notes),
        "unused_ports": _by_tier(devices, _unused, "keep", notes),
    }
    models = [device.switch.qos.dynamic for device in devices if device.switch.qos.dynamic is not None]
    mtu_bytes, _ = most(dynamic.lossless_mtu_bytes for dynamic in models)
    small, _ = most(dynamic.small_packet_percent for dynamic in models)
    pools, pool_notes = stated_ratios(devices)
    notes += pool_notes
    return DraftBuffers({k: v for k, v in words.items() if v}, pools, mtu_bytes, small, tuple(notes))


def _by_tier(
    devices: Sequence[ImportDevice], word_of: Callable[[ImportDevice], str], usual: str, notes: list[str]
) -> dict[Tier, str]:
    """Return the word that most devices of each tier have, without tiers whose word is ``usual``."""
    by_tier: dict[Tier, str] = {}
    for tier in sorted({device.tier for device in devices}):
        word, vote = most(word_of(device) for device in devices if device.tier is tier)
        if word and word != usual:
            by_tier[tier] = word
        if not vote.unanimous:
            notes.append(
                f"buffers: {vote.ayes} of {vote.votes} of role {tier.word} have it so, the others differ"
            )
    return by_tier


def _model(device: ImportDevice) -> str:
    """Return ``dynamic`` if the device uses that model and SONiC has a formula for the chip, else ``traditional``."""
    dynamic = device.switch.qos.buffer_model == "dynamic" and device.profile.asic.formula is not None
    return "dynamic" if dynamic else "traditional"


def _form(device: ImportDevice) -> str:
    """Return the form of ingress pools if it differs from that of the HWSKU and the product ships it, or ``""``."""
    pools = {pool.name for pool in device.switch.qos.pools}
    if not pools:
        return ""
    form = _form_of(pools)
    own = {_form_of({pool.name for pool in defaults.pools}) for defaults in device.hwsku.buffers}
    shipped = (
        defaults
        for hwsku in device.profile.hwskus
        for defaults in hwsku.buffers
        if backs_headroom(hwsku, defaults)
    )
    fitting = {
        _form_of({p.name for p in defaults.pools})
        for defaults in shipped
        if backs_headroom(device.hwsku, defaults)
    }
    return form if form not in own and form in fitting else ""


def _form_of(pools: set[str]) -> str:
    return "split" if INGRESS_LOSSY_POOL in pools else "single"


def _unused(device: ImportDevice) -> str:
    """Return ``reclaim`` where unused ports give their buffer back and SONiC has profiles for that, else ``keep``."""
    if device.profile.zero_buffers is None:
        return "keep"
    if not _expected_ports(device) <= device.tables.table("PORT").keys():
        return "keep"
    unused = [port for port in device.tables.table("PORT") if port not in device.used]
    rows = {key.partition("|")[0]: row for key, row in device.tables.table("BUFFER_QUEUE").items()}
    bound = [rows[port].reference("profile") for port in unused if port in rows]
    taken = bound and (
        device.switch.qos.buffer_model == "dynamic" or all(_takes_nothing(device, name) for name in bound)
    )
    return "reclaim" if taken else "keep"


def _expected_ports(device: ImportDevice) -> set[str]:
    """Return the ports that exist on a device besides those in use, as the HWSKU defines them."""
    split, used = breakouts(device), _laned(device, device.used.values())
    taken = {cage.index for cage in device.profile.cages if cage.name in split or _of_cage(used, cage)}
    return {spec.name for spec in device.hwsku.ports if spec.index not in taken}


def _takes_nothing(device: ImportDevice, name: str) -> bool:
    row = device.tables.row("BUFFER_PROFILE", name)
    if row is None or row.fields.get("size") != "0":
        return False
    return row.fields.get("dynamic_th") == str(_NEVER) or row.fields.get("static_th") == "0"


def breakouts(device: ImportDevice) -> dict[str, str]:
    """Return the cages whose breakout neither the HWSKU nor their speed implies, as ``4 x 100G``."""
    if not device.switch.runs_sonic:
        return dict(device.breakouts)
    laned, numbered = _laned(device, device.switch.ports), _numbered(device.switch.ports)
    return {
        cage.name: text for cage in device.profile.cages if (text := _breakout(device, cage, laned, numbered))
    }


def _breakout(
    device: ImportDevice, cage: Cage, laned: Sequence[_LanedPort], numbered: Mapping[str, int]
) -> str | None:
    ports = _of_cage(laned, cage)
    speeds = {port.speed_bps for port in ports}
    if len(speeds) != 1 or (speed_bps := next(iter(speeds))) is None:
        return None
    names = [port.name for port in ports]
    # Names and lanes that do not go together are of no product; nothing is said of how that is split.
    if _named_after(numbered, cage) != {*names}:
        return None
    own = [spec for spec in device.hwsku.ports if spec.index == cage.index]
    if own and [spec.name for spec in own] == names and own[0].speed_bps == speed_bps:
        return None
    fits, widest = cage.mode_for(len(ports), speed_bps), widest_split(cage, speed_bps)
    if fits is None or (fits == widest and any(name in device.used for name in names)):
        return None
    split = [spec.name for spec in device.profile.breakout(cage, fits, speed_bps)]
    return f"{len(ports)} x {format_rate(speed_bps)}" if split == names else None


def _numbered(ports: Iterable[Port]) -> dict[str, int]:
    """Return the numbers in the names of ports."""
    numbers = ((port.name, whole_number(port.name.removeprefix("Ethernet"))) for port in ports)
    return {name: number for name, number in numbers if number is not None}


def _named_after(numbered: Mapping[str, int], cage: Cage) -> set[str]:
    """Return the possible names of a cage's ports: the cage's number plus that of a lane."""
    first = int(cage.name.removeprefix("Ethernet"))
    return {name for name, number in numbered.items() if first <= number < first + len(cage.lanes)}


def _laned(device: ImportDevice, ports: Iterable[Port]) -> list[_LanedPort]:
    """Return the ports with known lanes, with these lanes."""
    rows = ((port, device.tables.row("PORT", port.name)) for port in ports)
    laned = (_LanedPort(port, _lanes(row.fields.get("lanes", "").split(","))) for port, row in rows if row)
    return [port for port in laned if port.lanes]


def _of_cage(laned: Iterable[_LanedPort], cage: Cage) -> list[Port]:
    """Return the ports whose lanes all belong to a cage."""
    lanes = {*cage.lanes}
    return [port for port, own in laned if own <= lanes]


def _lanes(texts: Iterable[str]) -> set[int]:
    bare = [text.strip() for text in texts]
    return (
        {int(text) for text in bare} if all(text.isascii() and text.isdecimal() for text in bare) else set()
    )
