"""Clusters and the edges that they are made of."""
