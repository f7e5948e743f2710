"""The bodies of pretended tools of Broadcom hosts: ``niccli``, and the kernel's side of configfs.

``niccli`` shows what Broadcom's own shows of a Thor 2 and takes what bnxt_setupcc.sh 236.1.155.0 gives it: TCs by what
they carry, one priority for PFC, applications one by one, each added beside what is there. configfs is bnxt_re's
(bnxt_re/configfs.c in lykeioner/driver @bcef51d) and that of rdma_cm: folders that exist while they are open; numbers
in hexadecimal, kept in mind until 1 goes to ``apply``; firmware with service profiles refuses priorities.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, NoReturn

FIRMWARE = {"ecn_enable": 0, "ecn_marking": 0, "cc_mode": 0, "disable_prio_vlan_tx": 0}
PRIORITIES = {"roce_prio": 0, "roce_dscp": 0, "cnp_prio": 0, "cnp_dscp": 0}
_MOST = {"roce_dscp": 0x3F, "cnp_dscp": 0x3F, "cc_mode": 1, "ecn_marking": 2}


def fail(message: str) -> NoReturn:
    """End as a tool does that refuses its arguments."""
    print(message, file=sys.stderr)
    sys.exit(1)


def niccli(state: dict[str, Any], args: list[str]) -> None:
    """Do what ``niccli`` would do with ``args``."""
    dev, pci, qos, topic, *rest = args
    nics = [nic for nic in state["nics"].values() if nic["pci"] == pci]
    if (dev, qos) != ("--dev", "qos") or len(nics) != 1:
        fail("ERROR: invalid device")
    if nics[0]["qos_refused"]:
        fail("ERROR: not supported")
    {"--ets": _ets, "--pfc": _pfc, "--apptlv": _apptlv}[topic](nics[0], rest)


def _ets(nic: dict[str, Any], rest: list[str]) -> None:
    if rest == ["--show"]:
        _show(nic)
        return
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    tsa = [word.split(":") for word in given["--tsa"].split(",")]
    by_priority = [word.split(":") for word in given["--up2tc"].split(",")]
    shares = [int(word) for word in given["--tcbw"].split(",")]
    kinds = [kind for _, kind in tsa]
    whole = [number for number, _ in tsa] == [str(tc) for tc in range(len(tsa))]
    if not whole or not set(kinds) <= {"ets", "strict"} or len(tsa) > 3:
        fail("ERROR: invalid tsa")
    if kinds.count("ets") != len(shares) or sum(shares) != 100:
        fail("ERROR: invalid tcbw")
    if [p for p, _ in by_priority] != list("01234567") or any(int(tc) >= len(tsa) for _, tc in by_priority):
        fail("ERROR: invalid up2tc")
    nic["ets"]["prio-tc"] = [int(tc) for _, tc in by_priority]
    nic["ets"]["tc-tsa"] = kinds + ["strict"] * (8 - len(kinds))
    nic["ets"]["tc-bw"] = shares + [0] * (8 - len(shares))


def _pfc(nic: dict[str, Any], rest: list[str]) -> None:
    option, priority = rest
    if option != "--enable" or priority not in (*"01234567", "0xFF"):
        fail("ERROR: invalid pfc")
    mask = [int(priority == str(p)) for p in range(8)]
    nic["pfc_changes"] += mask != nic["pfc"]
    nic["pfc"] = mask


def _apptlv(nic: dict[str, Any], rest: list[str]) -> None:
    action, option, text = rest
    priority, selector, value = (int(word) for word in text.split(","))
    entry = [selector, value, priority]
    if selector not in (3, 5) or option != "--app" or not 0 <= priority < 8 or (selector == 5 and value > 63):
        fail("ERROR: invalid app")
    if (action == "--add") == (entry in nic["apps"]):
        fail("ERROR: app tlv exists" if action == "--add" else "ERROR: no such app tlv")
    if action == "--add":
        nic["apps"].append(entry)
    else:
        nic["apps"].remove(entry)


def _show(nic: dict[str, Any]) -> None:
    ets, tcs = nic["ets"], 3
    print("\nIEEE 8021QAZ ETS Configuration TLV:")
    print("         PRIO_MAP:", "".join(f"{p}:{tc} " for p, tc in enumerate(ets["prio-tc"])))
    print("         TC Bandwidth:", "".join(f"{share}% " for share in ets["tc-bw"][:tcs]))
    print("         TSA_MAP:", "".join(f"{tc}:{kind} " for tc, kind in enumerate(ets["tc-tsa"][:tcs])))
    on = [str(p) for p, flag in enumerate(nic["pfc"]) if flag]
    print(f"IEEE 8021QAZ PFC TLV:\n         PFC enabled: {','.join(on) or 'none'}\nIEEE 8021QAZ APP TLV:")
    for number, (selector, value, priority) in enumerate(nic["apps"]):
        kind = "DSCP" if selector == 5 else "UDP or DCCP"
        print(f"         APP#{number}:\n          Priority: {priority}\n          Sel: {selector}")
        print(f"          {kind}: {value}\n")
    print("TC Rate Limit: 100% 100% 100% 0% 0% 0% 0% 0%")


def mkdir(state: dict[str, Any], args: list[str]) -> None:
    """Open a folder of configfs, filled by the kernel."""
    from pathlib import Path

    folder = Path(args[0])
    kind, device = folder.parent.name, folder.name
    if device not in state["devices"] or kind not in state["configfs"]:
        fail(f"mkdir: cannot create directory '{folder}': No such device")
    if kind == "rdma_cm":
        known = state["devices"][device]
        files = {"ports/1/default_roce_mode": known["mode"], "ports/1/default_roce_tos": known["tos"]}
    else:
        firmware = state["devices"][device]["cc"]
        files = {f"ports/1/cc/{name}": hex(value) for name, value in firmware.items()}
        files["ports/1/cc/apply"] = "nothing yet"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{content}\n")


def rmdir(state: dict[str, Any], args: list[str]) -> None:
    """Close a folder of configfs; what went to RDMA-CM has been taken as it was written."""
    from pathlib import Path
    from shutil import rmtree

    folder = Path(args[0])
    if folder.parent.name == "rdma_cm":
        mode = (folder / "ports/1/default_roce_mode").read_text().strip()
        tos = (folder / "ports/1/default_roce_tos").read_text().strip()
        if mode not in ("IB/RoCE v1", "RoCE v2") or not 0 <= int(tos) <= 255:
            fail("rmdir: what was written was refused")
        state["devices"][folder.name] |= {"mode": mode, "tos": int(tos)}
    rmtree(folder)


def cat_apply(state: dict[str, Any], args: list[str]) -> None:
    """Show what the firmware has, after what went to ``apply``."""
    from pathlib import Path

    folder = Path(args[0]).parent
    known = state["devices"][folder.parents[2].name]
    apply = folder / "apply"
    if apply.read_text().strip() == "0x1":
        _commit(known, folder)
        apply.write_text("nothing yet\n")
    cc = known["cc"]
    on, marking = cc["ecn_enable"], ("Not-ECT", "ECT(1)", "ECT(0)")[cc["ecn_marking"]]
    print(f"ecn status (ecn_enable)\t\t\t\t\t: {'Enabled' if on else 'Disabled'}")
    print(f"ecn marking (ecn_marking)\t\t\t\t\t: {marking}")
    print(f"congestion control mode (cc_mode)\t\t\t: {('DCQCN-D', 'DCQCN-P')[cc['cc_mode']]}")
    print(f"send priority vlan (VLAN 0)\t\t\t\t: {('Enabled', 'Disabled')[cc['disable_prio_vlan_tx']]}")
    print("initial current rate (init_cr)\t\t\t\t: 0xc8")
    for name in ("roce_prio", "roce_dscp", *(("cnp_prio", "cnp_dscp") if on else ())):
        print(f"{name.replace('_', ' ')} ({name})\t\t\t\t\t: {cc[name]}")


def _commit(known: dict[str, Any], folder: Path) -> None:
    for name, before in list(known["cc"].items()):
        value = int((folder / name).read_text(), 16)
        if value > _MOST.get(name, 0xFF) or (known["profiles"] and value != before and name in PRIORITIES):
            fail(f"{name}: Invalid argument")
        known["cc"][name] = value & 7 if name.endswith("_prio") else value
