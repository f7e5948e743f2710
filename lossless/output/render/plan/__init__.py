"""The files by which a plan is carried out: playbooks for Ansible, and a script for each switch."""
