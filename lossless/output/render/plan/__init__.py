"""The files by which a plan is carried out: Ansible playbooks, and files for ``run.sh`` on switches and hosts."""
