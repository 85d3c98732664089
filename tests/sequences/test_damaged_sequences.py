"""Damaged files of sequences are read or refused, within seconds: nothing else happens."""

import bz2
import gzip
import io
import logging
from pathlib import Path

import pytest
from fasta_texts import contents
from mutants import check_mutants

from pairalign.errors import FastaError
from pairalign.formats.pairset import pack
from pairalign.sequences.set_reading import read_fasta

DATA = Path(__file__).parents[1] / "data" / "sequences"
FILES = sorted(path.name for path in DATA.iterdir() if path.name != "SOURCE.txt")
NUMBER = 1000
NEVER_READ = ("genbank_without_residues.gb",)
A3M = b"#A3M#\n>ss_pred of HH-suite\nCCHH\n>one\nMK-V\n>two\nMKagV-\n>three\n--LV\n"
COMPRESS = {".gz": lambda data: gzip.compress(data, mtime=0), ".bz2": bz2.compress}


def read_both_ways(data: bytes, name: str) -> None:
    """Read a text as it is and with every rule that leaves something out."""
    file = io.BytesIO(data)
    file.name = name
    try:
        read_fasta(file)
    except FastaError:
        file.seek(0)
        read_fasta(file, degap=True, on_empty="skip", on_duplicate="rename")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILES, "in.a3m", "in.fa.gz", "in.fa.bz2", "dos.fastq"])
def test_mutants(name, caplog):
    caplog.set_level(logging.CRITICAL, "pairalign")
    if name == "in.a3m":
        data = A3M
    elif name == "dos.fastq":
        data = (DATA / "reads.fastq").read_bytes().replace(b"\n", b"\r\n")
    elif name.startswith("in.fa"):
        data = COMPRESS[Path(name).suffix]((DATA / "comments.fa").read_bytes())
    else:
        data = (DATA / name).read_bytes()
    read = check_mutants(data, lambda mutant: read_both_ways(mutant, name), number=NUMBER)
    assert (read > 0) == (name not in NEVER_READ)
    assert read < NUMBER  # some are harmless, others are not


@pytest.mark.slow
def test_mutants_of_a_store(tmp_path, caplog):
    caplog.set_level(logging.CRITICAL, "pairalign")
    path = tmp_path / "in.pairset"
    pack(DATA / "reads.fastq", path)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        found = read_fasta(path)
        contents(found)
        assert len(found.descriptions) == len(found.order) == len(found)
        assert len(found.codes) == found.total_residues
        assert found.qualities is None or len(found.qualities) == len(found.codes)

    data = path.read_bytes()
    assert 0 < check_mutants(data, read, number=NUMBER) < NUMBER
    read_ways = check_mutants(data, lambda one: read_both_ways(one, "in"), number=NUMBER, seed=2)
    assert 0 < read_ways < NUMBER
