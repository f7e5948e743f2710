"""The forms in which hosts print their state and their settings, and the commands that print them."""

from __future__ import annotations

import re

from lossless.model.fabric.state import CaptureForm


def _state(name: str, module: str, title: str = "", *functions: str) -> CaptureForm:
    return CaptureForm("host", name, title or f"`{name}`", f"hosts.state.{module}", "section", *functions)


def _facts(title: str, module: str, reads: str = "read", sign: str = "") -> CaptureForm:
    tells = re.compile(sign, re.MULTILINE) if sign else ""
    return CaptureForm("host", title, "", f"hosts.read.{module}", "facts", tells, reads)


_OBJECTS = "dscp_prio|ethtype_prio|default_prio|pfc_cap|willing|prio_buffer|host"
FACTS = (
    _facts("mlnx_qos", "mlnx_qos", sign=r"^(?:DCBX mode|Priority trust state): "),
    _facts("ethtool -a", "tools", "ethtool", r"^Pause parameters for \S+:"),
    _facts("ethtool", "tools", "ethtool", r"^(?:driver|pfc-prevention-tout): \S+$"),
    _facts("mlxconfig", "tools", "mlxconfig", r"^[ \t]*Configurations:.*$"),
    _facts("mstconfig", "tools", "mlxconfig"),
    _facts("mlxreg", "tools", "mlxreg", r"^adaptive_routing_forced_en\s*\|"),
    _facts("mstreg", "tools", "mlxreg"),
    _facts("files", "sysfs", sign=r"^/sys/\S+\s*[=:]"),
    _facts("cat", "sysfs", "shown"),
    _facts("lldpctl", "tools", "lldpctl", r"^lldp\.\S+\.chassis\."),
    _facts("cma_roce_tos", "tools", "cma"),
    _facts("cma_roce_mode", "tools", "cma"),
    _facts("ibv_devinfo", "tools", "ibv_devinfo"),
    _facts("env", "tools", "environment"),
    _facts("nccl.conf", "tools", "environment"),
    _facts(
        "niccli", "tools", "application_table", r"^[ \t]*+IEEE 8021QAZ (?:ETS Configuration|PFC|APP) TLV:"
    ),
    _facts("lldptool", "tools", "application_table"),
    _facts("Get-NetAdapterQos", "tools", "adapter_qos", r"^OperationalFlowControl\s*+:"),
    _facts("script", "scripts"),
    _facts("dcb", "dcb", sign=rf"\A\s*\{{\s*\"(?:{_OBJECTS})\""),
)
"""The forms of host settings, by section title. A text without a title has the first form whose sign is in it."""
FORMS = (
    _state(
        "RCCL RAS status",
        "other_outputs",
        "the RAS status of RCCL (not read, with the reason)",
        "is_ras",
        "read_ras",
    ),
    _state("nicctl", "nicctl"),
    _state("mlnx_qos", "mlnx_qos"),
    _state("dcb", "dcb"),
    _state("ip link show", "other_outputs", "", "is_ip_link", "read_ip_link"),
    _state("rdma link", "other_outputs", "", "is_rdma_link", "read_rdma_link"),
    _state("show_gids", "other_outputs", "", "is_show_gids", "read_show_gids"),
    _state("ibstat", "other_outputs", "", "is_ibstat", "read_ibstat"),
    _state("ibstatus", "other_outputs", "", "is_ibstatus", "read_ibstatus"),
    _state("ibdev2netdev", "other_outputs", "", "is_ibdev2netdev", "read_ibdev2netdev"),
    _state("rdma statistic", "other_outputs", "", "is_rdma_statistic", "read_rdma_statistic"),
    _state("systemctl status", "other_outputs", "", "is_unit_status", "read_unit_status"),
    _state("nvidia-smi topo", "other_outputs", "`nvidia-smi topo -m`", "is_topology", "read_topology"),
    _state("node_exporter", "prometheus", "metrics of node_exporter"),
    _state("NCCL log", "job_logs", "logs of NCCL, RCCL and aws-ofi-nccl", "is_nccl_log", "read"),
    _state("UCX log", "job_logs", "logs of UCX", "is_ucx_log", "read"),
    _state("traffic test", "traffic_tests", "results of nccl-tests, rccl-tests and perftest (text, JSON)"),
    CaptureForm(
        "host",
        "k8s-launch-kit",
        "JSON of `l8k validate` (NVIDIA's k8s-launch-kit)",
        "hosts.state.traffic_tests",
        "json",
        reads="read_launch_kit",
    ),
    _state("sysfs", "sysfs", "counters below `/sys`"),
    _state("ethtool -S", "ethtool"),
    *FACTS,
)
"""The forms of host state, the most specific first, since ``ethtool -S`` has the most general pattern; then settings.
"""
COMMANDS = {form.name.split()[0] for form in FACTS} | {
    *("rdma", "grep", "nicctl", "ip", "end", "not", "ibstat", "ibstatus", "ibdev2netdev", "show_gids"),
    *("nvidia-smi", "systemctl", "mpirun", "srun", "ib_write_bw", "ib_read_bw", "ib_send_bw"),
}
"""Commands that begin a section, those of the collector included; an unsupported command ends the section before it."""
