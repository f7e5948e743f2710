"""Metrics of a running fabric, and the configuration of the programs that collect and evaluate them."""
