"""What options and arguments may be: words and numbers that many modules know.

Nothing of the package is imported here, so that the help of a command is there at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

MODES = ("global", "semiglobal", "local")
END_GAPS = "end-gaps"
"""The mode of a global alignment whose end gaps have costs of their own."""
ALL_MODES = (*MODES, END_GAPS)
"""Those, and what `make_scoring` makes of global where end gaps have costs of their own."""

OBJECTIVES = ("score", "mea")
"""What an alignment is the best by: its score, or its expected accuracy."""

AUTO_KERNEL = "auto"
"""The best kernel that can: `pairalign.engines.kernels` has the names of all."""

TIES = ("usual", "vsearch")
"""Which of equally good alignments is taken: docs/conventions.md has both rules."""

Identity = Literal["columns", "aligned", "shorter", "internal", "mbl", "full", "longer", "mean"]
IDENTITIES = {
    "columns": "matches by alignment columns (vsearch --iddef 1)",
    "aligned": "matches by columns without gaps",
    "shorter": "matches by residues of the shorter sequence (CD-HIT, vsearch --iddef 0)",
    "internal": "matches by columns, the gaps at both ends left out (vsearch --iddef 2)",
    "mbl": "1 - mismatches and gaps by residues of the longer sequence (vsearch --iddef 3)",
    "full": "matches by columns, those of free end gaps counted (EMBOSS needle, GraphPart)",
    "longer": "matches by residues of the longer sequence",
    "mean": "matches by the mean of both sequences' residues",
}
"""What an identity can be, and a line about each; numbered in this order in native code."""

Coverage = Literal["query", "target", "both", "shorter", "aligned"]
COVERAGES = {
    "query": "of the query, from the start to the end of its aligned span",
    "target": "of the target, likewise",
    "both": "of each of the two",
    "shorter": "of the shorter sequence; of two of equal lengths, the query",
    "aligned": "residues that are aligned with a residue, by those of the longer sequence",
}
"""What a coverage can be; numbered in this order in native code."""

DEFAULT_WINDOW = 1024
LIST_WINDOW = 65536
"""Rows and columns of a window for pairs of a list: large, so that a row has some pairs."""


class Format(NamedTuple):
    """A line of the registry of formats of alignments; all else of a format is in its classes.

    Attributes
    ----------
    holds : str
        Some of ``"pairs"``, ``"overlaps"`` and ``"network"``: which commands write it.
    writer : str
        Its `pairalign.formats.Writer`: module and class in `pairalign.formats`.
    reader : str
        Its `pairalign.formats.readers.RecordReader`, likewise; empty: it has none of its own.
    """

    holds: str
    writer: str
    reader: str = ""

    def load_writer(self) -> Any:
        """Return the class that writes it."""
        return _load(self.writer)

    def load_reader(self) -> Any:
        """Return the class that reads it."""
        return _load(self.reader)


def _load(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"pairalign.formats.{module}"), name)


REGISTRY: Mapping[str, Format] = {
    "paf": Format("pairs overlaps", "paf.PafWriter", "readers.table_reader.PafReader"),
    "tsv": Format("pairs", "tsv.TsvWriter", "readers.table_reader.TsvReader"),
    "csv": Format("pairs", "tsv.CsvWriter", "readers.table_reader.CsvReader"),
    "jsonl": Format("pairs", "jsonl.JsonlWriter", "jsonl.JsonlReader"),
    "fasta": Format("pairs", "fasta.FastaWriter", "readers.row_reader.FastaReader"),
    "srspair": Format("pairs", "srspair.SrspairWriter", "readers.row_reader.SrspairReader"),
    "parquet": Format("pairs", "parquet.ParquetWriter", "readers.parquet_reader.ParquetReader"),
    "blast6": Format("pairs", "blast.Blast6Writer", "readers.table_reader.Blast6Reader"),
    "blast7": Format("pairs", "blast.Blast7Writer"),
    "sam": Format("pairs overlaps", "sam.SamWriter", "readers.table_reader.SamReader"),
    "a3m": Format("pairs", "a3m.A3mWriter", "readers.block_reader.A3mReader"),
    "stockholm": Format(
        "pairs", "stockholm.StockholmWriter", "readers.block_reader.StockholmReader"
    ),
    "maf": Format("pairs", "maf.MafWriter", "readers.block_reader.MafReader"),
    "tc_lib": Format("pairs", "tc_lib.TcLibWriter"),
    "gfa": Format("overlaps", "gfa.GfaWriter", "readers.gfa_reader.GfaReader"),
    "graphml": Format("pairs network", "networks.GraphmlWriter"),
    "gexf": Format("pairs network", "networks.GexfWriter"),
    "abc": Format("pairs network", "networks.AbcWriter", "readers.table_reader.AbcReader"),
    "edges": Format("pairs network", "networks.EdgesWriter"),
    "npz": Format("pairs network", "matrix_csr.MatrixWriter"),
}
"""All formats by name, in the order in which help shows them."""


def _names(word: str) -> tuple[str, ...]:
    return tuple(name for name, entry in REGISTRY.items() if word in entry.holds.split())


FORMAT_NAMES = _names("pairs")
OVERLAP_FORMAT_NAMES = _names("overlaps")
NETWORK_NAMES = _names("network")
READER_NAMES = tuple(name for name, entry in REGISTRY.items() if entry.reader)

COMPRESSED_SUFFIXES = (".gz", ".zst")
"""Ends of names of outputs that are compressed."""
FASTQ_SUFFIXES = (".fastq", ".fq", ".fastq.gz", ".fq.gz", ".fastq.zst", ".fq.zst")
COMPRESSED_INPUTS = (".gz", ".bgz", ".bz2", ".xz", ".zst")
"""Ends of names of inputs that are."""

BY_FILE, BY_RECORD, BY_PREFIX = "file", "record", "name-prefix"
"""What the group of a sequence is told by, where there is no table of groups."""

ON_EMPTY = ("error", "skip")
ON_DUPLICATE = ("error", "rename", "drop")
NAMES = ("first", "whole")
"""What is done about records without residues, about names that come again, and what of a header is
the name; the first is the default."""

SUMMARIES = ("text", "json")
"""How a command says in the end what it did; the first is the default."""

NEAR_MEASURES = ("drop", "edits", "tcrdist")
"""Distances of which only those within a limit are kept."""
TABLES = {"tsv": (".tsv", ".tab"), "csv": (".csv",)}
"""Tables, and the ends of their files' names: tabs or commas are between their cells."""
TABLE_ENDINGS = (".tsv", ".tab", ".txt", ".csv")
"""Of tables that nothing else can be."""
SPARSE_SUFFIXES = {"npz": (".npz",), **TABLES, "parquet": (".parquet", ".pq")}
"""Formats of distances within a limit, and the ends of their files' names."""

