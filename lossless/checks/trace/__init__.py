"""One packet on its way: what it meets at every hop between two ends of a fabric."""
