"""Scoring: laws of matrices, scales, bounds and rescoring; then examples and refused input."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from Bio.Align import substitution_matrices
from golden import load_golden
from hypothesis import assume, given
from hypothesis import strategies as st

from pairalign.cigars import DELETION, INSERTION, MATCH, MISMATCH
from pairalign.errors import AlphabetError, ScoringError
from pairalign.matrices import common_scale, load_table, to_decimal
from pairalign.scoring import SCORE_LIMIT, Scoring, make_scoring
from pairalign.sequences import DNA, PROTEIN, SequenceSet

MODES = ("global", "semiglobal", "local")
PROTEIN_NAMES = [
    name
    for name in substitution_matrices.load()
    if set("ARNDCQEGHILKMFPSTWYV") <= set(substitution_matrices.load(name).alphabet)
]
DNA_NAMES = ["BLASTN", "HOXD70", "MEGABLAST", "NUC.4.4", "TRANS"]
NUMBERS = st.decimals(-50, 50, places=3, allow_nan=False, allow_infinity=False)
COSTS = st.decimals(0, 50, places=3, allow_nan=False, allow_infinity=False)


def code(letter: str, alphabet=PROTEIN) -> int:
    return alphabet.letters.index(letter)


def codes(letters: str, alphabet=DNA) -> np.ndarray:
    return SequenceSet.from_strings([letters], alphabet=alphabet).codes


def score(scoring: Scoring, a: str, b: str) -> int:
    return int(scoring.matrix[code(a, scoring.alphabet), code(b, scoring.alphabet)])


def runs(text: str) -> np.ndarray:
    """The runs of a CIGAR in text form."""
    found, length = [], ""
    for character in text:
        if character.isdigit():
            length += character
        else:
            operation = {"I": INSERTION, "D": DELETION, "=": MATCH, "X": MISMATCH, "M": 0}
            found.append(int(length) << 4 | operation[character])
            length = ""
    return np.array(found, np.uint32)


def write_matrix(path, letters: str, value, rows: str | None = None) -> None:
    """A file in NCBI's format with the scores ``value(row, column)``."""
    lines = ["# made by a test", "   " + "  ".join(letters)]
    for row in letters if rows is None else rows:
        lines.append(" ".join([row, *(str(value(row, column)) for column in letters)]))
    path.write_text("\n".join(lines) + "\n")


@st.composite
def scorings(draw: st.DrawFn) -> Scoring:
    gap_open, gap_extend = sorted(draw(st.tuples(COSTS, COSTS)), reverse=True)
    match, mismatch = draw(NUMBERS), -abs(draw(NUMBERS))
    assume(match >= mismatch)
    return make_scoring(
        "dna",
        mode=draw(st.sampled_from(MODES)),
        match=match,
        mismatch=mismatch,
        gap_open=gap_open,
        gap_extend=gap_extend,
    )


# Laws of matrices


@pytest.mark.parametrize(
    ("name", "alphabet"),
    [(name, PROTEIN) for name in PROTEIN_NAMES] + [(name, DNA) for name in DNA_NAMES],
)
def test_named_matrices_have_biopythons_scores(name, alphabet):
    scoring = make_scoring(alphabet, matrix=name.lower())
    original = substitution_matrices.load(name)
    assert scoring.matrix_name == name
    assert scoring.matrix.dtype == np.int32
    assert scoring.matrix.shape == (32, 32)
    assert (scoring.matrix == scoring.matrix.T).all()
    unknown = ~scoring.known
    assert not scoring.matrix[unknown].any()
    letters = [letter for letter in original.alphabet if letter in alphabet.letters]
    for a in letters:
        for b in letters:
            assert score(scoring, a, b) / scoring.scale == original[a, b]
    own = scoring.matrix[np.ix_(scoring.known, scoring.known)]
    assert (scoring.min_score, scoring.max_score) == (own.min(), own.max())
    # The scale is the smallest that does: some score or cost is not a multiple of ten.
    values = [*own.ravel(), scoring.gap_open, scoring.gap_extend]
    assert scoring.scale == 1 or any(int(value) % 10 for value in values)


