"""Every number that a file states is checked by `pairalign verify`, or listed as not checked.

A wrong number is planted in the place of each number of a file.
"""

import json
import re

import pytest
from verifying import QUERY, TARGET

from pairalign.alignments.fields import BLAST6, FIELDS
from pairalign.alignments.problem import Problem
from pairalign.cli.main import main
from pairalign.errors import AlignmentFileError
from pairalign.formats.readers import table_reader
from pairalign.jobs.verify.verify import VerifyJob
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.set_reading import read_fasta

DNA = ">g\nTTACGTTAGCTAGCTTTTAAGCATCGATCAGCTACGGG\n>r\nCGATCGATGCTTAAAAAGAGCTAGCAACGTCC\n"
SETS = {"protein": QUERY + TARGET, "dna": DNA}
MODES = ("local", "global", "semiglobal")

LAYOUTS = {
    "all": ",".join(name for name in FIELDS if name not in ("tstart", "tend")),  # sstart, send
    "rows": "query,target,query_start,query_end,target_start,target_end,qseq,sseq",
    "rows from 1": "qseqid,sseqid,qstart,qend,sstart,send,qseq,sseq",
    "spans": "query,target,qstart,qend,sstart,send,matches,columns,gaps,query_coverage,qcovs",
    "counts": "query,target,matches,columns,gaps,query_coverage,qcovs,identity,pident",
    "twelve": ",".join(BLAST6),
}
NUMBER = re.compile(r"(?<![A-Za-z0-9.])-?\d+(\.\d+)?(e[-+]?\d+)?")
NOT_CHECKED = {
    "paf": re.compile(r"^(\S+\t){11}@", re.MULTILINE),
    "sam": re.compile(r"^(@HD|@PG)[^\n]*@|^\w+\t(@|\S+\t\S+\t\S+\t@)", re.MULTILINE),
    "srspair": re.compile(r"^# (Matrix|Gap_penalty|Extend_penalty|Aligned_sequences)[^\n]*@", re.M),
    "stockholm": re.compile(r"^#=GS[^\n]*@", re.MULTILINE),
    "maf": re.compile(r"^##maf[^\n]*@", re.MULTILINE),
    "abc": re.compile(r"^\w+\t\w+\t@", re.MULTILINE),
}
"""Of formats without names of columns, the places (@) of what `verify` lists as not checked."""


@pytest.fixture
def folder(here):
    for name, text in SETS.items():
        (here / f"{name}.fa").write_text(text)
        first, second = text.split("\n>")
        (here / f"{name}.q.fa").write_text(f"{first}\n")
        (here / f"{name}.t.fa").write_text(f">{second}")
    return here


class Checker:
    """Verifies texts of a format, of sequences and a mode."""

    def __init__(self, format, sequences, mode, columns=(), two=False):
        self.format, self.columns, self.mode = format, columns, mode
        names = [f"{sequences}.q.fa", f"{sequences}.t.fa"] if two else [f"{sequences}.fa"]
        self.sets = [read_fasta(name) for name in names] + [None] * (not two)
        scoring = make_scoring(sequences, mode=mode)
        self.scoring = scoring
        self.not_checked = []

    def is_legal(self, text):
        with open("x", "w") as file:
            file.write(text)
        try:
            job = VerifyJob(
                "x",
                Problem(*self.sets, self.scoring),
                format=self.format,
                columns=self.columns,
                mode=self.mode,
            )
            with job.open() as results:
                faults = [int(one) for found in results for one in found.findings["faults"]]
        except AlignmentFileError:
            return False
        self.not_checked = job.not_checked
        return not any(faults)


def wrong_words(value):
    """What is no number with another end; runs with one column less."""
    if re.fullmatch(r"(\d+[=XIDM])+", value):
        yield re.sub(r"^\d+", lambda run: str(int(run[0]) - 1), value)
    else:
        yield value[:-1] + ("w" if value[-1].lower() != "w" else "v")


def wrong(number):
    """Other numbers in the place of one."""
    if "e" in number or "." in number:
        yield re.sub(r"^-?\d+", lambda whole: str(abs(int(whole[0])) + 3), number)
    else:
        yield str(int(number) + 1)
        yield str(int(number) - 1)
    yield "-7" if number.startswith(("-", "0")) else f"-{number}"


# Each layout with each mode and each set, in each format.
TABLES = [
    (format, layout, mode, list(SETS)[(k + number) % 2])
    for number, format in enumerate(["tsv", "blast6"])
    for layout in LAYOUTS
    for k, mode in enumerate(MODES)
]


