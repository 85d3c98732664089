"""What knows nothing of sequences: choices, arguments, native code, checksums, files."""
