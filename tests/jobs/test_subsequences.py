"""Longest common subsequences drop the pairs that have too few residues to match, and no other."""

import itertools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from relatives import LETTERS, change, relatives

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.cpu_pair_filter import Grams, PairFilter
from pairalign.jobs.run.align_all import align
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

Codes = npt.NDArray[np.uint8]


def common_subsequence(one: Codes, other: Codes, unambiguous: int) -> int:
    """The plain recurrence, a row at a time."""
    row = np.zeros(len(other) + 1, int)
    for code in one:
        equal = (other == code) & (code < unambiguous)
        row[1:] = np.maximum(row[1:], row[:-1] + equal)
        row = np.maximum.accumulate(row)
    return int(row[-1])


def expected(
    queries: SequenceSet, targets: SequenceSet | None, window: Window, share: Fraction, whole: str
) -> list[bool]:
    columns = queries if targets is None else targets
    unambiguous = queries.alphabet.unambiguous
    left = []
    for row in range(window.row_start, window.row_stop):
        start = max(window.column_start, row + 1) if targets is None else window.column_start
        for column in range(start, window.column_stop):
            one = queries.codes_of(int(queries.order[row]))
            other = columns.codes_of(int(columns.order[column]))
            lengths = (len(one), len(other))
            least = math.ceil(share * (min(lengths) if whole == "shorter" else max(lengths)))
            left.append(common_subsequence(one, other, unambiguous) >= least)
    return left


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(25))
@given(data=st.data())
def test_what_is_dropped(isa, data):
    alphabet = data.draw(st.sampled_from(["dna", "protein"]))
    seed = data.draw(st.integers(0, 1 << 30))
    # 63 residues are a word, ten words are in registers
    longest = data.draw(st.sampled_from([5, 62, 70, 130, 400, 760]))
    rate = data.draw(st.sampled_from([0.05, 0.4]))
    queries = relatives(alphabet, seed, 18, longest, rate)
    targets = relatives(alphabet, seed, 9, longest, 0.2) if data.draw(st.booleans()) else None
    whole = data.draw(st.sampled_from(["shorter", "longer"]))
    share = data.draw(st.sampled_from([*map(Fraction, ("0.4", "0.6", "0.9", "1"))]))
    thresholds = PairThresholds(share, whole)
    scoring = make_scoring(alphabet)
    rows, columns = len(queries), len(queries if targets is None else targets)
    first = data.draw(st.integers(0, 9))
    window = Window(0, first, rows, 0 if targets else first, columns, targets is None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRALIGN_ISA", isa)
        plain = PairFilter(Problem(queries, targets, scoring), thresholds, None, threads=1)
        looking = PairFilter(
            Problem(queries, targets, scoring), thresholds, None, threads=2, subsequences=True
        )
    chosen = None
    if data.draw(st.booleans()):  # so few that lanes are filled from several groups
        chosen = np.random.default_rng(seed).random(window.pairs) < 0.2
    before, after = plain.choose(window, chosen), looking.choose(window, chosen)
    assert (before.possible, before.left) == (after.possible, after.sharing)
    assert after.left == int(after.mask.sum())
    wanted = before.mask & np.array(expected(queries, targets, window, share, whole), bool)
    if after.left < after.sharing:
        assert after.mask.tolist() == wanted.tolist()
    else:  # too few of a sample would have been dropped, or none is to be
        assert after.mask.tolist() == before.mask.tolist()


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(6), deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    length=st.integers(64, 330),
    share=st.sampled_from([*map(Fraction, ("0.93", "0.95", "0.97", "0.99"))]),
    whole=st.sampled_from(["shorter", "longer"]),
)
def test_in_a_window(isa, seed, length, share, whole):
    """Few residues may be without a match: so few of the pattern are looked at for each."""
    rng = np.random.default_rng(seed)
    origin = "".join(rng.choice(list("ACGT"), length))
    rate = 1 - float(share)
    made = [change(rng, "ACGTN", origin, rate * rng.uniform(0.5, 2)) for _ in range(14)]
    made += [one[rng.integers(0, 30) :] for one in made[:6]] + [made[0], origin]
    made += ["".join(rng.choice(list("ACGT"), length)) for _ in range(6)]
    given = SequenceSet.from_strings(made, alphabet="dna")
    window = Window(0, 0, len(given), 0, len(given), True)
    taken = Problem(given, None, make_scoring("dna")), PairThresholds(share, whole), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRALIGN_ISA", isa)
        looking = PairFilter(*taken, threads=1, subsequences=True, grams=Grams.NONE)
    found = looking.choose(window)
    assert found.left < found.sharing
    possible = PairFilter(*taken, threads=1, grams=Grams.NONE).choose(window).mask
    wanted = possible & np.array(expected(given, None, window, share, whole), bool)
    assert found.mask.tolist() == wanted.tolist()


