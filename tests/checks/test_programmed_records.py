"""Lint and trace against what SONiC's daemons really programmed: what is lossy there passes neither."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint_documents, trace
from lossless.ground.documents import load_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {"by-hand": 26, "at-random": 26, "probes": 26, "examples": 26}


def records(reference: Path) -> Iterator[tuple[dict[str, Any], int]]:
    for name, dscp in FILES.items():
        for record in json.loads((reference / "reference" / "orchagent" / f"{name}.json").read_text()):
            if not record["result"].get("timeout"):
                yield record, dscp


def leads(result: dict[str, Any], kind: str, name: str | None, index: int) -> int:
    """Return where a map leads: without one to the same number, without an entry to 0."""
    return index if name is None else int(result["maps"][f"QOS_MAP/{kind}/{name}"].get(str(index), 0))


def is_lossless(result: dict[str, Any], port: dict[str, Any], dscp: int) -> bool:
    """Return whether the ASIC keeps a DSCP on a port: a group with headroom, and PFC for it and for its queue."""
    name = port.get("dscp_to_tc_map") or (result.get("switch") or {}).get("qos_dscp_to_tc_map")
    tc = leads(result, "DSCP_TO_TC", name, dscp) if name else 0
    group = leads(result, "TC_TO_PRIORITY_GROUP", port.get("tc_to_priority_group_map"), tc)
    queue = leads(result, "TC_TO_QUEUE", port.get("tc_to_queue_map"), tc)
    pausing = [*port.get("pfc", ()), *port.get("pfc_tx", ())]
    to_group, to_queue = (port.get(f"pfc_priority_to_{kind}_map") for kind in ("priority_group", "queue"))
    paused = any(
        leads(result, "PFC_PRIORITY_TO_PRIORITY_GROUP", to_group, priority) == group
        and leads(result, "PFC_PRIORITY_TO_QUEUE", to_queue, priority) == queue
        for priority in pausing
    )
    profile = result["profiles"].get(port["pgs"].get(str(group)), {})
    return paused and int(profile.get("xoff_th", 0)) > 0


def lossy_ports(record: dict[str, Any], dscp: int) -> list[str]:
    """Return the ports in use on which the ASIC drops a DSCP; all where the daemon ended."""
    result = record["result"]
    if result.get("fail"):
        return list(record["input"].get("PORT", {}))
    return [
        name
        for name, port in result["ports"].items()
        if (
            port["ready"]
            and port.get("admin") != "false"
            and _is_used(port)
            and not is_lossless(result, port, dscp)
        )
        or not port["ready"]
    ]


def _is_used(port: dict[str, Any]) -> bool:
    return bool(port["queues"] or port["pgs"] or port.get("dscp_to_tc_map"))


def passes(record: dict[str, Any], dscp: int) -> bool:
    document = load_text(json.dumps(record["input"]), "config_db.json")
    report = lint_documents([document], Options(rdma_dscps=(dscp,)))
    return not report.errors and all(finding.severity != "error" for finding in report.findings)


def unbroken(record: dict[str, Any], dscp: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield pairs of ports between which trace breaks nothing, though the ASIC drops what comes in at the first."""
    lossy = lossy_ports(record, dscp)
    path = folder / "config_db.json"
    path.write_text(json.dumps(record["input"]))
    for source, target in itertools.permutations(list(record["input"].get("PORT", {}))[:3], 2):
        if (
            source in lossy
            and not trace(path, source, target, dscp, options=Options(rdma_dscps=(dscp,))).trace.broken
        ):
            yield source, target


UNKNOWN = {"probe-buffer_model_dynamic_no_params"}
"""The dynamic model without the rows that steer it: CFG007 says that nothing is computed; trace does not see it."""


def test_no_record_that_is_lossy_passes_lint(reference: Path) -> None:
    every = list(records(reference))
    lossy = [(record, dscp) for record, dscp in every if lossy_ports(record, dscp)]
    assert (len(every), len(lossy)) == (574, 153)  # docs/guides/lint.md has both
    assert [record["name"] for record, dscp in lossy if passes(record, dscp)] == []


@pytest.mark.tools("records")
def test_no_path_of_any_record_into_a_lossy_port_is_called_unbroken(reference: Path, tmp_path: Path) -> None:
    found = {
        record["name"] for record, dscp in records(reference) if next(unbroken(record, dscp, tmp_path), None)
    }
    assert found <= UNKNOWN
