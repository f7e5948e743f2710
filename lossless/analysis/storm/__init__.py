"""Pause propagation: the blast radius of one storm source over time, by a fluid model of the traffic."""
