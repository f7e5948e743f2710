"""In what order the managers of a subnet take their files, and how: on SIGHUP, or by a restart.

A standby programs nothing, so it is first; the master is last. Which one is the master follows from priorities, then
from the lower GUID (linux-rdma/opensm include/opensm/osm_sm.h osm_sm_is_greater_than @fa74b98): a master hands over to
a higher one at its next heavy sweep, which trap 144 of the other starts (opensm/osm_state_mgr.c do_sweep).

On SIGHUP opensm reads its file again at a heavy sweep, and takes in the keys with can_update
(opensm/osm_subnet.c osm_subn_rescan_conf_files). A key that is gone from the file keeps its value, but for those of
QoS, which that function sets back first. So does a file that is named by a key without can_update, and the path of
another file; what such files hold is read again when it is used (partitions: osm_prtn.c, policy: osm_qos_parser_y.y,
roots and compute nodes: osm_ucast_updn.c updn_lid_matrices, osm_ucast_ftree.c fabric_read_guid_files).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.plan.subnet.mixtures import unserved, used_levels
from lossless.checks.plan.subnet.order import differing
from lossless.checks.rules.infiniband.subnet_queries import number
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.infiniband.guids import with_derived_guids
from lossless.model.fabric.infiniband.options import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.plan.plan import ManagerState, TakenBy
    from lossless.checks.plan.subnet.model import Phase, SubnetConfiguration
    from lossless.model.fabric.infiniband.subnet import ManagerHost

_RESET = re.compile(r"qos_(?:(?:ca|sw0|swe|rtr)_)?(?:max_vls|high_limit|vlarb_high|vlarb_low|sl2vl)")
"""Keys that opensm sets back to nothing before it reads its file again (subn_init_qos_options)."""
CONF = "opensm.conf"
_OF_ROUTES = ("root_guid.conf", "cn_guid.conf", "torus-2QoS.conf")
SHARP_FILE = "sharp_am.cfg"


class ManagerMove(NamedTuple):
    """One manager takes its files: its state before and after, and why it restarts (empty if SIGHUP is enough)."""

    host: str
    how: TakenBy
    before: ManagerState
    after: ManagerState
    why: tuple[str, ...]
    alone: bool


def moves_of(phase: Phase) -> Iterator[ManagerMove]:
    """Yield managers that take other files, in the order in which they do: the one that is the master is last."""
    old, new, only = phase.old, phase.new, phase.only
    different = differing(old, new, of_jobs=False)
    ranks = {host: _rank(old if only is None or host in only else new, host) for host in _hosts(old)}
    left = [
        host for host in ranks if {*different.get(host, ())} - {SHARP_FILE} and (only is None or host in only)
    ]
    while left:
        master = max(ranks, key=ranks.__getitem__)
        # The master has the highest rank, so it comes last.
        host = min(left, key=ranks.__getitem__)
        ranks[host] = _rank(new, host)
        after = max(ranks, key=ranks.__getitem__)
        why = tuple(_restarts(old, new, host))
        yield ManagerMove(
            host,
            "restart" if why else "hup",
            _state(host, master),
            _state(host, after),
            why,
            alone=len(ranks) == 1,
        )
        left.remove(host)


def _state(host: str, master: str) -> ManagerState:
    return "master" if host == master else "standby"


def _hosts(configuration: SubnetConfiguration) -> tuple[str, ...]:
    return tuple(str(manager.node) for manager in configuration.subnet.managers)


def manager_on(configuration: SubnetConfiguration, host: str) -> ManagerHost:
    """Return the manager on a host."""
    return next(each for each in configuration.subnet.managers if each.node == host)


def _rank(configuration: SubnetConfiguration, host: str) -> tuple[int, int]:
    """Return the rank of a manager in the election: the highest becomes the master."""
    subnet = with_derived_guids(configuration.subnet)
    manager = manager_on(configuration, host)
    guids = {hca.name: hca.guid or 0 for hca in subnet.hcas} if isinstance(subnet.hcas, tuple) else {}
    priority = number(subnet, "sm_priority") if manager.priority is None else manager.priority
    return priority, -guids.get(manager.hca or "", 0)


def _restarts(old_side: SubnetConfiguration, new_side: SubnetConfiguration, host: str) -> Iterator[str]:
    """Yield why SIGHUP does not do.

    Which keys NVIDIA's OpenSM takes in is not known: the table is that of upstream.
    """
    before, after = old_side.files.get(host, {}), new_side.files.get(host, {})
    old, new = (keys_of(files[CONF].text) if CONF in files else {} for files in (before, after))
    for key in changed_keys(old, new):
        known = option(key)
        if known is None or "nvidia" in (known.only, new_side.subnet.flavour):
            yield f"whether SIGHUP takes {key} in is not known"
        elif known.restart:
            yield f"{key} is read at the start alone"
        elif key not in new and not _RESET.fullmatch(key):
            yield f"{key} goes from the file, and SIGHUP leaves it as it was"
    cached = "TRUE" in (old.get("use_ucast_cache"), new.get("use_ucast_cache"))
    if cached and any(before.get(name) != after.get(name) for name in _OF_ROUTES):
        yield "use_ucast_cache keeps the routes that there are"


def changed_keys(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys whose texts differ."""
    return tuple(key for key in dict.fromkeys((*new, *old)) if old.get(key) != new.get(key))


def keys_of(text: str) -> dict[str, str]:
    """Return the keys of an opensm.conf, with their texts."""
    lines = (line.partition("#")[0].split(None, 1) for line in text.splitlines())
    return {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines if line}


def ordered_names(old: SubnetConfiguration, new: SubnetConfiguration, host: str) -> tuple[str, ...]:
    """Return the files of a manager in the order in which they come into their places.

    opensm reads them at any heavy sweep. So lanes come first where they serve the service levels that old files of
    partitions and policy answer with, and last where they do not: then the new files answer with others before.
    """
    names = [name for name in differing(old, new, of_jobs=False).get(host, ()) if name != SHARP_FILE]
    serve = not unserved(new.subnet, used_levels(old.subnet))
    return tuple(sorted(names, key=lambda name: (name == CONF) != serve))
