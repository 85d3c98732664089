"""Measure the GPU engine; the same as ``scripts/benchmark.py gpu``, without what the peers need."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from bench import gpu  # noqa: E402

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=gpu.__doc__)
    gpu.add_arguments(parser)
    options = parser.parse_args()
    options.run(options)
