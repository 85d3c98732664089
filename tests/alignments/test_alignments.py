import io
import itertools

import numpy as np
import pytest
from Bio import Align
from checks import concatenate
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_pair, random_alignments, sample
from strategies import MODES

from pairalign.errors import UsageError
from pairalign.pairs.want import Detail
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

FIELDS = (
    *("query", "target", "raw_score", "query_start", "query_end", "target_start", "target_end"),
    *("matches", "mismatches", "gap_openings", "gap_residues", "cigar", "cigar_offsets"),
)


def assert_equal(a, b):
    assert a.queries is b.queries
    assert a.targets is b.targets
    assert a.scoring == b.scoring
    for name in FIELDS:
        one, two = getattr(a, name), getattr(b, name)
        assert (one is None) == (two is None), name
        if one is not None:
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two, err_msg=name)


def small(mode="global", **options):
    """MKVLAW against MVLAAY along 1=1I3=1D1X, with a lower-case letter."""
    sequences = SequenceSet.from_strings(
        {"first": "MKVLaW", "second": "MVLAAY"}, alphabet="protein"
    )
    return one_pair(sequences, make_scoring("protein", mode=mode, **options), -7, "1=1I3=1D1X")


def test_fields_have_the_documented_types():
    alignments = sample(1)
    for name in FIELDS:
        expected = {"cigar": np.uint32, "cigar_offsets": np.int64}.get(name, np.int32)
        assert getattr(alignments, name).dtype == expected
    assert alignments.columns.dtype == np.int32
    assert alignments.identity.dtype == np.float64


def test_arrays_of_the_right_type_are_not_copied():
    query = np.zeros(3, np.int32)
    sequences = small().queries
    alignments = Alignments(
        queries=sequences,
        targets=sequences,
        scoring=make_scoring("protein"),
        query=query,
        target=query + 1,
        raw_score=query,
    )
    assert alignments.query is query
    assert not alignments.has_stats
    assert not alignments.has_cigar


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [1, 1]}, "'target' has shape"),
        ({"matches": None}, "all together"),
        ({"cigar": None}, "come together"),
        ({"cigar_offsets": [0]}, "expected \\(2,\\)"),
        ({"cigar_offsets": [0, 6]}, "at most 5"),
        ({"cigar_offsets": [3, 2]}, "rise"),
        ({"cigar_offsets": [-1, 5]}, "rise"),
    ],
)
def test_fields_that_do_not_fit_are_refused(change, message):
    good = small()
    fields = {name: getattr(good, name) for name in FIELDS} | change
    with pytest.raises(UsageError, match=message):
        Alignments(queries=good.queries, targets=good.targets, scoring=good.scoring, **fields)


def test_score_is_exact_integers_or_scaled_floats():
    assert small().score.dtype == np.int32
    assert small().score[0] == -7
    scaled = small(gap_open="10", gap_extend="0.5")
    assert scaled.scoring.scale == 10
    assert scaled.score.dtype == np.float64
    assert scaled.score[0] == -0.7
    assert scaled[0].score == -0.7
    assert isinstance(small()[0].score, int)


def test_identity_of_nothing_is_nan():
    alignments = sample(3, "local", pairs=60)
    empty = alignments.columns == 0
    assert empty.any()
    assert np.isnan(alignments.identity[empty]).all()
    assert np.isnan(alignments[int(np.argmax(empty))].identity)
    assert (alignments.identity[~empty] <= 1).all()


def test_view_shows_one_pair():
    a = small()[0]
    assert (a.query.name, a.target.name) == ("first", "second")
    assert (a.query_index, a.target_index) == (0, 1)
    assert a.cigar == "1=1I3=1D1X"
    assert a.rows() == ("MKVLa-W", "M-VLAAY")
    assert (a.query_start, a.query_end, a.target_start, a.target_end) == (0, 6, 0, 6)
    assert (a.matches, a.mismatches, a.gap_openings, a.gap_residues, a.columns) == (4, 1, 2, 2, 7)
    assert a.identity == 4 / 7
    assert repr(a) == "<Alignment: first x second, score -7>"
    assert str(a) == (
        "first x second\n"
        "score -7, 4 of 7 columns identical (57.1%), 2 residues in 2 gaps\n"
        "\n"
        "first  1 MKVLa-W 6\n"
        "         | ||| :\n"
        "second 1 M-VLAAY 6\n"
    )


def test_text_is_cut_into_blocks_with_positions():
    sequences = SequenceSet.from_strings(["A" * 130, "A" * 70], alphabet="dna")
    a = one_pair(sequences, make_scoring("dna", mode="semiglobal"), 140, "70=", (60, 0))[0]
    lines = str(a).splitlines()[3:]
    assert lines == [
        "seq1   1 " + "A" * 60 + " 60",
        "",
        "seq2   0 " + "-" * 60 + " 0",
        "",
        "seq1  61 " + "A" * 60 + " 120",
        "         " + "|" * 60,
        "seq2   1 " + "A" * 60 + " 60",
        "",
        "seq1 121 " + "A" * 10 + " 130",
        "         " + "|" * 10,
        "seq2  61 " + "A" * 10 + " 70",
    ]


