"""Overlaps: kinds, strands and thresholds, on reads whose overlaps are known."""

import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from checks import assert_same, concatenate
from overlapping import GENOME, changed, described, find
from strand_problems import other_strand

import pairalign
from pairalign.engines import Engine
from pairalign.errors import DeviceError
from pairalign.jobs.overlaps.overlap import align_overlaps
from pairalign.jobs.overlaps.overlap_plan import OverlapProcedure
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.jobs.run import align as job
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, INTERNAL, classify
from pairalign.requests.resources import Resources
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

# ---------------------------------------------------------------------------------------------
# What is found


def test_kinds_and_strands():
    reads = {
        "left": GENOME[:120],
        "right": GENOME[60:200],
        "inside": other_strand(GENOME[70:110]),
        "turned": other_strand(GENOME[150:300]),
        "far": GENOME[1000:1100],
    }
    found = find(reads)
    assert sorted(described(found)) == [
        ("left", "inside", -1, "contains"),
        ("left", "right", 1, "dovetail"),
        ("right", "inside", -1, "contains"),
        ("right", "turned", -1, "dovetail"),
    ]
    assert (found.identity == 1).all()
    spans = {
        (found.reads.names[a.query_index], found.reads.names[a.target_index]): (
            (a.query_start, a.query_end, a.target_start, a.target_end)
        )
        for a in found.alignments
    }
    assert spans["left", "right"] == (60, 120, 0, 60)
    assert spans["left", "inside"] == (70, 110, 0, 40)
    assert spans["right", "turned"] == (90, 140, 100, 150)


def test_duplicates_palindromes_and_both_strands_of_a_read():
    half = GENOME[300:350]
    palindrome = half + other_strand(half)
    reads = {
        "read": GENOME[:100],
        "again": GENOME[:100],
        "turned": other_strand(GENOME[:100]),
        "palindrome": palindrome,
        "palindrome2": palindrome,
    }
    assert sorted(described(find(reads))) == [
        ("again", "turned", -1, "contains"),
        ("palindrome", "palindrome2", 1, "contains"),  # of equal strands plus
        ("read", "again", 1, "contains"),
        ("read", "turned", -1, "contains"),
    ]
    both = find(reads, all_strands=True)
    assert [line for line in described(both) if line[0] == "palindrome"] == [
        ("palindrome", "palindrome2", 1, "contains"),
        ("palindrome", "palindrome2", -1, "contains"),
    ]


def test_ambiguous_and_tiny_reads():
    reads = {
        "n": GENOME[:50] + "N" * 10 + GENOME[60:100],
        "whole": GENOME[:100].lower(),
        "all": "N" * 100,
        "one": "A",
        "two": "T",
    }
    found = find(reads, min_identity=0.5)
    assert described(found) == [("n", "whole", 1, "contains")]
    assert found.matches.tolist() == [90]
    every = find(reads, min_identity=0, min_overlap=1, min_score=1)
    assert ("one", "two", -1, "contains") in described(every)


def test_only_thresholds_decide():
    reads = {"a": GENOME[:200], "b": changed(GENOME[100:300], 0.1, 3)}
    (one,) = find(reads, min_identity=0.5).alignments
    span = min(one.query_end - one.query_start, one.target_end - one.target_start)
    exact = Fraction(one.matches, one.columns)
    for options, count in (
        ({"min_overlap": span, "min_identity": exact, "min_score": one.score}, 1),
        ({"min_overlap": span + 1, "min_identity": 0}, 0),
        ({"min_identity": exact + Fraction(1, 10**9)}, 0),
        ({"min_identity": 0, "min_score": one.score + 1}, 0),
    ):
        assert len(find(reads, **options)) == count, options


def test_the_better_strand_is_kept_and_stages_are_counted():
    """Against the engine alone: both strands of every pair, scored and compared here."""
    rng = np.random.default_rng(11)
    reads = {}
    for k in range(30):
        start = int(rng.integers(0, 1500))
        piece = changed(GENOME[start : start + int(rng.integers(30, 400))], 0.05, k)
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    found = find(reads, min_identity=0.8, filter="none")
    assert len(found) > 30
    assert (found.strand < 0).sum() > 5
    turned = {n: other_strand(s) for n, s in reads.items()}
    scoring = found.alignments.scoring
    for one in found.alignments:
        query, target = one.query.residues, one.target.residues
        scores = [
            int(pairalign.align([query, other], scoring=scoring, detail="score").score[0])
            for other in (target, turned[one.target.name])
        ]
        assert one.score == max(scores)
        assert one.strand == (1 if scores[0] >= scores[1] else -1)
    stages = found.stages
    assert stages["score"].alignments == 30 * 29
    assert stages["score"].passed >= stages["align"].alignments >= len(found)
    assert stages["align"].passed == len(found)
    assert stages["filter"].alignments == 0


