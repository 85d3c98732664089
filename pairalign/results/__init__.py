"""Results: what public functions return, data with what users do with it."""
