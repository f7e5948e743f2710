"""Rules of InfiniBand subnets: managers and their options, partitions, levels of service and SHARP."""
