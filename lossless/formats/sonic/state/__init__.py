"""Captures of a SONiC switch's state: snapshots, databases, outputs of show and its scripts, answers over gNMI."""
