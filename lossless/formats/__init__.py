"""Formats of input and output files: one folder for each system, with the same subfolders or modules for the same task.

=================  ==================================================================================================
``read/``          parses text or data, and keeps the place of each value; oddities are collected
``state/``         reads captures of the running state as readings
``to_model/``      converts parsed data to the fabric model or the subnet
``from_model/``    converts the model to plain data, which templates only lay out
``validate/``      checks data by the schema of the system, by release
``capabilities/``  has the features of each release, and the changes that a running device accepts
``changes/``       compares two configurations, and makes the steps from one to the other
=================  ==================================================================================================

``sonic`` has all of them, and ``effective/``, the state that its daemons program; ``hosts`` and ``infiniband`` have
fewer: no public schema covers their files. Each other switch system (EOS, NVUE, NX-OS) is a folder of ``switches``, and
code outside it does not depend on its files. ``telemetry`` writes the configuration of monitoring programs. ``intent``
is the declaration of an operator, with ``resolve/`` as its conversion to the model; ``importing`` makes an intent of
files of other systems; ``inputs`` recognizes files and combines those that belong together into one fabric;
``device_files`` makes the files of a fabric's devices.
"""
