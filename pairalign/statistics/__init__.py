"""Bit scores and E-values: what they are made of, and how it is estimated."""
