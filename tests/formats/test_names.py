"""Names of every kind in every format: what is written is read back, by us and by the programs that
the format is for, or the name is refused with its record before work begins."""

import io
import json
import shutil
import warnings
from functools import partial

import pandas as pd
import pytest
from verifying import READ_AS

from pairalign.base.choices import FORMAT_NAMES
from pairalign.base.texts import lines_of, quoted, unquoted, words_of
from pairalign.cli.main import main
from pairalign.jobs.msa.msa_files import MSA_LINES
from pairalign.jobs.splits.labels import read_values

RESIDUES = "MKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACW"

KINDS = {
    "quote": '"x',
    "quotes": '"x"',
    "quote inside": 'a"b',
    "apostrophe": "a'b",
    "apostrophes": "'a'",
    "next line": "a\x85b",
    "line separator": "a\u2028b",
    "no-break space": "a\u00a0b",
    "wide blank": "a\u3000b",
    "letter": "éa",
    "gene": "\U0001f9ec",
    "zero width": "a\u200bb",
    "mark": "\ufeffa",
    "hash": "#a",
    "hash inside": "a#b",
    "bang": "!a",
    "at": "@a",
    "greater": ">a",
    "size": "s;size=3",
    "semicolon": ";a",
    "bars": "sp|P1|A",
    "parentheses": "a(b)",
    "colon": "c:b",
    "comma": "a,b",
    "star": "*",
    "star first": "*a",
    "equals": "=a",
    "slashes": "//",
    "dash": "-",
    "dot": ".",
    "span": "a/1-3",
    "markup": "#=GF",
    "nan": "nan",
    "none": "NA",
    "number": "001",
    "markup of XML": "<a&b>",
    "backslash": "a\\b",
    "brackets": "[a]",
    "braces": "{a}",
    "per cent": "%41",
    "question": "?",
    "plus": "a+",
    "long": "n" * 300,
}
UNICODE = {"next line", "line separator", "no-break space", "wide blank"}
BEYOND_ASCII = UNICODE | {"letter", "gene", "zero width", "mark"}
MARKS = {"quote", "quotes", "quote inside", "apostrophe", "apostrophes", "comma"}
HASHES = {"hash", "markup"}
REFUSED = {
    "fasta": UNICODE,
    "a3m": UNICODE,
    "msa fasta": UNICODE,
    "msa a2m": UNICODE,
    "blast6": HASHES,
    "blast7": HASHES,
    "sam": BEYOND_ASCII
    | MARKS
    | {"at", "greater", "parentheses", "star", "star first", "equals", "markup of XML", "backslash"}
    | {"brackets", "braces", "long"},
    "srspair": UNICODE | HASHES,
    "stockholm": UNICODE | HASHES | {"slashes"},
    "maf": UNICODE,
    "tc_lib": HASHES | {"bang", "size", "semicolon", "parentheses", "colon", "comma", "long"},
    "edges": {"comma"},
    "msa stockholm": UNICODE | HASHES | {"slashes"},
    "msa clustal": UNICODE | {"long"},
    "tree": UNICODE | MARKS | {"size", "semicolon", "parentheses", "colon", "brackets", "braces"},
}
"""Of formats, the kinds that they cannot hold."""

FORMATS = list(FORMAT_NAMES)


def write(path, names):
    lines = (f">{name}\n{RESIDUES[k % 15 :]}\n" for k, name in enumerate(names))
    path.write_text("".join(lines), "utf-8", newline="\n")


def names_of(format):
    return [name for kind, name in KINDS.items() if kind not in REFUSED.get(format, ())]


def inputs(here, format, names):
    """Files of the names: the first alone as the query of A3M."""
    if format == "a3m":
        write(here / "q.fa", names[:1])
        write(here / "t.fa", names[1:])
        return ["q.fa", "t.fa"]
    write(here / "s.fa", names)
    return ["s.fa"]


def align(*arguments):
    return main(["align", *arguments, "--device", "cpu", "--quiet"])


