"""A value of opensm.conf or sharp_am.cfg must have a meaning in its field.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Compares numbers and words with the values that opensm accepts, where it checks them, and with the width of the field in
the packet, where it does not; with `qos TRUE`, tables of arbitration too. Of sharp_am.cfg it compares the keys whose
ranges are known, as `max_tree_radix` (16 to 252).

## Why it breaks a lossless fabric
opensm replaces a refused value by a default of its own, and sends unchecked values unchanged. `max_op_vls` is a code
from 1 to 5, so `max_op_vls 8`, intended as eight lanes, requests all lanes of a port, and 0 leaves ports as they were.
Lifetimes and timeouts have five bits: 64 is cut down to 0 on its way, 4.096 us, and packets that wait longer are
dropped.
## Bad
```conf opensm base=none
max_op_vls 8   # <- here
```

```conf opensm base=none
lmc 9   # <- here
```

```conf opensm base=none
qos TRUE
max_op_vls 4
qos_vlarb_high 0:64,1:300   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm1
  settings:
    max_tree_radix: 300   # <- here
```

## Good
```conf opensm base=none
max_op_vls 4
lmc 2
```

## Fix
State a value of the range that the message names.

## Sources
- opensm 3.3.23, run: `max_op_vls 9`, `packet_life_time 0x40`, `subnet_timeout 99` are taken without a word; `lmc 9`
  becomes 0, `sm_priority 16` 0, `m_key_protection_level 5` 2, `part_enforce bth` both; on ports of eight lanes
  `max_op_vls 9` gives VL0-7, and `max_op_vls 0` changes nothing
- linux-rdma/opensm opensm/osm_subnet.c @fa74b98c (opts_parse_int32 keeps the low 32 bits of strtol; then
  subn_verify_high_limit replaces what is not 0 to 255 by -1)
- opensm 3.3.23, run: of `qos_vlarb_high 15:4,1:300` it warns that lane and weight are out of range, of 71 pairs that
  those beyond 64 are dropped
- the file that `opensm -c` of 3.3.23 writes: of vl_stall_count and leaf_vl_stall_count, zero is undefined
- sharp 3.6.0, agg_types.h (MAX_TREE_RADIX), in ssbandjl/doca @cd5c46d; profiles/opensm/options.toml names those of the
  other ranges of sharp_am.cfg
- InfiniBand specification 1.2.1, PortInfo (OperationalVLs, HOQLife, VLStallCount, SubnetTimeOut), SwitchInfo
  (LifeTimeValue)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.infiniband.subnet_queries import ARBITRATION_TABLES, is_on, set_to, stated
from lossless.ground.basics.units import joined
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import c_number, sharp_range, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.infiniband.subnet import ManagerSetting, Option, OptionValue, Subnet


_STALLS = frozenset({"vl_stall_count", "leaf_vl_stall_count"})
"""Options whose value 0 is undefined by the comments of the file that ``opensm -c`` writes."""
LAST_VL, MOST_WEIGHT, MOST_PAIRS = 14, 255, 64
"""Limits of opensm 3.3.23 for arbitration tables: it warns of other entries, and writes the remaining ones. Run."""
_ELSEWHERE = frozenset({"sharp_enabled"})
"""Keys whose values another rule checks."""


def check(subnet: Subnet) -> Results:
    """Yield a violation per value of a file that its reader replaces, or that has no meaning in its field."""
    for setting, option in stated(subnet):
        if option.key in _ELSEWHERE:
            continue
        loaded = taken(option, setting.text)
        if loaded.loss == "replaced":
            yield _replaced(setting, option, loaded)
        elif isinstance(loaded.value, int) and not isinstance(loaded.value, bool) and not loaded.loss:
            yield from _unchecked(setting, option, loaded.value)
        elif option.key.endswith(ARBITRATION_TABLES) and is_on(subnet, "qos") and setting.text != "(null)":
            yield from _pairs(setting)
    for setting in subnet.sharp.settings if subnet.sharp is not None else ():
        limits, count = sharp_range(setting.key), c_number(setting.text)
        if limits is not None and (count is None or not limits[0] <= count <= limits[1]):
            yield _of_sharp(setting, limits)


def _of_sharp(setting: ManagerSetting, limits: tuple[int, int]) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} of sharp_am.cfg is {limits[0]} to {limits[1]}, not {setting.text}",
        help=f"state {limits[0]} to {limits[1]}, or leave it out for the default of the aggregation manager",
        data={"key": setting.key, "text": setting.text, "range": [*limits]},
    )


def _pairs(setting: ManagerSetting) -> Iterator[Violation]:
    """Yield a violation where an arbitration table has entries without a meaning, or too many of them."""
    entries = setting.text.split(",")
    wrong = [entry.strip() for entry in entries if not _is_pair(entry)]
    if wrong:
        limits = f"a lane is 0 to {LAST_VL}, its weight 0 to {MOST_WEIGHT}"
        message = f"{joined(map(repr, wrong), 4)} in {setting.key}: {limits}"
    elif len(entries) > MOST_PAIRS:
        message = f"{setting.key} has {len(entries)} pairs: those behind the first {MOST_PAIRS} are dropped"
    else:
        return
    yield Violation(
        origin=setting.origin,
        message=message,
        help="write pairs of a lane and its weight, as 0:64,1:32",
        data={"key": setting.key, "entries": len(entries)},
    )


def _is_pair(entry: str) -> bool:
    first, _, second = entry.strip().partition(":")
    lane, weight = c_number(first), c_number(second)
    if lane is None or weight is None:
        return False
    return 0 <= lane <= LAST_VL and 0 <= weight <= MOST_WEIGHT


def _replaced(setting: ManagerSetting, option: Option, loaded: OptionValue) -> Violation:
    allowed = f"{option.legal[0]} to {option.legal[1]}" if option.legal else ", ".join(option.choices)
    wrapped = option.kind == "i32" and c_number(setting.text) not in range(-(2**31), 2**31)
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text} is not taken; opensm goes by {loaded.value} instead",
        note="it keeps the lowest 32 bits of the number" if wrapped else "",
        help=f"it takes {allowed}",
        data={"key": setting.key, "text": setting.text, "replaced": str(loaded.value)},
    )


def _unchecked(setting: ManagerSetting, option: Option, number: int) -> Iterator[Violation]:
    if option.key in _STALLS and number == 0:
        yield _stalled(setting)
    if option.wire is None or option.wire[0] <= number <= option.wire[1]:
        return
    if option.key == "max_op_vls":
        yield _code(setting, number)
        return
    yield Violation(
        origin=setting.origin,
        message=f"{setting.key} {setting.text} is beyond its field, which holds {option.wire[0]} to {option.wire[1]}",
        note="opensm takes it without a message, and the field is filled with what is left of it",
        help=f"state {option.safe[0]} to {option.safe[1]}" if option.safe else "",
        data={"key": setting.key, "number": number, "most": option.wire[1]},
    )


def _stalled(setting: ManagerSetting) -> Violation:
    return Violation(
        origin=setting.origin,
        message=f"{setting.key} 0 has no defined meaning",
        note="it is after how many dropped packets a lane is taken for stalled",
        help="leave it out, for 7",
        data={"key": setting.key, "number": 0},
    )


def _code(setting: ManagerSetting, number: int) -> Violation:
    intended_code = next((code for code, count in OPERATIONAL_VLS.items() if count == number), None)
    codes = ", ".join(
        f"{code} is VL0{f'-{count - 1}' if count > 1 else ''}" for code, count in OPERATIONAL_VLS.items()
    )
    return Violation(
        origin=setting.origin,
        message=f"max_op_vls is a code of 1 to 5, not a count of VLs: {setting.text} means nothing",
        note=f"{codes}; above 5 a port uses all it has, and 0 leaves it as it was",
        help=f"for {number} VLs write max_op_vls {intended_code}"
        if intended_code
        else "write the code of as many VLs as are meant",
        data={"key": "max_op_vls", "number": number, "most": 5},
        fix=set_to(setting, str(intended_code)) if intended_code else (),
    )
