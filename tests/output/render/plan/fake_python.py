"""The interpreter of a pretended device: it runs what it is given as a fork of a server that has imported Ansible.

Started for every module of every task, so that nothing is imported that is not needed. A script that is named is run
here: a job in the background has to end with those who started it.

    fake_python.py SITE SOCKET [SCRIPT [ARGUMENT...]]
"""

from __future__ import annotations

import os
import sys


def main(site: str, path: str, *arguments: str) -> int:
    """Run a script; return its exit status."""
    if arguments:
        sys.path[:0] = [os.path.dirname(__file__), site]
        fork_server = __import__("fork_server")
        fork_server.preload_modules()
        fork_server.run_script(arguments)
        return 0
    import _socket
    import json

    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(path)
    asked = json.dumps({"arguments": [], "cwd": os.getcwd(), "env": dict(os.environ)})
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    connection.sendmsg([asked.encode()], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    said = b""
    while more := connection.recv(64):
        said += more
    # A run that was killed has no status.
    return int([*said.split(), b"1"][1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
