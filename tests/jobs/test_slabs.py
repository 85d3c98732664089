"""What pairs' results are expected to take: less where a sample of pairs looks alike."""

import numpy as np
import pytest
from similar_problems import mutated

from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.slabs import result_bytes, share_of_residues
from pairalign.pairs.want import Detail
from pairalign.requests.resources import Resources
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.residues import NEAR_AFTER_END, WORDS, words_in_place
from pairalign.sequences.sets import SequenceSet


def alike(rate: float, number: int = 6, length: int = 1500) -> SequenceSet:
    rng = np.random.default_rng(71)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=length))
    return SequenceSet.from_strings(
        [mutated(rng, letters, ancestor, rate) for _ in range(number)], alphabet="dna"
    )


def test_words_in_place():
    one, other = alike(0, 2).codes_of(0), alike(0.05, 2).codes_of(0)
    assert words_in_place(one, one) == WORDS
    assert 0.3 * WORDS < words_in_place(one, other) < WORDS
    assert words_in_place(one, np.full(1500, 3, np.uint8)) == 0
    assert words_in_place(one[:15], one[:15]) == 0
    moved = np.concatenate([np.full(200, 3, np.uint8), one])
    assert words_in_place(moved, one, NEAR_AFTER_END) > 2 * words_in_place(moved, one)


@pytest.mark.parametrize(
    ("rate", "least", "most"), [(0, 1 / 8, 1 / 8), (0.05, 0.13, 0.6), (0.8, 0.8, 1)]
)
def test_letters_of_similar_sets_take_less(rate, least, most):
    one = alike(rate)
    assert least <= share_of_residues(one, None) <= most
    assert least <= share_of_residues(one, alike(rate, 3)) <= most
    assert share_of_residues(alike(0, length=900), None) == 1
    assert share_of_residues(alike(0, 1), one) == 1


def test_results_are_no_more_than_expected():
    """Runs of similar pairs take what slabs are cut for, or less."""
    for rate in (0.0, 0.01, 0.05, 0.2):
        one = alike(rate)
        (found,) = list(
            AlignmentJob(one, None, make_scoring("dna"), resources=Resources(device="cpu"))
        )
        letters = sum(
            len(pair.query.residues) + len(pair.target.residues) for pair in Alignments.of(found)
        )
        pair_bytes, residue_bytes = result_bytes(Detail.CIGAR)
        residue_bytes *= share_of_residues(one, None)
        assert found.cigar.nbytes <= pair_bytes * 15 + residue_bytes * letters
