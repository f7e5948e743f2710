"""Output of switches other than SONiC about their running state: EOS as JSON, NX-OS as tables."""
