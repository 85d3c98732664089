"""What knows nothing of sequences: choices and arguments, native code, checksums, files in parts."""
