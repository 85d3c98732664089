"""Random sequence sets and random alignments of them, for tests of whatever takes Alignments."""

import itertools
import re

import numpy as np

from pairalign.pairs.want import Detail
from pairalign.results.alignments_result import Alignments
from pairalign.results.distances_result import DistanceMatrix
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH, MISMATCH
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYVBZXUarndcq", "dna": "ACGTacgtN"}


def random_set(rng, lengths, alphabet="protein", prefix="s"):
    letters = np.array(list(LETTERS[alphabet]))
    strings = ["".join(rng.choice(letters, length)) for length in lengths]
    names = [f"{prefix}{i}" + "é|x" * int(rng.integers(0, 9)) for i in range(len(strings))]
    return SequenceSet.from_strings(strings, names, alphabet=alphabet)


def _random_spans(rng, n, m, mode):
    """Spans of a query of n and a target of m letters that the mode allows."""
    if mode == "global":
        return 0, n, 0, m
    if mode == "local":
        q, t = int(rng.integers(0, n)), int(rng.integers(0, m))
        return q, int(rng.integers(q + 1, n + 1)), t, int(rng.integers(t + 1, m + 1))
    starts, ends = [0, 0], [n, m]
    side = int(rng.integers(0, 2))
    starts[side] = int(rng.integers(0, ends[side]))
    side = int(rng.integers(0, 2))
    ends[side] = int(rng.integers(starts[side] + 1, ends[side] + 1))
    return starts[0], ends[0], starts[1], ends[1]


def _random_ops(rng, query, target, unambiguous, gaps):
    """Operation of every column of a random path through two spans of codes."""
    q = t = 0
    ops = []
    while q < len(query) or t < len(target):
        choices = []
        if q < len(query) and t < len(target):
            same = query[q] == target[t] and query[q] < unambiguous
            choices += [MATCH if same else MISMATCH] * (1 if gaps else 1000)
        if q < len(query):
            choices.append(INSERTION)
        if t < len(target):
            choices.append(DELETION)
        drawn = rng.random() < 0.4 or not ops
        op = choices[rng.integers(len(choices))] if drawn else ops[-1]
        if op in (MATCH, MISMATCH) or op not in choices:
            op = choices[0]
        ops.append(op)
        q += op != DELETION
        t += op != INSERTION
    return ops


def random_alignments(
    rng, queries, targets, scoring: Scoring, pairs, detail=Detail.CIGAR, gaps=True
):
    """Alignments of random pairs along random paths; some are empty where the mode allows."""
    rows, cigar, offsets = [], [], [0]
    for _ in range(pairs):
        i, j = int(rng.integers(len(queries))), int(rng.integers(len(targets)))
        a, b = queries.codes_of(i), targets.codes_of(j)
        if scoring.mode != "global" and rng.random() < 0.1:
            rows.append((i, j, 0, *[0] * 8))
            offsets.append(len(cigar))
            continue
        q, q_end, t, t_end = _random_spans(rng, len(a), len(b), scoring.mode)
        ops = _random_ops(rng, a[q:q_end], b[t:t_end], scoring.alphabet.unambiguous, gaps)
        runs = [(op, len(list(group))) for op, group in itertools.groupby(ops)]
        cigar += [length << 4 | op for op, length in runs]
        offsets.append(len(cigar))
        gap_runs = [length for op, length in runs if op in (INSERTION, DELETION)]
        score = int(rng.integers(-3000, 3000))
        counts = ops.count(MATCH), ops.count(MISMATCH), len(gap_runs), sum(gap_runs)
        rows.append((i, j, score, q, q_end, t, t_end, *counts))
    columns = np.array(rows, np.int32).reshape(-1, 11).T
    names = ["query", "target", "raw_score"]
    if detail >= Detail.STATS:
        names += ["query_start", "query_end", "target_start", "target_end"]
        names += ["matches", "mismatches", "gap_openings", "gap_residues"]
    extra = {}
    if detail >= Detail.CIGAR:
        extra = {"cigar": np.array(cigar, np.uint32), "cigar_offsets": np.array(offsets)}
    return Alignments(
        queries=queries,
        targets=targets,
        scoring=scoring,
        **dict(zip(names, columns, strict=False)),
        **extra,
    )


def sample(seed, mode="global", alphabet="protein", pairs=30, detail=Detail.CIGAR, **options):
    """Alignments within one random set of sequences of 1 to 150 letters."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 151, 12)
    sequences = random_set(rng, lengths, alphabet)
    scoring = make_scoring(alphabet, mode=mode, **options)
    return random_alignments(rng, sequences, sequences, scoring, pairs, detail)


def needle_sample(mode="semiglobal", **options):
    """The alignment that heads Biopython's copy of EMBOSS needle output, in our terms."""
    first = (
        "KILIVDD----QYGIRILLNEVFNKEGYQTFQAANGLQALDIVTKERPDLVLLDMKIPGMDGIEILKRMKVIDENIRVIIMTAYGELDM"
        "IQESKELGALTHFAK-PFDIDEIRDAV--------"
    )
    second = (
        "-VLLADDHALVRRGFRLMLED--DPEIEIVAEAGDGAQAVKLAGELHPRVVVMDCAMPGMSGMDATKQIRTQWPDIAVLMLTMHSEDTW"
        "VRLALEAGANGYILKSAIDLDLIQ-AVRRVANGET"
    )
    names = {"ref_rec": first, "gi|94968718|receiver": second}
    sequences = SequenceSet.from_strings(names, alphabet="protein", degap=True)
    rows = zip(first[1:-8], second[1:-8], strict=True)
    ops = ["I" if b == "-" else "D" if a == "-" else "=" if a == b else "X" for a, b in rows]
    scoring = make_scoring("protein", mode=mode, gap_open=10, gap_extend="0.5", **options)
    cigar = "".join(f"{len(list(group))}{op}" for op, group in itertools.groupby(ops))
    return one_pair(sequences, scoring, 1120, cigar, (1, 0))


def one_pair(sequences, scoring: Scoring, score, cigar, starts=(0, 0)):
    """The first two sequences along a CIGAR, from starts in both; it says all the counts."""
    runs = [(int(n), "MIDNSHP=X".index(op)) for n, op in re.findall(r"(\d+)([ID=X])", cigar)]
    size = {
        op: sum(n for n, of in runs if of == op) for op in (INSERTION, DELETION, MATCH, MISMATCH)
    }
    aligned = size[MATCH] + size[MISMATCH]
    return Alignments(
        queries=sequences,
        targets=sequences,
        scoring=scoring,
        query=[0],
        target=[1],
        raw_score=[score],
        query_start=[starts[0]],
        query_end=[starts[0] + aligned + size[INSERTION]],
        target_start=[starts[1]],
        target_end=[starts[1] + aligned + size[DELETION]],
        matches=[size[MATCH]],
        mismatches=[size[MISMATCH]],
        gap_openings=[sum(op in (INSERTION, DELETION) for _, op in runs)],
        gap_residues=[size[INSERTION] + size[DELETION]],
        cigar=[n << 4 | op for n, op in runs],
        cigar_offsets=[0, len(runs)],
    )


# ---------------------------------------------------------------------------------------------
# The triangle


def random_distances(count: int, largest: float = 1.0) -> DistanceMatrix:
    values = np.random.default_rng(count).random(number_of_pairs(count)) * largest
    return DistanceMatrix([f"s{k}" for k in range(count)], values.astype(np.float32))