def test_short_reads_on_cores_are_filtered_unasked():
    for length, filtered in ((600, 2), (601, 0)):
        found = find({"a": GENOME[:length], "b": GENOME[50:90]})
        assert len(found) == 1
        assert found.stages["filter"].alignments == filtered


@pytest.mark.parametrize("window", [3, 1024])
def test_windows_and_strands_keep_their_order(window):
    reads = SequenceSet.from_strings(
        [GENOME[k : k + 90] for k in range(0, 400, 40)]
        + [other_strand(GENOME[k : k + 80]) for k in range(20, 400, 40)]
    )
    scoring = PRESETS["short"].scoring("semiglobal")
    asked = OverlapProcedure(OverlapThresholds(min_raw_score=5, min_overlap=5, all_strands=True))
    run = align_overlaps(reads, scoring, asked, resources=Resources(device="cpu"), window=window)
    found = concatenate(list(run))
    position = np.argsort(reads.order)
    rows = np.minimum(position[found.query], position[found.target])
    columns = np.maximum(position[found.query], position[found.target])
    order = np.lexsort((-found.strand, columns, rows, columns // window, rows // window))
    assert (order == np.arange(len(found))).all()


def test_local_overlaps_may_be_internal():
    core = GENOME[500:600]
    reads = {"a": 50 * "A" + core + 50 * "A", "b": 60 * "C" + core + 60 * "C"}
    assert described(find(reads, mode="local")) == [("a", "b", 1, "internal")]
    found = find(reads, mode="local").alignments
    assert classify(found, 110).tolist() == [INTERNAL]  # 50 and 50 letters: also 0.8 x 100 is less
    reads = {"a": 10 * "A" + core + 10 * "A", "b": 20 * "C" + core + 5 * "C"}
    found = find(reads, mode="local").alignments
    assert classify(found, 14).tolist() == [INTERNAL]
    assert classify(found, 15).tolist() == [DOVETAIL]


def test_kinds_seen_from_either_side():
    long, part = GENOME[:100], GENOME[20:70]
    assert classify(find({"a": long, "b": part}).alignments).tolist() == [CONTAINS]
    assert classify(find({"b": part, "a": long}).alignments).tolist() == [CONTAINED]


# ---------------------------------------------------------------------------------------------
# Presets and errors


@pytest.mark.parametrize("name", PRESETS)
def test_min_score_loses_no_overlap_that_the_others_let_through(name):
    """Of accurate reads: the worst alignment that is long and alike enough scores no less."""
    preset = PRESETS[name]
    worst = max(-preset.mismatch, preset.gap_open)
    identity = Fraction(str(preset.min_identity))
    a_column = identity * preset.match - (1 - identity) * worst
    if name == "ont":
        assert a_column < 0  # nothing can be promised there; docs/overlaps.md has what was measured
    else:
        assert preset.min_score <= a_column * preset.min_overlap


# ---------------------------------------------------------------------------------------------
# Several overlaps of a pair


def around(start: int, length: int) -> str:
    """Letters of a circle of 600."""
    circle = GENOME[:600]
    return (4 * circle)[start : start + length]


def ways_of(found: pairalign.Overlaps) -> dict[tuple[str, str], list[tuple[int, ...]]]:
    ways: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    for one in found.alignments:
        span = (one.strand, one.query_start, one.query_end, one.target_start, one.target_end)
        ways.setdefault((one.query.name, one.target.name), []).append(span)
    return ways


def test_reads_of_a_circle_overlap_in_every_way():
    reads = {
        "whole": around(0, 600),
        "half": around(300, 600),
        "turned": other_strand(around(300, 600)),
        "twice": around(100, 1200),
    }
    options = {"preset": "hifi", "min_overlap": 100, "min_score": 90}
    ways = ways_of(find(reads, **options))
    assert ways["whole", "half"] == [(1, 0, 300, 300, 600), (1, 300, 600, 0, 300)]
    assert ways["whole", "turned"] == [(-1, 300, 600, 300, 600), (-1, 0, 300, 0, 300)]
    assert sorted(ways["whole", "twice"]) == [
        (1, 0, 100, 1100, 1200),
        (1, 0, 600, 500, 1100),
        (1, 100, 600, 0, 500),
    ]
    once = ways_of(find(reads, **options, max_overlaps=1))
    assert {pair: spans[:1] for pair, spans in ways.items()} == once
    two = ways_of(find(reads, **options, max_overlaps=2))
    assert two["whole", "twice"] == ways["whole", "twice"][:2]
    stages = find(reads, **options).stages["suboptimal"]
    assert stages.alignments == sum(len(spans) for spans in ways.values())
    assert stages.passed == stages.alignments - len(ways)


def test_short_reads_overlap_once_unless_asked():
    reads = {"a": around(0, 600)[:300] + around(0, 100), "b": around(0, 100)}
    assert len(find(reads)) == 1
    assert len(find(reads, max_overlaps=5, mode="local")) == 2
    with pytest.raises(ValueError, match="max_overlaps 0: expected at least 1"):
        find(reads, max_overlaps=0)


class PretendedGpu:
    """The CPU engine as if it were a GPU, whose cores may do other things meanwhile."""

    def __init__(self, engine: Engine, fails: bool) -> None:
        self.name, self.is_gpu, self.on_device = "cuda:0", True, None
        self._engine, self._fails = engine, fails

    def align(self, window: Window, want: Want, pair_mask: Any = None) -> pairalign.Alignments:
        if self._fails and window.strand < 0 and want.detail > Detail.SCORE:
            raise DeviceError("lost")
        return self._engine.align(window, want, pair_mask)

    def cancel(self) -> None:
        self._engine.cancel()

    def close(self) -> None:
        self._engine.close()


def pretend_gpu(monkeypatch: pytest.MonkeyPatch, *, fails: bool = False) -> None:
    opened = job.open_engines
    monkeypatch.setattr(
        job, "open_engines", lambda *a, **k: [PretendedGpu(one, fails) for one in opened(*a, **k)]
    )


def test_suboptimal_overlaps_beside_a_gpu(monkeypatch):
    """They are looked for while it aligns the other strand: the same ones in the same order."""
    reads = {f"r{k}": changed(around(97 * k % 600, 700), 0.03, k) for k in range(7)}
    reads |= {f"t{k}": other_strand(reads[f"r{k}"]) for k in range(3)}
    options: dict[str, Any] = {"preset": "ont", "min_overlap": 100}
    on_cores = {both: find(reads, **options, all_strands=both) for both in (False, True)}
    pretend_gpu(monkeypatch)
    for both, expected in on_cores.items():
        found = find(reads, **options, all_strands=both)
        assert set(found.strand) == {1, -1}
        assert_same(found.alignments, expected.alignments)
        assert found.stages["suboptimal"].passed == expected.stages["suboptimal"].passed > 0


def test_a_gpu_is_given_joined_windows(monkeypatch):
    """They come in the order of windows, also from where a run goes on, and within the memory."""
    letters = [changed(around(31 * k % 600, 90), 0.02, k) for k in range(90)]
    reads = SequenceSet.from_strings([*letters, *map(other_strand, letters[:30])], alphabet=DNA)

    def run(skipped: int, memory_bytes: int = 1 << 30) -> list[pairalign.Alignments]:
        thresholds = OverlapThresholds(28, 40, Fraction("0.95"))
        scoring = PRESETS["short"].scoring()
        asked = OverlapProcedure(thresholds)
        used = Resources(device="cpu", threads=1, memory=memory_bytes)
        planned = align_overlaps(reads, scoring, asked, window=20, resources=used)
        return list(planned.after(skipped))

    whole, rest = run(0), run(1234)
    pretend_gpu(monkeypatch)
    for skipped, memory_bytes, expected in [
        (0, 1 << 30, whole),
        (1234, 1 << 30, rest),
        (0, 8 << 20, whole),
    ]:
        found = run(skipped, memory_bytes)
        assert_same(concatenate(found), concatenate(expected))
        assert len(found) < len(expected)
    assert len(whole) == 21
    assert len(run(0)) == 4 + 1 + 2  # of a row of windows one, but for the last two
    assert set(concatenate(whole).strand.tolist()) == {1, -1}


def test_a_gpu_that_fails_while_suboptimal_overlaps_are_looked_for(monkeypatch):
    reads = {f"r{k}": changed(around(97 * k % 600, 700), 0.03, k) for k in range(4)}
    reads["t"] = other_strand(reads["r0"])
    pretend_gpu(monkeypatch, fails=True)
    before = threading.active_count()
    with pytest.raises(DeviceError, match="lost"):
        find(reads, preset="ont", min_overlap=100)
    assert threading.active_count() == before


def test_costs_instead_of_the_presets():
    reads = {"a": GENOME[:90], "b": GENOME[40:130]}
    found = pairalign.overlap(reads, preset="short", gap_open=7, mismatch=-2, device="cpu")
    scoring, usual = found.alignments.scoring, PRESETS["short"].scoring()
    assert (scoring.gap_open, usual.gap_open) == (7, 5)
    assert scoring.matrix[0, 1] == -2
    assert scoring.matrix[0, 0] == usual.matrix[0, 0]
    assert scoring.gap_extend == usual.gap_extend
    assert PRESETS["short"].scoring("local", gap_open="1").gap_extend == 1
    assert PRESETS["short"].scoring("local", gap_extend="9").gap_open == 9
    with pytest.raises(ValueError, match="a scoring has costs"):
        pairalign.overlap(reads, scoring=usual, match=2)
