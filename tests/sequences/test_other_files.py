"""Sequences of files that are no FASTA: what Biopython writes and reads, and A3M."""

import io
import logging

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from fasta_texts import contents

import pairalign
from pairalign.errors import FastaError
from pairalign.formats.pairset import pack
from pairalign.sequences.input_rules import InputRules
from pairalign.sequences.set_reading import read_fasta, read_set, read_two_sets

BASES = {"X56734.1": "ACGTTGCAAC" * 7, "AB000263.2": "TTGCAACGTA" * 3}
ROWS = {"HBB": "MVHLT--PEEK", "HBA": "MV-LSPADK-T", "MYG": "MG-LSDGEW-Q"}
SWISS = """\
ID   CYC_BOVIN               Reviewed;          12 AA.
AC   P62894; P00006;
DT   21-JUL-1986, integrated into UniProtKB/Swiss-Prot.
DT   23-JAN-2007, sequence version 2.
DT   27-NOV-2024, entry version 134.
DE   RecName: Full=Cytochrome c;
GN   Name=CYCS;
OS   Bos taurus (Bovine).
OC   Eukaryota; Metazoa.
OX   NCBI_TaxID=9913;
SQ   SEQUENCE   12 AA;  1365 MW;  7113C3970A38733B CRC64;
     MGDVEKGKKI FV
//
"""


def written(sequences: dict[str, str | None], format: str, kind: str) -> str:
    records = [
        SeqRecord(
            Seq(letters, 30 if letters is None else None),
            id=name,
            name=name.split(".")[0],
            description="of a test",
            annotations={"molecule_type": kind},
        )
        for name, letters in sequences.items()
    ]
    file = io.StringIO()
    SeqIO.write(records, file, format)
    return file.getvalue()


def read_text(text: str, **options):
    return read_fasta(io.StringIO(text), **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (written(BASES, "genbank", "DNA")[:-3], "GenBank without // at its end"),
        (written(BASES, "genbank", "DNA").replace("70 bp", "80 bp"), "Expected sequence length 80"),
        (written(ROWS, "stockholm", "protein").replace("//", ""), "Stockholm without //"),
        (
            SWISS.replace("AC   P62894; P00006;\n", "XX   \n"),
            "1, in the lines up to 2: not UniProt",
        ),
        (written({"AB1.1": None}, "genbank", "DNA"), "'AB1.1' has a length, but no residues"),
        ("CLUSTAL X\n\na  MK\nb  MKV\n", "not Clustal: a line that Clustal does not have"),
        (written(BASES, "genbank", "DNA").replace("LOCUS       AB", "LOCUS AB"), "is 'LOCUS AB"),
        (written(BASES, "embl", "DNA").replace("ID   AB", "id   AB"), "is 'id   AB"),
        (">P1;a\nof a\nMK*\n>p1;b\nof b\nMK*\n", "line 4 is '>p1;b', expected >P1;NAME"),
        (">P1;a\nof a\nMK*\n >P1;b\nof b\nMK*\n", "line 4 is '>P1;b', expected"),
        ("# STOCKHOLM 1.0\n//\n# STOCKHOLM 1.0\na MKV\n//\n", "lines up to 3: not Stockholm"),
        ("0 20\na MKTAYIAK\n", "line 1: PHYLIP of 0 sequences"),
    ],
)
def test_refused(text, message):
    with pytest.raises(FastaError) as caught:
        read_text(text)
    assert str(caught.value).startswith("<input>: ")
    assert message in str(caught.value)


def test_clustal_without_the_blanks_at_its_ends():
    blocks = "a  MKVL\nb  MKVI\n   ***\n\na  LAAG\nb  LSSG\n   *  *\n"
    found = read_text(f"CLUSTAL W (1.83)\n\n{blocks}")
    assert contents(found) == [("a", "MKVLLAAG"), ("b", "MKVILSSG")]


@pytest.mark.parametrize("ends", ["", "*"])
def test_fasta_with_names_as_of_pir(ends):
    text = f">P1;a\nMKVLLAAG\nMKVI{ends}\n>b\nMKV\n"
    assert contents(read_text(text)) == [("P1;a", "MKVLLAAGMKVI"), ("b", "MKV")]
    text = text.replace(">b", ">P1;b")
    assert contents(read_text(text))[1] == ("P1;b", "MKV")


