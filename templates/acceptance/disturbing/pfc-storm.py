"""Sends PFC frames of one priority from an interface for some seconds: pfc-storm.py INTERFACE PRIORITY SECONDS.

A frame is that of IEEE 802.1Qbb: to 01:80:c2:00:00:01, EtherType 0x8808, opcode 0x0101, the priorities, and a time for
each in units of 512 bits. Some NICs do not send MAC control frames of software; the switch then counts none.
"""

import socket
import struct
import sys
import time

interface, priority, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
if not 0 <= priority <= 7 or not 0 < seconds <= 60:
    sys.exit("a priority from 0 to 7, and at most 60 seconds")
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind((interface, 0))
    source = sender.getsockname()[4][:6]
    times = [0xFFFF if each == priority else 0 for each in range(8)]
    frame = (
        bytes.fromhex("0180c2000001") + source + struct.pack("!HHH8H", 0x8808, 0x0101, 1 << priority, *times)
    )
    frame = frame.ljust(60, b"\0")
    end, sent = time.monotonic() + seconds, 0
    # A pause of 65,535 units lasts 84 us at 400 Gb/s: frames follow each other without a gap.
    while time.monotonic() < end:
        for _ in range(64):
            try:
                sender.send(frame)
                sent += 1
            except OSError:
                # The queue of the interface is full.
                time.sleep(0.00001)
print(f"{sent} PFC frames of priority {priority} given to {interface}")
