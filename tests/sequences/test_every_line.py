"""Every reader accounts for every line: all records are read, or an error names the place."""

import io
import logging
from itertools import accumulate

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from pairalign.errors import FastaError
from pairalign.sequences.set_reading import read_fasta

BASES = {"X1.1": "ACGTTGCAAC" * 7, "X2.1": "TTGCAACGTA" * 3, "X3.1": "TTGCAGGGTA" * 2}
ROWS = {"one": "MKV-LAAGIV", "two": "MKVALAAG--", "six": "----LALALA"}
UNIPROT = """\
ID   CYC_{0}               Reviewed;          12 AA.
AC   {0};
DE   RecName: Full=Cytochrome c;
OS   Bos taurus (Bovine).
SQ   SEQUENCE   12 AA;  1365 MW;  7113C3970A38733B CRC64;
     MGDVEKGKKI FV
//
"""
ENTRY = """\
<entry dataset="Swiss-Prot">
<accession>{0}</accession>
<name>{0}_X</name>
<protein><recommendedName><fullName>Cytochrome c</fullName></recommendedName></protein>
<sequence length="12" mass="1365" checksum="7113C3970A38733B">MGDVEKGKKIFV</sequence>
</entry>
"""
ACCESSIONS = ("P62894", "P62895", "P62896")


def written(format: str) -> str:
    file = io.StringIO()
    records = [
        SeqRecord(Seq(bases), id=name, name=name[:2], annotations={"molecule_type": "DNA"})
        for name, bases in BASES.items()
    ]
    SeqIO.write(records, file, format)
    return file.getvalue()


def alignment(title: str, row: str = "{0:<10}{1}\n", ends: str = "") -> str:
    return title + "".join(row.format(name, row_) for name, row_ in ROWS.items()) + ends


MSF = (
    "!!AA_MULTIPLE_ALIGNMENT 1.0\n\n x.msf MSF: 10 Type: P Check: 1 ..\n\n"
    + "".join(f" Name: {name} Len: 10 Check: 1 Weight: 1.00\n" for name in ROWS)
    + alignment("\n//\n\n")
)
CLUSTAL = alignment("CLUSTAL W (1.83)\n\n", ends="          *** ..\n\n") + alignment("")
AIRR = "sequence_id\tv_call\tjunction_aa\n" + "".join(
    f"{name}\tTRBV9*01\tCASS{row.replace('-', '')}F\n" for name, row in ROWS.items()
)
TEXTS = {
    "x.gb": (written("genbank"), "LOCUS", [*BASES]),
    "x.embl": (written("embl"), "ID", [*BASES]),
    "x.dat": ("".join(map(UNIPROT.format, ACCESSIONS)), "ID", [*ACCESSIONS]),
    "x.xml": (
        '<?xml version="1.0"?>\n<uniprot xmlns="http://uniprot.org/uniprot">\n'
        + "".join(map(ENTRY.format, ACCESSIONS))
        + "</uniprot>\n",
        "<entry",
        [*ACCESSIONS],
    ),
    "x.pir": (alignment("", ">P1;{0}\nof a test\n{1}\nMK*\nC;Species: x\n"), ">P1", [*ROWS]),
    "x.sto": (
        alignment("# STOCKHOLM 1.0\n", ends="//\n")
        + alignment("# STOCKHOLM 1.0\n", "b{0:<10}{1}\n", "//\n"),
        "# STOCKHOLM",
        [*ROWS, *(f"b{name}" for name in ROWS)],
    ),
    "x.msf": (MSF, " Name:", [*ROWS]),
    "x.aln": (CLUSTAL, "one", [*ROWS]),
    "x.a3m": (alignment("", ">{0}\n{1}\n"), ">", [*ROWS]),
    "x.phy": (alignment("3 10\n"), "two", [*ROWS]),
    "x.tsv": (AIRR, "sequence_id", [*ROWS]),
}
ODD = (
    "odd",
    "odd line of a file",
    "\tODD",
    "  Odd: 3",
    ">",
    "//",
    "#",
    "<odd/>",
    "X1",
    "*",
    "1\t2",
)


def check(name: str, text: str, expected: list[str]) -> bool:
    """Read a text; return whether it is, and fail where it is with fewer records."""
    file = io.BytesIO(text.encode())
    file.name = name
    try:
        names = read_fasta(file, degap=True).names
    except FastaError as error:
        message = str(error)
        assert any(word in message for word in ("line", "record", "at its end")), message
        return False
    # An entry whose line of versions is hidden is known by its accession.
    assert {one.partition(".")[0] for one in names} >= {one.partition(".")[0] for one in expected}
    return True


@pytest.mark.parametrize("name", TEXTS)
def test_an_odd_line_anywhere(name, caplog):
    caplog.set_level(logging.CRITICAL, "pairalign")
    text, _, expected = TEXTS[name]
    assert check(name, text, expected)
    lines = text.splitlines(keepends=True)
    for at in range(len(lines) + 1):
        for odd in ODD:
            check(name, "".join([*lines[:at], odd, "\n", *lines[at:]]), expected)
        for again in lines[:at]:
            check(name, "".join([*lines[:at], again, *lines[at:]]), expected)


@pytest.mark.parametrize("name", TEXTS)
def test_a_first_line_written_otherwise(name, caplog):
    caplog.set_level(logging.CRITICAL, "pairalign")
    text, first, expected = TEXTS[name]
    places = list(accumulate(map(len, text.splitlines(keepends=True)), initial=0))
    starts = [at for at in places if text.startswith(first, at)]
    assert starts
    for at in starts:
        line, rest = text[at:].split("\n", 1)
        blanks = line.split()
        for other in (
            *(line.lower(), line.upper(), line.title(), line.swapcase(), f" {line}", f"\t{line}"),
            *(" ".join(blanks), "\t".join(blanks), f"  {line}", "   ".join(blanks), line.lstrip()),
            *("".join(blanks), f"#{line}", f";{line}", line[1:], f"X{line}", f"\xa0{line}"),
        ):
            known = [one for one in expected if one not in line]
            check(name, f"{text[:at]}{other}\n{rest}", known)


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_that_is_lost(name, caplog):
    """No other record goes with it."""
    caplog.set_level(logging.CRITICAL, "pairalign")
    text, _, expected = TEXTS[name]
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        known = [one for one in expected if one not in line]
        check(name, "".join(lines[:at] + lines[at + 1 :]), known)
