"""Circular sequences: a common start."""