def bio_names(path, format):
    from Bio import AlignIO

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {record.id for one in AlignIO.parse(path, format) for record in one}


def fasta_names(path):
    from Bio import SeqIO

    return {record.id for record in SeqIO.parse(path, "fasta")}


def table_names(path, **options):
    options = {"sep": "\t", "dtype": str, "keep_default_na": False, **options}
    table = pd.read_csv(path, **options)
    return set(table.iloc[:, 0]) | set(table.iloc[:, 1])


def polars_names(path):
    import polars

    table = polars.read_csv(path, separator="\t", infer_schema=False)
    return set(table["query"]) | set(table["target"])


def blast7_names(path):
    from Bio import SearchIO

    found = list(SearchIO.parse(path, "blast-tab", comments=True))
    return {query.id for query in found} | {hit.id for query in found for hit in query}


def jsonl_names(path):
    table = pd.read_json(path, lines=True, dtype=False)
    return set(table["query"]) | set(table["target"])


def sam_names(path):
    import pysam

    with pysam.AlignmentFile(path, check_sq=False) as file:
        return {name for one in file for name in (one.query_name, one.reference_name)}


def network_names(path, read):
    import networkx

    return {node["name"] for _, node in getattr(networkx, read)(path).nodes(data=True)}


RAW = {"header": None, "quoting": 3}
READ_BY_PROGRAMS = {
    "tsv": [table_names, polars_names],
    "csv": [partial(table_names, sep=",")],
    "jsonl": [jsonl_names],
    "blast6": [lambda path: table_names(path, **RAW)],
    "blast7": [blast7_names, lambda path: table_names(path, skiprows=7, **RAW)],
    "sam": [sam_names],
    "paf": [lambda path: table_names(path, usecols=[0, 5], **RAW)],
    "stockholm": [lambda path: {one.rpartition("/")[0] for one in bio_names(path, "stockholm")}],
    "maf": [lambda path: bio_names(path, "maf")],
    "fasta": [fasta_names],
    "a3m": [fasta_names],
    "graphml": [lambda path: network_names(path, "read_graphml")],
    "gexf": [lambda path: network_names(path, "read_gexf")],
    "abc": [lambda path: table_names(path, **RAW)],
    "parquet": [
        lambda path: set(pd.read_parquet(path)["query"]) | set(pd.read_parquet(path)["target"])
    ],
}


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read(here, format):
    names = names_of(format)
    given = inputs(here, format, names)
    out = f"o.{format}"
    assert align(*given, "-o", out, "--format", format, "--mode", "local", "--gap-open", "12") == 0
    if format in READ_AS:
        arguments = [out, *given, "--from", READ_AS[format], "--gap-open", "12", "-o", "v.tsv"]
        assert main(["verify", *arguments, "--mode", "local", "--quiet"]) == 0
        told = pd.read_csv("v.tsv", sep="\t", dtype=str, keep_default_na=False)
        pairs = len(names) - 1 if format == "a3m" else len(names) * (len(names) - 1) // 2
        assert set(told["verdict"]) == {"ok"}
        assert len(told) == pairs
        assert set(told["query"]) | set(told["target"]) == set(names)
    for read in READ_BY_PROGRAMS.get(format, ()):
        assert read(out) == set(names)


def test_srspair_is_read_by_biopython(here):
    names = names_of("srspair")
    write(here / "s.fa", names)
    assert align("s.fa", "-o", "o.needle") == 0
    assert bio_names("o.needle", "emboss") == set(names)


@pytest.mark.parametrize(
    ("format", "kind"),
    [(format, kind) for format in FORMATS for kind in KINDS if kind in REFUSED.get(format, ())],
)
def test_what_cannot_be_held_is_refused(here, capfd, format, kind):
    given = inputs(here, format, ["y", KINDS[kind], "z"])
    out = f"o.{format}"
    assert align(*given, "-o", out, "--format", format) == 2
    said = capfd.readouterr().err
    said_as = {"edges": "edges", "a3m": "t.fa: record 1 "}
    assert said_as.get(format, "record 2 ") in said
    assert not (here / out).exists()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in REFUSED["tc_lib"]])
