"""Guide trees: the tree and the files that programs read it from."""
