"""Sums libraries of T-Coffee of the same sequences: ``sum_libraries.py A.tc_lib B.tc_lib``.

The weight of two residues is the sum of what the libraries say of them. T-Coffee takes several
libraries, too (``-lib A,B``), but then makes worse alignments of them.
"""

from __future__ import annotations

import sys


def read_library(path: str) -> tuple[list[str], dict[str, dict[tuple[str, str], int]]]:
    """Return the lines before the first pair, and by pair the weights by positions."""
    head: list[str] = []
    pairs: dict[str, dict[tuple[str, str], int]] = {}
    with open(path) as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                weights = pairs.setdefault(line, {})
            elif not pairs:
                head.append(line)
            elif not line.startswith("!"):
                first, second, weight = line.split()[:3]
                weights[first, second] = weights.get((first, second), 0) + int(weight)
    return head, pairs


def main(paths: list[str]) -> None:
    """Print the sum of the libraries of some files."""
    if not paths:
        sys.exit(__doc__)
    libraries = [read_library(path) for path in paths]
    if any(head != libraries[0][0] for head, _ in libraries):
        sys.exit("the libraries are not of the same sequences")
    print("\n".join(libraries[0][0]))
    for pair in sorted(set().union(*(pairs for _, pairs in libraries)), key=_numbers):
        total: dict[tuple[str, str], int] = {}
        for _, pairs in libraries:
            for positions, weight in pairs.get(pair, {}).items():
                total[positions] = total.get(positions, 0) + weight
        print(pair)
        for (first, second), weight in sorted(
            total.items(), key=lambda one: tuple(map(int, one[0]))
        ):
            print(first, second, weight)
    print("! SEQ_1_TO_N")


def _numbers(pair: str) -> tuple[int, ...]:
    return tuple(int(word) for word in pair[1:].split())


if __name__ == "__main__":
    main(sys.argv[1:])
