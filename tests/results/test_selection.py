"""What people take of results: by name, mask and rank, as a matrix, a file, a page."""

import numpy as np
import pytest

import pairalign

SEQUENCES = {
    "a": "MVHLTPEEKSAVTALWGKVN",
    "b": "MVHLTPEEKTAVNALWGKVN",
    "c<i>": "MVHLSPEEKTAVNALWGRVD",
    "d": "MSLTKTERTIIVSMWAKIST",
}


@pytest.fixture(scope="module")
def found() -> pairalign.Alignments:
    return pairalign.align(SEQUENCES, device="cpu")


def test_by_names(found):
    assert found["a", "b"].score == found["b", "a"].score == 97
    for names in (("a", "a"), ("a", "x")):
        with pytest.raises(KeyError, match="there is no alignment"):
            found[names]


def test_by_masks_and_numbers(found):
    mask = found.identity > 0.5
    assert 0 < mask.sum() < len(found)
    assert found[mask].query.tolist() == found.query[mask].tolist()
    assert found[mask.tolist()].score.tolist() == found.score[mask].tolist()
    assert found[[2, -1]].score.tolist() == [found[2].score, found[-1].score]
    assert found[np.int64(1)].score == found[1].score
    assert len(found[[]]) == 0
    with pytest.raises(ValueError, match="the mask has shape"):
        found[np.ones(3, bool)]


@pytest.mark.parametrize("measure", ["identity", "score"])
def test_matrix(found, measure):
    matrix = found.matrix(measure)
    own = [pairalign.align_pair(s, s, device="cpu").score for s in SEQUENCES.values()]
    expected = own if measure == "score" else [1.0] * len(own)
    assert np.array_equal(np.diag(matrix), expected, equal_nan=True)
    for one in found:
        value = getattr(one, measure)
        assert matrix[one.query_index, one.target_index] == value
        assert matrix[one.target_index, one.query_index] == value
    with pytest.raises(ValueError, match="expected one of score, bits"):
        found.matrix("scores")


def test_matrix_has_the_best_of_a_pair():
    found = pairalign.align(["ACGTACGTTTTT", "ACGTACGGGG"], mode="local", hsps=3, device="cpu")
    assert len(found) > 1
    assert found.matrix("score")[1, 0] == found.matrix("score")[0, 1] == found.score.max()


def test_matrix_of_two_sets():
    found = pairalign.align(["ACGT"], ["ACGT", "ACGA", "TTTT"], device="cpu")
    assert found.matrix("score").tolist() == [found.score[np.argsort(found.target)].tolist()]


def test_sorted(found):
    assert found.sort_by("score").score.tolist() == sorted(found.score.tolist(), reverse=True)
    rising = found.sort_by("identity", ascending=True).identity
    assert rising.tolist() == sorted(found.identity.tolist())
    local = pairalign.align(SEQUENCES, mode="local", device="cpu").sort_by("evalue")
    assert local.evalue.tolist() == sorted(local.evalue.tolist())


@pytest.mark.parametrize("k", [1, 2])
def test_best(found, k):
    """As `max_hits` has them, a pair once."""
    hits = pairalign.align(SEQUENCES, max_hits=k, device="cpu")
    expected = {frozenset(pair) for pair in zip(hits.query, hits.target, strict=True)}
    best = found.best(k)
    assert {frozenset(pair) for pair in zip(best.query, best.target, strict=True)} == expected
    assert len(best) == len(expected)
    with pytest.raises(ValueError, match="expected 1 or more"):
        found.best(0)


def test_page(found):
    page = found._repr_html_()
    assert "c&lt;i&gt;" in page
    assert "<i>" not in page
    assert page.count("<tr>") == len(found) + 1


def test_distances_as_an_array():
    distances = pairalign.distance(SEQUENCES, device="cpu")
    assert np.asarray(distances).tolist() == distances.square().tolist()
    assert np.asarray(distances, np.float64).dtype == np.float64


def test_a_series_keeps_its_index():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    found = pairalign.align(pandas.Series(SEQUENCES), device="cpu")
    assert found.queries.names == list(SEQUENCES)
    found = pairalign.align(pandas.Series(list(SEQUENCES.values())), device="cpu")
    assert found.queries.names == ["seq1", "seq2", "seq3", "seq4"]


def test_a_pair(found):
    one = pairalign.align_pair(SEQUENCES["a"], SEQUENCES["b"])
    assert (one.score, one.cigar) == (found["a", "b"].score, found["a", "b"].cigar)
    assert (one.query.name, one.target.name) == ("query", "target")
    records = pairalign.SequenceSet.from_strings(SEQUENCES)
    other = pairalign.align_pair(records["b"], records["a"], scoring="PAM250", mode="local")
    assert (other.query.name, other.target.name) == ("b", "a")
    assert other.score == pairalign.align(SEQUENCES, scoring="PAM250", mode="local")["a", "b"].score
    assert pairalign.align_pair("ACGTTGCA", "MKV").score < 0  # one alphabet, of both
    with pytest.raises(TypeError, match=r"item 1 \(\'target\'\)"):
        pairalign.align_pair("MKV", None)


def test_a_stream_gives_what_align_gives(found):
    blocks = list(pairalign.stream(SEQUENCES, window=2, device="cpu"))
    assert len(blocks) > 1
    whole = pairalign.align(SEQUENCES, window=2, device="cpu")
    assert [one.cigar for block in blocks for one in block] == [one.cigar for one in whole]
    with pytest.raises(ValueError, match="detail"):
        pairalign.stream(SEQUENCES, detail="all")
    with pytest.raises(TypeError, match="unexpected keyword argument 'top'"):
        pairalign.stream(SEQUENCES, top=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("options", [{"max_hits": 1}, {"min_identity": 0.5}, {"min_score": 10**6}])
def test_a_stream_has_no_empty_blocks(options):
    blocks = list(pairalign.stream(SEQUENCES, window=2, device="cpu", **options))
    assert all(len(block) for block in blocks)
    assert sum(map(len, blocks)) == len(pairalign.align(SEQUENCES, device="cpu", **options))


def test_public_names_alone():
    assert sorted(dir(pairalign)) == sorted([*pairalign.__all__, "__version__"])
