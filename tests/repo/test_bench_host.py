"""The benchmark of the host: simulated engines give each pair once, the table has figures."""

import numpy as np
import pytest
from bench import host

from pairalign.jobs.distances.distances import measure_run
from pairalign.jobs.distances.measures import MEASURES
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring


@pytest.fixture(scope="module")
def sequences():
    return host.make_set(None, 2 * host.WINDOW, 20)


def test_every_pair_comes_once(sequences):
    source = host.Recycled(sequences, make_scoring(sequences.alphabet), Detail.STATS)
    run = source.run(threads=2, engines=3)
    assert sum(len(found) for found in run) == run.pairs
    matrix = measure_run(run, MEASURES["identity-aligned"])  # a pair that is missing would be nan
    assert len(np.unique(matrix.condensed)) > 10


def test_results_are_those_of_the_sequences(sequences):
    """But for the names, which are mixed."""
    source = host.Recycled(sequences, make_scoring(sequences.alphabet), Detail.CIGAR)
    found = next(iter(source.run(threads=1, engines=1)))[:50]
    for k, one in enumerate(found):
        assert one.query_end - one.query_start <= 20
        runs = found.cigar[found.cigar_offsets[k] : found.cigar_offsets[k + 1]]
        assert (runs >> 4).sum() == one.columns


def test_table(capsys, tmp_path):
    from benchmark import main

    main(
        [
            *("host", "--sequences", "1024", "--length", "20", "--threads", "1", "--repeat", "1"),
            *("--output", str(tmp_path / "out"), "--parts", "--job", "score, tsv"),
        ]
    )
    shown = capsys.readouterr().out
    (row,) = (line for line in shown.splitlines() if line.startswith("| score, tsv"))
    figures = [float(cell) for cell in row.strip("| ").split("|")[1:]]
    assert len(figures) == 4
    assert all(figure > 0 for figure in figures[:3])
    assert "text, one thread" in shown
    lines = (tmp_path / "out").read_text().splitlines()
    assert len(lines) == 1 + 1024 * 1023 // 2
    assert len({tuple(line.split("\t")[:2]) for line in lines}) == len(lines)
