"""Posteriors of all pairs of a set."""