def can_pass(one: Codes, other: Codes, unambiguous: int, share: Fraction) -> bool:
    """Whether any alignment has that share of matches among all its columns."""
    part, whole = share.numerator, share.denominator
    gaps = part * np.arange(len(other) + 1)
    row = -gaps  # whole times the matches, less part times the columns
    for code in one:
        steps = np.where((other == code) & (code < unambiguous), whole - part, -part)
        best = np.concatenate(([row[0] - part], np.maximum(row[:-1] + steps, row[1:] - part)))
        row = np.maximum.accumulate(best + gaps) - gaps
    return bool(row[-1] >= 0)


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(12), deadline=None)
@given(
    alphabet=st.sampled_from(["dna", "protein"]),
    seed=st.integers(0, 1 << 30),
    length=st.sampled_from([20, 64, 130, 300]),
    share=st.sampled_from([*map(Fraction, ("0.45", "0.5", "2/3", "0.8", "0.9"))]),
    whole=st.sampled_from(["columns", "full"]),
)
def test_where_all_columns_count(isa, alphabet, seed, length, share, whole):
    """Paths that stray have more columns: what may pass all the same is left."""
    rng = np.random.default_rng(seed)
    letters = LETTERS[alphabet]
    origin = "".join(rng.choice(list(letters), length))
    made = [
        change(rng, letters, origin, (1 - float(share)) * rng.uniform(0.3, 1)) for _ in range(6)
    ]
    cuts = rng.integers(0, 1 + length // 6, 6)
    made += [one[cut:] + origin[: 2 * cut] for cut, one in zip(cuts, made, strict=True)]
    made += ["".join(rng.choice(list(letters), length)) for _ in range(6)]
    given = SequenceSet.from_strings([one or "A" for one in made], alphabet=alphabet)
    window = Window(0, 0, len(given), 0, len(given), True)
    taken = Problem(given, None, make_scoring(alphabet)), PairThresholds(share, whole), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRALIGN_ISA", isa)
        looking = PairFilter(*taken, threads=1, subsequences=True, grams=Grams.WHERE_FASTER)
    left = looking.choose(window).mask.tolist()
    codes = [given.codes_of(int(index)) for index in given.order]
    unambiguous = given.alphabet.unambiguous
    pairs = itertools.combinations(codes, 2)
    passing = [can_pass(*pair, unambiguous, share) for pair in pairs]
    assert all(is_left for is_left, passes in zip(left, passing, strict=True) if passes)
    if looking.has_subsequences:
        common = expected(given, None, window, share, "longer")
        assert all(has for has, is_left in zip(common, left, strict=True) if is_left)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("share", [Fraction(95, 100), Fraction(9, 10), Fraction(97, 100)])
def test_paths_that_stray_as_far_as_they_may(isa, share):
    """Identities of exactly the threshold, where the matches that are needed are rounded up."""
    rng = np.random.default_rng(3)
    for shift in range(1, 5):
        # (length - shift) of (length + shift) columns match
        length = math.ceil(shift * (1 + share) / (1 - share))
        origin, more, unrelated = ("".join(rng.choice(list("ACGT"), length)) for _ in range(3))
        made = [origin, more[:shift] + origin[:-shift], origin[shift:] + more[:shift]]
        given = SequenceSet.from_strings([*made, *([unrelated] * 6)], alphabet="dna")
        taken = Problem(given, None, make_scoring("dna")), PairThresholds(share), None
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PAIRALIGN_ISA", isa)
            looking = PairFilter(*taken, threads=1, subsequences=True, grams=Grams.NONE)
        window = Window(0, 0, len(given), 0, len(given), True)
        left = looking.choose(window).mask.tolist()
        codes = [given.codes_of(int(index)) for index in given.order]
        pairs = itertools.combinations(codes, 2)
        passing = [can_pass(*pair, given.alphabet.unambiguous, share) for pair in pairs]
        assert all(is_left for is_left, passes in zip(left, passing, strict=True) if passes)


def test_unrelated_proteins_are_not_aligned():
    rng = np.random.default_rng(2)
    letters = list("ARNDCQEGHILKMFPSTWYV")
    given = SequenceSet.from_strings(["".join(rng.choice(letters, 300)) for _ in range(40)])
    scoring = make_scoring(given.alphabet)
    thresholds = PairThresholds(Fraction(1, 2))
    window = Window(0, 0, 40, 0, 40, True)
    plain = PairFilter(Problem(given, None, scoring), thresholds, None, threads=1)
    looking = PairFilter(
        Problem(given, None, scoring), thresholds, None, threads=1, subsequences=True
    )
    assert plain.choose(window).left == 780
    assert looking.choose(window).left == 0
    assert len(align(given, min_identity=0.5, device="cpu")) == 0
