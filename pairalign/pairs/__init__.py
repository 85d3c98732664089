"""Which pairs are aligned, in which order, and how much of each: windows, lists, masks."""
