"""Programs that read our files, and alignments of names that all of them take."""

import re
import shutil

import numpy as np
import pytest
from samples import LETTERS, random_alignments

from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet


def needs_program(name: str) -> pytest.MarkDecorator:
    """Skip a test where a program is not installed."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


def plain_sample(seed, mode, pairs=30, alphabet="protein", two_sets=True, **options):
    """Random alignments of sequences with plain names."""
    rng = np.random.default_rng(seed)
    letters = np.array(list(LETTERS[alphabet]))

    def some(prefix):
        lengths = rng.integers(1, 90, 8)
        strings = ["".join(rng.choice(letters, n)) for n in lengths]
        names = [f"{prefix}{i}" for i in range(len(strings))]
        return SequenceSet.from_strings(strings, names, alphabet=alphabet)

    queries = some("q")
    targets = some("t") if two_sets else queries
    scoring = make_scoring(alphabet, mode=mode, **options)
    return random_alignments(rng, queries, targets, scoring, pairs)


def rows_of_pair(a, whole):
    """The two rows of an alignment, by its CIGAR; with free end gaps when `whole`."""
    query, target = a.query.residues, a.target.residues
    q, t = a.query_start, a.target_start
    rows = ["", ""]
    if whole:
        rows = [query[:q] + "-" * t, "-" * q + target[:t]]
    for length, op in re.findall(r"(\d+)([=XID])", a.cigar):
        n = int(length)
        rows[0] += "-" * n if op == "D" else query[q : q + n]
        rows[1] += "-" * n if op == "I" else target[t : t + n]
        q += 0 if op == "D" else n
        t += 0 if op == "I" else n
    if whole:
        rows[0] += query[q:] + "-" * (len(target) - t)
        rows[1] += "-" * (len(query) - q) + target[t:]
    return rows
