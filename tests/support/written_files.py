"""Alignments written to a file and read again, for the tests of formats and outputs."""

import itertools
import os

from pairalign.formats import open_writer
from pairalign.formats.writer import Content
from pairalign.pairs.want import Detail

TEXT = (
    "paf",
    "tsv",
    "csv",
    "jsonl",
    "fasta",
    "srspair",
    "blast6",
    "blast7",
    "stockholm",
    "maf",
    "tc_lib",
)


DECIMALS = {"gap_open": "10.25", "gap_extend": "0.5"}
TSV_COLUMNS = [
    *("query", "target", "score", "identity", "columns", "matches", "mismatches", "gap_openings"),
    *("gap_letters", "query_length", "query_start", "query_end", "target_length", "target_start"),
    *("target_end", "cigar"),
]


def detail_of(alignments):
    return Detail(alignments.has_stats + alignments.has_cigar)


def write(alignments, path, format=None, *, cuts=(), threads=1):
    sets = alignments.queries, alignments.targets
    edges = [0, *sorted(cuts), len(alignments)]
    content = Content(*sets, alignments.scoring, detail_of(alignments))
    with open_writer(path, format, content, threads=threads) as writer:
        for a, b in itertools.pairwise(edges):
            writer.write(alignments[a:b])


def written(alignments, format, tmp_path, **options):
    path = tmp_path / f"out.{format}"
    write(alignments, path, format, **options)
    assert os.listdir(tmp_path) == [path.name]
    content = path.read_bytes()
    path.unlink()
    return content if format == "parquet" else content.decode()


def shown(alignments):
    return [a for a in alignments if a.columns > 0]
