"""Substitution matrices: laws, names and files, scales, and files that are refused."""

from fractions import Fraction

import numpy as np
import pytest
from Bio.Align import substitution_matrices
from hypothesis import given
from hypothesis import strategies as st
from scorings import code, score, scorings

from pairalign.errors import AlphabetError, ScoringError
from pairalign.scoring.matrices import common_scale, known_names, load_table, to_decimal
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.sets import SequenceSet

PROTEIN_NAMES = [
    name
    for name in substitution_matrices.load()
    if set("ARNDCQEGHILKMFPSTWYV") <= set(substitution_matrices.load(name).alphabet)
]


SINGLE = [name for name in substitution_matrices.load() if name != "SCHNEIDER"]  # of codons
DNA_NAMES = ["BLASTN", "HOXD70", "MEGABLAST", "NUC.4.4", "TRANS"]


@pytest.mark.parametrize("name", SINGLE)
def test_published_matrices_are_biopythons(name):
    theirs, ours = substitution_matrices.load(name), load_table(name)
    assert ours.letters == list(theirs.alphabet)
    assert {pair: float(score) for pair, score in ours.scores.items()} == dict(theirs.items())


def write_matrix(path, letters: str, value, rows: str | None = None) -> None:
    """A file in NCBI's format with the scores ``value(row, column)``."""
    lines = ["# made by a test", "   " + "  ".join(letters)]
    for row in letters if rows is None else rows:
        lines.append(" ".join([row, *(str(value(row, column)) for column in letters)]))
    path.write_text("\n".join(lines) + "\n")


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
            same = a == b and a < DNA.unambiguous
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


def test_a_name_wins_over_a_file_unless_it_has_a_folder(here):
    write_matrix(here / "NUC.4.4", "ACGT", lambda a, b: 9 if a == b else -9)
    write_matrix(here / "other", "ACGT", lambda a, b: 8 if a == b else -9)
    assert make_scoring("dna", matrix="NUC.4.4").max_score == 5
    assert make_scoring("dna", matrix="./NUC.4.4").max_score == 9
    assert make_scoring("dna", matrix=here / "NUC.4.4").max_score == 9
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
        scoring.check_sets(SequenceSet.from_strings(["MK*K"]))


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
        ("# only a comment\n", "no matrix in the file"),
        (IDENTITY + "N 0 0 0 0\n", "line 6: row 'N' has no column, expected a square matrix"),
        (IDENTITY + "A 1 0 0 0\n", "line 6: a second row for 'A'"),
        (IDENTITY.replace("A C", "A A"), "line 1: two columns for 'A'"),
        (IDENTITY.replace("C 0 1 0 0", "C 0 1 0 0 0"), "line 3: row 'C' has 5 scores, expected 4"),
        (IDENTITY.replace("C 0 1", "C 0 nan"), "'C' against 'C': 'nan' is not a finite number"),
        (IDENTITY.replace("C 0 1", "C 0 inf"), "'inf' is not a finite number"),
        (IDENTITY.replace("C 0 1", "C 0 1e30"), "1e30 is out of range"),
        (IDENTITY.replace("C 0 1", "C 0 1.0000001"), "1.0000001 has more than 6 decimals"),
        (IDENTITY.replace("  A C", "  AB C"), "line 1: found 'AB' where a single letter"),
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
    with pytest.raises(ScoringError, match=r"'BLOSUM63': neither a file nor .* BLOSUM62, BLOSUM65"):
        load_table("BLOSUM63")
    with pytest.raises(ScoringError, match="neither a file nor a known name"):
        load_table("SCHNEIDER")


def test_to_decimal_names_what_is_wrong():
    with pytest.raises(ScoringError, match=r"^match: '1,5' is not a number$"):
        to_decimal("1,5", "match")


# NCBI's matrices that Biopython lacks

NCBI_NAMES = [f"PAM{k}" for k in range(10, 501, 10) if k not in (30, 70, 250)]
NCBI_NAMES += [f"BLOSUM{k}" for k in (30, 35, 40, 55, 60, 65, 70, 75, 85, 100)]


def test_those_that_biopython_lacks_are_known():
    assert set(NCBI_NAMES) == set(known_names()) - set(substitution_matrices.load())
    assert make_scoring(PROTEIN, matrix="epam120").matrix_name == "PAM120"


@pytest.mark.parametrize("name", NCBI_NAMES)
def test_ncbis_matrices_are_those_of_other_programs(name):
    """parasail and biotite have them each from NCBI."""
    parasail = pytest.importorskip("parasail")
    align = pytest.importorskip("biotite.sequence.align")
    biotite = align.SubstitutionMatrix.dict_from_db(name)
    table = load_table(name)
    assert "".join(table.letters) == "ARNDCQEGHILKMFPSTWYVBZX*"
    theirs = getattr(parasail, name.lower()).matrix
    for row, one in enumerate(table.letters):
        for column, other in enumerate(table.letters):
            assert table.scores[one, other] == int(theirs[row, column])
            assert table.scores[one, other] == int(biotite[one, other])