@pytest.mark.parametrize("name", PROTEIN_NAMES)
def test_stand_ins_score_as_documented(name):
    scoring = make_scoring("protein", matrix=name)
    given_letters = substitution_matrices.load(name).alphabet
    stand_ins = {"U": "C", "O": "K", "J": "IL"} | dict.fromkeys("BZ", "X")
    for letter, others in stand_ins.items():
        if letter in given_letters:
            assert letter not in scoring.stand_ins
            continue
        if "X" in others and "X" not in given_letters:
            assert not scoring.known[code(letter)]
            continue
        assert letter in scoring.stand_ins
        for other in given_letters:
            assert score(scoring, letter, other) == max(score(scoring, x, other) for x in others)
        assert score(scoring, letter, letter) == max(
            score(scoring, x, y) for x in others for y in others
        )
    assert scoring.known[code("*")] == ("*" in given_letters)
    assert scoring.known[code("X")] == ("X" in given_letters)
    assert not scoring.known[len(PROTEIN.letters) :].any()


@given(scorings())
def test_match_matrix(scoring):
    match, mismatch = int(scoring.matrix[0, 0]), int(scoring.matrix[0, 1])
    for a in range(len(DNA.letters)):
        for b in range(len(DNA.letters)):
            same = a == b and a < DNA.definite
            assert scoring.matrix[a, b] == (match if same else mismatch)
    assert scoring.known[: len(DNA.letters)].all()


@given(st.data(), st.integers(0, 4))
def test_file_gives_the_scores_written_in_it(tmp_path_factory, data, places):
    letters = data.draw(st.permutations("ACGTN"))
    value = st.decimals(-99, 99, places=places)
    scores = {}
    for i, a in enumerate(letters):
        for b in letters[: i + 1]:
            scores[a, b] = scores[b, a] = data.draw(value)
    path = tmp_path_factory.getbasetemp() / "drawn.mat"
    write_matrix(path, "".join(letters), lambda a, b: scores[a, b])
    scoring = make_scoring("dna", matrix=path)
    assert scoring.matrix_name == "drawn.mat"
    for a, b in scores:
        assert Fraction(score(scoring, a, b), scoring.scale) == Fraction(scores[a, b])
    # IUPAC codes that the file lacks score as N.
    assert scoring.stand_ins == dict.fromkeys("RYSWKMBDHV", "N")
    assert score(scoring, "R", "Y") == score(scoring, "N", "N")


@given(st.lists(st.decimals(-999, 999, places=6), min_size=1, max_size=6))
def test_scale_is_the_smallest_power_of_ten(values):
    scale = common_scale(values)
    assert all(value * scale == int(value * scale) for value in values)
    assert scale == 1 or any(value * scale / 10 != int(value * scale / 10) for value in values)


@given(scorings(), st.integers(-(10**9), 10**9))
def test_format_score_is_exact(scoring, raw):
    text = scoring.format_score(raw)
    assert Fraction(text) * scoring.scale == raw
    assert text == "0" or not (text.endswith((".", "-0")) or ("." in text and text[-1] == "0"))


# Laws of bounds


def all_values(a: np.ndarray, b: np.ndarray, scoring: Scoring) -> tuple[list[int], list[int]]:
    """Every H, and every E and F that is not minus infinity, of two sequences: plain Gotoh."""
    nowhere = -(10**12)
    free = scoring.mode != "global"
    h = {(0, 0): 0}
    e: dict[tuple[int, int], int] = {}
    f: dict[tuple[int, int], int] = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if free and (i == 0 or j == 0):
                h[i, j] = 0
                continue
            if j > 0:
                extended = e.get((i, j - 1), nowhere) - scoring.gap_extend
                e[i, j] = max(extended, h[i, j - 1] - scoring.gap_open)
            if i > 0:
                extended = f.get((i - 1, j), nowhere) - scoring.gap_extend
                f[i, j] = max(extended, h[i - 1, j] - scoring.gap_open)
            if i or j:
                step = h[i - 1, j - 1] + int(scoring.matrix[a[i - 1], b[j - 1]]) if i and j else 0
                h[i, j] = max(
                    step if i and j else nowhere, e.get((i, j), nowhere), f.get((i, j), nowhere)
                )
            if scoring.mode == "local":
                h[i, j] = max(h[i, j], 0)
    return list(h.values()), [*e.values(), *f.values()]