def test_posteriors_for_t_coffee(here, capfd, kind):
    write(here / "s.fa", ["y", KINDS[kind], "z"])
    assert main(["posterior", "s.fa", "-o", "o.tc_lib", "--device", "cpu"]) == 2
    assert "record 2 " in capfd.readouterr().err
    assert [one.name for one in here.iterdir()] == ["s.fa"]


# ---- multiple alignments, trees, distances, clusters, folds --------------------------------------


@pytest.mark.parametrize("format", MSA_LINES)
def test_multiple_alignments(here, format):
    names = names_of(f"msa {format}")
    write(here / "s.fa", names)
    assert main(["msa", "s.fa", "-o", "o", "--format", format, "-q", "--device", "cpu"]) == 0
    if format in ("fasta", "a2m"):
        assert fasta_names("o") == set(names)
        if format == "fasta":
            more = ["--confidence-of", "o", "-o", "c.tsv", "-q", "--device", "cpu"]
            assert main(["msa", "s.fa", *more]) == 0
    elif format in ("stockholm", "clustal"):
        assert bio_names("o", format) == set(names)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("format", "kind"),
    [
        (format, kind)
        for format in ("stockholm", "clustal", "fasta", "a2m")
        for kind in KINDS
        if kind in REFUSED[f"msa {format}"]
    ],
)
def test_multiple_alignments_that_cannot_be(here, capfd, format, kind, several):
    write(here / "s.fa", ["y", KINDS[kind], "z"])
    write(here / "t.fa", ["y", "z"])
    given = ["t.fa", "s.fa", "-o", "made/"] if several else ["s.fa", "-o", "made"]
    assert main(["msa", *given, "--format", format, "-q", "--device", "cpu"]) == 2
    assert "s.fa: record 2 " in capfd.readouterr().err
    assert not (here / "made").exists()


def test_trees(here, capfd):
    from Bio import Phylo

    write(here / "s.fa", names_of("tree"))
    assert main(["tree", "s.fa", "-o", "o.nwk", "-q", "--device", "cpu"]) == 0
    leaves = Phylo.read("o.nwk", "newick").get_terminals()
    assert {leaf.name for leaf in leaves} == set(names_of("tree"))
    assert main(["msa", "s.fa", "--tree-in", "o.nwk", "-o", "o.fa", "-q", "--device", "cpu"]) == 0
    for kind in REFUSED["tree"]:
        write(here / "x.fa", ["y", KINDS[kind], "z"])
        assert main(["tree", "x.fa", "-o", "x.nwk", "-q", "--device", "cpu"]) == 2
        assert "2 " in capfd.readouterr().err


@pytest.mark.parametrize("format", ["phylip", "tsv", "column", "npy"])
def test_distances(here, format):
    from pairalign.formats.distances import read_distances

    names = list(KINDS.values())
    write(here / "s.fa", names)
    made = ["-o", "o", "--format", format, "-q", "--device", "cpu"]
    assert main(["distance", "s.fa", *made]) == 0
    assert read_distances("o", format, names=names).names == names
    if format == "tsv":
        table = pd.read_csv("o", sep="\t", index_col=0, dtype={0: str}, keep_default_na=False)
        assert list(table.index) == names


