"""Sets of sequences, and the files and objects that they are read from."""
