"""Whether a backtracking matcher can take more than linear time on a pattern, by its automaton.

The matcher visits a position once for each path to it. Where two paths lead around a loop on one text, their number
doubles with each turn (exponential). Where a loop leads to another on the text of both, a text of n turns reaches the
second in n paths (polynomial): two adjacent repetitions, or the start of a search and a repetition. Both are known
as EDA and IDA (A. Weber and H. Seidl, On the degree of ambiguity of finite automata, 1991; C. Allauzen, M. Mohri and
A. Rastogi, General algorithms for testing the ambiguity of finite automata, 2008), and found in products of the
automaton with itself. A position from which the pattern matches whatever follows is reached in one path at most: the
matcher never comes back from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, TypeVar

from tests.patterns.automaton import EXIT, MOST_COPIES, Automaton, Move, Use, automaton_of

MOST_TURNS = 7
"""A loop that is bounded by more counts as one without a bound where two paths lead around it: 2 to the power of 7."""
_Node = TypeVar("_Node", bound=Hashable)


class Growth(NamedTuple):
    """How the time of a pattern grows, and a text that shows it: what is repeated, and what is before it."""

    exponential: bool
    before: str
    repeated: str

    def __str__(self) -> str:
        kind = "exponential" if self.exponential else "polynomial"
        return f"{kind} in {self.repeated!r} repeated after {self.before!r}"


class Edge(NamedTuple):
    """One move between positions: the characters that it takes, and the inner scopes that it leaves."""

    target: int
    letters: int
    number: int
    leaves: frozenset[int]


class Graph(NamedTuple):
    """The positions of one scope and those within it."""

    edges: dict[int, tuple[Edge, ...]]
    outermost: dict[int, int]
    """The outermost inner scope of a position; 0 where it is in none."""
    certain: frozenset[int]


def growth(pattern: str | bytes, flags: int, use: Use) -> Growth | None:
    """Return how the time of a pattern grows beyond linear, None where it does not."""
    for search, exponential, copies in (
        (_double_loop, True, MOST_TURNS),
        (_loop_into_loop, False, MOST_COPIES),
    ):
        automaton = _split(automaton_of(pattern, flags, use, copies))
        for scope in automaton.certain:
            found = search(_graph(automaton, scope))
            if found is not None:
                return _shown(automaton, found, exponential=exponential)
    return None


def _split(automaton: Automaton) -> Automaton:
    """Return an automaton whose moves have no condition on the character before: positions are split by it."""
    parts: dict[int, list[int]] = {}
    for at, moves in automaton.follow.items():
        pieces = [automaton.masks[at]]
        for move in moves:
            pieces = [
                part for piece in pieces for part in (piece & move.before, piece & ~move.before) if part
            ]
        parts[at] = pieces
    masks: list[int] = []
    scopes: list[tuple[int, ...]] = []
    numbers: dict[int, range] = {}
    for at, pieces in parts.items():
        numbers[at] = range(len(masks), len(masks) + len(pieces))
        masks += pieces
        scopes += [automaton.scopes[at]] * len(pieces)

    def targets(moves: Iterable[Move], before: int) -> tuple[Move, ...]:
        kept = [move for move in moves if move.before & before]
        return tuple(
            move._replace(target=target)
            for move in kept
            for target in ((EXIT,) if move.target == EXIT else numbers[move.target])
        )

    follow = {
        number: targets(moves, masks[number])
        for at, moves in automaton.follow.items()
        for number in numbers[at]
    }
    certain = {
        scope: frozenset(number for at in positions for number in numbers[at])
        for scope, positions in automaton.certain.items()
    }
    entry = targets(automaton.entry, automaton.edge)
    return automaton._replace(masks=masks, scopes=scopes, follow=follow, entry=entry, certain=certain)


def _graph(automaton: Automaton, scope: int) -> Graph:
    """Return the graph of a scope: a move out of it is none."""
    inside = {
        at: 0 if not scope else scopes.index(scope) + 1
        for at, scopes in enumerate(automaton.scopes)
        if not scope or scope in scopes
    }
    edges = {}
    for at in inside:
        moves = [move for move in automaton.follow[at] if move.target != EXIT and scope not in move.leaves]
        taken = [move.after & automaton.masks[move.target] for move in moves]
        edges[at] = tuple(
            Edge(move.target, letters, number, move.leaves)
            for number, (move, letters) in enumerate(zip(moves, taken, strict=True))
            if letters
        )
    outermost = {at: (*automaton.scopes[at][depth:], 0)[0] for at, depth in inside.items()}
    return Graph(edges, outermost, automaton.certain[scope])


def _parting(graph: Graph, at: int) -> Iterator[tuple[Edge, Edge]]:
    """Yield two moves of one position that a text may take both: inside an inner scope only one path out is taken."""
    inner = graph.outermost[at]
    edges = [edge for edge in graph.edges[at] if not inner or inner in edge.leaves]
    for one in edges:
        for other in edges:
            if one.number != other.number and one.letters & other.letters:
                yield one, other


Walk = tuple[int, int, int, bool]
"""Where three walkers over a graph are that read one text, and whether the second has parted from the first."""


class _Found(NamedTuple):
    """A position and what is taken on the path around it."""

    at: int
    letters: tuple[int, ...]


class _Walkers(NamedTuple):
    """Three walkers: the first goes around one loop, the second leads from it to another, which the third goes around.

    Where the second comes back to the loop of the first there is no third: it stays at no position.
    """

    graph: Graph
    first: frozenset[int]
    second: frozenset[int]
    third: frozenset[int]

    def steps(self, walk: Walk) -> Iterator[tuple[Walk, int]]:
        """Yield the next places of the walkers, each with the characters that lead there."""
        x, y, z, parted = walk
        edges = self.graph.edges
        pairs: Iterable[tuple[Edge, Edge, bool]]
        if parted:
            pairs = ((one, other, True) for one in edges[x] for other in edges[y])
        else:
            together = ((edge, edge, False) for edge in edges[x])
            pairs = chain(together, ((one, other, True) for one, other in _parting(self.graph, x)))
        stay = (Edge(EXIT, -1, 0, frozenset()),)
        for one, other, apart in pairs:
            letters = one.letters & other.letters
            if not letters or one.target not in self.first or (apart and other.target not in self.second):
                continue
            for last in edges[z] if self.third else stay:
                if letters & last.letters and (not self.third or last.target in self.third):
                    yield (one.target, other.target, last.target, apart), letters & last.letters

    def path(self) -> _Found | None:
        """Return how all walkers come around while the second gets to the third, or back to the first; None: never."""
        known: dict[Walk, list[tuple[Walk, int]]] = {}
        turns = [(p, q) for p in self.first for q in self.third or (EXIT,) if p != q]
        # After a turn the next begins: a component with both ends of a turn has the path between them.
        begins = {(p, p if q == EXIT else q, q, True): (p, p, q, False) for p, q in turns}

        def following(walk: Walk) -> list[Walk]:
            if walk not in known:
                known[walk] = list(self.steps(walk))
            return [target for target, _ in known[walk]] + ([begins[walk]] if walk in begins else [])

        for component in _components(begins.values(), following):
            inside = set(component)
            for end in inside & begins.keys():
                if begins[end] in inside:
                    letters = _way(begins[end], end, lambda walk: known[walk])
                    if letters is not None:
                        return _Found(end[0], letters)
        return None


def _double_loop(graph: Graph) -> _Found | None:
    """Return a loop that leads back to its start in two paths."""
    for loop in _loops(_open_ended(graph)):
        found = _Walkers(graph, loop, loop, frozenset()).path()
        if found is not None:
            return found
    return None


def _loop_into_loop(graph: Graph) -> _Found | None:
    """Return a loop that leads to another on a text of both."""
    open_ended = _open_ended(graph)
    starts = _loops(graph.edges)
    for third in _loops(open_ended):
        between = _leading_to(third, open_ended)
        for first in starts:
            if first == third or not any(edge.target in between for at in first for edge in graph.edges[at]):
                continue
            found = _Walkers(graph, first, between, third).path()
            if found is not None:
                return found
    return None


def _open_ended(graph: Graph) -> dict[int, tuple[Edge, ...]]:
    """Return the part of a graph from which the matcher comes back."""
    return {
        at: tuple(edge for edge in edges if edge.target not in graph.certain)
        for at, edges in graph.edges.items()
        if at not in graph.certain
    }


def _loops(edges: dict[int, tuple[Edge, ...]]) -> list[frozenset[int]]:
    """Return the positions of each loop."""
    found = _components(edges, lambda at: [edge.target for edge in edges[at]])
    return [
        frozenset(loop)
        for loop in found
        if len(loop) > 1 or any(edge.target == loop[0] for edge in edges[loop[0]])
    ]


def _leading_to(goal: frozenset[int], edges: dict[int, tuple[Edge, ...]]) -> frozenset[int]:
    """Return the positions from which a path leads to some."""
    sources: dict[int, list[int]] = {}
    for at, following in edges.items():
        for edge in following:
            sources.setdefault(edge.target, []).append(at)
    found, waiting = set(goal), list(goal)
    while waiting:
        for at in sources.get(waiting.pop(), ()):
            if at not in found:
                found.add(at)
                waiting.append(at)
    return frozenset(found)


def _way(
    start: _Node, end: _Node, steps: Callable[[_Node], Iterable[tuple[_Node, int]]]
) -> tuple[int, ...] | None:
    """Return the characters on a shortest path of at least one step."""
    paths: dict[_Node, tuple[int, ...]] = {}
    waiting: deque[tuple[_Node, tuple[int, ...]]] = deque([(start, ())])
    while waiting:
        node, path = waiting.popleft()
        for target, letters in steps(node):
            if target not in paths:
                paths[target] = (*path, letters)
                if target == end:
                    return paths[target]
                waiting.append((target, paths[target]))
    return None


def _components(starts: Iterable[_Node], following: Callable[[_Node], list[_Node]]) -> Iterator[list[_Node]]:
    """Yield the strongly connected components that can be reached (Tarjan, without recursion)."""
    number: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    path: list[_Node] = []
    on_path: set[_Node] = set()
    for start in starts:
        if start in number:
            continue
        number[start] = lowest[start] = len(number)
        path.append(start)
        on_path.add(start)
        calls = [(start, iter(following(start)))]
        while calls:
            node, targets = calls[-1]
            for target in targets:
                if target not in number:
                    number[target] = lowest[target] = len(number)
                    path.append(target)
                    on_path.add(target)
                    calls.append((target, iter(following(target))))
                    break
                if target in on_path:
                    lowest[node] = min(lowest[node], number[target])
            else:
                calls.pop()
                if calls:
                    lowest[calls[-1][0]] = min(lowest[calls[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    at = path.index(node)
                    on_path.difference_update(path[at:])
                    yield path[at:]
                    del path[at:]


def _shown(automaton: Automaton, found: _Found, *, exponential: bool) -> Growth:
    """Return a growth with a text of it: any character of those that would do."""
    start = -2

    def steps(at: int) -> Iterator[tuple[int, int]]:
        for move in automaton.entry if at == start else automaton.follow[at]:
            if move.target != EXIT:
                yield move.target, move.after & automaton.masks[move.target]

    before = _way(start, found.at, steps) or ()
    return Growth(exponential, _text(automaton, before), _text(automaton, found.letters))


def _text(automaton: Automaton, taken: Iterable[int]) -> str:
    letters = automaton.letters
    text = letters if isinstance(letters, str) else letters.decode("latin-1")
    return "".join(_easiest(text, mask) for mask in taken)


def _easiest(text: str, mask: int) -> str:
    """Return one of some characters, a letter, a digit or a blank if it can be."""
    found = [letter for at, letter in enumerate(text) if mask >> at & 1]
    return min(found, key=lambda letter: (not letter.isascii(), not letter.isalnum(), letter != " ", letter))
