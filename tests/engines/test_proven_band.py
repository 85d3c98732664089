"""Best alignments made in bands: those of the full matrix, with proof or not at all."""

from collections.abc import Sequence

import numpy as np
import pytest
from checks import assert_same
from overlapping import changed

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_engine import CpuEngine, instruction_sets
from pairalign.engines.cpu.suboptimal import SuboptimalAligner
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.candidates import Seeds
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sets import SequenceSet

COSTS = {
    "hifi": (1, -4, 6, 1),
    "ont": (1, -1, 2, 1),
    "long gaps": (2, -6, 12, 1),
    "linear": (2, -3, 4, 4),
}


def scoring_of(name: str) -> pairalign.Scoring:
    costs = zip(("match", "mismatch", "gap_open", "gap_extend"), COSTS[name], strict=True)
    return pairalign.make_scoring("dna", mode="local", **dict(costs))


def random_residues(count: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), count))


def other_strand(letters: str) -> str:
    codes = SequenceSet.from_strings([letters], alphabet="dna").codes
    return "".join(DNA.letters[code] for code in reverse_complement(codes, DNA))


def compared(
    letters: Sequence[str], name: str, isa: str, lowered: int = 0
) -> tuple[Alignments, Alignments, int]:
    """Pairs done in bands, on both strands, the same from full matrices, and how many not."""
    reads, scoring = SequenceSet.from_strings(list(letters), alphabet="dna"), scoring_of(name)
    engine = CpuEngine(Problem(reads, None, scoring), instruction_set=isa)
    aligner = SuboptimalAligner(reads, reads, scoring, 1, isa)
    left, parts = 0, []
    for strand in (1, -1):
        window = Window(0, 0, len(reads), 0, len(reads), True, strand)
        mask = np.ones(window.pairs, np.bool_)
        mask[1::5] = False
        best = aligner.best_of(window, mask, lowered=lowered)
        found, done, rest = best.found, best.done, best.rest
        assert not best.useless.any()
        assert len(found) == len(rest) == done.sum()
        assert not (done & ~mask).any()
        left += int((mask & ~done).sum())
        expected = engine.align(window, Want(Detail.CIGAR), done)
        parts.append((found, expected))
        if lowered == 0 and len(found):
            suboptimal, numbers = aligner.next_of([found], window, 1)
            following = np.zeros(len(found), np.int32)
            following[numbers] = suboptimal.raw_score
            assert rest.tolist() == following.tolist()
    engine.close()
    joined = [
        pairalign.alignments.alignments.concatenate(list(one)) for one in zip(*parts, strict=True)
    ]
    return joined[0], joined[1], left


def check(letters: Sequence[str], name: str, isa: str) -> tuple[int, int]:
    """Compare; return how many were done in bands, and how many not."""
    found, expected, left = compared(letters, name, isa)
    assert_same(expected, found)
    return len(found), left


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("name", COSTS)
def test_reads_that_overlap(name, isa):
    """Dovetails, containments, both strands, errors from none to as many as letters."""
    genome = random_residues(6000, 3)
    shares = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.6, 0.02, 0.02]
    places = [0, 700, 1500, 1300, 300, 900, 500, 2900, 1100]
    lengths = [2600, 2500, 2900, 2400, 2700, 2600, 2500, 3100, 1700]
    reads = [
        changed(genome[start : start + length], share, k)
        if share
        else genome[start : start + length]
        for k, (start, length, share) in enumerate(zip(places, lengths, shares, strict=True))
    ]
    reads[3] = other_strand(reads[3])
    done, _ = check(reads, name, isa)
    assert done >= 12


@pytest.mark.parametrize("name", ["hifi", "ont"])
def test_what_is_hard(name):
    """Repeats, runs of a letter and of N, other ends, equal optima, no overlap."""
    isa = instruction_sets()[0]
    genome, others = random_residues(5000, 5), random_residues(9000, 6)
    unit = genome[:400]
    reads = [
        genome[:2800],
        changed(genome[1000:3600], 0.03, 1),
        changed(unit, 0.02, 2) + genome[1200:3200] + unit,
        3 * unit + genome[400:1900],
        7 * unit,
        genome[:900] + "N" * 300 + genome[1200:2500],
        genome[500:1500] + "A" * 200 + genome[1500:2600],
        others[:700] + changed(genome[600:2300], 0.05, 3) + others[700:1300],
        others[2000:4600],
        others[4000:6500],
        "AC" * 1250,
        "A" * 2600,
        genome[200:650],
        2 * genome[1000:2300],
        genome[800:1600] + others[7000:7150] + genome[1600:2900],
    ]
    done, left = check(reads, name, isa)
    assert done >= 8
    assert left >= 20


