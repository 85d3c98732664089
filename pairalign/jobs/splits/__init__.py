"""Splits into folds without similar pairs across them, and audits of groups of sequences."""
