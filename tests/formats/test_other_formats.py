"""Formats of other programs hold every field, as readers that are not ours find them."""

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from Bio import Align, AlignIO
from commands import TIMEOUT_SECONDS
from readable import needs_program, plain_sample, rows_of_pair
from strategies import MODES
from written_files import shown, write, written

from pairalign import align, msa, read_fasta
from pairalign.alignments.fields import FIELDS, parse_fields
from pairalign.alignments.identities import count_identity
from pairalign.base.choices import IDENTITIES
from pairalign.cli.main import main
from pairalign.errors import DistanceError, FormatError
from pairalign.formats import open_writer
from pairalign.formats.distances import read_distances, write_distances
from pairalign.formats.writer import Content, Shown
from pairalign.pairs.want import Detail
from pairalign.results.distances_result import DistanceMatrix
from pairalign.sequences.sets import SequenceSet

pandas = pytest.importorskip("pandas")
pysam = pytest.importorskip("pysam")


EXAMPLES = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"


def table(alignments, path, names, format="tsv", both_ways=False, **options):
    sets = alignments.queries, alignments.targets
    shown = Shown(fields=parse_fields(names), both_ways=both_ways)
    content = Content(*sets, alignments.scoring, Detail.CIGAR, shown=shown, **options)
    with open_writer(path, format, content) as writer:
        writer.write(alignments)
    return path


def aligned(alignments):
    return [a for a in alignments if a.matches + a.mismatches > 0]


# ---- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_every_column(tmp_path, mode):
    alignments = plain_sample(2, mode)
    names = [name for name in FIELDS if name != "ties"]  # made up, not optimal
    frame = pandas.read_csv(table(alignments, tmp_path / "a.tsv", ",".join(names)), sep="\t")
    assert list(frame) == names
    matrix = alignments.scoring.matrix
    for name in IDENTITIES:
        part, whole = count_identity(alignments, name)
        column = "identity" if name == "columns" else f"identity_{name}"
        assert frame[column].to_numpy() == pytest.approx(part / whole, abs=5.1e-7)
    for row, a in zip(frame.to_dict("records"), alignments, strict=True):
        n, m, pairs = len(a.query), len(a.target), a.matches + a.mismatches
        first, second = rows_of_pair(a, False)
        encoding = alignments.scoring.alphabet.encoding
        codes = [encoding[list(r.encode())] for r in (first, second)]
        positives = sum(
            "-" not in (p, q) and matrix[x, y] > 0
            for x, y, p, q in zip(*codes, first, second, strict=True)
        )
        columns = max(a.columns, 1)
        for name, value in {
            "identity_aligned": a.matches / max(pairs, 1),
            "identity_shorter": a.matches / min(n, m),
            "identity_longer": a.matches / max(n, m),
            "query_coverage": (a.query_end - a.query_start) / n,
            "target_coverage": (a.target_end - a.target_start) / m,
            "pident": 100 * a.matches / columns,
            "positives": positives,
            "ppos": 100 * positives / columns,
            "nident": a.matches,
            "gaps": a.gap_residues,
            "qlen": n,
            "slen": m,
            "send": a.target_end,
        }.items():
            assert row[name] == pytest.approx(value, abs=0.0051 if name == "ppos" else 0.00051)
        assert row["qcovhsp"] == pytest.approx(100 * row["query_coverage"], abs=0.501)
        assert row["qcovs"] >= row["qcovhsp"]  # by all alignments of the pair
        assert row["cigar"] == (a.cigar if a.columns else "*")
        if a.columns:
            assert (row["query_aligned"], row["target_aligned"]) == (first, second)


def test_both_ways_exchanges_everything(tmp_path):
    alignments = plain_sample(3, "local")
    names = "query,target,qstart,qend,sstart,send,qlen,slen,cigar,qseq,sseq,positives,qcovs"
    path = table(alignments, tmp_path / "a.b6", names, "blast6", both_ways=True)
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert len(lines) == 2 * len(shown(alignments))
    exchange = str.maketrans("ID", "DI")
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        assert other[:8] == [one[i] for i in (1, 0, 4, 5, 2, 3, 7, 6)]
        assert other[8] == one[8].translate(exchange)
        assert (other[9], other[10], other[11]) == (one[10], one[9], one[11])


def test_blast6_of_scores_leaves_out_what_is_not_aligned(tmp_path):
    sequences = tmp_path / "in.fasta"
    sequences.write_text(">a\nMKVLAAGGW\n>b\nMKVLAAGW\n>c\nPPP\n")
    command = ["align", str(sequences), "--mode", "local", "--columns", "query,target,score"]
    assert main([*command, "--format", "blast6", "-o", str(tmp_path / "a.b6"), "-q"]) == 0
    assert (tmp_path / "a.b6").read_text() == "a\tb\t32\n"


