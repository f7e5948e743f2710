"""What captures of a SONiC switch show: databases, outputs of show and its scripts, answers over gNMI."""
