"""The running state of switches, hosts and subnets, from captures."""
