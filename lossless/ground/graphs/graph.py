"""A directed graph as two arrays: compact enough for tens of millions of edges, plain enough for three.

Nodes are the numbers from 0. The edges of node ``v`` lead to ``targets[starts[v]:starts[v + 1]]``. All functions work
with the standard library alone; where numpy is installed and the graph is large, the long loops are numpy's.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

NODE = "i"
"""The type code of a node in an array: four bytes, enough for two thousand million."""
_LARGE = 100_000
"""Edges from which numpy repays the tenth of a second that its import takes."""


class Graph(NamedTuple):
    """``starts`` has one entry more than there are nodes; both are arrays of four-byte numbers."""

    starts: Sequence[int]
    targets: Sequence[int]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.starts) - 1

    @property
    def edges(self) -> int:
        """The number of edges; a repeated edge counts repeatedly."""
        return len(self.targets)

    def after(self, node: int) -> Sequence[int]:
        """Return the nodes that edges of ``node`` lead to."""
        return self.targets[self.starts[node] : self.starts[node + 1]]


def from_edges(nodes: int, tails: Sequence[int], heads: Sequence[int]) -> Graph:
    """Return the graph of ``nodes`` nodes with an edge from each of ``tails`` to the corresponding one of ``heads``."""
    numpy = numpy_for(len(tails))
    if numpy is None:
        return _sorted_edges(nodes, tails, heads)
    from_nodes = as_numpy(numpy, tails)
    starts = array(NODE, bytes(4 * (nodes + 1)))
    numpy.cumsum(numpy.bincount(from_nodes, minlength=nodes), out=as_numpy(numpy, starts)[1:])
    targets = as_numpy(numpy, heads)[numpy.argsort(from_nodes, kind="stable")]
    return Graph(starts, array(NODE, targets.tobytes()))


def from_lists(after: Iterable[Iterable[int]]) -> Graph:
    """Return the graph in which the edges of each node, in order, lead to the nodes in its list."""
    starts, targets = array(NODE, (0,)), array(NODE)
    for nodes in after:
        targets.extend(nodes)
        starts.append(len(targets))
    return Graph(starts, targets)


def _sorted_edges(nodes: int, tails: Sequence[int], heads: Sequence[int]) -> Graph:
    """Sort edges by their tails, by counting."""
    counts = [0] * (nodes + 1)
    for tail in tails:
        counts[tail + 1] += 1
    starts = array(NODE, accumulate(counts))
    place, targets = starts[:-1], array(NODE, bytes(4 * len(heads)))
    for tail, head in zip(tails, heads, strict=True):
        targets[place[tail]] = head
        place[tail] += 1
    return Graph(starts, targets)


def numpy_for(edges: int) -> ModuleType | None:
    """Return numpy where it is installed and worth its import, else None."""
    if edges < _LARGE:
        return None
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def as_numpy(numpy: ModuleType, numbers: Sequence[int]) -> Any:
    """Return an array of numpy over the same memory; for other sequences than arrays a copy."""
    return (
        numpy.frombuffer(numbers, numpy.int32)
        if isinstance(numbers, array)
        else numpy.asarray(numbers, numpy.int32)
    )
