"""Equal-cost links: the candidates of each switch toward a destination, and all routes of packets over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimNetwork

    Links = tuple[int, ...]


class EqualPaths:
    """The shortest paths between the switches of a network; ``link_of`` has the parallel links between two nodes."""

    def __init__(self, network: SimNetwork, link_of: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Index the neighboring switches of each switch."""
        self._link_of = link_of
        self._peers: dict[int, list[int]] = {node: [] for node in network.switches}
        for cable in network.cables:
            if cable.a in self._peers and cable.b in self._peers:
                self._peers[cable.a].append(cable.b)
                self._peers[cable.b].append(cable.a)
        self._toward: dict[int, dict[int, Links]] = {}
        self._routes: dict[tuple[int, int], tuple[Links, ...]] = {}

    def toward(self, last: int) -> Mapping[int, Links]:
        """Return for each other switch the links by which shortest paths lead to one."""
        if last not in self._toward:
            far = self._distances(last)
            nearer = {
                node: sorted({peer for peer in self._peers[node] if far.get(peer) == far[node] - 1})
                for node in far
                if node != last
            }
            self._toward[last] = {
                node: tuple(at for peer in peers for at in self._link_of[node, peer])
                for node, peers in nearer.items()
            }
        return self._toward[last]

    def routes(self, first: int, last: int, ends: Sequence[tuple[int, int]]) -> tuple[Links, ...]:
        """Return all shortest routes from a switch to another; ``ends`` has the two nodes of each link."""
        if (first, last) not in self._routes:
            self._routes[first, last] = tuple(self._walk(first, last, ends))
        return self._routes[first, last]

    def _walk(self, first: int, last: int, ends: Sequence[tuple[int, int]]) -> Iterator[Links]:
        if first == last:
            yield ()
            return
        for link in self.toward(last).get(first, ()):
            yield from ((link, *rest) for rest in self.routes(ends[link][1], last, ends))

    def _distances(self, last: int) -> dict[int, int]:
        far = {last: 0}
        reached = [last]
        for node in reached:
            for peer in self._peers[node]:
                if peer not in far:
                    far[peer] = far[node] + 1
                    reached.append(peer)
        return far
