"""The workloads of an intent, converted to the model; the classes, hosts and ports that they name are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.workloads.workload import Workload
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.nearest import suggestion
from lossless.model.fabric.workloads import ALGORITHMS, DeclaredWorkload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.workloads import WorkloadIntent
    from lossless.ground.basics.errors import Problem
    from lossless.model.fabric.model import Fabric


def workloads(loaded: LoadedIntent, fabric: Fabric) -> tuple[DeclaredWorkload, ...]:
    """Return the workloads that an intent declares for a fabric.

    Raises:
        InputError: every class, host, port and algorithm that does not exist, located.
    """
    declared = loaded.intent.workloads
    if not declared:
        return ()
    check = _DeclaredNames(loaded, fabric)
    problems = [problem for name, workload in declared.items() for problem in check.problems(name, workload)]
    if problems:
        raise InputError(problems)
    return tuple(_workload(loaded, name, workload) for name, workload in declared.items())


def _workload(loaded: LoadedIntent, name: str, stated: WorkloadIntent) -> DeclaredWorkload:
    return DeclaredWorkload(
        name=name,
        pattern=stated.pattern,
        collective=stated.collective,
        size_bytes=stated.size,
        nics=stated.nics,
        target=stated.target,
        class_name=stated.traffic_class,
        storage=(stated.storage or 0) / 100,
        failed=stated.link_down,
        slow_nic_bps=stated.slow_nic,
        dead_nic=stated.dead_nic,
        gpus=stated.gpus,
        algorithm=stated.algorithm,
        sources=stated.sources or Workload().sources,
        origin=loaded.origin("workloads", name),
    )


class _DeclaredNames:
    """The names of a fabric's classes, NICs and ports."""

    def __init__(self, loaded: LoadedIntent, fabric: Fabric) -> None:
        self._loaded = loaded
        self._lossless = [cls.name for cls in fabric.classes.lossless]
        self._ports = {f"{switch.name}:{port.name}" for switch in fabric.switches for port in switch.ports}
        to_hosts = [link for link in fabric.links if link.to_host]
        self._nics = {name for link in to_hosts for name in (link.b, f"{link.b}:{link.b_port}")}

    def problems(self, name: str, stated: WorkloadIntent) -> Iterator[Problem]:
        """Yield the unresolved names of a workload."""
        if stated.traffic_class is not None and stated.traffic_class not in self._lossless:
            hint = suggestion(stated.traffic_class, self._lossless)
            yield self._problem(f"no lossless class is called {stated.traffic_class!r}{hint}", name, "class")
        if stated.target is not None and stated.target not in self._nics:
            hint = suggestion(stated.target, sorted(self._nics))
            yield self._problem(f"no NIC port is called {stated.target!r}{hint}", name, "target")
        for number, port in enumerate(stated.link_down):
            if port not in self._ports:
                hint = suggestion(port, sorted(self._ports))
                yield self._problem(f"no port is called {port!r}{hint}", name, "link_down", number)
        if stated.collective is not None and stated.algorithm is not None:
            known = ALGORITHMS[stated.collective]
            if stated.algorithm not in known:
                words = f"{stated.collective} has {', '.join(known)}, not {stated.algorithm}"
                yield self._problem(words, name, "algorithm")

    def _problem(self, message: str, *path: str | int) -> Problem:
        where = self._loaded.origin("workloads", *path)
        return self._loaded.problem(where, f"workloads.{'.'.join(map(str, path))}: {message}")
