"""InfiniBand subnets: the model, how an intent becomes one, and the files of its subnet manager."""
