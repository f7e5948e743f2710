"""The packet-level model: it simulates the buffers of a fabric under traffic, frame by frame.

Runs need NumPy and numba (the extra ``sim``); modules that import them are imported where they are used.
"""
