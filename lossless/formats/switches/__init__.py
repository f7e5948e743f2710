"""What switches other than SONiC print of their running state: EOS as JSON, NX-OS as tables."""
