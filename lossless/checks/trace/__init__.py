"""One packet on its path: the configuration that applies to it at every hop between two ends of a fabric."""
