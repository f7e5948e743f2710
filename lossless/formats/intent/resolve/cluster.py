"""The GPUs of an intent, converted to the fabric model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.cluster import Cluster, ScaleUp
from lossless.model.hardware.scaleup import NVLINK, UALINK_MOST_GPUS

if TYPE_CHECKING:
    from lossless.formats.intent.load import LoadedIntent


def cluster(loaded: LoadedIntent) -> Cluster | None:
    """Return the GPUs of the hosts, None where the intent declares none."""
    declared = loaded.intent.cluster
    if declared is None:
        return None
    return Cluster(
        gpus_per_host=declared.gpus_per_host,
        nics_per_host=declared.nics_per_host,
        gpus=declared.gpus,
        rails=declared.rails,
        bandwidth_bps=declared.bandwidth_per_gpu,
        scale_up=_scale_up(loaded),
        origin=loaded.origin("cluster"),
    )


def _scale_up(loaded: LoadedIntent) -> ScaleUp | None:
    declared = loaded.intent.cluster
    if declared is not None and declared.nvlink is not None:
        nvlink, number = NVLINK[declared.nvlink.generation], declared.nvlink.generation
        at = loaded.origin("cluster", "nvlink")
        return ScaleUp(f"NVLink {number}", declared.nvlink.domain, nvlink.rate_bps, nvlink.most_gpus, at)
    if declared is not None and declared.ualink is not None:
        at = loaded.origin("cluster", "ualink")
        return ScaleUp("UALink", declared.ualink.domain, declared.ualink.rate, UALINK_MOST_GPUS, at)
    return None
