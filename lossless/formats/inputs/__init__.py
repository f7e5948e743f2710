"""Files of any kind to documents, and documents to fabrics, subnets and hosts."""
