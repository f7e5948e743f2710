"""Interconnects of GPUs outside the fabric: the size of a domain, and the rate of each GPU.

Rates are one way, as everywhere here; vendors print NVLink as both directions together.
"""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple

_GIGABYTE_BITS = 8 * 10**9


class Generation(NamedTuple):
    """One generation of NVLink: the rate of a GPU, one way, and the most GPUs of one domain."""

    rate_bps: int
    most_gpus: int


NVLINK = {
    4: Generation(450 * _GIGABYTE_BITS, 256),
    5: Generation(900 * _GIGABYTE_BITS, 576),
}
"""By generation. NVLink 5: 18 links of 100 GB/s, 1.8 TB/s in both directions, twice NVLink 4 (NVIDIA's NVLink page, as
carried by catalogone.com/data-center-and-cloud-computing-nvlink-nvswitch); 450 GB/s one way on H100
(NVIDIA/nccl issue 1264). Domains: 576 GPUs (docs.nvidia.com Mission Control manual, nvlinkinfo, which prints
900 GB/s one way as both directions of one link), 256 with NVLink 4
(nvidia.com/de-de/technologies/hopper-architecture: up to 256 in a DGX GH200)."""

UALINK_MOST_GPUS = 1024
"""Accelerators of one pod in UALink 200G 1.0, whose links of four lanes carry 800 Gb/s each way. How many of them an
accelerator has is the product's (convergedigest.com and tomshardware.com on the release of the specification)."""
