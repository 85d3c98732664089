"""Overlaps of reads, from presets to what was found."""