@given(scorings(), st.text("ACN", min_size=1, max_size=7), st.text("AC", min_size=1, max_size=7))
def test_no_value_leaves_the_bounds(scoring, a, b):
    h, gaps = all_values(codes(a), codes(b), scoring)
    low, high = scoring.score_bounds(len(a), len(b))
    assert scoring.score_bounds(len(b), len(a)) == (low, high)
    assert low <= min(h)
    assert max(h) <= high
    assert all(low - scoring.gap_open <= value <= high for value in gaps)


@pytest.mark.parametrize("mode", MODES)
def test_no_value_leaves_the_bounds_where_nothing_matches(mode):
    """Where the low bound is close: all small costs and lengths, one after the other."""
    for gap_open, gap_extend, mismatch in product((0, 1, 5, 100), (0, 1, 5), (-1, -6, -200)):
        scoring = make_scoring(
            "dna",
            mode=mode,
            match=1,
            mismatch=mismatch,
            gap_open=max(gap_open, gap_extend),
            gap_extend=gap_extend,
        )
        for n, m in product(range(1, 5), repeat=2):
            h, gaps = all_values(codes("A" * n), codes("C" * m), scoring)
            low, _ = scoring.score_bounds(n, m)
            assert low <= min(h)
            assert low - scoring.gap_open <= min(gaps)


@pytest.mark.parametrize(
    ("mode", "mismatch", "expected"),
    [
        ("global", -1000, (-(5 + 2 * 2) - (5 + 8 * 2), 3)),  # both sequences in gaps
        ("global", -1, (-(5 + 8 * 2), 3)),  # at the border: all of the longer one in a gap
        ("semiglobal", -1000, (-(5 + 2 * 2), 3)),
        ("semiglobal", -1, (-3, 3)),
        ("local", -1, (0, 3)),
    ],
)
def test_bounds_by_hand(mode, mismatch, expected):
    scoring = make_scoring("dna", mode=mode, match=1, mismatch=mismatch, gap_open=5, gap_extend=2)
    assert scoring.score_bounds(3, 9) == expected


@given(scorings(), st.integers(1, 6), st.integers(1, 6))
def test_bounds_are_reached(scoring, n, m):
    """By equal letters the high one; by no match at all the low one, if nothing else is better."""
    high = max(all_values(codes("A" * n), codes("A" * m), scoring)[0])
    assert scoring.score_bounds(n, m)[1] == max(high, 0)
    low, _ = scoring.score_bounds(n, m)
    h, _ = all_values(codes("A" * n), codes("C" * m), scoring)
    if scoring.mode == "local" or scoring.gap_open == scoring.gap_extend == 0 or n == m == 1:
        assert low == min(h)


@given(scorings(), st.integers(1, 300), st.integers(1, 300), st.integers(0, 50), st.integers(0, 50))
def test_bounds_of_longer_sequences_hold_for_shorter_ones(scoring, n, m, dn, dm):
    low, high = scoring.score_bounds(n, m)
    wider_low, wider_high = scoring.score_bounds(n + dn, m + dm)
    assert wider_low <= low <= 0 <= high <= wider_high


# Laws of rescoring


@st.composite
def alignments(draw: st.DrawFn):
    """Two sequences and a random alignment of a part of them: columns as pairs of letters."""
    letter = st.sampled_from("ACGTN")
    column = st.tuples(letter, letter) | st.tuples(letter, st.none()) | st.tuples(st.none(), letter)
    columns = draw(st.lists(column, min_size=1, max_size=20))
    flanks = [draw(st.text("ACGT", max_size=3)) for _ in range(4)]
    return columns, flanks


