"""Overlaps of candidates alone: the bytes that they have among all pairs."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from checks import assert_same
from overlapping import GENOME, changed, find
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.errors import DeviceError, MissingPackageError, PairListError
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.jobs.overlaps.seeded_candidates import _short_seed, seed_candidates
from pairalign.pairs.windows import Window
from pairalign.reads.candidates import CandidateStrands, read_candidates
from pairalign.sequences.sets import SequenceSet


def reads_of(count: int = 14) -> dict[str, str]:
    """Reads of a circle of 700 letters, of both strands."""
    rng = np.random.default_rng(2)
    circle = 3 * GENOME[:700]
    reads = {}
    for k in range(count):
        start = int(rng.integers(0, 700))
        piece = changed(circle[start : start + int(rng.integers(200, 900))], 0.02, k)
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    return reads


OPTIONS = {"preset": "ont", "min_overlap": 80}


def paf_of(lines: list[tuple[str, str, str]]) -> str:
    return "".join(f"{q}\t1\t0\t1\t{s}\t{t}\t1\t0\t1\t1\t1\t0\n" for q, s, t in lines)


def test_all_pairs_as_candidates_change_nothing(tmp_path):
    reads = reads_of()
    names = list(reads)
    pairs = [(a, s, b) for k, a in enumerate(names) for b in names[k:] for s in "+-"]
    path = tmp_path / "all.paf"
    path.write_text(paf_of(pairs[::-1]))
    for options in ({}, {"all_strands": True}, {"mode": "semiglobal", "max_overlaps": 1}):
        every = find(reads, **{**OPTIONS, **options})
        assert_same(
            every.alignments, find(reads, **{**OPTIONS, **options}, candidates=path).alignments
        )
        assert len(every) > 60
        assert (every.strand < 0).sum() > 10


def test_gaps_that_go_on_for_nothing(here):
    reads = reads_of(6)
    Path("r.fa").write_text("".join(f">{name}\n{2 * read}\n" for name, read in reads.items()))
    Path("all.tsv").write_text("".join(f"{a}\t{b}\n" for a in reads for b in reads))
    command = ["overlap", "r.fa", "--preset", "hifi", "--gap-extend=0", "--min-overlap=80", "-q"]
    for gap_open in (6, 30):
        options = [f"--gap-open={gap_open}", "--min-score=60", "--min-identity=0.5"]
        assert main([*command, *options, "-o", "every.paf"]) == 0
        assert main([*command, *options, "--candidates", "all.tsv", "-o", "found.paf"]) == 0
        assert Path("found.paf").read_bytes() == Path("every.paf").read_bytes()
        assert Path("found.paf").stat().st_size > 0


def test_only_candidates_on_their_strands(tmp_path):
    reads = reads_of()
    every = find(reads, **OPTIONS)
    lines, kept = [], np.zeros(len(every), np.bool_)
    chosen = set(list(zip(every.query.tolist(), every.target.tolist(), strict=True))[::3])
    for k, one in enumerate(every.alignments):
        if (one.query_index, one.target_index) in chosen:
            kept[k] = True
            lines.append((one.target.name, "+" if one.strand > 0 else "-", one.query.name))
    path = tmp_path / "some.paf"
    path.write_text(paf_of(lines))
    found = find(reads, **OPTIONS, candidates=path)
    assert_same(every.take(kept).alignments, found.alignments)
    assert found.stages["score"].alignments == 0
    wrong = [(q, "+-"[s == "+"], t) for q, s, t in lines]
    path.write_text(paf_of(wrong))
    assert len(find(reads, **OPTIONS, candidates=path)) < 0.2 * len(found)


def test_names_are_for_both_strands(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("b a\n\nb\ta\nc c\n")
    reads = SequenceSet.from_strings({"a": "ACGT", "b": "ACGTA", "c": "AC"})
    candidates = read_candidates(path, reads)
    assert candidates.strands.tolist() == [1, -1] * 3
    for strand in (1, -1):
        mask = CandidateStrands(candidates, reads).mask_of(Window(0, 0, 3, 0, 3, True), strand)
        assert mask.tolist() == [True, False, False]


def test_wrong_candidates(tmp_path):
    reads = SequenceSet.from_strings({"a": "ACGT", "b": "ACGTA"})
    path = tmp_path / "wrong.txt"
    for text, message in (
        ("a b\na x\n", "line 2: 'x' is not in sequences"),
        ("a\n", "line 1: a name is missing, expected PAF or two names"),
        ("\n", "no pairs"),
        ("", "the file is empty|no pairs"),
    ):
        path.write_text(text)
        with pytest.raises(PairListError, match=message):
            read_candidates(path, reads)
    path.write_text("a a\n")
    with pytest.raises(PairListError, match="only sequences with themselves"):
        find({"a": "ACGT", "b": "ACGTA"}, candidates=path)


def test_command(tmp_path, capsys):
    reads = tmp_path / "reads.fa"
    reads.write_text("".join(f">{name}\n{one}\n" for name, one in reads_of().items()))
    one, two = tmp_path / "one.paf", tmp_path / "two.paf"
    command = ["overlap", str(reads), "--device", "cpu", "--preset", "ont", "--min-overlap", "80"]
    assert main([*command, "-o", str(one)]) == 0
    assert main([*command, "-o", str(two), "--candidates", str(one)]) == 0
    assert one.read_bytes() == two.read_bytes()
    said = capsys.readouterr().err
    assert "on their strands" in said


# ---------------------------------------------------------------------------------------------
# By mappy


def test_mappy_finds_what_there_is():
    """Overlaps of 200 letters and more, as among all pairs, whatever the threads."""
    pytest.importorskip("mappy")
    reads = reads_of()
    every = find(reads, **OPTIONS)
    found = find(reads, **OPTIONS, candidates="mappy")
    again = find(reads, **OPTIONS, candidates="mappy", threads=3)
    assert_same(found.alignments, again.alignments)
    assert found.stages["score"].alignments == 0

    def keys(overlaps: pairalign.Overlaps) -> list[tuple[int, ...]]:
        names = ("query", "target", "strand", "query_start", "query_end", "target_start", "score")
        columns = (getattr(overlaps, name).tolist() for name in names)
        return list(zip(*columns, strict=True))

    assert set(keys(found)) <= set(keys(every))
    long = every.take(every.columns >= 200)
    assert set(keys(long)) <= set(keys(found))
    assert len(long) > 40
    assert (long.strand < 0).sum() > 10


def test_the_summary_says_what_mappy_took(tmp_path, capsys):
    pytest.importorskip("mappy")
    path = tmp_path / "r.fa"
    path.write_text("".join(f">{name}\n{one}\n" for name, one in reads_of().items()))
    command = ["overlap", str(path), "--device", "cpu", "-o", str(tmp_path / "o.paf")]
    assert main([*command, "--candidates", "mappy"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"^ *candidates  \d+ in \d+\.\d\d s$", said, re.MULTILINE)
    assert re.search(r"^ *time  \S+ s, \d+\.\d\d of it writing(, |$)", said, re.MULTILINE)


def test_mappy_finds_overlaps_of_very_noisy_reads():
    """A pair that shares 560 letters with 13% errors each has few seeds, and short chains."""
    pytest.importorskip("mappy")
    rng = np.random.default_rng(4)
    genome = "".join(rng.choice(list("ACGT"), 12_000))
    starts = rng.integers(0, 10_500, 60).tolist()
    reads = {
        f"{k}_{start}": changed(genome[start : start + 1500], 0.15, k)
        for k, start in enumerate(starts)
    }
    names = list(reads)
    found = pairalign.overlap(reads, device="cpu", max_overlaps=1, candidates="mappy")
    pairs = {(min(q, t), max(q, t)) for q, t in zip(found.query, found.target, strict=True)}
    true = {
        (j, k)
        for k in range(len(names))
        for j in range(k)
        if abs(starts[j] - starts[k]) <= 1500 - 560
    }
    assert len(true) > 200
    assert len(true - pairs) <= 0.01 * len(true)


def test_seeds_are_shorter_in_small_sets():
    """But not where A and T are many: there short words are everywhere."""
    rng = np.random.default_rng(1)

    def reads_with(shares: list[float], letters: int) -> SequenceSet:
        return SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), letters, p=shares))] * 2)

    even, rich = [0.25] * 4, [0.4, 0.1, 0.1, 0.4]
    found = [_short_seed(reads_with(even, letters)) for letters in (100_000, 300_000, 700_000)]
    assert found == [10, 11, 12]
    assert _short_seed(reads_with(rich, 100_000)) == 12
    assert _short_seed(SequenceSet.from_strings(["N" * 50] * 2, alphabet="dna")) == 10


def test_mappy_finds_overlaps_of_accurate_reads_rich_in_a_and_t():
    """With seeds of reads without their runs of a base, this took minutes."""
    pytest.importorskip("mappy")
    rng = np.random.default_rng(5)
    circle = 2 * "".join(rng.choice(list("ACGT"), 12_000, p=[0.45, 0.05, 0.05, 0.45]))
    starts = rng.integers(0, 12_000, 24).tolist()
    reads = SequenceSet.from_strings(
        [changed(circle[start : start + 5000], 0.002, k) for k, start in enumerate(starts)]
    )
    found = seed_candidates(reads, PRESETS["hifi"], 500, 2)
    pairs = set(map(tuple, np.transpose([found.first, found.second, found.strands]).tolist()))
    apart = {(j, k): (starts[j] - starts[k]) % 12_000 for k in range(24) for j in range(k)}
    true = {(j, k, 1) for (j, k), way in apart.items() if min(way, 12_000 - way) <= 5000 - 550}
    assert len(true) > 100
    assert true <= pairs
    assert len(pairs) < 1.3 * len(true)


def test_mappy_that_fails_is_an_error(monkeypatch):
    pytest.importorskip("mappy")
    monkeypatch.setattr("pairalign.jobs.overlaps.seeded_candidates._BAND", "wide")
    with pytest.raises(DeviceError, match=r"(?s)failed \(exit code 1\): .*TypeError"):
        seed_candidates(SequenceSet.from_strings(reads_of()), PRESETS["ont"], 500, 2)


def test_mappy_finds_noisy_amplicons():
    """Whole reads of 600 letters with 13% errors each may share fewer than three seeds of 12."""
    pytest.importorskip("mappy")
    reads = [changed(GENOME[:600], 0.15, k) for k in range(20)]
    found = pairalign.overlap(reads, device="cpu", candidates="mappy")
    assert len(found) == 190


def test_mappy_finds_nothing_or_is_missing(tmp_path, monkeypatch, capsys):
    reads = {"a": GENOME[:300], "b": GENOME[900:1200]}
    if importlib.util.find_spec("mappy") is not None:
        with pytest.raises(PairListError, match="mappy finds no two reads that share seeds"):
            find(reads, **OPTIONS, candidates="mappy")
    monkeypatch.setitem(sys.modules, "mappy", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pairalign\[overlap\]'"):
        find(reads, **OPTIONS, candidates="mappy")
    missing = tmp_path / "missing.fa"
    assert main(["overlap", str(missing), "--candidates", "mappy", "-o", "-"]) == 1
    assert "--candidates mappy needs mappy, which is not installed" in capsys.readouterr().err
