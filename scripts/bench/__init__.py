"""Parts of scripts/benchmark.py: data, peers, measuring, and one module a subcommand."""
