"""Multiple alignments of posteriors."""
