"""Parts of the PromQL queries of panels."""

from __future__ import annotations

SWITCHES, HOSTS, UFM = 'job="lossless-switches"', 'job="lossless-hosts"', 'job="lossless-ufm"'
"""The jobs of a scrape configuration."""
SWITCH, INTERFACE, HOST = 'switch=~"$switch"', 'interface=~"$interface"', 'instance=~"$host"'
PRIORITY, QUEUE, GROUP = 'priority=~"$priority"', 'queue=~"$priority"', 'pg=~"$priority"'
"""Matchers of variables. In an intent a priority is PFC priority, queue and priority group at once."""
FABRIC = 'fabric="$fabric"'
"""The label that all targets of a fabric have."""
PERIODIC = 'window="periodic"'
"""Matcher of the watermarks that the switch itself clears every telemetry interval."""


def sonic(metric: str, *matchers: str) -> str:
    """Return the series of a metric of ``lossless exporter``, given without its prefix."""
    return series(f"lossless_sonic_{metric}", *matchers)


def any_sonic(metrics: tuple[str, ...], *matchers: str) -> str:
    """Return the series of any of some metrics of ``lossless exporter``, since gnmic serves only some of them."""
    return f'{{__name__=~"lossless_sonic_({"|".join(metrics)})",{",".join((FABRIC, *matchers))}}}'


def node(metric: str, *matchers: str) -> str:
    """Return the series of a metric of node_exporter, given without its prefix."""
    return series(f"node_{metric}", *matchers)


def series(metric: str, *matchers: str) -> str:
    """Return the series of a metric of this fabric that match; one Prometheus may watch several fabrics."""
    return f"{metric}{{{','.join((FABRIC, *matchers))}}}"


def rate(of: str) -> str:
    """Return the growth rate of a counter, over the interval that Grafana derives from scrape interval and zoom."""
    return f"rate({of}[$__rate_interval])"


def per(labels: str, expression: str, function: str = "sum") -> str:
    """Return an expression aggregated to some labels; with empty labels, to one value."""
    by = f" by ({labels})" if labels else ""
    return f"{function}{by} ({expression})"


def top(count: int, expression: str) -> str:
    """Return the largest series of an expression that are not 0."""
    return f"topk({count}, {expression}) > 0"


def any_of(names: tuple[str, ...]) -> str:
    """Return a regular expression that matches any of some names."""
    return "|".join(name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
