"""Directed graphs over integers: what waits for what, and whether anything waits for itself in the end."""