# A3M

A3M = ">ss_pred of HH-suite\nCCHH\n>one\nMK-V\n>two\nMKagV-\n>three\n--LV\n"


def test_a3m_is_told_by_its_name_or_its_mark(tmp_path, caplog):
    caplog.set_level(logging.INFO, "pairalign")
    path = tmp_path / "in.a3m"
    path.write_text(A3M)
    expected = [("one", "MKV"), ("two", "MKAGV"), ("three", "LV")]
    assert contents(read_fasta(path, degap=True)) == expected
    assert "in.a3m: 1 rows are left out: no sequences, such as ss_pred" in caplog.text
    assert contents(read_text(f"#A3M#\n{A3M}", degap=True)) == expected
    with pytest.raises(FastaError, match=r"record 2 'one'.*'-' at position 3; remove gaps first"):
        read_fasta(path)


def test_rows_of_another_width_are_no_a3m(tmp_path):
    path = tmp_path / "in.a3m"
    path.write_text(A3M.replace("--LV", "--LVK"))
    with pytest.raises(FastaError, match=r"record 4 'three': 5 columns .*, expected 4 as in rec"):
        read_fasta(path, degap=True)


# Stops, empty and repeated records, several files


def test_a_stop_at_the_end_is_no_residue(caplog):
    caplog.set_level(logging.INFO, "pairalign")
    found = read_text(">a\nMKV*\n>b\nM*KV\n>c\nMKL**\n")
    assert contents(found) == [("a", "MKV"), ("b", "M*KV"), ("c", "MKL")]
    (said,) = caplog.messages
    assert said.startswith("<input>: 2 records (the first is 'a') with * at the end")
    with pytest.raises(FastaError, match="record 2 'b' has no sequence"):
        read_text(">a\nMKV*\n>b\n*\n")
    with pytest.raises(FastaError, match=r"'\*' at position 5; DNA has no such residue"):
        read_text(">a\nACGT*\n")


def test_empty_records_are_left_out_when_asked(caplog):
    caplog.set_level(logging.INFO, "pairalign")
    text = ">a\nMKV\n>b\n>c\nMKL\n>d\n*\n>e\nMK1\n"
    with pytest.raises(FastaError, match="record 2 'b' has no sequence"):
        read_text(text)
    with pytest.raises(FastaError, match="record 5 'e': digit '1' at position 3"):
        read_text(text, on_empty="skip")  # it keeps the number that it has in the file
    found = read_text(text.replace("1", "W"), on_empty="skip")
    assert contents(found) == [("a", "MKV"), ("c", "MKL"), ("e", "MKW")]
    assert found.record(1) == "record 3 'c'"
    assert "2 records (the first is 'b') left out" in caplog.text
    with pytest.raises(FastaError, match="no sequences, expected at least one"):
        read_text(">a\n>b\n", on_empty="skip")


def test_repeated_names_are_changed_when_asked(caplog):
    caplog.set_level(logging.INFO, "pairalign")
    text = ">x first\nMKV\n>x_2\nMKL\n>x second\nMKW\n>x\nMKY\n"
    with pytest.raises(FastaError, match="record 3 'x' has the name of record 1"):
        read_text(text)
    found = read_text(text, on_duplicate="rename")
    assert found.names == ["x", "x_2", "x_3", "x_4"]
    assert found.descriptions == ["x first", "x_2", "x_3 second", "x_4"]
    assert "2 records (the first is 'x') with the name of another" in caplog.text
    with pytest.raises(FastaError, match="record 1 has no name"):
        read_text(">\nMKV\n>\nMKL\n", on_duplicate="rename")


