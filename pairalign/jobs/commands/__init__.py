"""What the commands of jobs share: what they make of requests, summaries, workers."""
