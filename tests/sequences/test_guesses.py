"""Which alphabet sequences of letters that hint at both have, and what is said of it."""

import io

import pytest

from pairalign.errors import FastaError
from pairalign.sequences.set_reading import read_fasta, read_two_sets
from pairalign.sequences.sets import SequenceSet

BASES = "ACGTTGCAAC" * 40


def read(*bodies: str, **options) -> SequenceSet:
    text = "".join(f">r{k}\n{body}\n" for k, body in enumerate(bodies))
    return read_fasta(io.StringIO(text), **options)


@pytest.mark.parametrize("letter", "IJEFLOPQXZ")
def test_a_letter_that_is_no_base_is_n(letter, caplog):
    body = BASES[:200] + letter + BASES[201:]
    found = read(*[BASES] * 10, body, BASES)
    assert found.alphabet.name == "dna"
    assert found.codes[10 * 400 + 200] == found.alphabet.encoding[ord("N")]
    (said,) = caplog.messages
    assert said.startswith(f"<input>: record 11 'r10': '{letter}' at position 201: no base, read")
    assert "(1 residue in 1 record)" in said


def test_nine_of_ten_letters_must_be_bases(caplog):
    assert read("ACGTACGTI").alphabet.name == "protein"
    assert read("ACGTACGTAI").alphabet.name == "protein"
    assert not caplog.messages
    assert read("ACGTACGTACI").alphabet.name == "dna"
    assert len(caplog.messages) == 1
    assert read("ACGTACGTAI", alphabet="protein").alphabet.name == "protein"
    assert read("ACGTACGTAI", alphabet="dna").alphabet.name == "dna"
    assert len(caplog.messages) == 1


def test_a_protein_among_dna_is_refused():
    with pytest.raises(
        FastaError, match="record 3 'r2': 50% of its residues are no bases, but the"
    ):
        read(BASES, BASES, "MKVLFE")
    assert read(BASES, BASES, "MKVLFE", alphabet="protein").alphabet.name == "protein"


def test_a_file_of_proteins_beside_much_dna_stays_one(tmp_path, caplog):
    dna, proteins = tmp_path / "dna.fa", tmp_path / "proteins.fa"
    dna.write_text(f">a\n{BASES}\n")
    proteins.write_text(">b\nMKVLFE\n")
    assert [one.alphabet.name for one in read_two_sets([dna], [proteins])] == ["protein"] * 2
    assert read_fasta(dna, also=[proteins]).alphabet.name == "protein"
    assert all(
        "looks like DNA: bases are aligned as if they were" in one for one in caplog.messages
    )


def test_python_says_the_same(caplog):
    found = SequenceSet.from_strings({"a": BASES, "b": BASES[:-1] + "I"})
    assert found.alphabet.name == "dna"
    assert "record 2 'b': 'I' at position 400" in caplog.text
