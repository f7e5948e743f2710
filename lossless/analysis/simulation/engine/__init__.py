"""The packet-level model: networks, their state as arrays, and the kernel that runs them."""

from __future__ import annotations

GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
"""Settings of numba by which it compiles for the oldest processors of an architecture (x86-64: SSE2).

They are set before numba is imported, as it makes its compiler then. Source: numba 0.68.1 numba/core/codegen.py
(``JITCPUCodegen``), numba/core/cpu.py (``CPUContext.init``).
"""
