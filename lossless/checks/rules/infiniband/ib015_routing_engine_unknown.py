"""A routing engine must be one that this opensm has.

Severity: error
Subject: subnet

## What it does
Compares each word of `routing_engine` with the engines of opensm, or of NVIDIA's OpenSM where that is declared; the
case of letters counts. Of NVIDIA's not all names are known: there, and in a file whose flavor does not show, a
word is checked only where it is close to a name that is known.

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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.subnet import engines

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per routing engine that this opensm does not have, as far as its engines are known."""
    available = engines("nvidia" if isinstance(subnet.flavour, Unknown) else subnet.flavour)
    for engine in subnet.routing.engines:
        near = _near(engine, available)
        if subnet.flavour == "upstream":
            wrong = engine not in available
        else:
            wrong = engine not in available and (near is not None or not engine[0].isalpha())
            if engine not in engines("upstream") and not wrong:
                yield MissingInput(
                    f"whether this OpenSM has the engine {engine}, which is not of the upstream one"
                )
        if wrong:
            yield _routing_engine_unknown(subnet, engine, near, available)


def _routing_engine_unknown(
    subnet: Subnet, engine: str, near: str | None, available: tuple[str, ...]
) -> Violation:
    routed_by = _instead(subnet, engine, available)
    harmless = routed_by in subnet.routing.engines or engine != subnet.routing.engine
    return Violation(
        origin=subnet.routing.origin,
        message=f"{engine!r} is no routing engine: "
        + (f"the subnet is routed by {routed_by}" if routed_by else "opensm gives up, and nothing is routed"),
        help=f"did you mean {near}?" if near else f"there are {', '.join(available)}",
        data={"engine": engine},
        severity="warning" if harmless else None,
    )


def _near(engine: str, available: tuple[str, ...]) -> str | None:
    """Return the available engine with the closest name; None where none is close."""
    from lossless.ground.basics.units import nearest

    return nearest(engine, available)


def _instead(subnet: Subnet, engine: str, available: tuple[str, ...]) -> str | None:
    """Return the routing engine that opensm takes instead; None where ``no_fallback`` forbids one."""
    others = [other for other in subnet.routing.engines if other != engine and other in available]
    if others:
        return others[0]
    return None if subnet.routing.no_fallback else "minhop"
