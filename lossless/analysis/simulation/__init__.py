"""The packet-level model: it simulates the buffers of a fabric under traffic, frame by frame.

It needs NumPy and numba (the extra ``sim``); no module here is imported before a simulation is requested.
"""