def in_runs(columns) -> np.ndarray:
    operations = [
        INSERTION
        if b is None
        else DELETION
        if a is None
        else MATCH
        if a == b and a != "N"
        else MISMATCH
        for a, b in columns
    ]
    found: list[list[int]] = []
    for operation in operations:
        if found and found[-1][1] == operation:
            found[-1][0] += 1
        else:
            found.append([1, operation])
    return np.array([length << 4 | operation for length, operation in found], np.uint32)


@given(alignments(), scorings())
def test_rescore_adds_up_column_by_column(alignment, scoring):
    columns, flanks = alignment
    a = "".join(x for x, _ in columns if x)
    b = "".join(y for _, y in columns if y)
    assume(a and b)
    if scoring.mode != "local":
        flanks = ["", "", "", ""] if scoring.mode == "global" else [flanks[0], "", "", flanks[3]]
    query, target = codes(flanks[0] + a + flanks[1]), codes(flanks[2] + b + flanks[3])
    spans = {
        "query_start": len(flanks[0]),
        "query_end": len(flanks[0] + a),
        "target_start": len(flanks[2]),
        "target_end": len(flanks[2] + b),
    }
    expected, before = 0, ""
    for x, y in columns:
        kind = "I" if y is None else "D" if x is None else ""
        if kind:
            expected -= scoring.gap_extend if kind == before else scoring.gap_open
        else:
            expected += score(scoring, x, y)
        before = kind
    cigar = in_runs(columns)
    assert scoring.rescore(query, target, cigar, **spans) == expected
    # The same from the other side.
    flip = {INSERTION: DELETION, DELETION: INSERTION}
    flipped = [int(run) & ~15 | flip.get(int(run) & 15, int(run) & 15) for run in cigar]
    turned = {name: spans[swap(name)] for name in spans}
    assert scoring.rescore(target, query, np.array(flipped, np.uint32), **turned) == expected
    # Any single damage is found out.
    for k, run in enumerate(cigar):
        for damaged in (run + 16, run & 15, run ^ np.uint32(15), run & ~np.uint32(15)):
            wrong = cigar.copy()
            wrong[k] = damaged
            with pytest.raises(ScoringError):
                scoring.rescore(query, target, wrong, **spans)


def swap(name: str) -> str:
    return name.replace("query", "t_").replace("target", "query").replace("t_", "target")


@pytest.mark.parametrize(
    ("mode", "query", "target", "cigar", "spans", "message"),
    [
        ("global", "ACGT", "ACGT", "4M", {}, "run 1 has operation 0, expected I, D, =, X"),
        ("global", "ACGT", "ACGT", "4=0I", {}, "run 2 has length 0"),
        ("global", "ACGT", "ACGT", "2=2=", {}, "runs 1 and 2 have the same operation"),
        ("global", "ACGT", "ACGT", "3=", {}, "covers 3 letters of the query, but the span"),
        ("global", "ACGT", "ACG", "3=", {}, "covers 3 letters of the query"),
        ("global", "ACG", "ACGT", "3=", {}, "covers 3 letters of the target"),
        ("global", "ACGT", "ACTT", "4=", {}, "= for 'G' at position 3 of the query and 'T' at"),
        ("global", "ACGT", "ACTT", "2=2X", {}, "X for 'T' at position 4 of the query and 'T' at"),
        ("global", "ACNT", "ACNT", "4=", {}, "= for 'N' at position 3 of the query"),
        ("global", "ACGT", "ACGT", "3=", {"query_end": 3, "target_end": 3}, "leave letters out"),
        ("global", "ACGT", "ACGT", "", {"query_end": 0, "target_end": 0}, "leave letters out"),
        ("local", "ACGT", "ACGT", "4=", {"query_end": 5}, r"span \[0, 5\) of a sequence of 4"),
        ("local", "ACGT", "ACGT", "4=", {"query_start": -1}, "span"),
        ("local", "ACGT", "ACGT", "", {}, "without columns, expected 0"),
        (
            "semiglobal",
            "ACGT",
            "ACGT",
            "2=",
            {"query_start": 1, "query_end": 3, "target_start": 1, "target_end": 3},
            "both sequences at the same end",
        ),
        ("semiglobal", "AAGT", "CAGT", "2=", {"query_start": 2, "target_start": 2}, "same end"),
        ("semiglobal", "AAGT", "AACT", "2=", {"query_end": 2, "target_end": 2}, "same end"),
    ],
)
def test_rescore_refuses(mode, query, target, cigar, spans, message):
    scoring = make_scoring("dna", mode=mode)
    with pytest.raises(ScoringError, match=message):
        scoring.rescore(codes(query), codes(target), runs(cigar), **spans)


