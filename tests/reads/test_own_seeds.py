"""Candidates by pairalign's own seeds: nothing is missed where runs are forced, else little."""

import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from checks import assert_same
from overlapping import GENOME, changed, find
from simulated_reads import simulate
from strand_problems import other_strand

import pairalign
from pairalign.base.declaration import make
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.seed_index import pairs_with_seeds
from pairalign.jobs.overlaps.overlap_request import OverlapRequest
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.jobs.overlaps.seeded_candidates import recall_of
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.sequences.sets import SequenceSet

ACCURATE = {"preset": "hifi", "min_overlap": 100, "min_identity": 0.95, "min_score": 60}
"""A run of 16 bases is forced."""


def reads_of(share: float, genome: str = GENOME, mean: int = 500) -> dict[str, str]:
    rng = np.random.default_rng(3)
    reads = {}
    for k in range(40):
        start = int(rng.integers(0, len(genome) - 120))
        piece = changed(genome[start : start + int(rng.integers(100, 2 * mean))], share, k)
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    return reads


def noisy_reads() -> dict[str, str]:
    codes = np.random.default_rng(8).integers(0, 4, 8000)
    return simulate(codes, "uneven", coverage=8, mean=1500, seed=2)


@pytest.mark.parametrize("options", [{}, {"all_strands": True}, {"mode": "semiglobal"}])
def test_no_overlap_is_missed_where_runs_are_forced(options):
    """Words of a tandem repeat are in very many places, and N in none."""
    unit = GENOME[:50]
    reads = reads_of(0.01) | {f"t{k}": (30 * unit)[k : 400 + 9 * k] for k in range(12)}
    reads |= {"n": 300 * "N", "short": "ACGT", "some": GENOME[:150] + "N" + GENOME[151:300]}
    every = find(reads, **ACCURATE, **options)
    found = find(reads, **ACCURATE, **options, candidates="seeds")
    assert_same(found.alignments, every.alignments)
    assert len(every) > 200
    assert found.stages["align"].alignments < 2 * len(reads) * len(reads) / 3


def test_noisy_reads_lose_few_overlaps():
    """Reads of one set with 4 to 20% errors; each overlap found has the bytes that it has."""
    reads = noisy_reads()
    options = {"device": "cpu", "max_overlaps": 1, "preset": "ont"}
    every = pairalign.overlap(reads, **options)
    found = pairalign.overlap(reads, **options, candidates="seeds")
    places = [list(zip(one.query, one.target, strict=True)) for one in (every, found)]
    kept = [k for k, pair in enumerate(places[0]) if pair in set(places[1])]
    assert_same(found.alignments, every.take(np.array(kept)).alignments)
    assert len(found) >= 0.99 * len(every) > 100
    assert found.stages["align"].alignments < len(reads) ** 2 / 4


def test_the_weaker_strand_of_a_pair_is_no_overlap():
    """Seeds are near each other on one strand, and the other scores more, though too unlike."""
    reads = Path(__file__).parents[1] / "data" / "strands_of_seeds.fasta"
    options = {
        **{"preset": "ont", "mode": "local", "match": 1, "mismatch": -1, "gap_open": 2},
        **{"gap_extend": 0, "min_overlap": 20, "min_identity": "0.64", "min_score": 20},
        **{"alphabet": "dna", "device": "cpu"},
    }
    assert len(pairalign.overlap(reads, **options)) == 0
    for strands in (False, True):
        found = pairalign.overlap(reads, **options, candidates="seeds", all_strands=strands)
        assert len(found) == 2 * strands


def test_nothing_found_is_an_empty_table():
    reads = {"a": GENOME[:300], "b": GENOME[900:1200]}
    found = pairalign.overlap(reads, candidates="seeds", preset="hifi", device="cpu")
    assert len(found) == len(found.kind) == len(found.alignments.strand) == 0


def test_threads_and_instruction_sets_find_the_same():
    reads = SequenceSet.from_strings(noisy_reads())
    tables = [
        pairs_with_seeds(
            reads,
            PRESETS["ont"].scoring("local"),
            word=8,
            least_seeds=13,
            least_score=40,
            threads=threads,
            instruction_set=isa,
        ).tolist()
        for threads, isa in [(1, None), *((3, one) for one in instruction_sets())]
    ]
    assert all(one == tables[0] for one in tables)
    assert tables[0] == sorted(tables[0], key=lambda row: (row[0], -row[2], row[1]))
    assert len(tables[0]) > 100


def most_points(first: str, second: str, word: int) -> int:
    """Points of the best square of 512 rows and 64 diagonals."""
    places = defaultdict(list)
    for start in range(len(second) - word + 1):
        places[second[start : start + word]].append(start)
    squares: Counter[tuple[int, int]] = Counter()
    for row in range(len(first) - word + 1):
        for start in places[first[row : row + word]]:
            goes_on = row > 0 and start > 0 and first[row - 1] == second[start - 1]
            cell = row >> 8, (row - start + len(second)) >> 5
            for down, across in product(range(2), repeat=2):
                squares[cell[0] + down, cell[1] + across] += 1 if goes_on else 3
    return max(squares.values(), default=0)


