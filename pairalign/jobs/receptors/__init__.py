"""TCRdist: how far apart immune receptors are, by the loops that meet what they bind."""
