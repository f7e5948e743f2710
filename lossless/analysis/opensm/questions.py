"""Queries of a running subnet by management datagrams (MADs): a program by itself, run in the fabric of ibsim.

It reads one query a line and writes one response a line, in the same order, ``-`` for an error or a missing one.
``path SLID DLID`` is answered with the service level that the manager gives the path, ``get LID ATTRIBUTE MODIFIER``
with the 64 bytes of the port's or switch's own attribute, in hexadecimal. Many queries are under way at a time:
24 microseconds each, where one program of infiniband-diags a query takes six milliseconds.

The packets are SubnAdmGet(PathRecord) and SubnGet through libibumad: InfiniBand specification 1.2.1, 13.4.3 (common
header), 14.2.1 (SubnGet by LID), 15.2.1.1 (SA header) and 15.2.5.16 (PathRecord).
"""

from __future__ import annotations

import ctypes
import struct
import sys

_SUBNET_CLASS, _SA_CLASS = 1, 3
_VERSIONS = {_SUBNET_CLASS: 1, _SA_CLASS: 2}
_GET, _PATH_RECORD = 1, 0x0035
_BY_LIDS = 1 << 4 | 1 << 5
"""Component mask of a PathRecord: DLID and SLID."""
_SA_QP, _SA_QKEY = 1, 0x80010000
_PACKET_BYTES = 256
_DATA, _DATA_BYTES = 64, 64
"""The offset and the number of the data bytes of a SubnGet."""
_RECORD, _LIDS, _LEVEL = 56, 56 + 40, 56 + 52
"""Offsets of a PathRecord in a packet, and of its LIDs and service level."""
_TIMEOUT_MS, _RETRIES = 200, 4
_UNDER_WAY = 64


class SubnetClient:
    """An open port that queries the subnet; ``manager`` is the LID of the subnet manager."""

    def __init__(self, manager: int) -> None:
        self.library = ctypes.CDLL("libibumad.so.3")
        self.library.umad_get_mad.restype = ctypes.c_void_p
        self.library.umad_get_mad.argtypes = (ctypes.c_void_p,)
        if self.library.umad_init() < 0:
            raise SystemExit("libibumad does not start")
        self.port = self.library.umad_open_port(None, 0)
        self.agents = {
            of_class: self.library.umad_register(self.port, of_class, version, 0, None)
            for of_class, version in _VERSIONS.items()
        }
        if self.port < 0 or min(self.agents.values()) < 0:
            raise SystemExit("no port to ask from")
        self.buffer = ctypes.create_string_buffer(self.library.umad_size() + _PACKET_BYTES)
        self.packet = self.library.umad_get_mad(ctypes.addressof(self.buffer))
        self.manager = manager

    def answers(self, questions: list[str]) -> list[str]:
        """Return the response to each ``path`` or ``get`` query, in their order; ``-`` for errors and missing ones."""
        answers = ["-"] * len(questions)
        sent = answered = 0
        while answered < len(questions):
            while sent < min(len(questions), answered + _UNDER_WAY):
                sent += 1
                self._send(sent, questions[sent - 1].split())
            number, text = self._receive()
            if not 0 < number <= len(questions):
                break
            answers[number - 1] = text
            answered += 1
        return answers

    def _send(self, number: int, words: list[str]) -> None:
        packet = bytearray(_PACKET_BYTES)
        if words[0] == "path":
            source, destination = map(int, words[1:])
            head = (1, _SA_CLASS, 2, _GET, 0, 0, number, _PATH_RECORD, 0, 0)
            struct.pack_into(">Q", packet, _RECORD - 8, _BY_LIDS)
            struct.pack_into(">HH", packet, _LIDS, destination, source)
            address = (self.manager, _SA_QP, 0, _SA_QKEY)
        else:
            lid, attribute, modifier = (int(word, 0) for word in words[1:])
            head = (1, _SUBNET_CLASS, 1, _GET, 0, 0, number, attribute, 0, modifier)
            address = (lid, 0, 0, 0)
        struct.pack_into(">BBBBHHQHHI", packet, 0, *head)
        ctypes.memset(self.buffer, 0, len(self.buffer))
        ctypes.memmove(self.packet, bytes(packet), _PACKET_BYTES)
        self.library.umad_set_addr(self.buffer, *address)
        agent = self.agents[head[1]]
        self.library.umad_send(self.port, agent, self.buffer, _PACKET_BYTES, _TIMEOUT_MS, _RETRIES)

    def _receive(self) -> tuple[int, str]:
        """Return the number of a query and its response, ``-`` for an error; 0 where no response comes any more."""
        length = ctypes.c_int(_PACKET_BYTES)
        limit_ms = _TIMEOUT_MS * (_RETRIES + 1)
        if self.library.umad_recv(self.port, self.buffer, ctypes.byref(length), limit_ms) < 0:
            return 0, "-"
        packet = ctypes.string_at(self.packet, _PACKET_BYTES)
        number, status = struct.unpack_from(">I", packet, 12)[0], struct.unpack_from(">H", packet, 4)[0]
        if self.library.umad_status(self.buffer) or status & 0x7FFF:
            return number, "-"
        if packet[1] == _SA_CLASS:
            return number, str(packet[_LEVEL + 1] & 0x0F)
        return number, packet[_DATA : _DATA + _DATA_BYTES].hex()


def main() -> None:
    """Run the queries on standard input, one a line; the one argument is the LID of the subnet manager."""
    answers = SubnetClient(int(sys.argv[1])).answers(sys.stdin.read().splitlines())
    sys.stdout.write("".join(f"{answer}\n" for answer in answers))


if __name__ == "__main__":
    main()
