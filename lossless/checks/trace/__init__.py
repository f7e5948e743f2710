"""One packet on its path: what it meets at every hop between two ends of a fabric."""
