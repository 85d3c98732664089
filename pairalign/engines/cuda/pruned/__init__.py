"""Similar pairs: only the cells that can be on an optimal alignment, a warp a pair."""
