"""The switch, the wire and the NIC in small compiled functions: the order to read them in is that of a frame.

:mod:`nic` sends, :mod:`wire` carries, :mod:`memory` admits and releases, :mod:`pfc` pauses and resumes,
:mod:`egress` schedules and marks, :mod:`dcqcn` slows senders down, :mod:`watchdog` ends storms, and :mod:`run` is
the clock.
"""
