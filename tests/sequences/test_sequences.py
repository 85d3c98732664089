"""Sets of sequences: laws, alphabets and how they are guessed, sets made in Python."""

import numpy as np
import pytest
from fasta_texts import DNA_LETTERS, contents, read, sequence_lists
from hypothesis import given
from hypothesis import strategies as st

from pairalign.base.arrays import count_bytes
from pairalign.errors import FastaError, UsageError, WrongTypeError
from pairalign.sequences.alphabets import DNA, INVALID, PROTEIN, get_alphabet, guess_alphabet
from pairalign.sequences.set_reading import read_two_sets
from pairalign.sequences.sets import SequenceSet

# Laws


@given(sequence_lists())
def test_set_keeps_the_input_and_sorts_longest_first(sequences):
    found = SequenceSet.from_strings(dict(sequences), alphabet="protein")
    assert contents(found) == sequences
    assert len(found) == len(sequences)
    assert found.total_residues == sum(len(letters) for _, letters in sequences)
    assert found.lengths.tolist() == [len(letters) for _, letters in sequences]
    assert found.order.tolist() == sorted(
        range(len(sequences)), key=lambda i: (-len(sequences[i][1]), found.codes_of(i).tolist(), i)
    )
    assert (found.residues.dtype, found.codes.dtype) == (np.uint8, np.uint8)
    assert (found.offsets.dtype, found.order.dtype, found.lengths.dtype) == (
        np.int64,
        np.int32,
        np.int32,
    )
    for array in (found.residues, found.codes, found.offsets, found.order, found.lengths):
        assert not array.flags.writeable


@pytest.mark.parametrize("alphabet", [PROTEIN, DNA])
@given(data=st.data())
def test_codes_spell_the_letters_with_u_of_dna_as_t(alphabet, data):
    letters = (DNA_LETTERS,) if alphabet is DNA else ()
    sequences = data.draw(sequence_lists(*letters))
    found = SequenceSet.from_strings(dict(sequences), alphabet=alphabet.name)
    for index, (_, letters) in enumerate(sequences):
        spelled = "".join(alphabet.letters[code] for code in found.codes_of(index))
        expected = letters.upper()
        assert spelled == (expected.replace("U", "T") if alphabet is DNA else expected)
    assert found.replaced == {}


@pytest.mark.parametrize("alphabet", [PROTEIN, DNA])
def test_encoding_table(alphabet):
    table = alphabet.encoding
    assert len(alphabet.letters) <= 32
    assert len(set(alphabet.letters)) == len(alphabet.letters)
    assert (table[128:] == INVALID).all()
    for byte in range(128):
        letter = chr(byte).upper()
        if letter in alphabet.letters:
            assert alphabet.letters[table[byte]] == letter
        elif "A" <= letter <= "Z":
            assert alphabet.letters[table[byte]] == ("T" if letter == "U" else alphabet.unknown)
        else:
            assert table[byte] == INVALID
    assert alphabet.unknown in alphabet.letters[alphabet.unambiguous :]


def test_contract_of_the_alphabets():
    assert PROTEIN.letters == "ARNDCQEGHILKMFPSTWYVBZ*UOJX"
    assert PROTEIN.letters[PROTEIN.unambiguous :] == "X"
    assert DNA.letters == "ACGTRYSWKMBDHVN"
    assert DNA.letters[: DNA.unambiguous] == "ACGT"
    assert get_alphabet("DNA") is DNA
    with pytest.raises(UsageError, match="'rna', expected 'protein' or 'dna'"):
        get_alphabet("rna")


# Guessing the alphabet


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        (["ACGT", "acgu"], DNA),
        (["ACGTACGTAN"], DNA),
        (["ACGTACGTAR"], DNA),  # 90% bases
        (["ACGTACGTRY"], PROTEIN),  # 80% bases: could be a peptide
        (["AAACTYAAAKGAATTGRCGG", "ACGGGCGGTGTGTRC"], PROTEIN),  # primers, 89%: say alphabet="dna"
        (["ACGTACGTAE"], PROTEIN),
        (["MKVLAT"], PROTEIN),
        (["NNNN"], DNA),
        (["ACGT", "MKVL"], PROTEIN),  # one alphabet for all
        (["X"], PROTEIN),
    ],
)
def test_guess(letters, expected):
    assert SequenceSet.from_strings(letters).alphabet is expected


