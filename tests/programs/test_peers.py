"""Scores of other programs on real proteins (examples/), and every CIGAR is worth its score."""

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from checks import OpenEngine, windows_of
from opencl_engines import open_opencl
from strategies import MODES, make_set, random_sequences

from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

PROTEIN_COSTS = [("BLOSUM62", "11", "1"), ("BLOSUM45", "14", "2"), ("PAM250", "10", "10")]
DNA_COSTS = [("2", "-3", "5", "2"), ("5", "-4", "10", "0"), ("1", "-1", "1", "1")]


@pytest.fixture(scope="module")
def proteins(family: Path, open_engine: OpenEngine) -> SequenceSet:
    """Real ones: some of them where kernels run on an emulated GPU, and take seconds for all."""
    whole = read_fasta(family)
    return whole[:16] if open_engine is open_opencl else whole


@pytest.fixture(scope="module")
def genes() -> SequenceSet:
    """Related DNA of different lengths."""
    rng = np.random.default_rng(21)
    return make_set(random_sequences(rng, "ACGT", 30, 400, "mixed"), DNA)


def align_all(open_engine: OpenEngine, sequences: SequenceSet, scoring: Scoring) -> Alignments:
    (window,) = windows_of(len(sequences), None, len(sequences))
    return open_engine([sequences], scoring).align(window, Want(Detail.CIGAR))


def pairs_of(found: Alignments) -> Iterator[tuple[int, str, str]]:
    """Raw score and upper-case letters of every pair."""
    letters = [str(sequence).upper() for sequence in found.queries]
    for score, i, j in zip(found.raw_score, found.query, found.target, strict=True):
        yield int(score), letters[i], letters[j]


def parasail_scores(found: Alignments, matrix: object) -> Iterator[tuple[int, int, str, str]]:
    """Our score and that of parasail's scan kernel, with the two sequences."""
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    scoring = found.scoring
    kind = {"global": "nw", "semiglobal": "sg", "local": "sw"}[scoring.mode]
    kernel = getattr(parasail, f"{kind}_scan_32")
    for ours, query, target in pairs_of(found):
        score = kernel(query, target, scoring.gap_open, scoring.gap_extend, matrix).score
        # parasail does not count the cells of the border, where nothing is aligned.
        yield ours, max(score, 0) if kind == "sg" else score, query, target


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "gap_open", "gap_extend"), PROTEIN_COSTS)
def test_parasail_on_proteins(open_engine, proteins, mode, name, gap_open, gap_extend):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    costs = {"gap_open": gap_open, "gap_extend": gap_extend}
    scoring = make_scoring(PROTEIN, mode=mode, matrix=name, **costs)
    found = align_all(open_engine, proteins, scoring)
    for ours, theirs, *pair in parasail_scores(found, parasail.Matrix(name.lower())):
        assert ours == theirs, pair


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("match", "mismatch", "gap_open", "gap_extend"), DNA_COSTS)
def test_parasail_on_dna(open_engine, genes, mode, match, mismatch, gap_open, gap_extend):
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    costs = {"gap_open": gap_open, "gap_extend": gap_extend}
    scoring = make_scoring(DNA, mode=mode, match=match, mismatch=mismatch, **costs)
    found = align_all(open_engine, genes, scoring)
    matrix = parasail.matrix_create("ACGT", int(match), int(mismatch))
    for ours, theirs, *pair in parasail_scores(found, matrix):
        assert ours == theirs, pair


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("gap_open", "gap_extend"), [("11", "1"), ("10", "0.5")])
def test_biopython_on_proteins(open_engine, proteins, mode, gap_open, gap_extend):
    """Decimal costs too: both are exact for halves."""
    costs = {"gap_open": gap_open, "gap_extend": gap_extend}
    scoring = make_scoring(PROTEIN, mode=mode, **costs)
    found = align_all(open_engine, proteins, scoring)
    pairs = tuple((query, target) for _, query, target in pairs_of(found))
    theirs = biopython_scores(pairs, mode, float(gap_open), float(gap_extend))
    assert found.score.tolist() == list(theirs)
    assert [float(scoring.format_score(raw)) for raw in found.raw_score.tolist()] == list(theirs)


@functools.cache
def biopython_scores(
    pairs: tuple[tuple[str, str], ...], mode: str, gap_open: float, gap_extend: float
) -> tuple[float, ...]:
    """Of pairs of proteins, once for all engines."""
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner(mode="local" if mode == "local" else "global")
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -gap_open, -gap_extend
    if mode == "semiglobal":
        aligner.end_gap_score = 0
    return tuple(aligner.score(query, target) for query, target in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["proteins", "genes"])
def test_every_cigar_is_worth_its_score(open_engine, request, kind, mode):
    sequences: SequenceSet = request.getfixturevalue(kind)
    scoring = make_scoring(sequences.alphabet, mode=mode)
    found = align_all(open_engine, sequences, scoring)
    for k in range(len(found)):
        score = scoring.rescore(
            sequences.codes_of(found.query[k]),
            sequences.codes_of(found.target[k]),
            found.cigar[found.cigar_offsets[k] : found.cigar_offsets[k + 1]],
            query_start=int(found.query_start[k]),
            query_end=int(found.query_end[k]),
            target_start=int(found.target_start[k]),
            target_end=int(found.target_end[k]),
        )
        assert score == found.raw_score[k]
