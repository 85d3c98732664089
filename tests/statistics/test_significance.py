"""Bit scores and E-values: as BLAST+ has them, and exact as thresholds."""

import io
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas
import pytest
from align_command import align
from readable import needs_program

import pairalign
from pairalign.alignments.fields import BLAST6
from pairalign.jobs.stages.evalue_engine import EvalueEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet, read_fasta
from pairalign.statistics.published import PUBLISHED
from pairalign.statistics.significance import (
    EvalueFilter,
    find_gumbel,
    find_significance,
    search_spaces,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
ROWS = [(matrix, *row) for matrix, rows in PUBLISHED.items() for row in rows]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "cache"))


def write_query(length):
    letters = "".join(s.letters for s in read_fasta(EXAMPLES))[:length]
    with open("query.fa", "w") as file:
        file.write(f">query\n{letters}\n")


def blastp(matrix, existence, extension, *options):
    command = ["blastp", "-query", "query.fa", "-subject", str(EXAMPLES), "-matrix", matrix]
    command += ["-gapopen", str(existence), "-gapextend", str(extension)]
    command += ["-comp_based_stats", "0", "-seg", "no", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_program("blastp")
@pytest.mark.parametrize(
    ("matrix", "existence", "extension", "lambda_", "k", "alpha", "beta"), ROWS
)
def test_every_published_row_is_blasts(matrix, existence, extension, lambda_, k, alpha, beta):
    """What BLAST+ prints, and its effective search space, which depends on alpha and beta."""
    database = read_fasta(EXAMPLES)
    gumbel = find_gumbel(
        make_scoring(
            "protein",
            mode="local",
            matrix=matrix,
            gap_open=existence + extension,
            gap_extend=extension,
        )
    )
    assert (gumbel.lambda_, gumbel.k, gumbel.alpha, gumbel.beta) == (lambda_, k, alpha, beta)
    for length in (90, 400):
        write_query(length)
        text = blastp(matrix, existence, extension)
        found = re.search(r"Gapped\nLambda.*\n +(\S+) +(\S+) +\S+ +(\S+)", text).groups()
        assert [float(x) for x in found] == pytest.approx([lambda_, k, alpha], rel=0.011)
        space = int(re.search(r"Effective search space used: (\d+)", text)[1])
        ours = search_spaces(gumbel, [length], database.total_residues, len(database))
        assert ours[0] == space


@needs_program("blastp")
def test_bits_are_blasts(tmp_path):
    write_query(494)
    columns = "qseqid sseqid score bitscore"
    text = blastp("BLOSUM62", 11, 1, "-outfmt", f"6 {columns}", "-evalue", "1000")
    theirs = {}
    for line in text.splitlines():
        _, target, score, bits = line.split("\t")
        theirs.setdefault(target, (int(score), float(bits)))
    align(
        *("query.fa", EXAMPLES, "--mode", "local", "--gap-open", "12", "-o", "a.b6", "-q"),
        *("--columns", "qseqid,sseqid,score,bitscore"),
    )
    ours = pandas.read_csv("a.b6", sep="\t", names=["query", "target", "score", "bits"])
    compared = 0
    for row in ours.itertuples():
        score, bits = theirs.get(row.target, (None, None))
        if score == row.score:
            shown = row.bits if bits < 99 else math.floor(row.bits)  # as BLAST shows large ones
            assert shown == pytest.approx(bits, abs=0.1)
            compared += 1
    assert compared > 40


def our_bits():
    """Scores and bits of all pairs of the examples, both ways, with BLAST's 11/1."""
    align(
        *(EXAMPLES, "--mode", "local", "--gap-open", "12", "-o", "o.tsv", "-q", "--both-ways"),
        *("--columns", "query,target,score,bits"),
    )
    return pandas.read_csv("o.tsv", sep="\t")


@needs_program("diamond")
def test_bits_are_those_of_diamond():
    """For the same raw score; from 100 on diamond cuts decimals off."""
    run = {"check": True, "capture_output": True}
    subprocess.run(["diamond", "makedb", "--in", EXAMPLES, "-d", "db", "--quiet"], **run)
    command = ["diamond", "blastp", "-q", EXAMPLES, "-d", "db", "-p", "1", "-o", "d.tsv", "--quiet"]
    command += ["--ultra-sensitive", "--comp-based-stats", "0", "--masking", "0", "-k", "0"]
    command += ["-e", "1000", "--outfmt", "6", "qseqid", "sseqid", "score", "bitscore"]
    subprocess.run(command, **run)
    theirs = pandas.read_csv("d.tsv", sep="\t", names=["query", "target", "raw", "shown"])
    found = our_bits().merge(theirs.drop_duplicates(["query", "target"]), on=["query", "target"])
    same = found[found.raw == found.score]
    assert len(same) > 3000
    cut = np.where(same.shown < 100, 0, 1)
    assert (same.bits - same.shown <= cut + 0.051).all()
    assert (same.shown - same.bits <= 0.051).all()


@needs_program("mmseqs")
@pytest.mark.slow
def test_bits_of_mmseqs_are_of_other_parameters():
    """It computes its own for BLOSUM62 11/1: lambda 0.2736 and K 0.0446; bits are whole."""
    command = ["mmseqs", "easy-search", EXAMPLES, EXAMPLES, "m.tsv", "tmp", "--threads", "1"]
    command += ["--exhaustive-search", "1", "-e", "1000", "--mask", "0", "--comp-bias-corr", "0"]
    command += ["--format-output", "query,target,raw,bits", "-v", "1"]
    subprocess.run(command, check=True, capture_output=True)
    theirs = pandas.read_csv("m.tsv", sep="\t", names=["query", "target", "raw", "shown"])
    found = our_bits().merge(theirs.drop_duplicates(["query", "target"]), on=["query", "target"])
    same = found[found.raw == found.score]
    assert len(same) > 20
    expected = (0.27359865 * same.score - math.log(0.04462092)) / math.log(2)
    assert np.abs(same.shown - expected).max() <= 0.5
    assert (same.shown > same.bits).all()


@needs_program("ssearch36")
def test_evalues_are_those_of_ssearch36_with_the_same_parameters():
    """Its option -z 3; it weighs each target by its own length, BLAST by the letters of all."""
    rng = np.random.default_rng(8)
    with open("shuffled.fa", "w") as file:
        for number, one in enumerate(read_fasta(EXAMPLES)):
            file.write(f">s{number}\n{''.join(rng.permutation(list(one.letters)))}\n")
    command = ["ssearch36", "-q", "-m", "8", "-T", "1", "-s", "BL62", "-f", "-11", "-g", "-1"]
    command += ["-E", "20", "-z", "3", "shuffled.fa", "shuffled.fa"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs = pandas.read_csv(io.StringIO(done.stdout), sep="\t", names=BLAST6)
    theirs = theirs.drop_duplicates(["qseqid", "sseqid"])  # lower scores of a pair come later
    options = ("--mode", "local", "--gap-open", "12", "--both-ways", "-q")
    align("shuffled.fa", *options, "--columns", ",".join(BLAST6), "-o", "o.tsv")
    found = theirs.merge(pandas.read_csv("o.tsv", sep="\t"), on=["qseqid", "sseqid"])
    assert len(found) > 300
    ratios = found.evalue_x / found.evalue_y
    assert 0.7 < ratios.median() < 1.4
    assert ratios.quantile(0.05) > 0.4
    assert ratios.quantile(0.95) < 2.5


def significance_of_examples(**options):
    scoring = make_scoring("protein", mode="local", gap_open=12, **options)
    sequences = read_fasta(EXAMPLES)
    return scoring, sequences, find_significance(scoring, sequences)


@pytest.mark.parametrize("most", [1e-180, 1e-10, 0.001, 1, 10, 1e6])
def test_thresholds_are_exact(most):
    _, sequences, significance = significance_of_examples()
    queries = np.arange(len(sequences))
    least = significance.least_raw_scores(most)[0]
    log_space = math.log(significance.gumbel.k) + np.log(significance.spaces[0][queries])
    log_most = math.log(most)
    assert (log_space - 0.267 * least <= log_most).all()
    assert ((log_space - 0.267 * (least - 1) > log_most) | (least == 1)).all()


@pytest.mark.parametrize("both_ways", [False, True])
def test_max_evalue_leaves_what_the_column_says(both_ways):
    columns = ("--columns", "query,target,evalue", "--format", "tsv", "-q")
    options = ("--mode", "local", "--gap-open", "12", *(["--both-ways"] * both_ways))
    align(EXAMPLES, *options, *columns, "-o", "all.tsv")
    align(EXAMPLES, *options, *columns, "-o", "few.tsv", "--max-evalue", "1e-30")
    every, few = (pandas.read_csv(f"{name}.tsv", sep="\t") for name in ("all", "few"))
    kept = every.evalue <= 1e-30
    if both_ways:
        kept = np.repeat(kept.to_numpy().reshape(-1, 2).any(axis=1), 2)
    assert 10 < len(few) < len(every) - 10
    assert few.equals(every[kept].reset_index(drop=True))


def test_filter_tells_the_engine_the_least_score():
    _, _, significance = significance_of_examples()
    least = significance.least_raw_scores(0.001)
    assert EvalueFilter(significance, 0.001, False).min_raw_score == least[0].min()


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("two_sets", [False, True])
def test_engines_are_given_the_least_score_of_their_slab(two_sets, both_ways):
    rng = np.random.default_rng(5)
    queries, targets = (
        SequenceSet.from_strings(
            [
                "".join(rng.choice(list("ARNDCQEGHILKMFPSTWY"), n))
                for n in rng.integers(20, 900, 60)
            ],
            alphabet="protein",
        )
        for _ in range(2)
    )
    scoring = make_scoring("protein", mode="local", gap_open=12)
    other = targets if two_sets else None
    significance = find_significance(scoring, queries, other)
    kept = EvalueFilter(significance, 3.0, both_ways)
    given = []

    class Recorder:
        name, is_gpu, on_device = "recorder", False, None

        def align(self, window, want, pair_mask=None):
            given.append(want.min_raw_score)
            found = pairalign.align(queries, other, scoring=scoring, window=window_size)
            return found.take(found.raw_score >= want.min_raw_score)

    window_size = 1000
    engine = EvalueEngine(Recorder(), kept, queries, other)
    every = pairalign.align(queries, other, scoring=scoring, window=window_size)
    (window,) = plan_windows(60, 60 if two_sets else None, window_size)
    found = engine.align(window, Want(Detail.CIGAR, 1))
    passing = significance.evalue(every.raw_score, every.query) <= 3
    if both_ways:
        turned = find_significance(scoring, targets if two_sets else queries, queries)
        passing |= turned.evalue(every.raw_score, every.target) <= 3
    assert 0 < passing.sum() < len(every)
    assert found.raw_score.tolist() == every.raw_score[passing].tolist()
    assert given == [kept.min_raw_score]
    slabs = plan_windows(60, 60 if two_sets else None, 20)
    least = [engine.least_raw_score(slab) for slab in slabs]
    assert min(least) == kept.min_raw_score < max(least)  # long ones need a higher score
    order = queries.order, (targets if two_sets else queries).order
    for slab, score in zip(slabs, least, strict=True):
        rows = np.isin(every.query, order[0][slab.row_start : slab.row_stop])
        columns = np.isin(every.target, order[1][slab.column_start : slab.column_stop])
        inside = rows & columns & passing
        assert (every.raw_score[inside] >= score).all()


def test_the_database_is_as_large_as_is_said():
    scoring, sequences, plain = significance_of_examples()
    larger = find_significance(scoring, sequences, None, 10**9)
    assert plain.database == (sequences.total_residues, len(sequences))
    assert (larger.spaces[0] > 1000 * plain.spaces[0]).all()
    align(
        *(EXAMPLES, "--mode", "local", "--gap-open", "12", "-o", "a.b6", "-q"),
        *("--db-size", "1000000000"),
    )
    found = pandas.read_csv("a.b6", sep="\t", names=BLAST6)
    first = found.iloc[0]
    index = sequences.names.index(first.qseqid)
    bits = (0.267 * round((first.bitscore * math.log(2) + math.log(0.041)) / 0.267)) - math.log(
        0.041
    )
    expected = larger.spaces[0][index] * math.exp(-bits)
    assert math.log10(first.evalue) == pytest.approx(math.log10(expected), abs=0.01)


def test_statistics_that_do_not_exist_are_nan_with_a_warning(capsys):
    align(EXAMPLES, "-o", "a.b6")
    assert "evalue and bits are nan: E-values are those of local" in capsys.readouterr().err
    assert pandas.read_csv("a.b6", sep="\t", names=BLAST6).evalue.isna().all()
    costs = ("--mode", "local", "--gap-open", "1", "--gap-extend", "1")
    align(EXAMPLES, *costs, "-o", "b.b6")
    assert "scores grow with lengths" in capsys.readouterr().err
    for options in ((), costs):
        align(EXAMPLES, *options, "-o", "c.b6", "--max-evalue", "1", code=2)
        assert "pairalign: error: " in capsys.readouterr().err
        assert not Path("c.b6").exists()


@pytest.mark.slow
@pytest.mark.parametrize("gap_open", [11, 12])
def test_as_many_chance_hits_as_expected(gap_open):
    """Shuffled proteins against shuffled proteins: one hit a query with E <= 1, within a fifth."""
    rng = np.random.default_rng(1)
    scoring = make_scoring("protein", mode="local", gap_open=gap_open)
    queries, targets = (
        SequenceSet.from_strings(
            [
                "".join(rng.permutation(list(s.letters)))
                for _ in range(4)
                for s in read_fasta(EXAMPLES)
            ],
            alphabet="protein",
        )
        for _ in range(2)
    )
    found = pairalign.align(queries, targets, scoring=scoring, detail="score")
    evalues = find_significance(scoring, queries, targets).evalue(found.raw_score, found.query)
    assert (evalues <= 1).sum() == pytest.approx(len(queries), rel=0.2)
    assert (evalues <= 10).sum() == pytest.approx(10 * len(queries), rel=0.2)
