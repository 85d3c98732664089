"""Alignments of the highest expected accuracy, and how sure columns of any alignment are."""

from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from posterior_reference import posteriors as defined

import pairalign
from pairalign.alignments.calibration import calibrate
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.scoring.posterior_models import posterior_model
from pairalign.sequences.sets import SequenceSet

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")


def family(seed: int, lengths: list[int], alphabet: str = "protein") -> SequenceSet:
    random = np.random.default_rng(seed)
    letters = RESIDUES if alphabet == "protein" else list("ACGT")
    ancestor = random.choice(letters, max(lengths))
    strings = []
    for length in lengths:
        own = ancestor[:length].copy()
        changed = random.random(length) < 0.5
        own[changed] = random.choice(letters, int(changed.sum()))
        strings.append("".join(own))
    return SequenceSet.from_strings(strings, alphabet=alphabet)


def dense(found: Any, pair: int, shape: tuple[int, int]) -> Any:
    """The posteriors of a pair, in 65535ths, as a matrix."""
    own = slice(*found.offsets[pair : pair + 2])
    table = np.zeros(shape, np.int64)
    table[found.rows[own], found.columns[own]] = found.values[own]
    return table


def aligned_cells(alignment: Any) -> list[tuple[int, int]]:
    i, j, cells = alignment.query_start, alignment.target_start, []
    runs = alignment.alignments.cigar
    offsets = alignment.alignments.cigar_offsets
    for run in runs[offsets[alignment.index] : offsets[alignment.index + 1]].tolist():
        length, op = run >> 4, run & 15
        if op in (7, 8):
            cells += [(i + k, j + k) for k in range(length)]
        i += length * (op != 2)
        j += length * (op != 1)
    return cells


def best_sum(table: Any) -> int:
    """The most that posteriors of a chain of cells can add up to, by the plain recurrence."""
    best = np.zeros((table.shape[0] + 1, table.shape[1] + 1), np.int64)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            best[i + 1, j + 1] = max(best[i, j] + table[i, j], best[i, j + 1], best[i + 1, j])
    return int(best[-1, -1])


@settings(max_examples=examples(12), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 30), min_size=2, max_size=6),
    st.sampled_from(["protein", "dna"]),
)
def test_no_alignment_has_a_higher_expected_accuracy(seed, lengths, alphabet):
    sequences = family(seed, lengths, alphabet)
    posteriors = pairalign.posterior(sequences)
    found = pairalign.align(sequences, objective="mea")
    assert len(found) == len(posteriors)
    place = {
        pair: number
        for number, pair in enumerate(
            zip(posteriors.queries.tolist(), posteriors.targets.tolist(), strict=True)
        )
    }
    for alignment in found:
        pair = alignment.query_index, alignment.target_index
        shape = len(alignment.query), len(alignment.target)
        table = dense(posteriors, place[pair], shape)
        assert sum(table[cell] for cell in aligned_cells(alignment)) == best_sum(table)


@settings(max_examples=examples(6), deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 40), min_size=2, max_size=5))
def test_spans_counts_and_scores_are_those_of_the_alignment(seed, lengths):
    sequences = family(seed, lengths)
    found, best = (pairalign.align(sequences, objective=one) for one in ("mea", "score"))
    for one, other in zip(found, best, strict=True):
        rows = one.rows()
        assert rows[0].replace("-", "") == one.query.residues
        assert rows[1].replace("-", "") == one.target.residues
        assert one.matches == sum(a == b for a, b in zip(*rows, strict=True))
        assert (one.query_index, one.target_index) == (other.query_index, other.target_index)
        codes = sequences.codes_of(one.query_index), sequences.codes_of(one.target_index)
        assert one.raw_score == found.scoring.rescore(*codes, one.runs)
        assert one.raw_score <= other.raw_score


