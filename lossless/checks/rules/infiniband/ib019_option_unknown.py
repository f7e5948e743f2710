"""A key of opensm.conf, sharp_am.cfg or gv.cfg must exist in the program that reads it.

Severity: error
Fix: unsafe
Subject: subnet

## What it does
Looks for keys that the declared opensm (`flavour`) does not have: misspelled ones, keys joined to their value by `=`,
keys of NVIDIA's OpenSM under the upstream one and the other way round. NVIDIA's has more keys than any public list;
under it an unknown key without `=` is not checked. In a file whose flavor does not show, only one that is close to a
known key is reported. So it is with keys of sharp_am.cfg, and of UFM's gv.cfg, of which no public source has all keys
or ranges.

## Why it breaks a lossless fabric
opensm prints a line when it starts, uses its default, and its exit status is 0. `routing_engine=ftree` is such a key,
and the subnet is routed by minhop; `sharp_enabled 2` under the upstream opensm switches nothing on.

## Bad
```conf opensm base=none
qos TRUE
lmc 0
routing_engine=ftree   # <- here
```

```conf opensm base=none
qos TRUE
lmc 0
max_opvls 3   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
sharp:
  manager: sm1
  settings:
    max_tress_to_build: 126   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  manager: ufm
  ufm:
    Sharp:
      shrap_enabled: "true"   # <- here
```

## Good
```conf opensm base=none
qos TRUE
routing_engine ftree
max_op_vls 3
```

## Fix
Write the key as the message proposes, with a blank before the value, or take it out.

## Sources
- opensm 3.3.23, run: `Unrecognized token: "sweep_interval=10"`, `Unrecognized token: "sharp_enabled"`
- profiles/opensm/options.toml, which names where each key was read
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.findings import Edit
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.subnet import gv_keys, known_keys, option, sharp_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.infiniband.subnet import Flavour, ManagerSetting, Subnet


_A_SLIP = 0.88
_CALLED = {"upstream": "the upstream opensm", "nvidia": "NVIDIA's OpenSM"}


def check(subnet: Subnet) -> Results:
    """Yield a violation per key of a file that the declared opensm, sharp_am or UFM is not known to have.

    A missing input for one that a program of NVIDIA's may have.
    """
    flavours: tuple[Flavour, ...] = ("upstream", "nvidia")
    if not isinstance(subnet.flavour, Unknown):
        flavours = (subnet.flavour,)
    for setting in subnet.options:
        known_option = option(setting.key)
        if known_option is None:
            yield from _known_to_none(setting, flavours)
        elif not any(map(known_option.known_to, flavours)):
            yield _others(setting, flavours[0])
    for setting in subnet.sharp.settings if subnet.sharp is not None else ():
        if setting.key not in sharp_keys():
            why = "a key that may be one of another release of sharp_am than 3.6.0"
            yield _slip(setting, "sharp_am", sharp_keys(), why)
    for setting in subnet.gv:
        if setting.key not in gv_keys():
            yield _slip(setting, "UFM", gv_keys(), "a key of gv.cfg that no public source lists")


def _slip(
    setting: ManagerSetting, program: str, keys: frozenset[str], unknown: str
) -> Violation | MissingInput:
    """Return the violation of a key that is a slip of a letter from a known one, else a missing input with a reason.

    ``unknown`` is that reason.
    """
    from lossless.ground.basics.units import nearest

    near = nearest(setting.key, keys, _A_SLIP)
    if near is None:
        return MissingInput(unknown)
    return Violation(
        origin=setting.origin.key(),
        message=f"{program} is not known to have a key {setting.key!r}",
        help=f"did you mean {near}?",
        data={"key": setting.key},
        severity="warning",
    )


def _known_to_none(setting: ManagerSetting, flavours: Sequence[Flavour]) -> Results:
    from lossless.ground.basics.units import nearest

    if "=" in setting.key:
        yield _joined(setting)
        return
    certain = tuple(flavours) == ("upstream",)
    known = [key for flavour in flavours for key in known_keys(flavour)]
    # NVIDIA's has keys that no list contains: only a slip of a letter, or a key cut short, is no such key.
    near = nearest(setting.key, known) if certain else nearest(setting.key, known, _A_SLIP)
    if near is None and (whole := nearest(setting.key, known)) and whole.startswith(setting.key):
        near = whole
    if not certain and (near is None or ("upstream" not in flavours and not _is_slip(setting.key, near))):
        yield MissingInput("a key that may be one of NVIDIA's OpenSM, which has more than are listed")
        return
    whose = "no opensm is" if "upstream" in flavours else "NVIDIA's OpenSM is not"
    yield Violation(
        origin=setting.origin.key(),
        message=f"{whose} known to have a key {setting.key!r}: it is skipped",
        help=f"did you mean {near}?" if near else "take it out",
        data={"key": setting.key},
        severity=None if certain else "warning",
    )


def _is_slip(key: str, other: str) -> bool:
    """Return whether two keys differ by one missing letter, or by two adjacent characters that are exchanged.

    A different letter is no slip: NVIDIA's OpenSM has families of keys such as vs_key and cc_key.
    """
    if len(key) == len(other):
        at = [place for place, letters in enumerate(zip(key, other, strict=True)) if len(set(letters)) > 1]
        return len(at) == 2 and at[1] == at[0] + 1 and key[at[0]] + key[at[1]] == other[at[1]] + other[at[0]]
    shorter, longer = sorted((key, other), key=len)
    cut = (longer[:place] + longer[place + 1 :] for place in range(len(longer)) if longer[place].isalpha())
    return shorter in cut


def _joined(setting: ManagerSetting) -> Violation:
    key, _, text = setting.key.partition("=")
    return Violation(
        origin=setting.origin.key(),
        message=f"{setting.key!r} is skipped as one word: opensm wants a blank between key and value",
        help=f"write {key} {text or setting.text}".rstrip(),
        data={"key": key},
    )


def _others(setting: ManagerSetting, flavour: Flavour) -> Violation:
    other = "nvidia" if flavour == "upstream" else "upstream"
    return Violation(
        origin=setting.origin.key(),
        message=f"{setting.key} is a key of {_CALLED[other]}; {_CALLED[flavour]} skips it",
        help=f"take it out, or state flavour: {other}",
        data={"key": setting.key},
        fix=(Edit(setting.origin, "remove"),),
    )
