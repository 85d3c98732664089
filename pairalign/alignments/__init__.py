"""What is known of aligned pairs: arrays of fields, columns, identities, thresholds, tables."""
