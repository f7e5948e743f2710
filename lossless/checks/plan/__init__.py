"""The order of steps by which a fabric in service becomes another one, each state on the way safe."""
