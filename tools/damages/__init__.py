"""Damages to configurations of switches, and what their ports then do: read here, not by the package."""
