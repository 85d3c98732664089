"""Block diagonals: one long pair on the whole GPU."""
