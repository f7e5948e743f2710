"""A host with pretended NICs: a sysfs tree, and the tools that read and change them.

The tools keep the quirks of the real ones: ``mlnx_qos`` refuses --trust with --dscp2prio, writes PFC mask and
cable length together even if only one is named, and lists the DSCP map only under trust in DSCP
(Mellanox/mlnx-tools python/mlnx_qos @088fadb); mlx5 ignores a cable of 0 m or from 1,000 m on (Linux
mlx5/core/en_dcbnl.c); ``ethtool --set-tunable`` takes a number alone (ethtool.c, CMDL_U16 of b717ed22d984), and
``ethtool -A`` fails with status 78 where nothing changes (ethtool's ioctl path).
"""

from __future__ import annotations

import copy
import json
import marshal
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.formats.hosts.from_model import fake_tool
from tests.formats.hosts.from_model.fake_broadcom import FIRMWARE, PRIORITIES
from tests.tool_server import run_served

FRESH: dict[str, Any] = {
    "pause": ["on", "on"],
    "dcbx": "fw",
    "trust": "pcp",
    "map": [dscp >> 3 for dscp in range(64)],
    "pfc": [0] * 8,
    "cable": 7,
    "pfc-prevention-tout": 8000,
    "pfc_changes": 0,
    "apps": [],
    "ets": {"willing": "on", "prio-tc": [0] * 8, "tc-tsa": ["strict"] * 8, "tc-bw": [0] * 8},
    "most_tc": 7,
    "order": None,
    "tunable_refused": False,
    "qos_refused": False,
}
"""A NIC as it leaves the factory: global pause on, DCBX by firmware, trust in PCP, no PFC, no DSCP mapped.

``most_tc`` is the last TC it has, ``order`` the trust order of drivers that have one to set.
"""
SYSFS_PARAMETERS = (
    "roce_np/cnp_dscp",
    "roce_np/cnp_802p_prio",
    "roce_np/min_time_between_cnps",
    "roce_rp/clamp_tgt_rate",
    "roce_rp/clamp_tgt_rate_after_time_inc",
    "roce_rp/dce_tcp_g",
    "roce_rp/dce_tcp_rtt",
    "roce_rp/initial_alpha_value",
    "roce_rp/rate_reduce_monitor_period",
    "roce_rp/rate_to_set_on_first_cnp",
    "roce_rp/rpg_ai_rate",
    "roce_rp/rpg_byte_reset",
    "roce_rp/rpg_gd",
    "roce_rp/rpg_hai_rate",
    "roce_rp/rpg_max_rate",
    "roce_rp/rpg_min_dec_fac",
    "roce_rp/rpg_min_rate",
    "roce_rp/rpg_threshold",
    "roce_rp/rpg_time_reset",
)
"""Below ``ecn/`` in MLNX_OFED's sysfs."""
DEBUGFS_PARAMETERS = (
    "rp_clamp_tgt_rate",
    "rp_clamp_tgt_rate_ati",
    "rp_time_reset",
    "rp_byte_reset",
    "rp_threshold",
    "rp_ai_rate",
    "rp_max_rate",
    "rp_hai_rate",
    "rp_min_dec_fac",
    "rp_min_rate",
    "rp_rate_to_set_on_first_cnp",
    "rp_dce_tcp_g",
    "rp_dce_tcp_rtt",
    "rp_rate_reduce_monitor_period",
    "rp_initial_alpha_value",
    "rp_gd",
    "np_min_time_between_cnps",
    "np_cnp_dscp",
    "np_cnp_prio_mode",
    "np_cnp_prio",
)
"""Linux drivers/infiniband/hw/mlx5/cong.c @03826bc, mlx5_ib_dbg_cc_name."""
FIRMWARE_SETTINGS = (
    "ROCE_CC_PRIO_MASK",
    *(name.partition("/")[2].upper() for name in SYSFS_PARAMETERS),
)
"""What mlxconfig knows of a port, less the port."""
ACCELERATIONS = ("adaptive_routing_forced_en", "selective_repeat_forced_en")
"""Fields of the register ROCE_ACCL."""
TOOLS = (
    *("mlnx_qos", "ethtool", "ip", "cma_roce_mode", "cma_roce_tos", "id", "systemctl", "dcb", "niccli"),
    *("mkdir", "rmdir", "mlxconfig", "mlxreg"),
)
READS = ("-a", "--get-tunable", "-u")
VENDORS = {"mlx5_core": ("0x15b3", "0x1021"), "bnxt_en": ("0x14e4", "0x1760"), "ice": ("0x8086", "0x1592")}
"""PCI ids by driver."""


