"""Matrices, gap costs and end gaps as exact integers, and what an alignment is worth under them."""
