"""Jobs: what a user asks for as a whole, from sets to results."""