@pytest.mark.parametrize(("format", "layout", "mode", "sequences"), TABLES)
def test_columns_of_tables(folder, format, layout, mode, sequences):
    names = LAYOUTS[layout].split(",")
    made = ["-o", "a", "--format", format, "--mode", mode, "--columns", ",".join(names)]
    assert main(["align", f"{sequences}.fa", *made, "-q", "--device", "cpu"]) == 0
    with open("a") as file:
        text = file.read()
    if not text:
        return  # nothing is aligned
    checker = Checker(format, sequences, mode, tuple(names) if format == "blast6" else ())
    assert checker.is_legal(text)
    *before, line = text.splitlines()
    values = line.split("\t")

    def is_legal(place, other):
        changed = [*values[:place], other, *values[place + 1 :]]
        return checker.is_legal("\n".join([*before, "\t".join(changed)]) + "\n")

    found = set()
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        is_number = NUMBER.fullmatch(value) is not None
        others = wrong(value) if is_number else wrong_words(value)
        found |= {name for other in others if is_legal(place, other)}
        assert not is_number or not is_legal(place, "none")
    assert found <= set(checker.not_checked)
    if layout in ("all", "rows", "rows from 1"):
        known = {"bits", "evalue", "bitscore", "qcovs", "confidence", "ties"}
        assert found <= known | set(table_reader.NOT_CHECKED)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("number", "format"),
    list(enumerate(["paf", "sam", "srspair", "fasta", "maf", "stockholm", "a3m", "abc"])),
)
def test_numbers_of_formats(folder, number, format, mode):
    sequences = list(SETS)[(number + MODES.index(mode)) % 2]
    two = format == "a3m"
    given = [f"{sequences}.q.fa", f"{sequences}.t.fa"] if two else [f"{sequences}.fa"]
    made = ["-o", "a", "--format", format, "--mode", mode, "-q", "--device", "cpu"]
    assert main(["align", *given, *made]) == 0
    with open("a") as file:
        text = file.read()
    checker = Checker(format, sequences, mode, two=two)
    assert checker.is_legal(text)
    accepted = []
    for number in NUMBER.finditer(text):
        for other in wrong(number[0]):
            changed = text[: number.start()] + other + text[number.end() :]
            if other != number[0] and checker.is_legal(changed):
                accepted.append(text[: number.start()].rpartition("\n")[2] + "@")
    known = NOT_CHECKED.get(format, re.compile("(?!)"))
    assert [line for line in accepted if not known.search(line)] == []
    assert not accepted or checker.not_checked


def test_the_summary_lists_what_is_not_checked(folder, capfd):
    made = ["-o", "a.tsv", "--mode", "local", "--columns", "query,target,score,bits,matches"]
    assert main(["align", "protein.fa", *made, "-q", "--device", "cpu"]) == 0
    checked = ["verify", "a.tsv", "protein.fa", "-o", "v.tsv", "--summary", "json"]
    assert main(checked) == 0
    said = json.loads(capfd.readouterr().err.strip().splitlines()[-1])
    assert said["not_checked"] == ["score", "bits", "matches"]
    assert main([*checked[:-2]]) == 0
    assert "not checked  score, bits, matches" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("rows", "mode", "legal"),
    [
        ((">a start=1 end=9", "-AAAAAAAA"), "semiglobal", False),
        ((">q pair=1 start=2 end=6", ">t pair=1 start=0 end=4"), "semiglobal", True),
        ((">q pair=1 start=0 end=6", ">t pair=1 start=0 end=4"), "semiglobal", True),
        ((">q pair=1 start=2 end=6", ">t pair=1 start=0 end=4"), "global", False),
        ((">q pair=1 start=0 end=6", ">t pair=1 start=0 end=4"), "global", True),
        ((">q pair=1 start=1 end=6", ">t pair=1 start=0 end=4"), "semiglobal", False),
        ((">q pair=1 start=-1 end=6", ">t pair=1 start=0 end=4"), "global", False),
        ((">q pair=1 start=0 end=6", ">t pair=1 start=0 end=-1"), "global", False),
    ],
)
def test_spans_beside_rows_of_whole_sequences(folder, rows, mode, legal):
    (folder / "s.fa").write_text(">q\nTTACGT\n>t\nACGT\n")
    first, second = rows
    (folder / "x.fasta").write_text(f"{first}\nTTACGT\n{second}\n--ACGT\n")
    checked = ["verify", "x.fasta", "s.fa", "--mode", mode, "-o", "v.tsv", "-q"]
    assert main([*checked, "--alphabet", "dna"]) == (0 if legal else 1)
