"""Reads files of any kind into documents, and documents into fabrics, subnets and hosts."""
