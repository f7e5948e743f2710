"""lossless: checks, renders and checks the configuration of lossless RDMA fabrics.

The public face is :mod:`lossless.api`; everything else may change between versions.
"""

__version__ = "0.1.0"
