"""Passes over the letters of sets, against the same in NumPy."""

import numpy as np
import pytest

from pairalign.engines.device.device_sets import PADDING_CODE, SEQUENCE_ALIGNMENT, lay_out
from pairalign.sequences.residues import codes_in, lay_out_residues, sum_worth
from pairalign.sequences.sets import SequenceSet

SETS = {
    "one letter": ["A"],
    "several lengths": ["ACGT", "acgtacgtacgtacgtN", "G", "TTTTT", "ACGT"],
    "protein": ["MKV*", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", "uoj"],
}


@pytest.fixture(params=SETS.values(), ids=SETS)
def sequences(request: pytest.FixtureRequest) -> SequenceSet:
    return SequenceSet.from_strings(request.param)


def test_codes_in_a_set(sequences):
    assert codes_in(sequences).tolist() == sorted(set(sequences.codes.tolist()))


def test_letters_lie_where_they_should_and_nothing_else_changes(sequences):
    lengths = sequences.lengths[sequences.order].astype(np.int64)
    starts = np.cumsum(lengths + 3) - lengths
    letters = np.full(int(starts[-1] + lengths[-1]) + 2, 200, np.uint8)
    table = (np.arange(256) * 7 % 256).astype(np.uint8)
    lay_out_residues(sequences, table, starts, letters)
    expected = np.full(len(letters), 200, np.uint8)
    for start, index in zip(starts, sequences.order, strict=True):
        codes = sequences.codes_of(int(index))
        expected[start : start + len(codes)] = table[codes]
    assert letters.tolist() == expected.tolist()


def test_worth_of_each_sequence(sequences):
    worth = np.arange(256, dtype=np.int64) ** 3 - 1000
    expected = [int(worth[sequences.codes_of(int(index))].sum()) for index in sequences.order]
    assert sum_worth(sequences, worth).tolist() == expected


def test_layout_of_a_device(sequences):
    layout = lay_out(sequences)
    assert (layout.starts % SEQUENCE_ALIGNMENT == 0).all()
    place = 0
    for start, length, index in zip(layout.starts, layout.lengths, layout.order, strict=True):
        assert (layout.codes[place:start] == PADDING_CODE).all()
        place = start + length
        assert layout.codes[start:place].tolist() == sequences.codes_of(int(index)).tolist()
    assert (layout.codes[place:] == PADDING_CODE).all()
    assert len(layout.codes) >= place + 64
