"""How each file of a subnet is brought onto its host, and the effect on traffic.

opensm(8): HUP starts a heavy sweep, in which opensm reads its configuration, partitions and policy again; options
whose table entry has no can_update stay as they were (``restart`` in profiles/opensm/options.toml). Folders of UFM:
docs.nvidia.com, UFM Enterprise, and kobibar/OpenAI.recipe.old OpenAI.recipe.md @c314151. UFM writes partitions.conf
itself, which may not be edited, and merges partitions.conf.user_ext into it: UFM Enterprise User Manual 6.13.1,
Appendix - Partitioning; its unit is ufm-enterprise: 6.17.1, Running UFM Server Software.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.planned_files import Deployment
from lossless.formats.infiniband.from_model.files import UFM_FOLDER, folder_of
from lossless.model.fabric.infiniband.options import option

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet

_HUP = ("pkill -HUP -x opensm",)
_UFM_MERGE = ("/opt/ufm/scripts/sync_partitions_conf.sh",)
_SHOWN = 4


def deployment_of(subnet: Subnet, name: str) -> Deployment | None:
    """Return how a file is brought onto its host, by its name."""
    ufm = subnet.manager == "ufm"
    folder = folder_of(subnet)
    if name == "opensm.conf":
        return _options(subnet, f"{folder}/{name}")
    if name in ("nccl.conf", "job.env"):
        return _JOBS[name]
    if name == "sharp_am.cfg":
        target = f"{UFM_FOLDER}/sharp/{name}" if ufm else f"/etc/sharp/{name}"
        return Deployment(target, (), hitless=None, why=_SHARP)
    if name == "gv.cfg":
        return Deployment(
            f"{UFM_FOLDER}/{name}",
            (),
            hitless=None,
            why="a part of the file: set its keys, then restart ufm-enterprise",
        )
    if name == "partitions.conf" and ufm:
        return Deployment(f"{UFM_FOLDER}/{name}.user_ext", _UFM_MERGE, hitless=False, why=_UFM_PARTITIONS)
    if name == "partitions.conf":
        return Deployment(f"{folder}/{name}", _HUP, hitless=False, why=_PARTITIONS)
    if name == "qos-policy.conf":
        return Deployment(
            f"{folder}/{name}", _HUP, hitless=True, why="read at every heavy sweep; new paths get new SLs"
        )
    return Deployment(f"{folder}/{name}", _restart(subnet), hitless=False, why=_ROUTES)


def _restart(subnet: Subnet) -> tuple[str, ...]:
    """Return how the manager is started again: UFM runs an opensm of its own, which no other unit knows."""
    return ("systemctl restart ufm-enterprise",) if subnet.manager == "ufm" else ("systemctl restart opensm",)


_LOST_KEYS = "a port that is no member any more loses its P_Key and its connections"
_PARTITIONS = f"read at every heavy sweep: {_LOST_KEYS}"
_UFM_PARTITIONS = f"UFM merges it behind partitions of its own and starts a heavy sweep: {_LOST_KEYS}"
_ROUTES = "read when the routing engine starts: routes are made again, and packets on their way may be lost"
_SHARP = "restart sharp_am, or UFM's: running jobs lose their trees; SIGHUP takes in what its template calls runtime"
_JOBS = {
    "nccl.conf": Deployment(
        "/etc/nccl.conf", (), hitless=True, why="NCCL reads it when a job starts; others run on"
    ),
    "job.env": Deployment(
        "job.env", (), hitless=True, why="for the environment of jobs: nothing reads it by itself"
    ),
}


def _options(subnet: Subnet, target: str) -> Deployment:
    keys = [setting.key for setting in subnet.options]
    after_restart = [
        key for key in dict.fromkeys(keys) if (entry := option(key)) is not None and entry.restart
    ]
    why = "links stay up, and no path is found for new connections until the subnet is swept again: a standby first"
    if not after_restart:
        return Deployment(target, _HUP, hitless=True, why="SIGHUP takes every key of it in, at a heavy sweep")
    shown = ", ".join(after_restart[:_SHOWN]) + (" and more" if len(after_restart) > _SHOWN else "")
    return Deployment(target, _restart(subnet), hitless=False, why=f"read at the start alone: {shown}; {why}")
