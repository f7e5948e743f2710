"""The order of steps by which a fabric in service becomes another one, no state on the way with a danger of its own."""