def test_rescore_examples():
    scoring = make_scoring("protein")
    query, target = codes("HEAGAWGHEE", PROTEIN), codes("PAWHEAE", PROTEIN)
    cigar = runs("3I1X2=1I2=1D1=")
    # -11 -1 -1, G/P -2, A 4, W 11, -11, H 8, E 5, -11, E 5
    assert scoring.rescore(query, target, cigar) == -4
    empty = {"query_end": 0, "target_end": 0}
    for mode in ("semiglobal", "local"):
        assert make_scoring("protein", mode=mode).rescore(query, target, runs(""), **empty) == 0


# Gap costs and defaults


@pytest.mark.parametrize(
    ("alphabet", "costs", "expected"),
    [
        ("protein", {}, (11, 1)),
        ("dna", {}, (5, 2)),
        ("protein", {"gap_open": 20}, (20, 1)),
        ("dna", {"gap_open": 1}, (1, 1)),  # the default extension would exceed it
        ("dna", {"gap_open": 0}, (0, 0)),
        ("dna", {"gap_extend": 1}, (5, 1)),
        ("dna", {"gap_extend": 7}, (7, 7)),
        ("protein", {"gap_open": 0, "gap_extend": 0}, (0, 0)),
        ("protein", {"matrix": "PAM30"}, (11, 1)),
        ("dna", {"matrix": "EDNAFULL"}, (5, 2)),
        ("protein", {"match": 1, "mismatch": -1}, (11, 1)),
    ],
)
def test_default_gap_costs(alphabet, costs, expected):
    scoring = make_scoring(alphabet, **costs)
    assert (scoring.gap_open, scoring.gap_extend, scoring.scale) == (*expected, 1)


@pytest.mark.parametrize(
    ("gap_open", "gap_extend", "expected"),
    [
        (10, 0.5, (100, 5, 10)),
        ("10.00", "0.50", (100, 5, 10)),
        (Decimal("1e1"), Decimal("5e-1"), (100, 5, 10)),
        (0.1, 1e-6, (100000, 1, 10**6)),
        (np.float32(0.1), np.int8(0), (1, 0, 10)),
        (np.float64(2.5), 2, (25, 20, 10)),
    ],
)
def test_decimal_costs_are_scaled_exactly(gap_open, gap_extend, expected):
    scoring = make_scoring("dna", gap_open=gap_open, gap_extend=gap_extend)
    assert (scoring.gap_open, scoring.gap_extend, scoring.scale) == expected
    assert int(scoring.matrix[0, 0]) == 2 * scoring.scale
    assert int(scoring.matrix[0, 1]) == -3 * scoring.scale


def test_defaults():
    protein = make_scoring(PROTEIN)
    assert (protein.mode, protein.matrix_name, protein.scale) == ("global", "BLOSUM62", 1)
    assert (protein.max_score, protein.min_score) == (11, -4)
    dna = make_scoring(DNA)
    assert dna.matrix_name == "match 2, mismatch -3"
    assert (dna.max_score, dna.min_score) == (2, -3)
    assert make_scoring("dna", match=5).min_score == -3
    assert make_scoring("dna", mismatch="-0.5").format_score(-5) == "-0.5"
    assert [dna.gap_cost(k) for k in (0, 1, 2, 3)] == [0, 5, 7, 9]
    assert protein.stand_ins == {"U": "C", "O": "K", "J": "the better of I and L"}
    assert not protein.matrix.flags.writeable
    with pytest.raises(AttributeError):
        protein.gap_open = 3


