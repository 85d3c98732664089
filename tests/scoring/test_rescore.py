"""Rescoring: a CIGAR's columns add up to the score, and any damage is found."""

import re
from itertools import groupby

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scorings import codes, score, scorings

from pairalign.errors import ScoringError
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH, MISMATCH
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN


def runs(text: str) -> np.ndarray:
    """The runs of a CIGAR in text form."""
    operations = {"I": INSERTION, "D": DELETION, "=": MATCH, "X": MISMATCH, "M": 0}
    counted = re.findall(r"(\d+)(\D)", text)
    return np.array([int(length) << 4 | operations[one] for length, one in counted], np.uint32)


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
    found = [len(list(same)) << 4 | operation for operation, same in groupby(operations)]
    return np.array(found, np.uint32)


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
        ("global", "ACGT", "ACGT", "3=", {}, "covers 3 residues of the query, but the span"),
        ("global", "ACGT", "ACG", "3=", {}, "covers 3 residues of the query"),
        ("global", "ACG", "ACGT", "3=", {}, "covers 3 residues of the target"),
        ("global", "ACGT", "ACTT", "4=", {}, "= for 'G' at position 3 of the query and 'T' at"),
        ("global", "ACGT", "ACTT", "2=2X", {}, "X for 'T' at position 4 of the query and 'T' at"),
        ("global", "ACNT", "ACNT", "4=", {}, "= for 'N' at position 3 of the query"),
        ("global", "ACGT", "ACGT", "3=", {"query_end": 3, "target_end": 3}, "leave residues out"),
        ("global", "ACGT", "ACGT", "", {"query_end": 0, "target_end": 0}, "leave residues out"),
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
