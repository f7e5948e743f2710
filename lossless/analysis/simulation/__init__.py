"""The packet-level model: what a fabric's buffers do under traffic, frame by frame.

It needs NumPy and numba (the extra ``sim``); nothing here is imported before a simulation is asked for.
"""