def test_scorings_are_values():
    one = make_scoring("protein", gap_open=11)
    assert one == make_scoring("protein", matrix="EBLOSUM62")
    assert hash(one) == hash(make_scoring("protein"))
    others = [
        make_scoring("protein", gap_open=12),
        make_scoring("protein", mode="local"),
        make_scoring("protein", matrix="BLOSUM50"),
        make_scoring("dna"),
    ]
    assert one not in others
    assert one != "BLOSUM62"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("blosum62", "BLOSUM62"),
        ("EBLOSUM62", "BLOSUM62"),
        ("epam250", "PAM250"),
        ("Gonnet1992", "GONNET1992"),
        ("EDNAFULL", "NUC.4.4"),
        ("DNAfull", "NUC.4.4"),
        ("nuc.4.4", "NUC.4.4"),
        ("NUC4.4", "NUC.4.4"),
        ("NUC44", "NUC.4.4"),
    ],
)
def test_names_and_aliases(alias, name):
    assert load_table(alias).name == name


def test_a_name_wins_over_a_file_unless_it_has_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_matrix(tmp_path / "NUC.4.4", "ACGT", lambda a, b: 9 if a == b else -9)
    write_matrix(tmp_path / "other", "ACGT", lambda a, b: 8 if a == b else -9)
    assert make_scoring("dna", matrix="NUC.4.4").max_score == 5
    assert make_scoring("dna", matrix="./NUC.4.4").max_score == 9
    assert make_scoring("dna", matrix=tmp_path / "NUC.4.4").max_score == 9
    assert make_scoring("dna", matrix="other").max_score == 8


def test_u_reads_as_t(tmp_path):
    path = tmp_path / "rna.mat"
    write_matrix(path, "ACGU", lambda a, b: 3 if a == b else -ord(max(a, b)) % 7)
    scoring = make_scoring("dna", matrix=path)
    assert score(scoring, "T", "T") == 3
    assert score(scoring, "A", "T") == -ord("U") % 7
    write_matrix(path, "ACGTU", lambda a, b: 3 if a == b or {a, b} == {"T", "U"} else -1)
    assert score(make_scoring("dna", matrix=path), "T", "T") == 3
    write_matrix(path, "ACGTU", lambda a, b: 3 if a == b else -1)
    with pytest.raises(ScoringError, match=r"rna\.mat scores U other than T"):
        make_scoring("dna", matrix=path)


def test_stop_is_scored_by_the_matrix_only(tmp_path):
    path = tmp_path / "x.mat"
    write_matrix(path, "ARNDCQEGHILKMFPSTWYVX", lambda a, b: 3 if a == b else -1)
    scoring = make_scoring("protein", matrix=path)
    assert not scoring.known[code("*")]
    assert scoring.stand_ins["B"] == "X"
    assert score(scoring, "B", "Z") == 3
    with pytest.raises(AlphabetError, match=r"letter '\*' at position 3 has no score in x\.mat"):
        scoring.check_sets(SequenceSet.from_strings(["MK*"]))


