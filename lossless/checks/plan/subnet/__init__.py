"""Changing a subnet in service: files of its managers, what is safe while switches have old and new ones, and steps."""
