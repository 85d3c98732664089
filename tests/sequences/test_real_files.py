"""Every branch of every reader of sequences gets a real file of its kind: tests/data/SOURCE.txt."""

import gzip
import io
import logging
from pathlib import Path

import pytest
from fasta_texts import contents
from mutants import time_limit

from pairalign.errors import FastaError
from pairalign.formats.pairset import pack
from pairalign.sequences.set_reading import read_fasta

DATA = Path(__file__).parents[1] / "data" / "sequences"
EXPECTED = {
    "genbank_two.gb": ("protein", {"AAB29917.1": "GSREILDFK", "HQ018078.1": "CATGCAGGC"}),
    "genbank_release.seq": ("protein", {"AAB29917.1": "GSREILDFK", "HQ018078.1": "CATGCAGGC"}),
    "genbank_protein.gb": ("protein", {"NP_034640.1": (182, "MNNRWILHAA", "RNFLIIRRLTRNFQN")}),
    "embl_dna.embl": ("dna", {"M14399.1": (63, "GTGAAACAAA", "GTGACAAAAGCC")}),
    "embl_proteins.embl": (
        "protein",
        {"A00022.1": "CLARIIRYFYNAKA", "A00031.1": (58, "RPDFCLEPPY", "CERTCGGA")},
    ),
    "uniprot_text.txt": ("protein", {"Q6GZX4": (256, "MAFSAEDVLK", "DLGWKFTPL")}),
    "uniprot.xml": ("protein", {"H2CNN8": (196, "FIVVVAVNST", "LNTWTYR")}),
    "proteins.pir": (
        "protein",
        {
            "CRAB_BOVIN": "MDIAIHHPWIRRPFFPFHSPSRLFDQFFGE",
            "CRAB_CHICK": "MDITIHNPLVRRPLFSWLTPSRIFDQIFGE",
        },
    ),
    "hla.pir": (
        "dna",
        {
            "HLA:HLA00134": (546, "GCTCCCACTC", "GCGCGCTG"),
            "HLA:HLA00139": (546, "GCTCCCACTC", "GCGCGCTG"),
        },
    ),
    "comments.fa": (
        "protein",
        {
            "gi|3318709|pdb|1A91|": (79, "MENLNMDLLY", "GLYVMFAVA"),
            "gi|whatever|whatever": (33, "MENLNMDLLY", "AIGIGILGG"),
        },
    ),
    "reads.fastq": (
        "dna",
        {
            "EAS54_6_R1_2_1_413_324": "CCCTTCTTGTCTTCAGCGTTTCTCC",
            "EAS54_6_R1_2_1_540_792": "TTGGCAGGCCAAGGCCGATGGATCA",
            "EAS54_6_R1_2_1_443_348": "GTTGCTTCTGGCGTGGGTGGGGGGG",
        },
    ),
}
ALIGNED = {
    "stockholm_rna.sto": {"AP001509.1": 99, "AE007476.1": 97},
    "stockholm_annotated.sto": {"O83071/192-246": 37, "O31698/88-139": 35, "O31699/88-139": 35},
    "muscle.aln": {"Test1seq": 206, "AT3G20900.1-SEQ": 207, "AT3G20900.1-CDS": 59},
    "kalign.aln": {"Test1seq": 26, "AT3G20900": 27},
}


def read(data: bytes, **options):
    return read_fasta(io.BytesIO(data), **options)


def refusal(data: bytes, **options) -> str:
    with pytest.raises(FastaError) as caught:
        read(data, **options)
    return str(caught.value).removeprefix("<input>: ")


@pytest.mark.parametrize("name", EXPECTED)
def test_read(name):
    alphabet, expected = EXPECTED[name]
    found = read_fasta(DATA / name)
    assert found.names == list(expected)
    assert found.alphabet.name == alphabet
    for (_, residues), known in zip(contents(found), expected.values(), strict=True):
        if isinstance(known, str):
            assert residues == known
        else:
            length, start, end = known
            assert (len(residues), residues[: len(start)]) == (length, start)
            assert residues.endswith(end)


@pytest.mark.parametrize("name", ALIGNED)
def test_rows_of_alignments(name):
    with pytest.raises(FastaError, match=r"'-' at position .*; remove gaps first"):
        read_fasta(DATA / name)
    found = read_fasta(DATA / name, degap=True)
    assert dict(zip(found.names, found.lengths.tolist(), strict=True)) == ALIGNED[name]


def test_descriptions():
    assert (
        read_fasta(DATA / "proteins.pir").descriptions[0] == "CRAB_BOVIN ALPHA CRYSTALLIN B CHAIN"
    )
    assert read_fasta(DATA / "uniprot.xml").descriptions == [
        "H2CNN8 Ammonia monooxygenase subunit A"
    ]


# Records without residues


