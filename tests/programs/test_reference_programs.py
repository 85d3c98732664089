"""The reference itself, against other programs."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from reference import Costs, align
from strategies import MODES, random_ends


def random_protein_pairs(seed: str, pairs: int) -> Iterator[tuple[str, str]]:
    """Half of them related, so that the alignments have something to find."""
    rng = random.Random(seed)
    for number in range(pairs):
        first = rng.choices("ARNDCQEGHILKMFPSTWYV", k=rng.randint(1, 80))
        second = rng.choices("ARNDCQEGHILKMFPSTWYV", k=rng.randint(1, 80))
        if number % 2:
            second = [letter for letter in first if rng.random() < 0.9] + second[:5]
        yield "".join(first), "".join(second)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11, 1), (3, 3), (6, 0)])
def test_scores_of_biopython(mode, gap_open, gap_extend):
    from Bio.Align import PairwiseAligner, substitution_matrices

    matrix = substitution_matrices.load("BLOSUM62")
    letters = str(matrix.alphabet)
    costs = Costs(np.array(matrix, dtype=int), gap_open, gap_extend, mode)
    aligner = PairwiseAligner(mode="local" if mode == "local" else "global")
    aligner.substitution_matrix = matrix
    aligner.open_gap_score = -gap_open
    aligner.extend_gap_score = -gap_extend
    if mode == "semiglobal":
        aligner.end_gap_score = 0
    for query, target in random_protein_pairs(f"biopython {mode}", 120):
        codes = [[letters.index(letter) for letter in side] for side in (query, target)]
        assert align(*codes, costs).score == aligner.score(query, target), (query, target)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11, 1), (3, 3), (6, 0)])
def test_scores_of_parasail(mode, gap_open, gap_extend):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed (extra `bench`)")
    name = {"global": "nw_scan_32", "semiglobal": "sg_scan_32", "local": "sw_scan_32"}[mode]
    letters = "ARNDCQEGHILKMFPSTWYVBZX*"
    costs = Costs(parasail.blosum62.matrix.astype(int), gap_open, gap_extend, mode)
    for query, target in random_protein_pairs(f"parasail {mode}", 300):
        codes = [[letters.index(letter) for letter in side] for side in (query, target)]
        score = getattr(parasail, name)(query, target, gap_open, gap_extend, parasail.blosum62)
        # parasail does not count the cells of the border, where nothing is aligned.
        floor = 0 if mode == "semiglobal" else score.score
        assert align(*codes, costs).score == max(score.score, floor), (query, target)


FREE_ENDS = {
    "sg_qb": (0,),
    "sg_qe": (1,),
    "sg_db": (2,),
    "sg_de": (3,),
    "sg_qx": (0, 1),
    "sg_dx": (2, 3),
    "sg_qb_de": (0, 3),
    "sg_qe_db": (1, 2),
}
"""Functions of parasail, and the ends of query and target that they may leave out."""


@pytest.mark.parametrize("name", FREE_ENDS)
def test_free_ends_as_parasail_names_them(name):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed (extra `bench`)")
    letters = "ARNDCQEGHILKMFPSTWYVBZX*"
    ends = tuple((0, 0) if end in FREE_ENDS[name] else (11, 1) for end in range(4))
    costs = Costs(parasail.blosum62.matrix.astype(int), 11, 1, "end-gaps", ends=ends)
    for query, target in random_protein_pairs(name, 40):
        codes = [[letters.index(letter) for letter in side] for side in (query, target)]
        found = getattr(parasail, f"{name}_scan_32")(query, target, 11, 1, parasail.blosum62)
        # parasail does not count the cells of the border, where nothing is aligned.
        may_be_empty = name in ("sg_qb_de", "sg_qe_db")
        score = max(found.score, 0) if may_be_empty else found.score
        assert align(*codes, costs).score == score, (query, target)


@pytest.mark.parametrize("seed", range(4))
def test_end_gap_scores_of_biopython(seed):
    from Bio.Align import PairwiseAligner, substitution_matrices

    matrix = substitution_matrices.load("BLOSUM62")
    letters = str(matrix.alphabet)
    ends = random_ends(np.random.default_rng(seed), 11, 1)
    costs = Costs(np.array(matrix, dtype=int), 11, 1, "end-gaps", ends=ends)
    aligner = PairwiseAligner(mode="global", open_gap_score=-11, extend_gap_score=-1)
    aligner.substitution_matrix = matrix
    # Of Biopython's target and query, letters of the query alone are an insertion.
    for kind, sides in (("insertion", ends[:2]), ("deletion", ends[2:])):
        for side, (opening, extension) in zip(("left", "right"), sides, strict=True):
            setattr(aligner, f"open_{side}_{kind}_score", -opening)
            setattr(aligner, f"extend_{side}_{kind}_score", -extension)
    for query, target in random_protein_pairs(f"ends {seed}", 40):
        codes = [[letters.index(letter) for letter in side] for side in (query, target)]
        assert align(*codes, costs).score == aligner.score(target, query), (query, target)
