"""Turns deployed configurations into an intent: values of most ports are declared, deviations are listed."""