def test_records_without_residues_are_left_out_when_asked(tmp_path, caplog):
    caplog.set_level(logging.INFO, "pairalign")
    path = tmp_path / "in.gb"
    path.write_bytes(
        (DATA / "genbank_without_residues.gb").read_bytes() + (DATA / "genbank_two.gb").read_bytes()
    )
    with pytest.raises(FastaError, match=r"record 1: 'NT_019265\.6' has a length, but no residues"):
        read_fasta(path)
    found = pack(path, tmp_path / "out.pairset", on_empty="skip")
    assert found.names == ["AAB29917.1", "HQ018078.1"]
    assert "1 record ('NT_019265.6') left out: no residues" in caplog.text
    assert read_fasta(path, on_empty="skip").record(0) == "record 2 'AAB29917.1'"


# What a record says of itself


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "uniprot_text.txt",
            b"DLG WKFTPL",
            b"DLG",
            "record 1 'Q6GZX4': 250 residues, expected 256",
        ),
        (
            "uniprot_text.txt",
            b"MAFSAEDVLK",
            b"MAFSAEDVLR",
            "record 1 'Q6GZX4': its residues do not",
        ),
        ("uniprot_text.txt", b"SQ   SEQUENCE   256 AA;", b"SQ   SEQUENCE   25 AA;", "expected 25,"),
        ("uniprot.xml", b"LNTWTYR", b"LNTW", "record 1: 193 residues, expected 196"),
        (
            "uniprot.xml",
            b"LNTWTYR",
            b"LNTWTYK",
            "record 1: its residues do not have the CRC64 1E4E",
        ),
        ("genbank_protein.gb", b"      181 qn\n", b"", "Expected sequence length 182, found 180"),
        (
            "embl_dna.embl",
            b"     gcc    ",
            b"     gc     ",
            "Expected sequence length 63, found 62",
        ),
        ("hla.pir", b"GCGCTG*", b"GCGCTG", "record 1 'HLA:HLA00134': PIR without * at the end"),
    ],
)
def test_sequences_that_are_not_as_stated(name, old, new, message):
    data = (DATA / name).read_bytes()
    assert data.count(old)
    assert message in refusal(data.replace(old, new, 1))


def test_headers_of_reads_are_no_pir():
    found = read(b">P1;size=3;\nMKV*\n>N1;size=2;\nMKL*\n")
    assert found.names == ["P1;size=3;", "N1;size=2;"]
    assert contents(found)[0][1] == "MKV"


def test_notes_behind_a_sequence_of_pir_are_left_out():
    found = read(b">P1;one\nfirst\nMKV\nLW*\nC;Species: Bos taurus\n>F1;two\n\nMK *\n")
    assert contents(found) == [("one", "MKVLW"), ("two", "MK")]
    assert found.descriptions == ["one first", "two"]


@pytest.mark.parametrize("header", [b"CLUSTAL", b"MUSCLE\n", b"CLUSTAL W (1.83)\n\n\n\n"])
def test_a_header_without_rows_ends(header):
    with time_limit(5):
        assert "not Clustal: it ends where a record was expected to go on" in refusal(header)


# Files of alignments


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"@HD\tVN:1.6\n@SQ\tSN:c\tLN:10\nr1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n", "SAM"),
        (b"r1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n", "SAM"),
        (b"BAM\1" + bytes(40), "BAM"),
        (gzip.compress(b"BAM\1" + bytes(40)), "BAM"),
        (b"CRAM\3\0" + bytes(40), "CRAM"),
    ],
    ids=["SAM", "SAM-without-header", "BAM", "BAM-in-gzip", "CRAM"],
)
def test_files_of_reads_name_the_way_out(data, kind):
    expected = f"the file is {kind}; pipe its sequences in: samtools fastq FILE | pairalign ... -"
    assert refusal(data) == expected


# Dots


def test_a_dot_of_fastq_is_an_unknown_base():
    reads = b"@a\nC.TC\n+\naBP.\n@b\nCATC\n+\naBPS\n"
    for degap in (False, True):
        assert contents(read(reads, degap=degap)) == [("a", "CNTC"), ("b", "CATC")]


def test_a_dot_of_gffread_is_a_stop(caplog):
    for degap in (False, True):
        found = read(b">g1\nMNIYTSPTRTP.\n>g2\nMNIY.TSPTRTP.\n", degap=degap)
        assert contents(found) == [("g1", "MNIYTSPTRTP"), ("g2", "MNIY*TSPTRTP")]
    assert ". in 2 records (the first is 'g1') is read as *, a stop" in caplog.text
    equal = b">g1\nMNIYW.\n>g2\nMN.YW.\n"
    assert contents(read(equal)) == [("g1", "MNIYW"), ("g2", "MN*YW")]


@pytest.mark.parametrize(
    "data",
    [
        b">a\nMKV.LW\n>b\nMKVFLW\n",  # rows of one length
        b">a\nMK.V-LW\n>b\nMKVFLW\n",
        b">a\nAC.GTACGT\n>b\nACGT\n",
    ],
)
def test_other_dots_are_gaps(data):
    message = refusal(data)
    assert "'.' at position" in message
    assert (
        "a gap is dropped by degap=True; write an unknown residue as X or N, a stop as *" in message
    )
    assert "." not in contents(read(data, degap=True))[0][1]
