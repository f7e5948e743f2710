"""Routing: which turns packets may take at each switch, and so which buffers wait for which others."""