def test_lower_case_byte_order_mark_and_odd_white_space(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(
        b"\xef\xbb\xbf# c\r\n\r\n\ta\tc\tg\tt\r\na 1 0 0 0\r\n\r\n  # c\r\n"
        b"c 0 1 0 0\r\ng 0 0 1 0\r\nt 0 0 0 1"
    )
    assert make_scoring("dna", matrix=path).max_score == 1


# What is refused


IDENTITY = "  A C G T\nA 1 0 0 0\nC 0 1 0 0\nG 0 0 1 0\nT 0 0 0 1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no matrix in the file"),
        ("# only a comment\n", "no matrix in the file"),
        ("  A C G T\nA 1 0 0 0\nC 0 1 0 0\nG 0 0 1 0\n", "4 columns but 3 rows, .* no row for 'T'"),
        (IDENTITY + "N 0 0 0 0\n", "line 6: row 'N' has no column, expected a square matrix"),
        (IDENTITY + "A 1 0 0 0\n", "line 6: a second row for 'A'"),
        (IDENTITY.replace("A C", "A A"), "line 1: two columns for 'A'"),
        (IDENTITY.replace("C 0 1 0 0", "C 0 1 0"), "line 3: row 'C' has 3 scores, expected 4"),
        (IDENTITY.replace("C 0 1 0 0", "C 0 1 0 0 0"), "line 3: row 'C' has 5 scores, expected 4"),
        (IDENTITY.replace("C 0 1", "C 0 x"), "line 3: 'C' against 'C': 'x' is not a number"),
        (IDENTITY.replace("C 0 1", "C 0 nan"), "'C' against 'C': 'nan' is not a finite number"),
        (IDENTITY.replace("C 0 1", "C 0 inf"), "'inf' is not a finite number"),
        (IDENTITY.replace("C 0 1", "C 0 1e30"), "1e30 is out of range"),
        (IDENTITY.replace("C 0 1", "C 0 1.0000001"), "1.0000001 has more than 6 decimals"),
        (IDENTITY.replace("C 0 1 0 0", "C 2 1 0 0"), "not symmetric: 'A' against 'C' is 0 but 'C'"),
        (IDENTITY.replace("  A C", "  AB C"), "line 1: found 'AB' where a single letter"),
        ("1 0 0 0\n0 1 0 0\n", "line 1: found '1' where a single letter"),
        (IDENTITY.replace("T", "N"), "no scores for 'T', expected all of ACGT for dna sequences"),
        (">a\nACGT\n", "line 1: found '>a' where a single letter"),
    ],
)
def test_bad_matrix_files(tmp_path, text, message):
    path = tmp_path / "bad.mat"
    path.write_text(text)
    with pytest.raises(ScoringError, match=message) as caught:
        make_scoring("dna", matrix=path)
    assert "bad.mat" in str(caught.value)


def test_matrices_that_cannot_be_read(tmp_path, monkeypatch):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x81")
    for path, message in [
        (tmp_path / "missing", "no such file"),
        (tmp_path, "is a directory"),
        (tmp_path / "binary", "not a text file"),
    ]:
        with pytest.raises(ScoringError, match=message):
            load_table(path)
    with pytest.raises(ScoringError, match=r"'BLOSUM63': neither a file nor .* BLOSUM62, BLOSUM80"):
        load_table("BLOSUM63")
    with pytest.raises(ScoringError, match="neither a file nor a known name"):
        load_table("SCHNEIDER")


@pytest.mark.parametrize(
    ("alphabet", "options", "message"),
    [
        ("dna", {"mode": "glocal"}, "mode 'glocal': expected global, semiglobal, local"),
        ("dna", {"gap_open": -5}, "gap_open is a cost, found -5, expected 0 or more: 5?"),
        ("dna", {"gap_extend": "-0.5"}, "gap_extend is a cost, found -0.5"),
        ("dna", {"gap_open": 1, "gap_extend": 2}, "gap_extend 2 exceeds gap_open 1"),
        ("dna", {"gap_open": float("nan")}, "gap_open: nan is not a finite number"),
        ("dna", {"gap_open": float("inf")}, "gap_open: inf is not a finite number"),
        ("dna", {"gap_open": "ten"}, "gap_open: 'ten' is not a number"),
        ("dna", {"gap_open": True}, "gap_open: True is not a number"),
        ("dna", {"gap_extend": 0.1 + 0.2}, "0.30000000000000004 has more than 6 decimals"),
        ("dna", {"gap_open": 10**10}, "out of range"),
        ("dna", {"gap_open": 2000, "gap_extend": "0.000001"}, "do not fit 32 bits"),
        ("dna", {"match": 2000, "gap_extend": "0.000001"}, "do not fit 32 bits"),
        ("dna", {"match": 2, "mismatch": 3}, "mismatch is a score, found 3, expected 0 or less"),
        ("dna", {"match": -4, "mismatch": -3}, "match scores -4, less than a mismatch with -3"),
        ("dna", {"match": 2, "matrix": "NUC.4.4"}, "both a matrix and match or mismatch"),
        ("dna", {"matrix": "BLOSUM62"}, "BLOSUM62 is for proteins, but the sequences are DNA"),
        ("protein", {"matrix": "NUC.4.4"}, "NUC.4.4 has no scores for 'Q', 'E', 'I', 'L', 'F'"),
        ("protein", {"match": 2}, "must both be given for proteins"),
    ],
)
def test_refused_options(alphabet, options, message):
    with pytest.raises(ScoringError) as caught:
        make_scoring(alphabet, **options)
    assert message in str(caught.value)


