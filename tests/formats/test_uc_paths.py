"""The alignment column of .uc files, of all pairs at once, against one pair after the other."""

import re
from itertools import groupby

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from relatives import relatives

from pairalign.jobs.clusters.cluster_files import write_uc_paths
from pairalign.jobs.run.align_all import align
from pairalign.results.alignment_result import Alignment

OPERATIONS = {"=": "M", "X": "M", "I": "D", "D": "I"}


def path_of(pair: Alignment) -> str:
    """A letter a column, then counted."""
    if pair.matches == len(pair.query) == len(pair.target):
        return "="
    outside = [pair.query_start, len(pair.query) - pair.query_end]
    before, after = outside[:: pair.strand]
    letters = "D" * before + "I" * pair.target_start
    for number, letter in re.findall(r"(\d+)(\D)", pair.cigar):
        letters += OPERATIONS[letter] * int(number)
    letters += "D" * after + "I" * (len(pair.target) - pair.target_end)
    runs = [(letter, len(list(some))) for letter, some in groupby(letters)]
    return "".join(f"{count if count > 1 else ''}{letter}" for letter, count in runs)


@settings(max_examples=examples(30), deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    mode=st.sampled_from(["global", "semiglobal", "local"]),
    strand=st.sampled_from(["plus", "both"]),
)
def test_paths(seed, mode, strand):
    sequences = relatives("dna", seed, 12, 30, 0.2)
    found = align(sequences, mode=mode, strand=strand, device="cpu", threads=1)
    assert write_uc_paths(found) == [path_of(found[k]) for k in range(len(found))]


@pytest.mark.parametrize("kept", [[], [3], [5, 2]])
def test_some_pairs(kept):
    found = align(relatives("dna", 4, 6, 30, 0.2), device="cpu", threads=1)
    assert write_uc_paths(found.take(kept)) == [path_of(found[k]) for k in kept]