@pytest.mark.parametrize("format", ["tsv", "uc", "clstr", "otutab", "biom"])
@pytest.mark.parametrize("sized", [False, True])
def test_clusters(here, format, sized):
    names = [name for name in KINDS.values() if sized or ";size=" not in name]
    write(here / "s.fa", names)
    made = ["--min-identity", "0.3", "-o", "o", "--format", format, "-q", "--device", "cpu"]
    assert main(["cluster", "s.fa", *made]) == 0
    if format == "biom":
        assert len(json.loads((here / "o").read_text())["rows"]) == 1
        return
    if format == "otutab":
        first = min(names)  # all are equal
        assert (here / "o").read_text("utf-8").split("\n")[1].startswith(f"{first}\t")
        return
    audit = ["audit", "o", "s.fa", "--from", format, "--min-identity", "0.3", "--across", "none"]
    assert main([*audit, "-q", "--device", "cpu", "-o", "a.csv"]) == 0
    if format == "tsv":
        table = pd.read_csv("o", sep="\t", dtype=str, keep_default_na=False)
        assert set(table["sequence"]) == set(names)
    single = ["--linkage", "single", *made]
    assert main(["cluster", "s.fa", *single]) == 0
    shutil.copy("o", f"old.{format}")
    assert main(["cluster", "s.fa", *single, "--extend", f"old.{format}"]) == 0
    assert (here / "o").read_bytes() == (here / f"old.{format}").read_bytes()


def test_folds(here):
    names = list(KINDS.values())
    write(here / "s.fa", [*names, "n" * 200_000])
    made = ["--min-identity", "0.99", "--folds", "2", "--tolerance", "0.5", "-o", "o.csv"]
    assert main(["split", "s.fa", *made, "-q", "--device", "cpu"]) == 0
    audit = ["audit", "o.csv", "s.fa", "--min-identity", "0.99", "-q", "--device", "cpu"]
    assert main([*audit, "-o", "a.csv"]) == 0
    table = pd.read_csv("o.csv", dtype=str, keep_default_na=False)
    assert len(table) == len(names) + 1


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a label=k1|z", "k1"),
        ("a|label=k 1|z", "k 1"),
        ("a label=k1 z", "k1"),
        ("a|z label=k1", "k1"),
        ("label=k1|z", "k1"),
    ],
)
def test_labels_in_headers(header, expected):
    from pairalign.sequences.set_reading import read_fasta

    assert read_values(read_fasta(io.BytesIO(f">{header}\nMKV\n".encode())), "label") == [expected]


# ---- long names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "formats"),
    [
        ("distance", ("phylip", "tsv", "column")),
        ("msa", ("fasta", "stockholm", "a2m", "html")),
        ("cluster", ("tsv", "uc", "clstr")),
    ],
)
def test_one_long_name_makes_no_other_line_long(here, command, formats):
    long = 200_000
    write(here / "s.fa", ["n" * long, *(f"s{k}" for k in range(60))])
    more = ["--min-identity", "0.3"] if command == "cluster" else []
    for format in formats:
        made = ["-o", "o", "--format", format, "-q", "--device", "cpu"]
        assert main([command, "s.fa", *made, *more]) == 0
        lines = (here / "o").read_text().split("\n")
        # A line a pair or a member has the name of its representative, by their definition.
        bound = 130 if (command, format) in (("distance", "column"), ("cluster", "tsv")) else 5
        bound = 130 if (command, format) == ("cluster", "uc") else bound
        assert sum(len(line) > long for line in lines) <= bound
        assert all(len(line) > long or len(line) < 2000 for line in lines)


# ---- words and quotes ----------------------------------------------------------------------------


def test_words_and_lines_are_those_of_files():
    assert words_of(" a\u00a0b\tc\x85d\r\n") == ["a\u00a0b", "c\x85d"]
    assert lines_of("a\u2028b\r\nc\x85d\x1ce\n") == ["a\u2028b", "c\x85d\x1ce"]
    assert lines_of("a\n\nb") == ["a", "", "b"]


@pytest.mark.parametrize("name", KINDS.values())
def test_quotes_around_names(name):
    assert unquoted(quoted(name)) == name
    assert (quoted(name) == name) == ('"' not in name and name[0] not in "=+-@")


def test_words_that_no_writer_quotes_stay():
    assert [unquoted(word) for word in ('"', '"a', 'a"', '"a"b"', '""')] == [
        *('"', '"a', 'a"', '"a"b"', "")
    ]
