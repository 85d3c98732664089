"""Which pairs a report offers: the best of each sequence, as far as there is room."""

import numpy as np
import pytest

import pairalign
from pairalign.jobs.report import report_collector
from pairalign.jobs.report.report_collector import DistanceCollector, ReportCollector
from pairalign.statistics.significance import find_significance

FAMILY = [f"MKVLAAGGW{'TR' * k}{'HKL' * (k % 3)}" for k in range(9)]


def test_pairs_are_chosen_by_use_and_cover_each_sequence(monkeypatch):
    """The best partner of each sequence is there before anybody's second best."""
    monkeypatch.setattr(report_collector, "MOST_PAIRS", 9)
    found = pairalign.align(FAMILY, device="cpu")
    collector = ReportCollector(found.queries, found.targets)
    for start in range(0, len(found), 7):
        collector.add(found[start : start + 7])
    offered = collector.offered()
    ends = {*offered.query.tolist(), *offered.target.tolist()}
    assert ends == set(range(9))
    for k in range(9):
        mine = (found.query == k) | (found.target == k)
        best = found.identity[mine].max()
        assert offered.identity[(offered.query == k) | (offered.target == k)].max() == best
    assert len(offered) <= 9
    assert not collector.is_all
    assert collector.pairs == len(found) == 36


@pytest.mark.parametrize("most", [9, 20, 30, 36])
def test_the_room_is_used(most, monkeypatch):
    """What one sequence has no hits for is there for the hits of others."""
    monkeypatch.setattr(report_collector, "MOST_PAIRS", most)
    found = pairalign.align(FAMILY, device="cpu")
    collector = ReportCollector(found.queries, found.targets)
    for start in range(0, len(found), 7):
        collector.add(found[start : start + 7])
    offered = collector.offered()
    assert offered is not None
    assert 0.75 * most <= len(offered) <= most
    assert collector.is_all == (len(offered) == 36)


def test_local_pairs_are_chosen_by_evalue_or_score(monkeypatch):
    monkeypatch.setattr(report_collector, "MOST_PAIRS", 9)
    found = pairalign.align(FAMILY, mode="local", device="cpu")
    significance = find_significance(found.scoring, found.queries)
    assert significance is not None
    for known in (significance, None):
        collector = ReportCollector(found.queries, found.targets, known)
        collector.add(found)
        assert collector.ranked_by == ("score" if known is None else "E-value")
        values = -found.raw_score if known is None else known.log_evalues(found)
        offered = collector.offered()
        assert offered.raw_score[0] == found.raw_score[np.argmin(values)]


def test_pruning_changes_nothing(monkeypatch):
    generator = np.random.default_rng(4)
    texts = ["".join(generator.choice(list("ACDEFGHIKLMNPQRSTVWY"), 12)) for _ in range(60)]
    found = pairalign.align(texts, device="cpu", detail="stats")
    monkeypatch.setattr(report_collector, "MOST_PAIRS", 120)

    def best(step: int) -> list[tuple[int, int]]:
        _, rank = report_collector.ranking("global", True, None)
        pairs = report_collector.ChosenPairs((60, 60), True, rank)
        for start in range(0, len(found), step):
            pairs.add(found[start : start + step])
        offered = pairs.best()
        return list(zip(offered.query.tolist(), offered.target.tolist(), strict=True))

    assert best(len(found)) == best(50)


def test_long_sequences_are_left_out_not_their_alignments(monkeypatch):
    monkeypatch.setattr(report_collector, "MOST_RESIDUES", 60)
    found = pairalign.align(FAMILY, device="cpu")
    collector = ReportCollector(found.queries, found.targets)
    collector.add(found)
    offered = collector.offered()
    used = {*offered.query.tolist(), *offered.target.tolist()}
    assert sum(len(FAMILY[k]) for k in used) <= 60
    assert offered.has_cigar


def test_histograms_count_all():
    found = pairalign.align(FAMILY, device="cpu")
    collector = ReportCollector(found.queries, found.targets)
    for start in range(0, len(found), 7):
        collector.add(found[start : start + 7])
    identity, coverage, score, lengths = collector.histograms()
    assert identity.counts.sum() == coverage.counts.sum() == score.counts.sum() == 36
    assert (score.edges[0], score.edges[-1]) == (found.score.min(), found.score.max())
    assert lengths.counts.sum() == 9


def test_the_closest_pairs(monkeypatch):
    monkeypatch.setattr(report_collector, "MOST_PAIRS", 9)
    sequences = pairalign.SequenceSet.from_strings(FAMILY)
    scoring = pairalign.make_scoring("protein")
    matrix = pairalign.distance(FAMILY, device="cpu")
    collector = DistanceCollector(sequences, scoring, matrix)
    asked = []

    def realign(pairs):
        asked.extend(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
        return [pairalign.align(FAMILY, pairs=pairs, device="cpu")]

    offered = collector.offered(realign)
    assert offered is not None
    square = matrix.square() + np.diag(np.full(9, np.inf))
    for k in range(9):
        assert min(square[k, i + j - k] for i, j in asked if k in (i, j)) == square[k].min()


def test_pairs_that_cost_too_much_are_not_aligned_again(monkeypatch):
    found = pairalign.align(FAMILY, device="cpu", detail="stats")
    collector = ReportCollector(found.queries, found.targets)
    collector.add(found)
    monkeypatch.setattr("pairalign.jobs.report.report_collector._MOST_CELLS", 2000)
    asked = []

    def realign(pairs):
        asked.append(pairs)
        return [pairalign.align(FAMILY, pairs=pairs, device="cpu")]

    offered = collector.offered(realign)
    assert offered is not None
    (pairs,) = asked
    cells = [
        len(FAMILY[i]) * len(FAMILY[j]) for i, j in zip(pairs.first, pairs.second, strict=True)
    ]
    assert sum(cells) <= 2000
    assert 0 < len(offered) == len(pairs) < len(found)
    assert not collector.is_all
