"""What is read and written: a folder a system, and in each the same folders for the same task.

=================  =====================================================================================
``read/``          text or data as found, each value with its place; what is odd is collected, never fatal
``to_model/``      what was read, to the fabric model or the subnet
``from_model/``    the model to plain data, which templates only lay out
``validate/``      what the system's own schema says of the data, by release
``capabilities/``  what its releases know, and what they can change while they run
``changes/``       how two configurations differ, and the steps from one to the other
=================  =====================================================================================

``sonic`` has all of them; ``hosts`` and ``infiniband`` have what there is for them: no public schema covers their
files. Another switch system (EOS, NVUE) is another folder beside ``sonic``, and nothing outside has to know its files.
``intent`` is what an operator declares, with ``resolve/`` as its way to the model; ``importing`` makes an intent of
what other systems say; ``inputs`` tells files apart and puts what belongs together into one fabric.
"""
