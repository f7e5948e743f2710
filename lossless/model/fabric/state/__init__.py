"""The running state of switches, hosts and subnets, as captures show it."""
