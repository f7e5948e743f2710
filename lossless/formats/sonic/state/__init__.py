"""Captures of a SONiC switch's state: databases, outputs of show and its scripts, answers over gNMI."""
