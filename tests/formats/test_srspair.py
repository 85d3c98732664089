"""EMBOSS pairs: as EMBOSS needle prints them, and as Biopython reads them back."""

import io
import itertools

import numpy as np
from Bio import Align, AlignIO
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import needle_sample, one_pair, random_set, sample
from strategies import MODES
from written_files import DECIMALS, shown, written

from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet


def confuses_bio_align(alignments):
    """Whether Bio.Align sees a reversed row: just one letter in the first row that has any."""
    for a in alignments:
        for row in a.rows():
            counts = [len(row[i : i + 50].replace("-", "")) for i in range(0, len(row), 50)]
            if next((count for count in counts if count), 0) == 1:
                return True
    return False


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans())
def test_biopython_reads_srspair_back(shared_folder, seed, mode, scaled):
    alignments = sample(seed, mode, pairs=7, **(DECIMALS if scaled else {}))
    pairs = shown(alignments)
    text = written(alignments, "srspair", shared_folder)
    parsed = list(AlignIO.parse(io.StringIO(text), "emboss"))
    assert len(parsed) == len(pairs)
    for p, a in zip(parsed, pairs, strict=True):
        assert [r.id for r in p] == [a.query.name, a.target.name]
        assert tuple(str(r.seq) for r in p) == a.rows()
        columns = len(a.rows()[0])
        assert p.annotations["identity"] == a.matches
        assert p.annotations["gaps"] == columns - a.matches - a.mismatches
        assert p.annotations["score"] == a.score
    if confuses_bio_align(pairs):
        return
    parsed = list(Align.parse(io.StringIO(text), "emboss"))
    assert len(parsed) == len(pairs)
    for p, a in zip(parsed, pairs, strict=True):
        assert (p[0], p[1]) == a.rows()
        converted = a.to_biopython()
        np.testing.assert_array_equal(p.coordinates, converted.coordinates[::-1])
        assert p.annotations["Score"] == a.score
        assert p.annotations["Similarity"] == a.matches + str_markup(a).count(":")
        assert p.column_annotations["emboss_consensus"] == str_markup(a)


def str_markup(a):
    return a._columns()[2]


def test_srspair_looks_like_needle(tmp_path):
    """The layout that EMBOSS needle printed for this pair: numbers, columns and markup."""
    text = written(needle_sample(), "srspair", tmp_path)
    assert text.splitlines()[:4] == [
        "#" * 40,
        "# Program: pairalign",
        "# Align_format: srspair",
        "#" * 40,
    ]
    body = text[text.index("#===") :]
    assert body == SRSPAIR.replace("~", " ")


SRSPAIR = """\
#=======================================
#
# Aligned_sequences: 2
# 1: ref_rec
# 2: gi|94968718|receiver
# Matrix: BLOSUM62
# Gap_penalty: 10.0
# Extend_penalty: 0.5
#
# Length: 124
# Identity:      32/124 (25.8%)
# Similarity:    64/124 (51.6%)
# Gaps:          17/124 (13.7%)
# Score: 112.0
#~
#
#=======================================

ref_rec            1 KILIVDD----QYGIRILLNEVFNKEGYQTFQAANGLQALDIVTKERPDL     46
                      :|:.||    :.|.|::|.:  :.|.....:|.:|.||:.:..:..|.:
gi|94968718|r      1 -VLLADDHALVRRGFRLMLED--DPEIEIVAEAGDGAQAVKLAGELHPRV     47

ref_rec           47 VLLDMKIPGMDGIEILKRMKVIDENIRVIIMTAYGELDMIQESKELGALT     96
                     |::|..:|||.|::..|:::....:|.|:::|.:.|...::.:.|.||..
gi|94968718|r     48 VVMDCAMPGMSGMDATKQIRTQWPDIAVLMLTMHSEDTWVRLALEAGANG     97

ref_rec           97 HFAK-PFDIDEIRDAV--------    111
                     :..| ..|:|.|: ||~~~~~~~~
gi|94968718|r     98 YILKSAIDLDLIQ-AVRRVANGET    120


#---------------------------------------
#---------------------------------------
"""


def test_one_letter_in_the_first_row(tmp_path):
    """EMBOSS prints it so; Bio.Align (1.88) takes "1 M--- 1" for a reversed sequence."""
    sequences = SequenceSet.from_strings(["M" * 120, "MK"], alphabet="protein")
    alignments = one_pair(sequences, make_scoring("protein"), -120, "1=118I1X")
    assert confuses_bio_align(alignments)
    text = written(alignments, "srspair", tmp_path)
    lines = [line for line in text.splitlines() if line.startswith("seq2")]
    assert lines == [
        "seq2               1 M" + "-" * 49 + "      1",
        "seq2               1 " + "-" * 50 + "      1",
        "seq2               2 " + "-" * 19 + "K      2",
    ]
    (parsed,) = AlignIO.parse(io.StringIO(text), "emboss")
    assert tuple(str(r.seq) for r in parsed) == alignments[0].rows()


def test_srspair_at_large_positions(tmp_path):
    rng = np.random.default_rng(8)
    sequences = random_set(rng, [100_200, 1_000_400], "dna")
    scoring = make_scoring("dna", mode="local")
    starts = 100_050, 999_970
    codes = [sequences.codes_of(k)[start : start + 90] for k, start in enumerate(starts)]
    same = (codes[0] == codes[1]) & (codes[0] < 4)
    cigar = "".join(f"{len(list(group))}{'X='[int(op)]}" for op, group in itertools.groupby(same))
    alignments = one_pair(sequences, scoring, -3, cigar, starts)
    text = written(alignments, "srspair", tmp_path)
    (one,) = AlignIO.parse(io.StringIO(text), "emboss")
    assert tuple(str(r.seq) for r in one) == alignments[0].rows()
    (two,) = Align.parse(io.StringIO(text), "emboss")
    np.testing.assert_array_equal(two.coordinates, [[s, s + 90] for s in starts])
    assert two.annotations["Score"] == -3
