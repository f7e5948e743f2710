"""lossless: checks, renders and simulates the configuration of lossless RDMA fabrics.

The public API is :mod:`lossless.api`; everything else may change between versions.
"""

__version__ = "0.1.0"
