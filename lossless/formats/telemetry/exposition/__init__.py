"""The databases of a SONiC switch as metrics in the text format of Prometheus."""