@needs_program("mcxload")
def test_mcxload_takes_blast6(tmp_path):
    alignments = plain_sample(3, "local", two_sets=False)
    path = table(alignments, tmp_path / "a.b6", "query,target,score", "blast6", both_ways=True)
    command = ["mcxload", "-abc", path, "--write-binary", "-o", "g.mci", "-write-tab", "g.tab"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    names = {line.split("\t")[1] for line in (tmp_path / "g.tab").read_text().splitlines()}
    assert names == {s.name for a in shown(alignments) for s in (a.query, a.target)}


def test_tables_as_orthofinder_reads_them(tmp_path):
    """It takes bit scores by the numbers in the names, of each species against each and itself."""
    proteins = read_fasta(EXAMPLES)
    letters = [one.residues for one in proteins][:10]
    species = [letters[:6], letters[6:]]
    for i, strings in enumerate(species):
        text = "".join(f">{i}_{k}\n{one}\n" for k, one in enumerate(strings))
        (tmp_path / f"Species{i}.fa").write_text(text)
    for i in range(2):
        for j in range(2):
            command = ["align", *(str(tmp_path / f"Species{k}.fa") for k in (i, j)), "-q"]
            command += ["--mode", "local", "--gap-open", "12", "--max-evalue", "0.001"]
            command += ["--format", "blast6", "-o", str(tmp_path / f"Blast{i}_{j}.txt")]
            assert main(command) == 0
            scores = np.zeros((len(species[i]), len(species[j])))
            with open(tmp_path / f"Blast{i}_{j}.txt") as file:
                for row in csv.reader(file, delimiter="\t"):
                    assert len(row) == 12
                    (first, query), (second, target) = (name.split("_") for name in row[:2])
                    assert (int(first), int(second)) == (i, j)
                    place = int(query), int(target)
                    scores[place] = max(scores[place], float(row[11]))
            assert (scores > 0).sum() > 10
            if i == j:
                assert (scores.diagonal() == scores.max(axis=1)).all()
                assert np.array_equal(scores, scores.T)


def test_columns_are_checked(tmp_path):
    with pytest.raises(FormatError, match="no column 'nothing': expected some of query, target"):
        parse_fields("query,nothing")
    with pytest.raises(FormatError, match="no columns"):
        parse_fields(",")
    alignments = plain_sample(3, "local")
    sets = alignments.queries, alignments.targets, alignments.scoring
    choosable = "tsv, csv, jsonl, parquet, blast6, blast7"
    with pytest.raises(FormatError, match=f"paf has no columns to choose; {choosable} have"):
        table(alignments, tmp_path / "a.paf", "query", "paf")
    content = Content(*sets, Detail.CIGAR, shown=Shown(both_ways=True))
    with pytest.raises(FormatError, match="sam has each pair once; written both ways are paf, tsv"):
        open_writer(tmp_path / "a.sam", "sam", content)
    with pytest.raises(FormatError, match="column 'positives' needs alignments"):
        open_writer(
            tmp_path / "a.tsv",
            "tsv",
            Content(*sets, Detail.STATS, shown=Shown(fields=parse_fields("positives"))),
        )
    assert list(tmp_path.iterdir()) == []


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_stockholm_by_biopython(tmp_path, mode):
    alignments = plain_sample(7, mode)
    found = list(
        AlignIO.parse(io.StringIO(written(alignments, "stockholm", tmp_path)), "stockholm")
    )
    whole = mode != "local"
    for block, a in zip(found, shown(alignments), strict=True):
        assert [str(r.seq) for r in block] == rows_of_pair(a, whole)
        assert [r.name for r in block] == [a.query.name, a.target.name]
        starts = (0, 0) if whole else (a.query_start, a.target_start)
        ends = (len(a.query), len(a.target)) if whole else (a.query_end, a.target_end)
        assert tuple(r.annotations["start"] for r in block) == tuple(s + 1 for s in starts)
        assert tuple(r.annotations["end"] for r in block) == ends


def test_stockholm_has_what_follows_the_name_by_biopython(tmp_path):
    """As the description of a row, of pairs and of `msa`; read as sequences they have it, too."""
    headers = {"a": "a first  of all", "b": "b", "c": "c\tof a tab", "d": "d   after blanks"}
    path = tmp_path / "in.fa"
    path.write_text("".join(f">{one}\nMKVLAWEEF{name.upper()}\n" for name, one in headers.items()))
    expected = {"a": "first  of all", "b": "", "c": "of a tab", "d": "after blanks"}
    found = align(path, device="cpu")
    assert len(found) == 6
    (tmp_path / "pairs").mkdir()
    pairs = AlignIO.parse(io.StringIO(written(found, "stockholm", tmp_path / "pairs")), "stockholm")
    for row in (row for block in pairs for row in block):
        described = "" if row.description == row.id else row.description
        assert described == expected[row.name]
    msa(path, device="cpu").write(tmp_path / "out.sto")
    (block,) = AlignIO.parse(tmp_path / "out.sto", "stockholm")
    for row in block:
        assert ("" if row.description == row.id else row.description) == expected[row.id]
    again = read_fasta(tmp_path / "out.sto", degap=True)
    assert again.descriptions[0] == "a first  of all"


@pytest.mark.parametrize("mode", MODES)
def test_maf_by_biopython(tmp_path, mode):
    alignments = plain_sample(8, mode)
    found = list(Align.parse(io.StringIO(written(alignments, "maf", tmp_path)), "maf"))
    for block, a in zip(found, shown(alignments), strict=True):
        assert [block[1], block[0]] == rows_of_pair(a, False)
        assert (block.target.id, block.query.id) == (a.target.name, a.query.name)
        assert block.score == a.raw_score
        assert (block.coordinates[0][0], block.coordinates[0][-1]) == (a.target_start, a.target_end)
        assert (block.coordinates[1][0], block.coordinates[1][-1]) == (a.query_start, a.query_end)
        assert (len(block.target.seq), len(block.query.seq)) == (len(a.target), len(a.query))


@pytest.mark.parametrize("mode", MODES)
def test_a3m(tmp_path, mode):
    """Capital columns are those of the query; of all letters, the target's aligned part is left."""
    everything = plain_sample(9, mode, pairs=60)
    one = SequenceSet.from_strings([everything.queries[0].residues], ["q0"], alphabet="protein")
    kept = everything.take(everything.query == 0)
    kept.queries = one
    write(kept, tmp_path / "a.a3m")
    records = (tmp_path / "a.a3m").read_text().split(">")[1:]
    query, *rows = (record.split("\n")[:2] for record in records)
    assert query == ["q0", one[0].residues.upper()]
    assert len(rows) == len(aligned(kept)) > 2
    for (header, row), a in zip(rows, aligned(kept), strict=True):
        assert header.split()[0] == a.target.name
        assert len(re.sub("[a-z]", "", row)) == len(one[0].residues)
        span = a.target.residues[a.target_start : a.target_end].upper()
        assert row.replace("-", "").upper() == span
        first, second = rows_of_pair(a, False)
        columns = "".join(y.upper() for x, y in zip(first, second, strict=True) if x != "-")
        assert re.sub("[a-z]", "", row)[a.query_start : a.query_end] == columns


@needs_program("hhfilter")
def test_hhsuite_reads_a3m(tmp_path):
    everything = plain_sample(9, "local", pairs=60)
    one = SequenceSet.from_strings([everything.queries[0].residues], ["q0"], alphabet="protein")
    kept = everything.take(everything.query == 0)
    kept.queries = one
    write(kept, tmp_path / "a.a3m")
    command = ["hhfilter", "-i", "a.a3m", "-o", "b.a3m", "-id", "100", "-cov", "0", "-diff", "0"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = (tmp_path / "b.a3m").read_text().split(">")[1:]
    expected = (tmp_path / "a.a3m").read_text().split(">")[1:]
    assert found[0] == expected[0]
    assert 1 < len(found) <= len(expected)
    assert set(found) <= set(expected)


def test_a3m_has_one_query(tmp_path):
    with pytest.raises(FormatError, match="8 sequences; a3m holds the alignments of one query"):
        write(plain_sample(9, "local"), tmp_path / "a.a3m")


def test_equal_names_are_refused_where_readers_go_by_name(tmp_path):
    alignments = plain_sample(9, "local")
    alignments.targets = alignments.queries.__class__.from_strings(
        [s.residues for s in alignments.targets], alignments.queries.names, alphabet="protein"
    )
    for format in ("stockholm", "tc_lib"):
        with pytest.raises(FormatError, match="has its name"):
            write(alignments, tmp_path / f"a.{format}")


# ---- T-Coffee's library --------------------------------------------------------------------------


@pytest.mark.parametrize("two_sets", [False, True])
def test_tc_lib_lists_every_aligned_pair_of_letters(tmp_path, two_sets):
    alignments = plain_sample(10, "semiglobal", two_sets=two_sets)
    lines = written(alignments, "tc_lib", tmp_path).splitlines()
    sets = [alignments.queries, alignments.targets][: 1 + two_sets]
    sequences = [s for one in sets for s in one]
    assert lines[:2] == ["! TC_LIB_FORMAT_01", str(len(sequences))]
    listed = lines[2 : 2 + len(sequences)]
    assert listed == [f"{s.name} {len(s)} {s.residues}" for s in sequences]
    assert lines[-1] == "! SEQ_1_TO_N"
    expected = []
    for k, a in enumerate(alignments):
        if a.matches + a.mismatches == 0:
            continue
        i, j = int(alignments.query[k]), int(alignments.target[k])
        expected.append(f"#{i + 1} {j + 1 + two_sets * len(alignments.queries)}")
        weight = int(100 * a.matches / (a.matches + a.mismatches) + 0.5)
        q, t = a.query_start, a.target_start
        for x, y in zip(*rows_of_pair(a, False), strict=True):
            q, t = q + (x != "-"), t + (y != "-")
            if "-" not in (x, y):
                expected.append(f"{q} {t} {weight}")
    assert lines[2 + len(sequences) : -1] == expected


SUM_LIBRARIES = EXAMPLES.parent / "sum_libraries.py"


def test_libraries_are_summed(tmp_path):
    """Positions that two libraries have get both weights; the others are kept."""
    strings = ["PPPPPMKVLAAGGWTREHH", "GGGGGMKVLAGGWTEHH", "FFFFFMKWLAGREHH"]
    (tmp_path / "in.fasta").write_text("".join(f">s{i}\n{s}\n" for i, s in enumerate(strings)))
    expected = {}
    for mode in ("global", "local"):
        write(align(tmp_path / "in.fasta", mode=mode), tmp_path / f"{mode}.tc_lib")
        pair = None
        for line in (tmp_path / f"{mode}.tc_lib").read_text().splitlines()[5:-1]:
            if line.startswith("#"):
                pair = line
                continue
            first, second, weight = line.split()
            key = pair, first, second
            expected[key] = expected.get(key, 0) + int(weight)
    command = [sys.executable, SUM_LIBRARIES, "global.tc_lib", "local.tc_lib"]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (tmp_path / "all.tc_lib").write_text(found)
    head, *blocks = found.split("\n#")
    assert head.splitlines() == (tmp_path / "local.tc_lib").read_text().splitlines()[:5]
    summed = {}
    for block in blocks:
        pair, *lines = block.splitlines()
        for first, second, weight in (line.split() for line in lines if line[0] != "!"):
            summed[f"#{pair}", first, second] = int(weight)
    assert summed == expected
    assert len({weight > 100 for weight in summed.values()}) == 2
    command = [sys.executable, SUM_LIBRARIES, "global.tc_lib", "in.fasta"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


@needs_program("t_coffee")
@pytest.mark.slow
def test_t_coffee_aligns_with_it(tmp_path):
    strings = ["MKVLAAGGWTREHH", "MKVLAGGWTEHH", "MKWLAGREHH"]
    (tmp_path / "in.fasta").write_text("".join(f">s{i}\n{s}\n" for i, s in enumerate(strings)))
    alignments = align(tmp_path / "in.fasta")
    write(alignments, tmp_path / "in.tc_lib")
    command = ["t_coffee", "-lib", "in.tc_lib", "-outfile", "out.aln", "-output", "fasta_aln"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT_SECONDS)
    rows = read_fasta(tmp_path / "out.aln", degap=True)
    assert sorted(s.residues.upper() for s in rows) == sorted(strings)


# ---- distances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [0.5, 37.25])
def test_column_list_comes_back(tmp_path, largest):
    rng = np.random.default_rng(0)
    names = ["a", "name-of-some-length", "é", "b", "cc"]
    condensed = (rng.random(10) * largest).astype(np.float32)
    write_distances(tmp_path / "d.column", DistanceMatrix(names, condensed))
    frame = pandas.read_csv(tmp_path / "d.column", sep=" ", header=None)
    i, j = np.triu_indices(5, 1)
    assert frame[0].tolist() == [names[k] for k in i]
    assert frame[1].tolist() == [names[k] for k in j]
    assert np.allclose(frame[2], condensed, atol=6e-7, rtol=0)
    again = read_distances(tmp_path / "d.column")
    assert again.names == names
    assert np.allclose(again.condensed, condensed, atol=6e-7, rtol=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 distances of 0 sequences"),
        ("a b\n", "line 1: expected two names and a distance"),
        ("a b 1\n\na a 0\n", "line 3: 'a' and itself"),
        ("a b 1\na c 1\n", "2 distances of 3 sequences, expected 3"),
        ("a b 1\na c 1\nc a 2\n", "distance 3: 'c' and 'a' are there twice"),
        ("a b nan\n", "expected a finite number"),
    ],
)
def test_what_is_no_column_list(tmp_path, text, message):
    (tmp_path / "d.column").write_text(text)
    with pytest.raises(DistanceError, match=re.escape(message)):
        read_distances(tmp_path / "d.column")
