"""Routing: the turns that packets may take at each switch, and the buffer dependencies that follow from them."""
