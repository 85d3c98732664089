"""Before anything is timed: are the scores those of the peers, and are the CIGARs worth them?"""

from __future__ import annotations

import numpy as np

from bench import ours
from bench.data import Sample
from bench.peers import Parasail, Peer
from pairalign.alignments.alignments import concatenate
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring


def expected_scores(sample: Sample, mode: str, parasail: Parasail) -> np.ndarray:
    """Scores of all pairs from parasail's 32-bit scan kernel."""
    scores = parasail.job(parasail.oracle(mode), sample, mode, False)()
    return at_least_nothing(scores, mode)


def at_least_nothing(scores: np.ndarray, mode: str) -> np.ndarray:
    """Peers do not count the border cells, where nothing is aligned, as an end: H = 0 there."""
    return np.maximum(scores, 0) if mode == "semiglobal" else scores


def check_ours(sample: Sample, mode: str, expected: np.ndarray) -> int:
    """Check scores with every level of detail, and rescore every CIGAR; returns how many."""
    scoring = ours.scoring_of(mode)
    only_scores = concatenate(ours.align(sample.sequences, scoring, Detail.SCORE))
    found = concatenate(ours.align(sample.sequences, scoring, Detail.CIGAR))
    place = pair_number(found.query, found.target, len(sample.sequences))
    if not np.array_equal(only_scores.raw_score, found.raw_score):
        raise SystemExit(f"{mode}: scores with and without CIGARs differ")
    wrong = np.flatnonzero(found.raw_score != expected[place])
    if len(wrong):
        k = int(wrong[0])
        raise SystemExit(
            f"{mode}: {len(wrong)} scores differ; pair {found.query[k]}, {found.target[k]}: "
            f"pairalign {found.raw_score[k]}, parasail {expected[place[k]]}"
        )
    codes = [sample.sequences.codes_of(index) for index in range(len(sample.sequences))]
    for k in range(len(found)):
        rescore(scoring, codes, found, k)
    return len(found)


def rescore(scoring: Scoring, codes: list[np.ndarray], found: object, k: int) -> None:
    """Score alignment `k` from its residues and CIGAR alone."""
    offsets = found.cigar_offsets  # type: ignore[attr-defined]
    spans = ("query_start", "query_end", "target_start", "target_end")
    score = scoring.rescore(
        codes[found.query[k]],  # type: ignore[attr-defined]
        codes[found.target[k]],  # type: ignore[attr-defined]
        found.cigar[offsets[k] : offsets[k + 1]],  # type: ignore[attr-defined]
        **{name: int(getattr(found, name)[k]) for name in spans},
    )
    if score != found.raw_score[k]:  # type: ignore[attr-defined]
        raise SystemExit(f"pair {k}: score {found.raw_score[k]}, its CIGAR {score}")  # type: ignore[attr-defined]


def pair_number(rows: np.ndarray, columns: np.ndarray, count: int) -> np.ndarray:
    """Place of the pairs row < column among all pairs row by row."""
    rows = rows.astype(np.int64)
    return rows * count - rows * (rows + 1) // 2 + columns - rows - 1


def check_peer(
    peer: Peer, kernel: str, sample: Sample, mode: str, cigar: bool, expected: np.ndarray
) -> str | None:
    """A line about a peer whose scores are not the expected ones; it is not worth timing."""
    scores = at_least_nothing(peer.job(kernel, sample, mode, cigar)(), mode)
    wrong = int((scores != expected).sum())
    return f"{peer.name} {kernel}, {mode}: {wrong} wrong scores; not timed" if wrong else None
