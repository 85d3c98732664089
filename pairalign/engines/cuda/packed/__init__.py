"""Packed kernels: two pairs to a word, with checkpointed traceback."""