ORIENTS = ("input", "canonical")
"""Which sequence of a pair is its query; the first is the default."""

STRANDS = ("plus", "both")
"""Which strands of DNA are looked at; the first is the default."""

OVERLAP_KINDS = ("", "dovetail", "contained", "contains", "internal")
"""What the tag ``ov`` and the Python API call each kind; the index is its number."""

WEIGHTS = ("identity", "score", "coverage", "columns", "bits", "evalue", "alignment_score")
"""What an edge of a network may have as its weight; the order is that of its fields."""
WEIGHTS_OF_STATISTICS = ("bits", "evalue", "alignment_score")
"""Those that are known of local alignments alone."""

MASKS = ("none", "tantan", "seg")
"""What residues of low complexity are found by; the first is the default."""

RANKS = ("score", "bits", "evalue", "identity")
"""What the best hits are the best by; the first is the default."""
RANKS_OF_STATISTICS = ("bits", "evalue")
"""Those that need what bit scores and E-values are made of."""
EDGE_RANKS = ("score", "identity")
"""Those of the edges of a network of clusters."""

PAF_TAGS = ("tp", "cs", "pp")
SAM_TAGS = ("MD", "pp")
"""Tags that are written if they are wanted."""

DISTANCE_SUFFIXES = {
    "phylip": (".phy", ".phylip", ".dist", ".mat", ".dst"),
    **TABLES,
    "npy": (".npy",),
    "column": (".column",),
}
"""Formats of distances, and ends of names that mean each."""
RECTANGLE_SUFFIXES = {
    **{name: DISTANCE_SUFFIXES[name] for name in (*TABLES, "column", "npy")},
    **{name: SPARSE_SUFFIXES[name] for name in ("npz", "parquet")},
}
"""Those of distances of two sets."""

PICTURES = {"svg": (".svg",), "png": (".png",), "pdf": (".pdf",)}
"""Formats of pictures and the ends of names that mean them."""

TREE_SUFFIXES = {
    "newick": (".nwk", ".newick", ".dnd", ".tre", ".tree"),
    "nexus": (".nexus", ".nex"),
    "mafft": (".mafft",),
    "ascii": (".txt",),
    **PICTURES,
}
"""Formats of trees, and ends of names that mean each."""
TREE_PROGRAMS = ("clustalo", "famsa", "muscle")
"""Programs that read trees: `pairalign.trees.tree_text.PROGRAMS`."""
TREE_METHODS = ("upgma", "mixed", "nj")
DEFAULT_METHOD = "upgma"

