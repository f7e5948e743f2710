"""Metrics of a fabric in service, and what reads them."""
