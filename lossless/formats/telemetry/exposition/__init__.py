"""The databases of a switch as metrics in the text format of Prometheus."""
