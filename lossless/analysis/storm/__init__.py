"""Pause propagation: the blast radius of one storm source, and when it grows, by a fluid model of the traffic."""
