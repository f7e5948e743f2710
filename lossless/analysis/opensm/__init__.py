"""A real opensm checks a subnet: the fabric simulated by ibsim, the files as opensm reads them, the routes it dumps."""
