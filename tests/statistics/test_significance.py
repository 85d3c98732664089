"""Bit scores and E-values: as BLAST+ has them, and exact as thresholds."""

import io
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from align_command import align
from readable import needs_program

import pairalign
from pairalign.alignments.fields import BLAST6
from pairalign.jobs.stages.evalue_engine import EvalueEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import (
    PUBLISHED,
    PUBLISHED_DNA,
    EvalueFilter,
    Searched,
    find_gumbel,
    find_significance,
    search_spaces,
)

pandas = pytest.importorskip("pandas")

LETTERS = list(PROTEIN.letters[:20])
EXAMPLES = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
ROWS = [(matrix, row) for matrix, rows in PUBLISHED.items() for row in rows]


@pytest.fixture(autouse=True)
def folder(here, monkeypatch):
    monkeypatch.setenv("PAIRALIGN_CACHE", str(here / "cache"))


def write_query(length):
    letters = "".join(s.residues for s in read_fasta(EXAMPLES))[:length]
    with open("query.fa", "w") as file:
        file.write(f">query\n{letters}\n")


def blastp(matrix, existence, extension, *options):
    command = ["blastp", "-query", "query.fa", "-subject", str(EXAMPLES), "-matrix", matrix]
    command += ["-gapopen", str(existence), "-gapextend", str(extension)]
    command += ["-comp_based_stats", "0", "-seg", "no", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def local(matrix, existence, extension):
    """A local scoring with BLAST's costs."""
    return make_scoring(
        "protein", mode="local", matrix=matrix, gap_open=existence + extension, gap_extend=extension
    )


def printed_parameters(text):
    """Lambda and K with gaps, and the search space, as BLAST prints them."""
    numbers = re.search(r"Gapped\nLambda.*\n +(\S+) +(\S+)", text).groups()
    space = re.search(r"Effective search space used: (\d+)", text)[1]
    return *map(float, numbers), int(space)


@needs_program("blastp")
@pytest.mark.parametrize(("matrix", "row"), ROWS)
def test_every_published_row_is_blasts(matrix, row):
    """Lambda, K and the old search space that BLAST+ prints, and its E-values of real pairs."""
    existence, extension, lambda_, k, a, b, _, _ = row
    database = read_fasta(EXAMPLES)
    scoring = local(matrix, existence, extension)
    gumbel = find_gumbel(scoring)
    assert (gumbel.lambda_, gumbel.k, gumbel.alpha, gumbel.beta) == (lambda_, k, a, b)
    for length in (90, 400):
        write_query(length)
        found = printed_parameters(blastp(matrix, existence, extension))
        ours = search_spaces(gumbel, [length], database.total_residues, len(database))
        assert found == pytest.approx((lambda_, k, int(ours[0])), rel=0.001)
    write_query(60)  # the correction is large
    table = blastp(
        *(matrix, existence, extension, "-evalue", "1000"), *("-outfmt", "6 sseqid score evalue")
    )
    theirs = pandas.read_csv(io.StringIO(table), sep="\t", names=["name", "score", "evalue"])
    theirs = theirs.drop_duplicates("name")
    query = SequenceSet.from_strings([read_fasta("query.fa")[0].residues], alphabet="protein")
    significance = find_significance(scoring, query, database)
    places = np.array([database.names.index(name) for name in theirs.name])
    ours = np.exp(significance.log_evalues_of(theirs.score, np.zeros(len(places), int), places))
    one_digit = theirs.evalue.between(0.0009, 0.0095).to_numpy()  # as it prints these
    assert (~one_digit).sum() > 20
    assert ours[~one_digit] == pytest.approx(theirs.evalue[~one_digit].to_numpy(), rel=0.06)


@needs_program("blastn")
@pytest.mark.parametrize(("match", "mismatch"), PUBLISHED_DNA)
def test_every_published_row_for_dna_is_blastns(match, mismatch):
    rng = np.random.default_rng(3)
    letters = "".join(rng.choice(list("ACGT"), 3000))
    Path("target.fa").write_text(f">target\n{letters}\n")
    Path("query.fa").write_text(f">query\n{letters[100:900]}\n")
    for existence, extension, lambda_, k, *_ in PUBLISHED_DNA[match, mismatch]:
        costs = {"match": match, "mismatch": mismatch, "gap_open": existence + extension}
        scoring = make_scoring("dna", mode="local", gap_extend=extension, **costs)
        command = ["blastn", "-task", "blastn", "-query", "query.fa", "-subject", "target.fa"]
        command += ["-reward", str(match), "-penalty", str(mismatch), "-dust", "no"]
        command += ["-gapopen", str(existence), "-gapextend", str(extension)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        ours = search_spaces(find_gumbel(scoring), [800], 3000, 1)
        assert printed_parameters(done.stdout) == pytest.approx(
            (lambda_, k, int(ours[0])), rel=1e-6
        )


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
        *("--columns", "qseqid,sseqid,score,bitscore", "--comp-based-stats", "0"),
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
        *("--columns", "query,target,score,bits", "--comp-based-stats", "0"),
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
            file.write(f">s{number}\n{''.join(rng.permutation(list(one.residues)))}\n")
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
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("space", [None, 1e9])
def test_no_pair_that_passes_is_below_the_least_score(most, exchanged, space):
    """Every length of query and target, against each score on its own."""
    rng = np.random.default_rng(2)
    lengths = [*rng.integers(1, 90, 12), 150, 400, 2000, 30_000]
    sets = [
        SequenceSet.from_strings(
            ["".join(rng.choice(LETTERS, n)) for n in part], alphabet="protein"
        )
        for part in (lengths, lengths[::2])
    ]
    significance = find_significance(
        local("BLOSUM62", 11, 1), *sets, searched=Searched(cells=space)
    )
    every = [np.arange(len(one)) for one in sets]
    least = significance.least_raw_score(most, *every, exchanged=exchanged)
    query, target = (x.ravel() for x in np.meshgrid(*every))
    for score in {1, 2, least // 2, least - 2, least - 1, least, least + 1, 2 * least} - {-1, 0}:
        scores = np.full(len(query), float(score))
        values = significance.log_evalues_of(scores, query, target, exchanged=exchanged)
        assert (values <= math.log(most)).any() == (score >= least), score


@pytest.mark.parametrize(("matrix", "row"), ROWS)
def test_evalues_fall_with_the_score_and_rise_with_the_query(matrix, row):
    """What the least score of a window rests on."""
    gumbel = find_gumbel(local(matrix, *row[:2]))
    lengths = np.unique(np.geomspace(1, 40_000, 60).astype(int))
    m, n = (x.ravel() for x in np.meshgrid(lengths, lengths))
    before = None
    for score in [*range(1, 60), *range(60, 3000, 37)]:
        scores = np.full(len(m), float(score))
        values = gumbel.law.log_evalues(gumbel.lambda_, gumbel.k, scores, m, n)
        assert before is None or (values < before).all()
        by_query = values.reshape(len(lengths), -1)  # a column a query
        assert (np.diff(by_query, axis=1) >= -1e-9).all()
        before = values


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
            given.append((want.detail, want.min_raw_score))
            found = pairalign.align(queries, other, scoring=scoring, window=window_size)
            return found.take(pair_mask if want.detail else found.raw_score >= want.min_raw_score)

    window_size = 1000
    engine = EvalueEngine(Recorder(), kept, queries, other)
    every = pairalign.align(queries, other, scoring=scoring, window=window_size)
    (window,) = plan_windows(60, 60 if two_sets else None, window_size)
    found = engine.align(window, Want(Detail.CIGAR, 1))
    passing = significance.evalues(every) <= 3
    if both_ways:
        passing |= significance.evalues(every, exchanged=True) <= 3
    assert 0 < passing.sum() < len(every)
    assert found.raw_score.tolist() == every.raw_score[passing].tolist()
    assert given == [(Detail.SCORE, kept.min_raw_score), (Detail.CIGAR, None)]
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
    larger = find_significance(scoring, sequences, None, Searched(10**9))
    assert plain.database == (sequences.total_residues, len(sequences))
    align(
        *(EXAMPLES, "--mode", "local", "--gap-open", "12", "-o", "a.b6", "-q"),
        *("--db-size", "1000000000", "--comp-based-stats", "0"),
    )
    found = pandas.read_csv("a.b6", sep="\t", names=BLAST6)
    first = found.iloc[0]
    query, target = (sequences.names.index(name) for name in (first.qseqid, first.sseqid))
    score = (first.bitscore * math.log(2) + math.log(0.041)) / 0.267
    found, of_all = (
        one.log_evalues_of([score], [query], [target])[0] / math.log(10) for one in (larger, plain)
    )
    assert found - of_all == pytest.approx(9 - math.log10(sequences.total_residues))
    expected = 10**found
    assert math.log10(first.evalue) == pytest.approx(math.log10(expected), abs=0.03)


def test_statistics_that_do_not_exist_are_nan_with_a_warning(capsys, few):
    align(few, "-o", "a.b6")
    assert "evalue and bits are nan: E-values are those of local" in capsys.readouterr().err
    assert pandas.read_csv("a.b6", sep="\t", names=BLAST6).evalue.isna().all()
    costs = ("--mode", "local", "--gap-open", "1", "--gap-extend", "1")
    align(few, *costs, "-o", "b.b6")
    assert "scores grow with lengths" in capsys.readouterr().err
    for options in ((), costs):
        align(few, *options, "-o", "c.b6", "--max-evalue", "1", code=2)
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
                "".join(rng.permutation(list(s.residues)))
                for _ in range(4)
                for s in read_fasta(EXAMPLES)
            ],
            alphabet="protein",
        )
        for _ in range(2)
    )
    found = pairalign.align(queries, targets, scoring=scoring, detail="score")
    evalues = find_significance(scoring, queries, targets).evalues(found)
    assert (evalues <= 1).sum() == pytest.approx(len(queries), rel=0.2)
    assert (evalues <= 10).sum() == pytest.approx(10 * len(queries), rel=0.2)
