"""Clusters of a set."""
