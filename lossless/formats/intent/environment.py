"""Environment variables of jobs that an intent declares by name."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from lossless.formats.intent.base import refused, shown

NAME = r"^[A-Z][A-Z0-9_]{0,63}$"
VALUE = r"^[A-Za-z0-9_./:,=^+%@-]{1,255}$"
"""The pattern of values that NCCL's own file, a shell, Docker and systemd read identically, without quotes."""

VARIABLE_KEYS = {
    "NCCL_IB_TC": "hosts.nccl.ib_tc",
    "NCCL_IB_FIFO_TC": "hosts.nccl.ib_fifo_tc",
    "NCCL_IB_TIMEOUT": "hosts.nccl.ib_timeout",
    "NCCL_IB_RETRY_CNT": "hosts.nccl.ib_retry_count",
    "NCCL_IB_QPS_PER_CONNECTION": "hosts.nccl.ib_qps_per_connection",
    "NCCL_IB_GID_INDEX": "hosts.nccl.ib_gid_index",
    "NCCL_GIN_IB_TC": "hosts.nccl.gin_ib_tc",
    "NCCL_SOCKET_IFNAME": "hosts.nccl.socket_interfaces",
    "NCCL_IB_HCA": "hosts.rdma_devices",
    "UCX_IB_TRAFFIC_CLASS": "hosts.ucx.traffic_class",
    "UCX_IB_GID_INDEX": "hosts.ucx.gid_index",
    "UCX_NET_DEVICES": "hosts.rdma_devices",
    "MORI_RDMA_TC": "hosts.mori.traffic_class",
}
"""Variables that are derived from a key of the intent, and that key."""


def _environment(value: Any) -> Any:
    if not isinstance(value, dict):
        raise refused(f"expected a mapping of variables, found {shown(value)}")
    for name, setting in value.items():
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            wanted = "at most 64 capital letters, digits and '_', beginning with a letter"
            raise refused(
                f"hosts.environment: {shown(name)} is no variable; expected {wanted}", name, at_key=True
            )
        _check_value(name, setting)
    return {name: str(setting) for name, setting in value.items()}


def _check_value(name: str, setting: Any) -> None:
    if isinstance(setting, bool):
        raise refused(f"{shown(setting)} is no text; write 1 or 0, or the word in quotes", name)
    if not isinstance(setting, int | str):
        raise refused(f"expected a number or text, found {shown(setting)}", name)
    if not re.fullmatch(VALUE, str(setting)):
        wanted = "1 to 255 letters, digits and any of _ . / : , = ^ + % @ -"
        raise refused(
            f"{shown(setting)} cannot stand in every file that it goes into; expected {wanted}", name
        )


Environment = Annotated[
    dict[str, str],
    BeforeValidator(_environment),
    WithJsonSchema(
        {
            "type": "object",
            "patternProperties": {NAME: {"type": ["string", "integer"], "pattern": VALUE}},
            "additionalProperties": False,
        }
    ),
]
"""Variables by name, their values as text."""
