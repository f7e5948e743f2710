"""What the databases of a switch say, as a text that Prometheus reads."""
