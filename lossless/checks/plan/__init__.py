"""The order of steps by which a fabric in service becomes another one, without a new danger in a state between."""
