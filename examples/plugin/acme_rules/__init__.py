"""Rules of ACME's fabrics, which ``lossless lint --plugin acme_rules`` runs beside its own."""
