"""A directed graph as two arrays, and its cycles: whether there are any, the nodes on them, and a short one.

The arrays are compact enough for tens of millions of edges, plain enough for three. Nodes are the numbers from 0. The
edges of node ``v`` lead to ``targets[starts[v]:starts[v + 1]]``. All functions work with the standard library alone;
where numpy is installed and the graph is large, some of the long loops are numpy's.

Three steps, each linear in nodes and edges. :func:`core` repeatedly removes nodes without incoming edges: of a graph
without cycles nothing is left. :func:`strong_components` finds the strongly connected components of the rest, by
Tarjan's algorithm without recursion. :func:`shortest` searches breadth-first from the nodes of one component until
an edge leads back.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType


_FEW = 256
"""Nodes below which a plain loop is faster than calls of numpy."""
_WALKS = 16
"""How often the search for a shorter cycle may visit all edges of a component: this keeps it linear."""
_LOOKS = 1_000_000
"""Edges that the search for a shorter cycle may visit in any case: about half a second."""


def cycle(graph: Graph, counted: int | None = None) -> tuple[int, ...]:
    """Return the shortest result of :func:`shortest` for the components of a graph; empty without cycles."""
    counted = graph.nodes if counted is None else counted
    cycles = (shortest(graph, component, counted) for component in strong_components(graph))
    return min(cycles, key=lambda nodes: (len(nodes), nodes), default=())


def core(graph: Graph) -> bytearray:
    """Return one byte a node: 1 for nodes on cycles and all nodes reachable from them, 0 for the rest."""
    numpy = numpy_for(graph.edges)
    if numpy is not None:
        return _core_by_numpy(numpy, graph)
    waiting = array(NODE, bytes(4 * graph.nodes))
    for target in graph.targets:
        waiting[target] += 1
    free = [node for node, count in enumerate(waiting) if not count]
    while free:
        free = _freed(graph, waiting, free)
    return bytearray(map(bool, waiting))


def _freed(graph: Graph, waiting: array[int], free: Sequence[int]) -> list[int]:
    """Remove ``free`` nodes; return the nodes that then have no incoming edge."""
    starts, targets = graph
    freed = []
    for node in free:
        for target in targets[starts[node] : starts[node + 1]]:
            waiting[target] -= 1
            if not waiting[target]:
                freed.append(target)
    return freed


def _core_by_numpy(numpy: ModuleType, graph: Graph) -> bytearray:
    waiting = array(NODE, bytes(4 * graph.nodes))
    counts, targets = as_numpy(numpy, waiting), as_numpy(numpy, graph.targets)
    counts[:] = numpy.bincount(targets, minlength=graph.nodes)
    starts = as_numpy(numpy, graph.starts)
    free = numpy.flatnonzero(counts == 0)
    while len(free):
        if len(free) < _FEW:
            free = numpy.asarray(_freed(graph, waiting, free.tolist()), numpy.int64)
            continue
        reached = targets[_places(numpy, starts[free], starts[free + 1])]
        numpy.subtract.at(counts, reached, 1)
        free = numpy.unique(reached[counts[reached] == 0])
    return bytearray((counts > 0).tobytes())


def _places(numpy: ModuleType, starts: Any, ends: Any) -> Any:
    """Return the numbers from each start up to its end, one range after another."""
    lengths = ends - starts
    before = numpy.cumsum(lengths) - lengths
    return numpy.repeat(starts - before, lengths) + numpy.arange(lengths.sum())


def strong_components(graph: Graph) -> list[list[int]]:
    """Return the strongly connected components with cycles: every cycle is within one of them."""
    inside = core(graph)
    if not any(inside):
        return []
    return [
        component
        for component in _components(graph, inside)
        if len(component) > 1 or component[0] in graph.after(component[0])
    ]


def _components(graph: Graph, inside: bytearray) -> list[list[int]]:
    """Return strongly connected components of the nodes ``inside``, by Tarjan's algorithm with an explicit stack."""
    starts, targets = graph
    # Of each node: 0 unseen, above that the lowest number on the stack it leads to; -1 when its component is known.
    low, components, stack = array(NODE, bytes(4 * graph.nodes)), [], array(NODE)
    place, number, path, count = array(NODE, starts), array(NODE, bytes(4 * graph.nodes)), array(NODE), 0
    for root in range(graph.nodes):
        if not inside[root] or low[root]:
            continue
        path.append(root)
        while path:
            node = path[-1]
            if not number[node]:
                count += 1
                number[node] = low[node] = count
                stack.append(node)
            edge, end, lowest = place[node], starts[node + 1], low[node]
            while edge < end:
                target = targets[edge]
                if not number[target]:
                    break
                if 0 < low[target] < lowest:
                    lowest = low[target]
                edge += 1
            place[node], low[node] = edge, lowest
            if edge < end:
                path.append(targets[edge])
                continue
            path.pop()
            if lowest == number[node]:
                components.append(_taken(stack, node, low))
    return components


def _taken(stack: array[int], root: int, low: array[int]) -> list[int]:
    """Remove a component from the stack, down to its root, and return it."""
    component = []
    while True:
        node = stack.pop()
        low[node] = -1
        component.append(node)
        if node == root:
            return component


def shortest(graph: Graph, component: Sequence[int], counted: int | None = None) -> tuple[int, ...]:
    """Return a short cycle within a strongly connected component, beginning at its lowest number.

    Only nodes below ``counted`` have a length, and are returned; those beyond stand for sets of edges, and no cycle
    consists of them alone. It is the shortest of the cycles through the nodes that the search had time for: all, unless
    the component is large. Of several equally short ones it is the first one found from the lowest number on.
    """
    counted = graph.nodes if counted is None else counted
    best: list[int] = []
    budget = max(_LOOKS, _WALKS * sum(len(graph.after(node)) for node in component))
    for node in sorted(node for node in component if node < counted):
        if budget <= 0 or 0 < len(best) <= 1:
            break
        loop, looked = _back_to(graph, node, len(best) - 1 if best else len(component), counted)
        best, budget = loop or best, budget - looked
    turn = best.index(min(best))
    return tuple(best[turn:] + best[:turn])


def _back_to(graph: Graph, start: int, longest: int, counted: int) -> tuple[list[int], int]:
    """Return the shortest cycle of at most ``longest`` nodes through a node, and the number of visited edges.

    The cycle is empty where there is none.
    """
    came, layer, looked = {start: start}, [start], 0
    for _ in range(longest):
        following: list[int] = []
        for node in layer:
            for target in graph.after(node):
                looked += 1
                if target == start:
                    return [
                        node_on_path for node_on_path in _path(came, node) if node_on_path < counted
                    ], looked
                if target not in came:
                    came[target] = node
                    # What is not counted is as near as what leads to it.
                    (following if target < counted else layer).append(target)
        layer = following
    return [], looked


def _path(came: dict[int, int], node: int) -> list[int]:
    path = [node]
    while came[node] != node:
        node = came[node]
        path.append(node)
    return path[::-1]


NODE = "i"
"""The type code of a node in an array: four bytes, enough for two thousand million."""
_LARGE = 100_000
"""Edges from which numpy repays the tenth of a second that its import takes."""


class Graph(NamedTuple):
    """A directed graph as two arrays of four-byte numbers; ``starts`` has one entry more than there are nodes."""

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
    """Return a sequence as an array of numpy; of an array with the same memory."""
    return (
        numpy.frombuffer(numbers, numpy.int32)
        if isinstance(numbers, array)
        else numpy.asarray(numbers, numpy.int32)
    )
