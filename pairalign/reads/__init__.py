"""Overlaps of reads: kinds, candidates, exact runs, the string graph."""
