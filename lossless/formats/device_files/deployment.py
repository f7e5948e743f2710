"""How each file is brought onto its device, and the effect on traffic.

Commands are those of sonic-utilities config/main.py @691b1bb: ``load`` merges into the running database, ``reload``
empties it and restarts the services, ``apply-patch`` and ``replace`` go through the config updater, and only
``save`` makes a change outlive the next boot.

The output of a render: files with their text, and how each is brought onto its device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from lossless.formats.sonic.capabilities.updater_verdict import Update


Extra = Literal["qos", "patch", "rollback"]
EXTRAS: tuple[Extra, ...] = ("qos", "patch", "rollback")
"""Files that can be made beside a switch's complete file; each needs the file that the switch runs."""
TELEMETRY = "telemetry"
"""The extra that needs an intent alone, and the name of its folder."""


class Deployment(NamedTuple):
    """How a file is brought onto its device: its target, the commands to run there, and whether traffic is hit.

    ``hitless``: no port and no service goes down, and lossless traffic is not harmed; None if unknown.
    ``why`` is the reason for it. ``ports_stay_up`` is the first half alone, None if ``hitless`` covers it.
    """

    target: str
    apply: tuple[str, ...]
    hitless: bool | None
    why: str
    ports_stay_up: bool | None = None


class PlannedFile(NamedTuple):
    """One file of the tree, by its path below the output folder: ``<device>/<name>``.

    ``secret``: only its owner may read it, and its content is not shown.
    """

    path: str
    text: str
    executable: bool = False
    deployment: Deployment | None = None
    secret: bool = False


class UpdatePlan(NamedTuple):
    """The update that brings a running switch to the rendered configuration, and why no smaller one does.

    ``ports_down`` are the ports that a patch takes down meanwhile. ``why`` names the rows that need a reload.
    ``harms`` lists effects of a patch on lossless traffic.
    """

    device: str
    how: Literal["nothing", "patch", "reload"]
    ports_down: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()


STARTUP = "/etc/sonic/config_db.json"
PATCH = "/etc/sonic/lossless-patch.json"
QOS = "/etc/sonic/lossless-qos.json"
DELETES = "/etc/sonic/lossless-qos-deletes.json"
ROLLBACK = "/etc/sonic/lossless-rollback.json"
_RELOAD = "config reload -y"
_SAVE = "config save -y"
_RESTARTS = "config reload stops SONiC's services and starts them again: every port goes down"

COMPLETE = Deployment(STARTUP, (_RELOAD,), hitless=False, why=_RESTARTS, ports_stay_up=False)
QOS_ALONE = Deployment(
    QOS,
    (f"config load -y {QOS}", _SAVE),
    hitless=False,
    why="config load merges: stale rows stay until they are deleted (name the switch's file with --base to have "
    "them listed), and rows change in no stated order under traffic",
)
QOS_WITH_DELETES = Deployment(
    QOS,
    (f"config load -y {QOS}", _SAVE),
    hitless=False,
    why="config load merges: run the deletes of qos-deletes.json around it; between a delete and the load a port "
    "is without that row",
)
LISTED_DELETES = Deployment(
    DELETES,
    (),
    hitless=False,
    why="commands to run: those under before, then config load, then those under after",
)
HOST_FILES = {
    "lossless-roce.sh": Deployment(
        "/usr/local/sbin/lossless-roce.sh",
        (),
        hitless=None,
        why="run by lossless-roce.service; it sets only what differs, on interfaces that may carry traffic",
    ),
    "lossless-roce.service": Deployment(
        "/etc/systemd/system/lossless-roce.service",
        ("systemctl daemon-reload", "systemctl enable --now lossless-roce.service"),
        hitless=None,
        why="starts lossless-roce.sh",
    ),
    "lossless-roce.json": Deployment(
        "/etc/lossless/roce.json",
        (),
        hitless=True,
        why="the same settings as data, for what manages configurations; nothing on the host reads it",
    ),
    "nccl.conf": Deployment(
        "/etc/nccl.conf",
        (),
        hitless=True,
        why="jobs that start from then on read it; those that run keep what they have",
    ),
    "jobs.env": Deployment(
        "/etc/lossless/jobs.env", (), hitless=True, why="read where a job's container or unit names it"
    ),
    "jobs.sh": Deployment("/etc/lossless/jobs.sh", (), hitless=True, why="read where a job sources it"),
}
"""Where the files of a host go, by name."""
CLUSTER = Deployment(
    "",
    (),
    hitless=False,
    why="the operator drains a node and resets its NICs, or reboots it, where settings of the firmware change",
)
"""What applying a resource to a cluster does; the target is the file itself."""


def asic_deployment(asic: str, *, complete: bool) -> Deployment:
    """Return how the file of one ASIC of several is brought onto its device.

    ``config load`` takes the files of the host and of all ASICs together; a fragment goes to one namespace with
    the command that it runs for each (sonic-utilities config/main.py @691b1bb).
    """
    number = asic.removeprefix("asic")
    if complete:
        return COMPLETE._replace(target=f"/etc/sonic/config_db{number}.json")
    target = f"/etc/sonic/lossless-qos{number}.json"
    return QOS_ALONE._replace(
        target=target, apply=(f"sonic-cfggen -n {asic} -j {target} --write-to-db", _SAVE)
    )


def patch_deployment(update: Update) -> Deployment:
    """Return how a patch that the updater permits is applied."""
    return _updated(PATCH, f"config apply-patch {PATCH}", update)


def rollback_deployment(back: Update | None) -> Deployment:
    """Return how a switch gets its old file again; ``back`` is the update to it, None where there is none."""
    if back is None or back.refusals:
        return COMPLETE._replace(target=ROLLBACK, apply=(f"cp {ROLLBACK} {STARTUP}", _RELOAD))
    return _updated(ROLLBACK, f"config replace {ROLLBACK}", back)


def _updated(target: str, command: str, update: Update) -> Deployment:
    why = "; ".join((_updater_says(update), *update.harms))
    return Deployment(target, (command, _SAVE), update.hitless, why, ports_stay_up=not update.ports_down)


def _updater_says(update: Update) -> str:
    if not update.ports_down:
        return "the config updater takes no port and no service down"
    return f"the config updater takes ports down while it changes their rows: {listed(update.ports_down)}"