def test_marks_are_calibrated_posteriors_of_the_columns():
    sequences = family(3, [25, 30, 28])
    model = posterior_model(sequences.alphabet)
    for mode in ("global", "semiglobal", "local"):
        found = pairalign.align(sequences, mode=mode)
        for alignment, marks in zip(found, found.confidence, strict=True):
            table = defined(
                sequences.codes_of(alignment.query_index),
                sequences.codes_of(alignment.target_index),
                model,
            )
            assert marks == alignment.confidence
            assert len(marks) == alignment.columns
            assert marks.count(".") == alignment.gap_residues
            shown = marks.replace(".", "")
            for mark, cell in zip(shown, aligned_cells(alignment), strict=True):
                known = table[cell] if table[cell] > 0.01 else 0
                (sure,) = calibrate(np.array([min(known, 1)]), sequences.alphabet, 2)
                assert (
                    mark == "0123456789*"[int(sure * 10 + 0.5)] or abs(sure * 10 % 1 - 0.5) < 1e-3
                )


def test_thresholds_are_for_the_alignment():
    sequences = family(4, [60] * 8)
    every = pairalign.align(sequences, objective="mea")
    least = int(np.median(every.raw_score))
    kept = pairalign.align(sequences, objective="mea", min_score=least, min_identity=0.3)
    passes = (every.raw_score >= least) & (every.identity >= 0.3)
    assert 0 < len(kept) < len(every)
    assert kept.raw_score.tolist() == every.raw_score[passes].tolist()


def test_parquet_has_the_marks_of_tsv(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    fasta = tmp_path / "family.fa"
    fasta.write_text("".join(f">{one.name}\n{one.residues}\n" for one in family(8, [40, 50, 33])))
    for name in ("p.tsv", "p.parquet", "plain.parquet", "scores.parquet"):
        options = ["--objective", "mea"] if name != "plain.parquet" else []
        options += ["--score-only"] * (name == "scores.parquet")
        command = ["align", str(fasta), "-o", str(tmp_path / name), "-q", *options]
        assert main(command) == 0
    header, *lines = (tmp_path / "p.tsv").read_text().splitlines()
    place = header.split("\t").index("confidence")
    table = pq.read_table(tmp_path / "p.parquet")
    assert table["confidence"].to_pylist() == [line.split("\t")[place] for line in lines]
    assert main(["verify", str(tmp_path / "p.parquet"), str(fasta), "-o", "-"]) == 0
    for name in ("plain.parquet", "scores.parquet"):
        assert "confidence" not in pq.read_schema(tmp_path / name).names


@pytest.mark.parametrize("format", ["paf", "parquet"])
def test_threads_memory_shards_and_instruction_sets_change_nothing(format, tmp_path, monkeypatch):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    fasta = tmp_path / "family.fa"
    sequences = family(6, [40, 41, 50, 33, 34, 35, 60])
    records = zip(sequences.names, sequences, strict=True)
    fasta.write_text("".join(f">s{name}\n{one.residues}\n" for name, one in records))
    common = ["align", str(fasta), "--objective", "mea", "--format", format, "-q", "--window", "3"]
    assert main([*common, "-o", str(tmp_path / "one"), "-t", "1"]) == 0
    expected = (tmp_path / "one").read_bytes()
    assert main([*common, "-o", str(tmp_path / "other"), "-t", "3", "--memory", "64M"]) == 0
    assert (tmp_path / "other").read_bytes() == expected
    for shard in ("1/2", "2/2"):
        assert main([*common, "-o", str(tmp_path / "parts"), "--shard", shard]) == 0
    assert main(["merge", str(tmp_path / "parts"), "-o", str(tmp_path / "merged"), "-q"]) == 0
    assert (tmp_path / "merged").read_bytes() == expected
    monkeypatch.setenv("PAIRALIGN_ISA", instruction_sets()[-1])
    assert main([*common, "-o", str(tmp_path / "plain")]) == 0
    assert (tmp_path / "plain").read_bytes() == expected
