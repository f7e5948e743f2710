"""Asks a subnet manager for the service levels of paths: a program by itself, run in the fabric that ibsim simulates.

It reads lines ``SLID DLID`` and writes a line with the service level of each path, or ``-`` where no answer came. One
program asks for all paths: the ones of infiniband-diags take a process, and six milliseconds, for each.

What is sent are SubnAdmGet(PathRecord) packets through libibumad: InfiniBand specification 1.2.1, 13.4.3 (common
header), 15.2.1.1 (SA header) and 15.2.5.16 (PathRecord).
"""

from __future__ import annotations

import ctypes
import struct
import sys

_SA_CLASS, _SA_VERSION, _GET, _PATH_RECORD = 3, 2, 1, 0x0035
_BY_LIDS = 1 << 4 | 1 << 5
"""Component mask of a PathRecord: DLID and SLID."""
_SA_QP, _SA_QKEY = 1, 0x80010000
_PACKET_BYTES = 256
_RECORD, _LIDS, _LEVEL = 56, 56 + 40, 56 + 52
"""Offsets of the record, and of its LIDs and service level."""
_TIMEOUT_MS, _RETRIES = 200, 4


class PathRecordClient:
    """A port that is open to a manager at the address ``manager``."""

    def __init__(self, manager: int) -> None:
        self.library = ctypes.CDLL("libibumad.so.3")
        self.library.umad_get_mad.restype = ctypes.c_void_p
        self.library.umad_get_mad.argtypes = (ctypes.c_void_p,)
        if self.library.umad_init() < 0:
            raise SystemExit("libibumad does not start")
        self.port = self.library.umad_open_port(None, 0)
        self.agent = self.library.umad_register(self.port, _SA_CLASS, _SA_VERSION, 0, None)
        if self.port < 0 or self.agent < 0:
            raise SystemExit("no port to ask from")
        self.buffer = ctypes.create_string_buffer(self.library.umad_size() + _PACKET_BYTES)
        self.packet = self.library.umad_get_mad(ctypes.addressof(self.buffer))
        self.manager, self.number = manager, 0

    def level(self, source: int, destination: int) -> int | None:
        """Return the service level of the path from one LID to another, None where there is no answer."""
        self.number += 1
        ctypes.memset(self.buffer, 0, len(self.buffer))
        asked = bytearray(_PACKET_BYTES)
        struct.pack_into(
            ">BBBBHHQHHI", asked, 0, 1, _SA_CLASS, _SA_VERSION, _GET, 0, 0, self.number, _PATH_RECORD, 0, 0
        )
        struct.pack_into(">Q", asked, _RECORD - 8, _BY_LIDS)
        struct.pack_into(">HH", asked, _LIDS, destination, source)
        ctypes.memmove(self.packet, bytes(asked), _PACKET_BYTES)
        self.library.umad_set_addr(self.buffer, self.manager, _SA_QP, 0, _SA_QKEY)
        if (
            self.library.umad_send(self.port, self.agent, self.buffer, _PACKET_BYTES, _TIMEOUT_MS, _RETRIES)
            < 0
        ):
            return None
        return self._answer()

    def _answer(self) -> int | None:
        length = ctypes.c_int(_PACKET_BYTES)
        limit_ms = _TIMEOUT_MS * (_RETRIES + 1)
        if self.library.umad_recv(self.port, self.buffer, ctypes.byref(length), limit_ms) < 0:
            return None
        answer = ctypes.string_at(self.packet, _PACKET_BYTES)
        status, number = struct.unpack_from(">H", answer, 4)[0], struct.unpack_from(">I", answer, 12)[0]
        if self.library.umad_status(self.buffer) or status or number != self.number:
            return None
        return answer[_LEVEL + 1] & 0x0F


def main() -> None:
    """Answer the lines of standard input, with the LID of the manager as the one argument."""
    asker = PathRecordClient(int(sys.argv[1]))
    for line in sys.stdin:
        source, destination = map(int, line.split())
        level = asker.level(source, destination)
        sys.stdout.write("-\n" if level is None else f"{level}\n")


if __name__ == "__main__":
    main()
