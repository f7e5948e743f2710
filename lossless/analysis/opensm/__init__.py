"""A real opensm as judge: a subnet simulated by ibsim, the files as opensm reads them, the routes as it dumps them."""
