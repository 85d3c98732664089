"""A job from its inputs to its results: windows in slabs, a schedule, memory, shards."""
