"""Traffic of jobs: bytes on the wire, their time at line rate, and the number of senders that converge on one port."""
