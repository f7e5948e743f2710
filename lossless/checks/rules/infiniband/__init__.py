"""Rules of InfiniBand subnets: their managers, what these are told, partitions, levels of service and SHARP."""