@pytest.mark.parametrize("isa", instruction_sets())
def test_pairs_of_no_use(isa):
    """Too low a best score is known without an alignment; a pair with one is never left out."""
    genome, others = random_residues(4000, 15), random_residues(9000, 16)
    reads = [
        genome[:2200],
        others[:1500] + changed(genome[700:900], 0.02, 1) + others[1500:2000],
        others[2000:3000] + changed(genome[500:1000], 0.03, 2) + others[3000:4000],
        others[5000:7000],
        others[7000:9000] + 30 * "A",
        other_strand(changed(genome[1200:3300], 0.01, 3)),
    ]
    sequences, scoring = SequenceSet.from_strings(reads, alphabet="dna"), scoring_of("hifi")
    engine = CpuEngine(Problem(sequences, None, scoring), instruction_set=isa)
    aligner = SuboptimalAligner(sequences, sequences, scoring, 1, isa)
    useless, known = 0, 0
    for strand in (1, -1):
        window = Window(0, 0, len(reads), 0, len(reads), True, strand)
        mask = np.ones(window.pairs, np.bool_)
        scores = engine.align(window, Want(Detail.CIGAR), mask).raw_score
        best = aligner.best_of(window, mask, 200)
        assert not (best.useless & best.done).any()
        assert (scores[best.useless] < 200).all()
        assert best.found.raw_score.tolist() == scores[best.done].tolist()
        useless, known = useless + int(best.useless.sum()), known + int((scores >= 200).sum())
    engine.close()
    assert useless >= 20
    assert known >= 2


def test_each_pair_may_have_to_score_enough_of_its_own():
    """As the other strand of overlaps; short reads and pairs that are not asked are passed by."""
    piece, lengths = random_residues(160, 1), (900, 300, 700, 520, 200, 1300, 600)
    letters = [random_residues(n, n) + piece[: n % 160] for n in lengths]
    reads = SequenceSet.from_strings(letters, alphabet="dna")
    scoring, window = scoring_of("ont"), Window(0, 0, 7, 0, 7, True)
    engine = CpuEngine(Problem(reads, None, scoring))
    scores = engine.align(window, Want(Detail.SCORE)).raw_score
    engine.close()
    rows, columns = window.positions()
    tried = np.minimum(reads.sorted_lengths[rows], reads.sorted_lengths[columns]) >= 500
    numbers = np.arange(window.pairs)
    mask, more = numbers % 5 > 0, numbers % 2
    assert len(set(scores[tried & mask])) > 4
    best = SuboptimalAligner(reads, reads, scoring, 1).best_of(window, mask, (scores + more)[mask])
    assert best.useless.tolist() == (tried & mask & (more > 0)).tolist()


def substituted(letters: str, period: int) -> str:
    """Residues of which no `period` in a row stay as they are."""
    return "".join(
        "ACGT"["TGCA".index(one)] if k % period == period // 2 else one
        for k, one in enumerate(letters)
    )


def tie_beyond_the_border(seed: int) -> list[str]:
    """Two best alignments, of which that with a gap of 145 letters is to be taken.

    Bands follow equal words. It has none behind the gap; the other one has no gap.
    """
    start, piece = random_residues(128 * 24 - 145, 3 * seed), random_residues(132, 3 * seed + 1)
    end = random_residues(2, 3 * seed + 2)
    spoilt = "".join("N" if k % 4 == 0 and k < 128 else one for k, one in enumerate(piece))
    return [start + spoilt + end + 11 * "N" + substituted(piece, 11), start + piece + end]


def test_a_proof_with_too_low_a_bound_is_noticed():
    """Ties are the hardest: as much is scored, but elsewhere."""
    isa, wrong = instruction_sets()[0], 0
    for seed in range(4):
        reads = tie_beyond_the_border(seed)
        assert check(reads, "long gaps", isa)[0] >= 1
        found, expected, _ = compared(reads, "long gaps", isa, lowered=120)
        assert found.raw_score.tolist() == expected.raw_score.tolist()
        wrong += found.field("query_end").tolist() != expected.field("query_end").tolist()
    assert wrong > 0


