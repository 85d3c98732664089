"""Posteriors of a set: the job, its files, and the command."""

import numpy as np
import pytest

import pairalign
from pairalign.alignments.posteriors import ONE, SparsePosteriors, part_of
from pairalign.cli.main import main
from pairalign.errors import CapacityError, FastaError, ScoringError
from pairalign.jobs.posterior import posterior as job
from pairalign.jobs.posterior.posterior_files import open_posteriors

FAMILY = {
    "one": "MKVLAAGIVGLCAKHWQRNDEEFST",
    "two": "MKVLSAGIVGLCKHWQRNDEFST",
    "three": "MRVLAAGLVGCAKHWQNDEEFSTPP",
    "four": "WWKVIAGIVALCARHYQRNDEEFS",
}


@pytest.fixture
def family(tmp_path):
    path = tmp_path / "family.fa"
    path.write_text("".join(f">{name} words\n{letters}\n" for name, letters in FAMILY.items()))
    return path


def _run(*arguments):
    return main([str(one) for one in arguments])


def test_pairs_come_in_the_order_of_the_input():
    found = pairalign.posterior(pairalign.SequenceSet.from_strings(FAMILY))
    pairs = list(zip(found.queries.tolist(), found.targets.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert found.values.min() >= 0.05 * ONE - 1
    assert found.probabilities.max() > 0.9
    key = (found.pairs * 1000 + found.rows) * 1000 + found.columns
    assert (np.diff(key) > 0).all()


def test_pieces_threads_and_memory_do_not_change_the_bytes(tmp_path, family, monkeypatch):
    outputs = []
    for residues, threads, memory in ((1 << 18, 1, "1G"), (1, 2, "64M"), (60, 3, "64M")):
        monkeypatch.setattr(job, "PIECE_RESIDUES", residues)
        for ending in ("npz", "tsv", "tc_lib"):
            out = tmp_path / f"{residues}.{ending}"
            assert not _run("posterior", family, "-o", out, "-t", threads, "--memory", memory, "-q")
        outputs.append([(tmp_path / f"{residues}.{e}").read_bytes() for e in ("tsv", "tc_lib")])
        with np.load(tmp_path / f"{residues}.npz") as arrays:
            outputs[-1] += [arrays[name].tobytes() for name in sorted(arrays.files)]
    assert outputs[0] == outputs[1] == outputs[2]


def test_files_hold_the_same_posteriors(tmp_path, family):
    for ending in ("npz", "tsv", "tc_lib", "parquet"):
        if ending == "parquet":
            pytest.importorskip("pyarrow")
        assert not _run("posterior", family, "-o", tmp_path / f"p.{ending}", "-q")
    found = pairalign.posterior(pairalign.read_fasta(family))
    with np.load(tmp_path / "p.npz") as arrays:
        for name in ("queries", "targets", "offsets", "rows", "columns", "values"):
            assert np.array_equal(arrays[name], getattr(found, name))
        assert arrays["names"].tolist() == list(FAMILY)
        assert arrays["threshold"] == 0.05
        assert arrays["rows"].dtype == arrays["columns"].dtype == np.uint16
    names = list(FAMILY)
    lines = (tmp_path / "p.tsv").read_text().splitlines()
    assert lines[0].split("\t")[-1] == "posterior"
    assert lines[1:] == [
        f"{names[found.queries[pair]]}\t{names[found.targets[pair]]}\t{row + 1}\t{column + 1}"
        f"\t{value / ONE:.5f}"
        for pair, row, column, value in zip(
            found.pairs, found.rows, found.columns, found.values.tolist(), strict=True
        )
    ]
    library = (tmp_path / "p.tc_lib").read_text().splitlines()
    assert library[:3] == ["! TC_LIB_FORMAT_01", "4", f"one {len(FAMILY['one'])} {FAMILY['one']}"]
    assert library[-1] == "! SEQ_1_TO_N"
    assert [line for line in library if line[0] == "#"] == [
        "#1 2", "#1 3", "#1 4", "#2 3", "#2 4", "#3 4",
    ]  # fmt: skip
    weights = [int(line.split()[2]) for line in library[6:-1] if line[0] != "#"]
    assert np.abs(np.array(weights) - 1000 * found.probabilities).max() <= 0.5
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "p.parquet")
    assert table["target_residue"].to_pylist() == found.columns.tolist()
    assert np.allclose(table["posterior"].to_numpy(), found.probabilities, atol=1e-6)


def test_a_higher_threshold_leaves_entries_out():
    sequences = pairalign.SequenceSet.from_strings(FAMILY)
    low, high = (pairalign.posterior(sequences, threshold=one) for one in (0.01, 0.5))
    assert high.values.tolist() == low.values[low.values > 0.5 * ONE].tolist()


@pytest.mark.parametrize("threshold", [0, 0.0001, 1.5, float("nan")])
def test_thresholds_out_of_bounds(threshold):
    with pytest.raises(ScoringError, match=r"threshold .* expected 0\.001 to 1"):
        pairalign.posterior(pairalign.SequenceSet.from_strings(FAMILY), threshold=threshold)


def test_one_sequence_has_no_pairs():
    with pytest.raises(FastaError, match="1 sequence, expected two or more"):
        pairalign.posterior(pairalign.SequenceSet.from_strings(["ACDE"]))


def test_a_pair_that_does_not_fit_is_named():
    sequences = pairalign.SequenceSet.from_strings(["A" * 5000, "C" * 4000, "A"], ["x", "y", "z"])
    with pytest.raises(CapacityError, match=r"record 1 'x' and record 2 'y' .* MiB are allowed"):
        pairalign.posterior(sequences, memory=1 << 20)


def test_command_says_what_it_has_done(tmp_path, family, capsys):
    assert not _run("posterior", family, "-o", tmp_path / "p.tsv.gz")
    said = capsys.readouterr().err
    assert "of 6 pairs, 0.05 or more" in said
    assert str(tmp_path / "p.tsv.gz") in said


def test_text_of_names_of_any_length_and_of_pairs_without_entries(tmp_path):
    sequences = pairalign.SequenceSet.from_strings(
        {"é" * 30: "MKVLAAG", "b": "WWWWW", '"c': "MKVLSAG"}, alphabet="protein"
    )
    piece = SparsePosteriors(
        np.array([0, 0, 1], np.int32),
        np.array([1, 2, 2], np.int32),
        np.array([0, 0, 3, 3]),
        np.array([0, 1, 6], np.int32),
        np.array([0, 1, 6], np.int32),
        np.array([ONE, 655, 32768], np.uint16),
        np.zeros(3, np.uint8),
    )
    for ending in ("tsv", "tc_lib"):
        writer = open_posteriors(str(tmp_path / ending), ending, sequences, 0.01)
        for part in (piece, part_of(piece, 0, 1)):
            writer.write(part)
        writer.close()
    title = "\t".join(("é" * 30, '"""c"'))
    assert (tmp_path / "tsv").read_text().splitlines()[1:] == [
        f"{title}\t1\t1\t1.00000", f"{title}\t2\t2\t0.00999", f"{title}\t7\t7\t0.50001"
    ]  # fmt: skip
    library = (tmp_path / "tc_lib").read_text().splitlines()
    assert library[5:] == ["#1 3", "1 1 1000", "2 2 10", "7 7 500", "! SEQ_1_TO_N"]


def test_residues_that_16_bits_do_not_hold_are_written_with_32(tmp_path):
    sequences = pairalign.SequenceSet.from_strings(["A" * 65_537, "C"])
    ends = [np.array(one, np.int32) for one in ([0], [1], [65_536], [0])]
    piece = SparsePosteriors(
        *ends[:2], np.array([0, 1]), *ends[2:], np.array([ONE], np.uint16), np.zeros(1, np.uint8)
    )
    writer = open_posteriors(str(tmp_path / "p.npz"), "npz", sequences, 0.01)
    writer.write(piece)
    writer.close()
    with np.load(tmp_path / "p.npz") as arrays:
        assert arrays["rows"].tolist() == [65_536]
