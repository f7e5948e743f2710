"""A routing engine must be one that this opensm has.

Severity: error
Subject: subnet

## What it does
Compares each word of `routing_engine` with the engines of opensm, or of NVIDIA's OpenSM 5.18 where that is declared;
the case of letters counts. Later releases of NVIDIA's may have more: there, a word that is not in the list is a
warning, unless it is a slip of a known name (as `updnn`), or an engine that only the upstream opensm has (`nue`). In a
file whose flavor does not show, it is counted as not checked.

## Why it breaks a lossless fabric
opensm writes one line into its log and routes by minhop, which chooses shortest paths with nothing to keep them
from closing a cycle. On a fat tree that costs balance; on a torus or a dragonfly it can form credit loops.

## Bad
```yaml intent base=infiniband
subnet_manager:
  routing:
    engine: fatfree   # <- here
    roots: off
sharp: off
```

```conf opensm base=none
routing_engine FTREE   # <- here
```

```conf opensm base=none
routing_engine updnn   # <- here
```

```yaml intent base=infiniband
flavour: nvidia
subnet_manager:
  routing:
    engine: nue   # <- here
    roots: off
sharp: off
```

## Good
```conf opensm base=none
routing_engine ftree,updn
```

## Fix
Write the name as `opensm --help` does. `no_fallback` behind it makes opensm give up instead of taking minhop.

## Sources
- opensm 3.3.23 on a simulated fabric, run: `cannot find or setup routing engine 'fatfree'`, then `minhop tables
  configured on all switches`; so for `FTREE` and `ar_updn`
- opensm(8), of opensm 3.3.23 (-R)
- NVIDIA OpenSM 5.18, osm_routing.h (OSM_ROUTING_ENGINE_IS), in ssbandjl/doca @cd5c46d
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.subnet import engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.model.fabric.infiniband.subnet import Flavour, Subnet


_LISTED = "5.18"
"""The release of NVIDIA's OpenSM whose engines are listed."""
_DIGITS = "0123456789"
_A_SLIP = 0.88
"""Least likeness of a slip of the keyboard: names of later releases of NVIDIA's OpenSM differ more from known ones."""


def check(subnet: Subnet) -> Results:
    """Yield a violation per routing engine that this opensm does not have, as far as its engines are known."""
    flavours: tuple[Flavour, ...] = ("upstream", "nvidia")
    if not isinstance(subnet.flavour, Unknown):
        flavours = (subnet.flavour,)
    lists = [engines(flavour) for flavour in flavours]
    available = tuple(dict.fromkeys(name for names in lists for name in names))
    certain = tuple(name for name in available if all(name in names for names in lists))
    for engine in subnet.routing.engines:
        if engine in available:
            if engine not in certain:
                yield MissingInput(f"the flavor of opensm: one alone has the engine {engine}")
        elif flavours == ("upstream",) and engine in engines("nvidia"):
            here = f"state flavour: nvidia, or take one of {', '.join(available)}"
            yield _routing_engine_unknown(
                subnet,
                engine,
                certain,
                f"{engine} is an engine of NVIDIA's OpenSM alone",
                here,
                certainly=True,
            )
        elif flavours == ("upstream",) or _is_wrong(engine, available):
            near = _near(engine, available)
            here = f"did you mean {near}?" if near else f"there are {', '.join(available)}"
            yield _routing_engine_unknown(
                subnet, engine, certain, f"{engine!r} is no routing engine", here, certainly=True
            )
        elif flavours == ("nvidia",):
            yield _not_of_nvidia(subnet, engine, certain)
        else:
            yield MissingInput(f"whether this OpenSM has the engine {engine}, which no list of engines has")


def _is_wrong(engine: str, available: Sequence[str]) -> bool:
    """Return whether a word is no name of NVIDIA's OpenSM, old or new: a slip of a known one, or no word at all.

    A name that ends in another digit than a known one may be its successor, as dfp2 is that of dfp.
    """
    if not engine[0].isalpha():
        return True
    near = _near(engine, available, _A_SLIP)
    return near is not None and near.rstrip(_DIGITS) != engine.rstrip(_DIGITS)


def _not_of_nvidia(subnet: Subnet, engine: str, available: Sequence[str]) -> Violation:
    """Return the violation of an engine that NVIDIA's list lacks; it is certain for one of the upstream opensm."""
    upstream = engine in engines("upstream")
    problem = f"{engine} is an engine of the upstream opensm alone" if upstream else f"{engine} is unknown"
    remedy = "state flavour: upstream" if upstream else "make sure that your release has it"
    return _routing_engine_unknown(
        subnet,
        engine,
        available,
        problem,
        f"take one of {', '.join(available)}, or {remedy}",
        certainly=upstream,
    )


def _routing_engine_unknown(
    subnet: Subnet, engine: str, available: Sequence[str], problem: str, remedy: str, *, certainly: bool
) -> Violation:
    routed_by = _instead(subnet, engine, available)
    harmless = routed_by in subnet.routing.engines or engine != subnet.routing.engine
    outcome = (
        f"the subnet is routed by {routed_by}" if routed_by else "opensm gives up, and nothing is routed"
    )
    return Violation(
        origin=subnet.routing.origin,
        message=f"{problem}: {outcome}"
        if certainly
        else f"{problem}: NVIDIA's OpenSM {_LISTED} has no such routing engine",
        help=remedy,
        data={"engine": engine},
        severity="warning" if harmless or not certainly else None,
    )


def _near(engine: str, available: Sequence[str], likeness: float = 0.75) -> str | None:
    """Return the available engine with the closest name; None where none is close."""
    from lossless.ground.basics.units import nearest

    return nearest(engine, available, likeness)


def _instead(subnet: Subnet, engine: str, available: Sequence[str]) -> str | None:
    """Return the routing engine that opensm takes instead; None where ``no_fallback`` forbids one."""
    others = [other for other in subnet.routing.engines if other != engine and other in available]
    if others:
        return others[0]
    return None if subnet.routing.no_fallback else "minhop"
