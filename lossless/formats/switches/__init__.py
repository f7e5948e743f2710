"""Switches other than SONiC (EOS, NVUE, NX-OS): their configurations, read and written, and their printed state."""
