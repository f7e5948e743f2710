"""Parts of PromQL expressions in rules, for the series of one fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import named
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PORT = "fabric, switch, namespace, interface"
"""The labels that name a port; ``namespace`` is empty on switches with one ASIC, which matches too."""
INTENT = "lossless:intended_"
"""The prefix of the recorded values of the intent."""
KNOWN = "kind, tier, rail, leads_to, neighbor, neighbor_port"
"""The labels that the intent adds to a port's identity."""


class FabricSeries(NamedTuple):
    """Series of one fabric by their names; each has the label ``fabric`` of its target."""

    fabric: str

    def __call__(self, name: str, *matchers: str) -> str:
        """Return the series of a metric that match."""
        return f"{name}{{{', '.join((matching('fabric', self.fabric), *matchers))}}}"

    def sonic(self, name: str, *matchers: str) -> str:
        """Return the series of a metric of the exporter, given without its prefix; KeyError for an unknown name."""
        return self(named(name).name, *matchers)

    def intended(self, name: str, *matchers: str) -> str:
        """Return recorded values of the intent."""
        return self(f"{INTENT}{name}", *matchers)

    def with_port(self, expression: str) -> str:
        """Return an expression about ports with the labels of the intent; ports outside the intent are dropped."""
        return f"{expression}\n* on ({PORT}) group_left ({KNOWN}) {self.intended('port:info')}"


def matching(label: str, value: str) -> str:
    """Return the matcher of one value of a label."""
    return f'{label}="{value}"'


def named_series(name: str, labels: Mapping[str, str]) -> str:
    """Return one series by its name and labels."""
    return f"{name}{{{', '.join(matching(*label) for label in labels.items())}}}"


def any_of(values: Iterable[int | str]) -> str:
    """Return a regular expression for some numbers, or for words without special characters."""
    return "|".join(map(str, values))


def duration(seconds: int) -> str:
    """Return a duration in PromQL's notation: ``5m``, ``40s``."""
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"
