"""Routing: which way packets may turn at each switch, and so which buffers wait for which others."""