def test_without_proof_other_alignments_come_out():
    """An insertion that is wider than bands, and too few equal words after it."""
    genome, insertion = random_residues(3400, 8), random_residues(160, 9)
    end = substituted(genome[3000:3220], 11)
    reads = [genome[:3000] + insertion + end, genome[:3220]]
    check(reads, "ont", instruction_sets()[0])
    found, expected, _ = compared(reads, "ont", instruction_sets()[0], lowered=1 << 20)
    assert (found.raw_score < expected.raw_score).any()


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("name", ["hifi", "ont", "long gaps"])
def test_a_path_from_cells_beside_the_band(name, isa):
    """By a gap in the last row of a strip, whose first columns are not kept: it has no beginning.

    Equal words begin in row 991. 160 rows before, a strip ends; the band's first column is 741.
    """
    genome = random_residues(2200, 11)
    spoilt = substituted(genome[831:991], 11)[1:]
    reads = [genome, 730 * "N" + genome[822:832] + "N" + spoilt + genome[991:]]
    found, left = check(reads, name, isa)
    assert (found, left) == (0, 2)


def test_a_guess_that_is_right_says_what_other_alignments_score():
    """Where nothing is proven; where an engine finds another alignment, nothing is known."""
    genome = random_residues(4000, 4)
    reads = SequenceSet.from_strings([changed(genome[k:][:2500], 0.1, k) for k in (0, 600, 1200)])
    scoring, window = scoring_of("ont"), Window(0, 0, 3, 0, 3, True)
    mask = np.ones(3, np.bool_)
    aligner = SuboptimalAligner(reads, reads, scoring, 1)
    proven, guessed = aligner.best_of(window, mask), aligner.best_of(window, mask, lowered=-5000)
    assert proven.done.all()
    assert guessed.guesses.tolist() == [0, 1, 2]
    places = np.arange(3)
    rest = guessed.rest_of(proven.found, places, -1)
    assert rest.tolist() == [5000 + one for one in proven.rest]
    others = proven.found.take(places[[1, 1, 2]])
    assert guessed.rest_of(others, places, -1).tolist() == [-1, *rest[1:]]


@pytest.mark.parametrize("isa", instruction_sets())
def test_seeds_say_what_is_elsewhere(isa):
    """Repeats in other places, bad pieces in between, unrelated reads: all is found, and the best.

    Matrices are filled where anything is elsewhere, so that nothing is left to an engine.
    """
    genome, others = random_residues(8000, 21), random_residues(6000, 22)
    noisy = changed(genome[2000:6000], 0.15, 1)
    reads = [
        *(changed(genome[k : k + 3000], 0.2, k) for k in range(0, 5001, 1000)),
        noisy,
        other_strand(changed(genome[1000:3500], 0.1, 2)),
        noisy[:1500] + others[:700] + noisy[1500:],
        changed(genome[3000:4000], 0.1, 3) + others[:900] + changed(genome[3000:4300], 0.1, 4),
        others[1000:3500],
        changed(others[3000:5000], 0.3, 5) + genome[:600],
    ]
    sequences, scoring = SequenceSet.from_strings(reads, alphabet="dna"), scoring_of("ont")
    engine, left = CpuEngine(Problem(sequences, None, scoring), instruction_set=isa), 0
    aligner = SuboptimalAligner(sequences, sequences, scoring, 1, isa, Seeds(8, 13, 56))
    for strand in (1, -1):
        window = Window(0, 0, len(reads), 0, len(reads), True, strand)
        best = aligner.best_of(window, np.ones(window.pairs, np.bool_), 80)
        assert (best.done | best.useless).all()
        scores = engine.align(window, Want(Detail.SCORE)).raw_score
        assert (scores[best.useless] < 80).all()
        aligned = best.found.raw_score >= 80
        assert aligned.sum() == (scores >= 80).sum()
        expected = engine.align(window, Want(Detail.CIGAR), scores >= 80)
        assert_same(expected, best.found.take(np.flatnonzero(aligned)))
        left += int(aligned.sum())
        following, numbers = aligner.next_of([expected], window, 80)
        assert (best.rest[aligned][numbers] >= following.raw_score).all()
    engine.close()
    assert left >= 20
