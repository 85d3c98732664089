"""Alignment files checked record by record."""
