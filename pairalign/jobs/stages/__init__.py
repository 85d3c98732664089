"""Engines that wrap an engine: thresholds, E-values, suboptimal alignments."""
