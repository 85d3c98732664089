"""Kernels that are kept for the papers that describe them; `auto` never takes them."""
