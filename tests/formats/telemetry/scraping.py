"""Scrapes of a real redis, read by Prometheus' own reader for Python."""

from __future__ import annotations

import subprocess

from prometheus_client.parser import text_string_to_metric_families

from lossless.formats.telemetry.exposition.exporter import Exporter
from lossless.formats.telemetry.exposition.layout import given
from lossless.formats.telemetry.metrics import PREFIX
from tests.real_tools import program
from tests.redis_server import Redis

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
"""Values by the name of the metric, without the prefix, and its labels without the switch."""


def exporter_of(redis: Redis, switch: str | None = None, *, everything: bool = True) -> Exporter:
    """Return an exporter of a server, of all that there is; its clock says 0."""
    return Exporter(given([redis.socket]), lambda: 0.0, host="host", switch=switch, everything=everything)


def samples_in(text: bytes) -> Samples:
    """Return the samples of an exposition; none may be there twice."""
    samples: Samples = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            labels = frozenset(pair for pair in sample.labels.items() if pair[0] != "switch")
            key = (sample.name.removeprefix(PREFIX), labels)
            assert key not in samples, key
            samples[key] = sample.value
    return samples


def value(samples: Samples, name: str, **labels: str) -> float | None:
    """Return the value of a sample, None where there is none."""
    return samples.get((name, frozenset(labels.items())))


def names(samples: Samples) -> set[str]:
    """Return the metrics that have samples."""
    return {name for name, _ in samples}


def complaints(text: bytes) -> str:
    """Return what promtool finds wrong with an exposition, nothing where it is sound."""
    command = [program("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, check=False, timeout=60)
    return done.stderr.decode() if done.returncode else ""