def test_indexing_and_iteration():
    alignments = sample(5)
    assert len(list(alignments)) == len(alignments) == 30
    assert alignments[-1].index == 29
    with pytest.raises(IndexError):
        alignments[30]
    with pytest.raises(TypeError):
        alignments["1"]
    assert "30 pairs" in repr(alignments)
    assert np.shares_memory(alignments[3:9].matches, alignments.matches)


@settings(max_examples=examples(40))
@given(
    st.integers(0, 2**32),
    st.sampled_from(list(Detail)),
    st.one_of(st.none(), st.integers(-9, 9)),
    st.one_of(st.none(), st.integers(-9, 9)),
    st.sampled_from([None, 1, 2, -1, -3]),
)
def test_slices_and_take_agree_with_single_views(seed, detail, start, stop, step):
    alignments = sample(seed, pairs=6, detail=detail)
    positions = range(6)[start:stop:step]
    part = alignments[start:stop:step]
    assert_equal(part, alignments.take(list(positions)))
    mask = np.zeros(6, bool)
    mask[list(positions)] = True
    assert_equal(alignments.take(mask), alignments.take(sorted(positions)))
    for view, position in zip(part, positions, strict=True):
        assert view.raw_score == alignments[position].raw_score
        if detail == Detail.CIGAR:
            assert view.cigar == alignments[position].cigar
            assert view.rows() == alignments[position].rows()


def test_take_refuses_what_is_not_an_index():
    alignments = sample(5)
    with pytest.raises(UsageError, match="mask has shape"):
        alignments.take([True])
    with pytest.raises(TypeError):
        alignments.take([0.5])
    with pytest.raises(IndexError):
        alignments.take([30])


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(list(Detail)), st.lists(st.integers(0, 9)))
def test_concatenate_undoes_cutting(seed, detail, cuts):
    alignments = sample(seed, pairs=9, detail=detail)
    edges = [0, *sorted(cuts), 9]
    parts = [alignments[a:b] for a, b in itertools.pairwise(edges)]
    assert_equal(concatenate(parts), alignments)


def test_concatenate_refuses_what_does_not_fit():
    alignments = sample(5)
    with pytest.raises(UsageError, match="at least one"):
        concatenate([])
    with pytest.raises(UsageError, match="different sequence sets"):
        concatenate([alignments, sample(6)])
    sets = alignments.queries, alignments.targets
    rng = np.random.default_rng(0)
    other = random_alignments(rng, *sets, make_scoring("protein", gap_open=12), 3)
    with pytest.raises(UsageError, match="different scorings"):
        concatenate([alignments, other])
    other = random_alignments(rng, *sets, alignments.scoring, 3, Detail.STATS)
    with pytest.raises(UsageError, match="different fields"):
        concatenate([alignments, other])


def test_what_was_not_computed_is_said():
    scores = sample(5, detail=Detail.SCORE)
    for name in ("columns", "identity"):
        with pytest.raises(UsageError, match="only scores"):
            getattr(scores, name)
    with pytest.raises(UsageError, match="only scores"):
        scores[0].query_start  # noqa: B018
    assert str(scores[0]).count("\n") == 2
    stats = sample(5, detail=Detail.STATS)
    with pytest.raises(UsageError, match="CIGARs were not computed"):
        stats[0].rows()
    assert "identical" in str(stats[0])


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**32))
def test_rows_are_the_sequences(mode, seed):
    for a in sample(seed, mode, pairs=5):
        query, target = a.rows()
        assert len(query) == len(target)
        whole = mode != "local"
        q = a.query.residues if whole else a.query.residues[a.query_start : a.query_end]
        t = a.target.residues if whole else a.target.residues[a.target_start : a.target_end]
        assert query.replace("-", "") == q
        assert target.replace("-", "") == t
        if a.columns == 0:
            assert a.cigar == "*"
            assert "nothing aligned" in str(a)
            continue
        shown = [line for line in str(a).splitlines()[3:] if line]
        rows = [line.split()[2] for line in shown if line.startswith(("s", "é"))]
        assert ("".join(rows[::2]), "".join(rows[1::2])) == (query, target)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**32))
def test_biopython_gets_the_same_path(mode, seed):
    for a in sample(seed, mode, pairs=5):
        converted = a.to_biopython()
        assert converted.query.id == a.query.name
        assert converted.target.id == a.target.name
        assert converted.score == a.score
        if a.columns == 0 and mode == "local":
            continue
        assert (converted[1], converted[0]) == a.rows()
        written = Align.write([converted], io.StringIO(), "clustal")
        assert written == 1
