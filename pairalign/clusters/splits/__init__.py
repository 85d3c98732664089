"""Splits of a set into folds without similar pairs across them, and what they are made of."""
