"""Pairs of rows of a multiple alignment are those of its text, whatever the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.jobs.msa.msa_report import align_rows, row_distances
from pairalign.pairs.lists import PairList
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.sets import SequenceSet

ROWS = st.integers(1, 9).flatmap(
    lambda width: st.lists(
        st.text("ACX-", min_size=width, max_size=width).filter(lambda row: row.strip("-")),
        min_size=2,
        max_size=4,
    )
)


def alignment_of(rows: list[str]) -> MultipleAlignment:
    records = {f"s{number}": row.replace("-", "") for number, row in enumerate(rows)}
    sequences = SequenceSet.from_strings(records, alphabet="protein")
    columns = np.concatenate([np.flatnonzero(np.array(list(row)) != "-") for row in rows])
    nothing = np.zeros(len(columns))
    how = nothing, nothing.astype(np.int32), nothing, None
    return MultipleAlignment(sequences, columns.astype(np.int32), len(rows[0]), *how)


@given(ROWS)
def test_pairs_of_rows(rows):
    alignment = alignment_of(rows)
    first, second = np.triu_indices(len(rows), 1)
    pairs = PairList(first.astype(np.int32), second.astype(np.int32))
    found = align_rows(alignment, pairs, ScoringRequest().scoring("protein"))
    distances = row_distances(alignment).condensed
    for number, (pair, distance) in enumerate(zip(Alignments.of(found), distances, strict=True)):
        given_rows = rows[first[number]], rows[second[number]]
        shown = [column for column in zip(*given_rows, strict=True) if column != ("-", "-")]
        assert list(zip(*pair.rows(), strict=True)) == shown
        both = sum("-" not in column for column in shown)
        equal = sum(one == other != "X" for one, other in shown)
        assert (pair.matches, pair.mismatches) == (equal, both - equal)
        assert pair.gap_residues == len(shown) - both
        assert distance == pytest.approx(1 - equal / both if both else 1)