def test_guess_ignores_what_is_no_letter():
    assert guess_alphabet(count_bytes(b"ACGT*-12")) is DNA
    assert guess_alphabet(count_bytes(b"****")) is PROTEIN


def test_two_files_share_one_guess(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    (tmp_path / "b.fa").write_text(">a\nMKVL\n")
    one, two = read_two_sets([tmp_path / "a.fa"], [tmp_path / "b.fa"])
    assert one.alphabet is two.alphabet is PROTEIN
    one, two = read_two_sets([tmp_path / "a.fa"], [tmp_path / "b.fa"], alphabet="dna")
    assert one.alphabet is two.alphabet is DNA
    assert two.replaced == {"L": 1}
    with pytest.raises(FastaError, match="twice"):
        read_two_sets(["-"], ["-"])


def test_letters_that_dna_lacks_are_counted():
    found = read(">a\nACGTeEfJ\n>b\nUuXN\n", alphabet="dna")
    assert found.replaced == {"E": 2, "F": 1, "J": 1, "X": 1}
    assert "".join(DNA.letters[code] for code in found.codes) == "ACGTNNNNTTNN"
    assert found[0].residues == "ACGTeEfJ"


# Sets made in Python


def test_from_strings_names_and_errors():
    assert SequenceSet.from_strings(["MK", "VL"]).names == ["seq1", "seq2"]
    assert SequenceSet.from_strings(["MK", "VL"], ["x", "y"])[-1].name == "y"
    assert SequenceSet.from_strings(s for s in ["M K\n"])[0].residues == "MK"
    with pytest.raises(WrongTypeError, match="found one string"):
        SequenceSet.from_strings("MKVL")
    with pytest.raises(UsageError, match="2 sequences but 1 names"):
        SequenceSet.from_strings(["MK", "VL"], ["x"])
    for strings, names, message in [
        ([], None, "^sequences: no sequences"),
        (["MK", ""], None, "^sequences: record 2 'seq2' has no sequence"),
        (["MK", "VL"], ["x", "x"], "record 2 'x' has the name of record 1"),
        (["MK"], ["two words"], "record 1 'two words': white space in the header"),
        (["MK"], [""], "record 1 has no name"),
        (["M-K"], None, "record 1 'seq1': letter '-' at position 2"),
        (["MKé"], None, "record 1 'seq1': byte 0xC3 at position 3"),
    ]:
        with pytest.raises(FastaError, match=message):
            SequenceSet.from_strings(strings, names)


def test_items_and_iteration():
    found = SequenceSet.from_strings({"a": "MKV", "b": "LL"})
    assert [str(s) for s in found] == ["MKV", "LL"]
    assert len(found[0]) == 3
    assert found[-1] == found[1]
    for index in (2, -3):
        with pytest.raises(IndexError):
            found[index]
    assert found.locate(3) == (1, 0)
    assert "2 protein sequences, 5 residues" in repr(found)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 101, 1 << 16, (1 << 21) + 3])
def test_bytes_are_counted_whatever_their_number(length):
    letters = np.random.default_rng(7).integers(0, 256, length + 1, dtype=np.uint8)[1:]
    assert (count_bytes(letters) == np.bincount(letters, minlength=256)).all()
    assert (count_bytes(letters.tobytes()) == np.bincount(letters, minlength=256)).all()


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("letter", ["\0", "\t", " ", "\x1f", "\x7f"])
def test_a_bad_letter_in_any_name_is_found(place, letter):
    names = ["a", "b\xe9", "c"]
    names[place] += letter
    with pytest.raises(FastaError, match=f"record {place + 1} "):
        SequenceSet.from_strings(["ACGT"] * 3, names)