MEASURE_SUMMARIES = {
    "identity": "1 - matches by alignment length, gaps counted",
    "identity-aligned": "1 - matches by columns without gaps",
    "identity-shorter": "1 - matches by length of the shorter sequence",
    "identity-unambiguous": "1 - matches by columns of unambiguous residues: no gaps, N, X",
    "kimura": "Kimura's protein correction, without X",
    "jukes-cantor": "Jukes and Cantor, DNA, without N",
    "kimura-2p": "Kimura's two parameters, DNA",
    "score": "1 - score by mean score of each with itself",
}
"""Distances of two sequences, and a line about each; `pairalign.jobs.distances` computes them."""
IDENTITY_MEASURES = tuple(name for name in MEASURE_SUMMARIES if name.startswith("identity"))
"""Those that are 1 less an identity."""
GENOME_MEASURES = {
    "ani": "1 - ANI: residues that match by those that are aligned, of genomes (--group-by)",
    "tani": "1 - tANI: residues that match by those of both, of genomes (--group-by)",
}
"""Distances of groups of records of DNA."""
RECEPTOR_MEASURES = {"tcrdist": "TCRdist of T cell receptors, with the weights of tcrdist3"}
"""Distances of immune receptors."""
SIMILARITY_MEASURES = (*IDENTITY_MEASURES, *GENOME_MEASURES)
"""Those that are 1 less an identity, of sequences or of groups."""
DEFAULT_MEASURE = "identity-aligned"
"""What ClustalW takes from full alignments."""
ALIGNERS_MEASURE = "score"
"""Of all measures this gives the aligners the best trees: docs/guide-trees.md."""

CLUSTER_SUFFIXES = {
    **TABLES,
    "tsv": (".tsv", ".tab", ".txt"),
    "uc": (".uc",),
    "clstr": (".clstr",),
    "fasta": (".fasta", ".fa", ".fas", ".fna", ".faa"),
    "otutab": (".otutab",),
    "biom": (".biom",),
    "biom2": (".biom2",),
}
"""Formats of clusters, and ends of names that mean each."""
POSTERIOR_SUFFIXES = {
    "npz": (".npz",),
    "parquet": (".parquet", ".pq"),
    **TABLES,
    "tc_lib": (".tc_lib", ".tclib"),
}
"""Formats of posteriors, and ends of names that mean each."""
POSTERIOR_THRESHOLD = 0.01
SHOWN_POSTERIOR = 0.05
"""Of what is computed and of what `posterior` gives: in families with known alignments one entry of
a hundred between the two is right."""
LEAST_POSTERIOR_THRESHOLD = 0.001

MSA_SUFFIXES = {
    "fasta": (".afa", ".fasta", ".fa", ".fas", ".mfa"),
    "clustal": (".aln", ".clustal", ".clw"),
    "stockholm": (".sto", ".stk", ".stockholm"),
    "a2m": (".a2m",),
    **TABLES,
    "html": (".html", ".htm"),
}
"""Formats of multiple alignments, and ends of names that mean each."""
MULTIPLE_SUFFIXES = (
    *(*MSA_SUFFIXES["clustal"], *MSA_SUFFIXES["a2m"], ".mfa", ".msf", ".phy", ".phylip", ".pir"),
    *(".nex", ".nexus"),
)
"""Ends of names of files that hold multiple alignments, and never pairs."""
MSA_WITH_CONFIDENCE = ("stockholm", *TABLES, "html")
"""Formats of multiple alignments that show how sure they are."""
MSA_ORDERS = ("input", "tree")

HOMOLOGS_PER_FAMILY = 50
"""Sequences that are aligned with rounds of consistency, at most."""

GROUP_SUFFIXES = {
    "folds": (".csv",),
    "clstr": (".clstr",),
    "uc": (".uc",),
    "tsv": (".tsv", ".tab"),
}
"""Formats of folds and clusters that are read, and ends of names that mean each."""
LINKAGES = ("greedy", "single", "complete", "average")
CLUSTER_ORDERS = ("length", "size")
"""What becomes a representative first: the longest, or what was seen most often.

Clusters are written in these orders as well.
"""
REPRESENTATIVES = ("longest", "medoid")

MUTUAL = ("keep", "drop", "one")
"""What is done about reads that are contained in each other; the first is the default."""
OVERLAP_FILTERS = ("auto", "none", "bitwise", "runs")

COMMIT_SECONDS = 10.0
"""Work that a kill may cost a run with ``--resume``."""
