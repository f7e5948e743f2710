"""Every dashboard that tests look at, by the fabric that it is of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lossless.formats.telemetry.grafana.build import boards_of, boards_of_subnet
from tests.formats.telemetry.subjects import example, rails, subnet, torus

if TYPE_CHECKING:
    from lossless.formats.telemetry.grafana.host_board import Board

SUBJECTS = ("roce-256", "thor-64", "rails", "torus", "infiniband", "ufm")


@cache
def boards(subject: str) -> tuple[Board, ...]:
    """Return the dashboards of a subject."""
    if subject in ("infiniband", "ufm"):
        return boards_of_subnet(subnet()._replace(manager="ufm" if subject == "ufm" else "opensm"))
    if subject in ("rails", "torus"):
        return boards_of(rails(2) if subject == "rails" else torus())
    return boards_of(example(subject))