class HungError(Exception):
    """Raised for a call of a tool that gives no answer."""


class FakeHost:
    """A host below one folder; ``nics`` are added before its script runs."""

    _hung: Callable[[], None] | None = None

    def __init__(self, root: Path, tools: tuple[str, ...] = TOOLS, uid: int = 0) -> None:
        self._is_in(root)
        self._bin.mkdir(parents=True)
        # Imported, a module is compiled once; a script would be with every call.
        body = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import fake_tool"
        python = f'exec {sys.executable} -IS -c "{body}; fake_tool.main(*sys.argv[1:])" "${{0%/bin/*}}"'
        for tool in tools:
            stub = self._bin / tool
            stub.write_text(f'#!/bin/sh\n{python} {tool} "$@"\n')
            stub.chmod(0o755)
        cat = self._bin / "cat"
        shown_by_the_kernel = f'*/cc/apply) {python} cat "$@" ;;'
        cat.write_text(f'#!/bin/sh\ncase $1 in {shown_by_the_kernel} esac\nexec /bin/cat "$@"\n')
        cat.chmod(0o755)
        for folder in (
            "class/net",
            "class/infiniband",
            "kernel/debug/mlx5",
            "kernel/config/rdma_cm",
            "kernel/config/bnxt_re",
            "devices",
            "drivers",
        ):
            (self.sysfs / folder).mkdir(parents=True)
        self._write_state(
            {
                "uid": uid,
                "nics": {},
                "devices": {},
                "firmware": {},
                "registers": {},
                "lldpad": False,
                "dcb_version": (6, 12),
                "configfs": ["rdma_cm", "bnxt_re"],
            }
        )
        self._calls.touch()

    def _is_in(self, root: Path) -> None:
        self.sysfs, self._bin, self._state, self._calls = (
            root / name for name in ("sys", "bin", "state", "calls")
        )

    def copied(self, root: Path) -> FakeHost:
        """Return a host below another folder that is as this one is now."""
        shutil.copytree(self._bin.parent, root, symlinks=True)
        other = copy.copy(self)
        other._is_in(root)
        return other

    def add_nic(
        self,
        interface: str,
        device: str,
        pci: str = "0000:17:00.0",
        *,
        driver: str = "mlx5_core",
        link_layer: str = "Ethernet",
        ecn: bool = True,
        debugfs: bool = False,
        tc: bool = True,
        virtual: bool = False,
        profiles: bool = True,
        accelerates: bool = True,
        **state: Any,
    ) -> None:
        """Add one NIC with one port; ``state`` are its differences from :data:`FRESH`."""
        function = self.sysfs / "devices" / pci
        net, rdma = function / "net" / interface, function / "infiniband" / device
        self._put(net / "mtu", 1500)
        self._put(rdma / "ports/1/link_layer", link_layer)
        for name, value in zip(("vendor", "device"), VENDORS[driver], strict=True):
            self._put(function / name, value)
        if driver == "bnxt_en":
            info = f"\tfw_service_prof_type_sup : {int(profiles)}"
            self._put(self.sysfs / "kernel/debug/bnxt_re" / device / "info", info)
        (self.sysfs / "drivers" / driver).mkdir(exist_ok=True)
        self._link(function / "driver", self.sysfs / "drivers" / driver)
        for entry, kind in ((net, "net"), (rdma, "infiniband")):
            self._link(entry / "device", function)
            self._link(self.sysfs / "class" / kind / entry.name, entry)
        if virtual:
            (function / "physfn").mkdir()
        enables = [f"{point}/enable/{p}" for point in ("roce_np", "roce_rp") for p in range(8)] if ecn else []
        for name in (*SYSFS_PARAMETERS, *enables) if ecn else ():
            self._put(net / "ecn" / name, 1)
        for name in DEBUGFS_PARAMETERS if debugfs else ():
            self._put(self.sysfs / "kernel/debug/mlx5" / pci / "cc_params" / name, 1)
        if tc:
            self._put(rdma / "tc/1/traffic_class", "Global tclass=0")
        whole = self.state
        whole["nics"][interface] = {**FRESH, "pci": pci, **state}
        whole["devices"][device] = {"mode": "IB/RoCE v1", "tos": 0}
        if driver == "bnxt_en":
            whole["devices"][device] |= {"profiles": profiles, "cc": {**FIRMWARE, **PRIORITIES}}
        if driver == "mlx5_core":
            port = int(pci[-1]) + 1
            whole["firmware"][pci] = {f"{name}_P{port}": [255] * 3 for name in FIRMWARE_SETTINGS}
            selects = {f"{name}_field_select": int(accelerates) for name in ACCELERATIONS}
            whole["registers"][pci] = selects | dict.fromkeys(ACCELERATIONS, 0)
        self._write_state(whole)

    def add_representor(self, pci: str, name: str) -> None:
        """Add a port that represents a virtual function, as switchdev mode shows it."""
        self._put(self.sysfs / "devices" / pci / "net" / name / "phys_port_name", "pf0vf0")

    @staticmethod
    def _put(path: Path, value: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")

    @staticmethod
    def _link(path: Path, target: Path) -> None:
        # As sysfs has it, and so that a copy's links stay in the copy.
        path.symlink_to(os.path.relpath(target, path.parent))

    @property
    def state(self) -> dict[str, Any]:
        """What the NICs are set to, sysfs apart."""
        state: dict[str, Any] = marshal.loads(self._state.read_bytes())
        return state

    def change(self, **changes: Any) -> None:
        """Change what is true of the whole host: ``lldpad``, ``dcb_version``, ``configfs``."""
        self._write_state(self.state | changes)
        for kind in ("rdma_cm", "bnxt_re"):
            if kind not in self.state["configfs"]:
                (self.sysfs / "kernel/config" / kind).rmdir()

    def put(self, state: dict[str, Any]) -> None:
        """Put a whole state in the place of what is there."""
        self._write_state(state)

    def _write_state(self, state: dict[str, Any]) -> None:
        # By way of JSON: keys are texts, and what is no list is an object.
        self._state.write_bytes(marshal.dumps(json.loads(json.dumps(state))))

    def run(
        self,
        script: str,
        *arguments: str,
        apart: bool = False,
        clocked: str = "",
        hung: Callable[[], None] | None = None,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a rendered script on this host; ``variables`` are more of its environment.

        ``apart``: every tool is a process that ``timeout`` starts, as on a real host; else only what ``clocked``, a
        pattern of the shell, matches, and this process answers for the others. ``hung`` is called before each of
        those, and raises :class:`HungError` for one that gives no answer.
        """
        self._hung = hung
        path = self._bin.parent / "lossless-roce.sh"
        path.write_text(script)
        environment = {"PATH": f"{self._bin}:/usr/bin:/bin", "SYSFS_ROOT": str(self.sysfs), **variables}
        return self.run_shell("/bin/bash", path, arguments, environment, apart=apart, clocked=clocked)

    def run_shell(
        self,
        shell: str,
        script: Path,
        arguments: Sequence[str],
        environment: dict[str, str],
        *,
        apart: bool,
        clocked: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run any script on this host, as :meth:`run` does."""
        if not apart:
            root = self._bin.parent
            return run_served(
                shell,
                script,
                arguments,
                environment,
                main=partial(self._answer, str(root)),
                tools=[path.name for path in self._bin.iterdir() if path.name != "cat"],
                file=root / "answer",
                clocked=clocked,
            )
        return subprocess.run(
            [shell, str(script), *arguments], env=environment, capture_output=True, text=True, check=False
        )

    def _answer(self, folder: str, *words: str) -> None:
        if self._hung is not None:
            try:
                self._hung()
            except HungError:
                # As timeout says that it ended a tool.
                sys.exit(124)
        fake_tool.main(folder, *words)

    def calls(self) -> list[str]:
        """Return every call of a tool so far, in order."""
        return self._calls.read_text().splitlines()

    def changes(self) -> list[str]:
        """Return the calls that change something, in order."""
        return [call for call in self.calls() if _changes(call.split())]

    def tree(self) -> dict[str, str]:
        """Return every file of sysfs and its content, links not followed."""
        found = {}
        for folder, _, names in os.walk(self.sysfs):
            for name in names:
                path = Path(folder, name)
                found[str(path.relative_to(self.sysfs))] = path.read_text().strip()
        return found

    def ecn(self, interface: str) -> dict[str, str]:
        """Return what is below ``ecn/`` of an interface."""
        whole = self.tree()
        mark = f"/net/{interface}/ecn/"
        return {path.split(mark)[1]: value for path, value in whole.items() if mark in path}


def _changes(call: list[str]) -> bool:
    tool, arguments = call[0], call[1:]
    if tool == "mlnx_qos":
        return len(arguments) > 2
    if tool.startswith("cma_"):
        return len(arguments) > 4
    if tool in ("dcb", "niccli", "mlxconfig"):
        return not {"show", "--show", "help", "query"} & set(arguments)
    if tool in ("systemctl", "mkdir", "rmdir", "cat"):
        return False
    if tool in ("mlxreg", "mstreg"):
        return "--set" in arguments
    return arguments[0] not in READS
