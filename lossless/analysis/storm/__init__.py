"""How far the pauses of one host reach, and when: a fluid of traffic on the links of a fabric."""
