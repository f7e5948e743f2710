"""Directed graphs over integers, and their cycles."""