def test_points_are_those_of_the_best_square():
    """Of pieces that reads have in common, wherever these are in both."""
    rng = np.random.default_rng(4)
    first = "".join(rng.choice(list("ACGT"), 3000))
    reads = [first]
    for _ in range(40):
        start, stop = np.sort(rng.integers(0, 3000, 2)).tolist()
        other = "".join(rng.choice(list("ACGT"), rng.integers(1, 3000)))
        reads.append(other + first[start : min(stop, start + 60)] + other[::-1][: start // 2])
    word, scoring = 7, PRESETS["ont"].scoring("local")
    most = [most_points(first, one, word) for one in reads[1:]]
    for least in sorted(set(most))[::3]:
        options = {"word": word, "least_seeds": least, "least_score": 0, "threads": 1}
        found = pairs_with_seeds(SequenceSet.from_strings(reads), scoring, **options).tolist()
        partners = [other for read, other, strand in found if read == 0 and strand == 1]
        assert partners == [k for k, points in enumerate(most, 1) if points >= least]


def test_a_score_is_needed_near_seeds():
    """Reads with a run of 16 in common and nothing else are candidates where no score is asked."""
    rng = np.random.default_rng(1)
    first, second = ("".join(rng.choice(list("ACGT"), 900)) for _ in range(2))
    reads = SequenceSet.from_strings([first, second[:500] + first[400:416] + second[500:]])
    scoring = PRESETS["ont"].scoring("local")
    options = {"word": 8, "least_seeds": 11, "threads": 1}
    assert pairs_with_seeds(reads, scoring, **options, least_score=0).tolist() == [[0, 1, 1]]
    assert pairs_with_seeds(reads, scoring, **options, least_score=14).tolist() == [[0, 1, 1]]
    assert pairs_with_seeds(reads, scoring, **options, least_score=60).tolist() == []


def test_seeds_on_the_command_line(here, capsys):
    Path("reads.fa").write_text("".join(f">{n}\n{one}\n" for n, one in noisy_reads().items()))
    command = ["overlap", "reads.fa", "--preset", "ont", "--candidates", "seeds", "--format", "paf"]
    assert main([*command, "-o", "one.paf"]) == 0
    said = capsys.readouterr().err
    assert re.search(
        r"^ *candidates  \d+ in \d+\.\d\d s of [\d,]+: a sample: 99.5% of overlaps", said, re.M
    )
    for k in (2, 1):
        assert main([*command, "-q", "-o", "parts", "--shard", f"{k}/2"]) == 0
    assert main(["merge", "parts", "-o", "all.paf", "-q"]) == 0
    assert Path("all.paf").read_bytes() == Path("one.paf").read_bytes()
    assert Path("one.paf").read_text().count("\n") > 100


@pytest.mark.parametrize("command", [["--preset", "ont"], ["--preset", "hifi"]])
def test_reads_without_common_seeds(command, here, capsys):
    """The file is empty, as that of all pairs is, and so are parts of it."""
    Path("reads.fa").write_text(f">a\n{GENOME[:300]}\n>b\n{GENOME[900:1200]}\n>n\nNNNN\n")
    command = ["overlap", "reads.fa", *command, "--format", "paf", "-o"]
    assert main([*command, "every.paf"]) == 0
    capsys.readouterr()
    assert main([*command, "found.paf", "--candidates", "seeds"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"^ *candidates  0 in ", said, re.M)
    assert re.search(r"^ *overlaps  0: 0 dovetails", said, re.M)
    for k in (1, 2):
        assert main([*command, "parts", "--candidates", "seeds", "--shard", f"{k}/2"]) == 0
    assert main(["merge", "parts", "-o", "merged.paf"]) == 0
    assert all(not Path(f"{one}.paf").read_bytes() for one in ("every", "found", "merged"))


def test_recall_is_said_of_what_it_was_measured_with():
    noisy = OverlapThresholds(80, 500, Fraction(64, 100))
    asked = make(OverlapRequest, {"preset": "ont"})
    assert "99.5% of overlaps were found" in recall_of(noisy, asked)
    for other in ({"min_overlap": 300}, {"min_identity": 0.6}, {"min_score": 50}, {"match": 2}):
        said = recall_of(noisy, make(OverlapRequest, other))
        assert said.endswith("measured with the defaults, and not with what is asked")
    forced = OverlapThresholds(80, 500, Fraction(99, 100))
    assert recall_of(forced, asked) == "no overlap is missed"


def test_parts_of_seeds_and_of_all_pairs(here, capsys):
    Path("reads.fa").write_text("".join(f">{n}\n{one}\n" for n, one in reads_of(0.01).items()))
    command = ["overlap", "reads.fa", "--preset", "hifi", "-q", "--format", "paf", "-o", "parts"]
    assert main([*command, "--shard", "1/2", "--candidates", "seeds"]) == 0
    assert main([*command, "--shard", "2/2"]) == 0
    assert main(["merge", "parts", "-o", "all.paf"]) == 1
    said = capsys.readouterr().err
    assert "not of the same run; candidates: seeds and none; pair_list: given and None" in said


def test_memory_that_is_too_little_for_a_sample(here, capsys):
    Path("reads.fa").write_text(f">a\n{GENOME[:300]}\n>b\n{GENOME[900:1200]}\n")
    assert main(["overlap", "reads.fa", "--memory", "1K", "-o", "out.paf"]) == 1
    said = capsys.readouterr().err
    assert "a sample of the reads cannot be aligned in 1,024 bytes of memory" in said
    assert said.rstrip().endswith("raise --memory")
