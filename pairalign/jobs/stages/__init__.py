"""Engines that wrap an engine: thresholds, E-values, further alignments."""
