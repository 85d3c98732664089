"""Sequences that are added to a run: only new pairs are aligned."""