def test_to_decimal_names_what_is_wrong():
    with pytest.raises(ScoringError, match=r"^match: '1,5' is not a number$"):
        to_decimal("1,5", "match")


# Scoring meets sequences


def test_letters_that_cannot_be_scored_are_named():
    sequences = SequenceSet.from_strings({"a": "MKV", "b": "MKxV"}, source="in.fa")
    make_scoring("protein").check_sets(sequences)
    with pytest.raises(AlphabetError) as caught:
        make_scoring("protein", matrix="GONNET1992").check_sets(sequences)
    assert "in.fa: record 2 'b': letter 'x' at position 3 has no score in GONNET1992" in str(
        caught.value
    )
    fine = SequenceSet.from_strings(["MKV"])
    make_scoring("protein", matrix="GONNET1992").check_sets(fine)
    with pytest.raises(AlphabetError, match="record 2 'b'"):
        make_scoring("protein", matrix="GONNET1992").check_sets(fine, sequences)
    with pytest.raises(AlphabetError, match="protein sequences, but the scoring is for dna"):
        make_scoring("dna").check_sets(sequences)


def test_scores_that_may_leave_32_bits_are_refused():
    scoring = make_scoring("dna", match=10**6, mismatch=-(10**6), gap_open=0, mode="local")
    short = SequenceSet.from_strings({"a": "A" * 1000, "b": "A"})
    long = SequenceSet.from_strings({"c": "A" * 2000})
    scoring.check_sets(short)
    scoring.check_sets(short, long)  # at most 1,000 letters match
    with pytest.raises(ScoringError, match="sequences of 2000 and 2000 letters"):
        scoring.check_sets(long)
    low, high = scoring.score_bounds(1073, 1073)
    assert (low, high < SCORE_LIMIT) == (0, True)
    costly = make_scoring("dna", gap_open=10**6, gap_extend=10**6)
    with pytest.raises(ScoringError, match="could score from -2000000000 to 1000; use"):
        costly.check_sets(
            SequenceSet.from_strings({"a": "A" * 2000}), SequenceSet.from_strings({"b": "A" * 500})
        )


def test_replaced_letters_in_one_sentence():
    blosum = make_scoring("protein")
    plain = SequenceSet.from_strings(["MKVXBZ*"])
    assert blosum.replaced_message(plain) is None
    rare = SequenceSet.from_strings(["MUUuJ", "MO"])
    assert blosum.replaced_message(plain, rare) == (
        "letters without a score of their own in BLOSUM62: "
        "U scored as C (3), O scored as K (1), J scored as the better of I and L (1)"
    )
    assert make_scoring("protein", matrix="BLASTP").replaced_message(rare) is None
    dna = SequenceSet.from_strings(["ACGTUEE", "XAe"], alphabet="dna")
    assert make_scoring("dna").replaced_message(dna, dna) == (
        "letters without a score of their own in match 2, mismatch -3: "
        "E read as N (6), X read as N (2)"
    )


# The golden scores


def test_golden_scores_are_ready_for_engines():
    rows = load_golden()
    assert len(rows) == 94
    assert len({row.id for row in rows}) == 94
    assert {row.mode for row in rows} == {"semiglobal", "local"}
    for row in rows:
        scoring, sequences = row.scoring(), row.sequences()
        scoring.check_sets(sequences)
        low, high = scoring.score_bounds(len(row.query), len(row.target))
        assert low <= row.raw_score() <= high
        assert Decimal(scoring.format_score(row.raw_score())) == row.score