def test_several_files_are_one_set(tmp_path):
    first, second = tmp_path / "a.fa", tmp_path / "b.fa"
    first.write_text(">a\nMKV\n>b\n>c\nMKL\n")
    second.write_text(">d\n\n>a\nMKW\n>e\nMK1\n")
    rules = InputRules(on_empty="skip", on_duplicate="rename")
    with pytest.raises(FastaError, match=r"a\.fa and .*b\.fa: record 3 of .*b\.fa 'e': digit"):
        read_set([first, second], rules=rules)
    second.write_text(">d\n\n>a\nMKW\n")
    found = read_fasta(first, also=[second], on_empty="skip", on_duplicate="rename")
    assert contents(found) == [("a", "MKV"), ("c", "MKL"), ("a_2", "MKW")]
    assert found.record(2) == f"record 2 of {second} 'a_2'"
    with pytest.raises(FastaError, match=r"record 2 of .*b\.fa 'a' has the name of record 1 of"):
        read_fasta(first, also=[second], on_empty="skip")
    with pytest.raises(FastaError, match="twice"):
        read_fasta("-", also=["-"])


def test_unknown_rules_are_errors():
    for option in ("on_empty", "on_duplicate"):
        with pytest.raises(ValueError, match=f"{option} 'keep': expected one of error, "):
            read_text(">a\nMK\n", **{option: "keep"})


def test_files_of_two_kinds_are_warned_of(tmp_path, caplog):
    """Letters of DNA are letters of proteins: nothing else would tell of such a mistake."""
    first, second = tmp_path / "a.fa", tmp_path / "b.fa"
    first.write_text(">a\nMKVLW\n")
    second.write_text(">b\nACGT\n")
    read_set([first, second])
    read_two_sets([second], [first])
    warning = f"{first} has proteins, but {second} looks like DNA: bases are aligned as if they"
    assert [message.startswith(warning) for message in caplog.messages] == [True, True]
    read_set([first, second], alphabet="protein")
    read_two_sets([first], [first])
    assert len(caplog.messages) == 2


# Names, and copies


def test_whole_headers_are_names():
    text = ">A/New York/499/2004 |  NP | 2004\nACGT\n>A/New York/500/2004 |  NP\nACGA\n"
    with pytest.raises(FastaError, match="record 2 'A/New' has the name of record 1"):
        read_text(text)
    found = read_text(text, names="whole")
    assert found.names == ["A/New_York/499/2004_|_NP_|_2004", "A/New_York/500/2004_|_NP"]
    assert found.descriptions == found.names
    with pytest.raises(ValueError, match="names 'all': expected one of first, whole"):
        read_text(text, names="all")


def test_whole_headers_of_a_store(tmp_path):
    (tmp_path / "in.fa").write_text(">a one\nACGT\n>b two\nACGA\n")
    pack(tmp_path / "in.fa", tmp_path / "in.pairset")
    assert read_fasta(tmp_path / "in.pairset").names == ["a", "b"]
    assert read_fasta(tmp_path / "in.pairset", names="whole").names == ["a_one", "b_two"]
    pack(tmp_path / "in.fa", tmp_path / "whole.pairset", names="whole")
    assert read_fasta(tmp_path / "whole.pairset").names == ["a_one", "b_two"]


def test_copies_are_dropped_when_asked(caplog):
    caplog.set_level(logging.INFO, "pairalign")
    text = ">x\nMKV\n>y\nMKLW\n>x again\nmkv\n>z\nMKW\n>y\nMKLW\n"
    found = read_text(text, on_duplicate="drop")
    assert contents(found) == [("x", "MKV"), ("y", "MKLW"), ("z", "MKW")]
    assert found.record(2) == "record 4 'z'"
    assert "2 records (the first is 'x') with name and residues of another left out" in caplog.text
    with pytest.raises(FastaError, match="record 3 'x' has the name of record 1"):
        read_text(text.replace("mkv", "mkl"), on_duplicate="drop")


def test_the_index_of_a_table_has_the_names():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"sequence": ["MKVL", "MKVI"]}, index=["a", "b"])
    assert pairalign.align(table).queries.names == ["a", "b"]
    assert pairalign.align(table["sequence"]).queries.names == ["a", "b"]
    assert pairalign.align(table.assign(id=["x", "y"])).queries.names == ["x", "y"]
    assert pairalign.align(table.reset_index(drop=True)).queries.names == ["seq1", "seq2"]
