"""What jobs put on the wire: bytes, how long they take at line rate, and how many senders meet at one port."""
