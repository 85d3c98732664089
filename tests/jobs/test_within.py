"""Pairs within groups are those of all pairs whose sequences have one group."""

from pathlib import Path

import pytest

import pairalign
from pairalign.errors import CapacityError, FormatError, PairListError, SplitError, UsageError

PROTEINS = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
SET = pairalign.read_fasta(PROTEINS)[:24]
CLUSTERS = pairalign.cluster(SET, min_identity=0.4, device="cpu")
GROUPS = dict(zip(SET.names, CLUSTERS.labels.tolist(), strict=True))


def rows_of(found: pairalign.Alignments) -> set[tuple[int, int, int, str]]:
    return {(one.query_index, one.target_index, one.raw_score, one.cigar) for one in found}


def expected() -> set[tuple[int, int, int, str]]:
    labels = CLUSTERS.labels
    every = rows_of(pairalign.align(SET, device="cpu"))
    return {row for row in every if labels[row[0]] == labels[row[1]]}


@pytest.mark.parametrize("ending", ["tsv", "csv", "uc", "clstr", "folds", None])
def test_pairs_within_clusters(ending, tmp_path):
    """A name without a group has no pairs; that is also what removed sequences of folds have."""
    within: object = CLUSTERS
    if ending == "folds":
        within = {**GROUPS, SET.names[0]: None}
    elif ending == "csv":
        within = tmp_path / "groups.csv"
        within.write_text("".join(["name,cluster\n", *(f"{n},{g}\n" for n, g in GROUPS.items())]))
    elif ending is not None:
        within = tmp_path / f"clusters.{ending}"
        CLUSTERS.write(within)
    wanted = {row for row in expected() if ending != "folds" or 0 not in row[:2]}
    assert len(wanted) > 20
    found = pairalign.align(SET, within=within, device="cpu")
    assert len(found) == len(wanted)
    assert rows_of(found) == wanted


def test_canonical_queries_and_best_hits():
    for options in ({"orient": "canonical"}, {"max_hits": 1}):
        all_hits = pairalign.align(SET, device="cpu", **options)
        found = pairalign.align(SET, within=GROUPS, device="cpu", **options)
        same = {frozenset((one.query.name, one.target.name)) for one in found}
        assert same
        assert all(GROUPS[one] == GROUPS[other] for one, other in map(tuple, same))
        known = {(a.query.name, a.target.name): a.cigar for a in all_hits}
        assert all(known.get((a.query.name, a.target.name), a.cigar) == a.cigar for a in found)


@pytest.mark.parametrize(
    ("within", "error", "said"),
    [
        ({"none": 1, **GROUPS}, SplitError, "within: item 1: no sequence 'none'"),
        (dict.fromkeys(SET.names[:1], 1), PairListError, "within: no group has two sequences"),
        (dict.fromkeys(SET.names, float("nan")), SplitError, "within: no sequence is named"),
        (7, TypeError, "within: found int"),
    ],
)
def test_what_is_no_groups_is_refused(within, error, said):
    with pytest.raises(error, match=said):
        pairalign.align(SET, within=within)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("g.txt", "name\tfold\n{}\t1\n{}\t1\n", None),
        ("g.txt", "{}\t1\n{}\t1\n", "does not tell .* a first line with name and fold, or cluster"),
        ("g.csv", "{},1\n{},1\n", "no column fold"),
        ("g.tsv", "{}\t1\n{}\t1\n", "representative and member of line 1: no sequence '1'"),
    ],
)
def test_a_header_or_an_ending_tells_which_table_it_is(name, text, said, tmp_path):
    path = tmp_path / name
    path.write_text(text.format(*SET.names[:2]))
    if said is None:
        assert len(pairalign.align(SET, within=path, device="cpu")) == 1
        return
    with pytest.raises((FormatError, SplitError), match=said):
        pairalign.align(SET, within=path)


def test_two_sets_and_too_many_pairs_are_refused():
    with pytest.raises(UsageError, match="within is of groups of one set"):
        pairalign.align(SET, SET, within=GROUPS)
    with pytest.raises(UsageError, match="pairs and within both say"):
        pairalign.align(SET, within=GROUPS, pairs=[(0, 1)])
    with pytest.raises(CapacityError, match=r"within: the list of 276 pairs within groups needs"):
        pairalign.align(SET, within=dict.fromkeys(SET.names, 1), memory=10_000)
