"""A byte order mark, which Windows puts before a text, is skipped wherever text is read."""

import pytest
from verifying import READ_AS

from pairalign.cli.main import main
from pairalign.formats.distances import read_distances
from pairalign.formats.group_files import read_groups
from pairalign.jobs.splits.labels import read_values
from pairalign.pairs.lists import read_pair_list
from pairalign.scoring.matrices import load_table
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree_text import read_newick

MARK = b"\xef\xbb\xbf"
SET = SequenceSet.from_strings({"a": "MKV", "b": "MKL"})
READERS = {
    "in.fa": (b">a\nMKV\n>b\nMKL\n", lambda path: list(read_fasta(path))),
    "in.fq": (b"@a\nACGT\n+\nIIII\n", lambda path: list(read_fasta(path))),
    "in.aln": (b"CLUSTAL W\n\na  MKV\nb  MKL\n", lambda path: list(read_fasta(path))),
    "folds.csv": (b"name,fold\na,1\nb,2\n", lambda path: read_groups(path, None, SET).names),
    "folds.clstr": (
        b">Cluster 0\n0\t3aa, >a... *\n1\t3aa, >b... at 66%\n",
        lambda path: read_groups(path, None, SET).names,
    ),
    "folds.uc": (
        b"S\t0\t3\t*\t*\t*\t*\t*\ta\t*\nH\t0\t3\t66.7\t*\t0\t0\t=\tb\ta\n",
        lambda path: read_groups(path, None, SET).labels.tolist(),
    ),
    "clusters.tsv": (b"a\ta\na\tb\n", lambda path: read_groups(path, None, SET).names),
    "labels.csv": (b"name,kind\na,x\nb,y\n", lambda path: read_values(SET, "kind", path)),
    "pairs.txt": (b"a\tb\n", lambda path: read_pair_list(path, SET, None).first.tolist()),
    "matrix.txt": (b"  A C\nA 1 0\nC 0 1\n", lambda path: load_table(path).scores),
    "tree.nwk": (b"(a:1,b:2);\n", lambda path: read_newick(path, SET.names).linkage.tolist()),
    "d.tsv": (b"\ta\tb\na\t0\t1\nb\t1\t0\n", lambda path: read_distances(path).names),
    "d.phy": (b"2\na\nb 1\n", lambda path: read_distances(path).condensed.tolist()),
}


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_is_skipped(name, tmp_path):
    text, read = READERS[name]
    path = tmp_path / name
    path.write_bytes(text)
    expected = read(str(path))
    path.write_bytes(MARK + text)
    assert read(str(path)) == expected


@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
@pytest.mark.parametrize("name", [name for name in READERS if name.endswith(".csv")])
def test_tables_have_any_line_end(name, end, tmp_path):
    text, read = READERS[name]
    path = tmp_path / name
    path.write_bytes(text)
    expected = read(str(path))
    path.write_bytes(text.replace(b"\n", end))
    assert read(str(path)) == expected


@pytest.mark.parametrize("format", READ_AS)
def test_a_mark_before_alignments(format, here):
    """Of each text that `verify` reads; a name may begin with one, too."""
    (here / "s.fa").write_text(">a\nMKVLWACGG\n>b\nMKVLACGG\n")
    (here / "q.fa").write_text(">a\nMKVLWACGG\n")
    (here / "t.fa").write_text(">b\nMKVLACGG\n")
    given = ["q.fa", "t.fa"] if format == "a3m" else ["s.fa"]
    made = ["-o", f"o.{format}", "--format", format, "-q", "--device", "cpu"]
    assert main(["align", *given, *made]) == 0
    text = (here / f"o.{format}").read_bytes()
    if format != "parquet":
        (here / f"o.{format}").write_bytes(MARK + text)
    checked = ["verify", f"o.{format}", *given, "--from", READ_AS[format], "--mode", "global", "-q"]
    assert main([*checked, "-o", "v.tsv"]) == 0
    assert (here / "v.tsv").read_text().count("\tok\t") == 1
