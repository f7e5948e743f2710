"""The switch, the wire and the NIC in small compiled functions: the order to read them in is that of a frame.

:mod:`nic` sends, by the rate or window of :mod:`nscc`; :mod:`pfc` carries, pauses and resumes; :mod:`ingress` takes
frames in, and :mod:`memory` admits and releases them; :mod:`paths` chooses a link, :mod:`egress` schedules and marks;
:mod:`deliver` receives. :mod:`agenda` has the times of events, and :mod:`run` is the clock, the watchdog, and the
samples of a recording.
"""
