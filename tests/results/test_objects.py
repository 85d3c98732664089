"""Sequences of Biopython, scikit-bio and biotite in, their alignments out."""

from typing import Any

import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

import pairalign
from pairalign.base.error_types import MissingPackageError

PROTEINS = {"a": "MKVLAAGGWTREMKVL", "b": "MKVLAGGWTEMKL", "c": "WWMKWLAGREMKU"}
BASES = {"x": "ACGTACGTTGCATTGN", "y": "TGCAACGTACGT"}
MODES = pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])


def biopython(letters: dict[str, str]) -> Any:
    return [SeqRecord(Seq(one), id=name) for name, one in letters.items()]


def scikit_bio(letters: dict[str, str]) -> Any:
    skbio = pytest.importorskip("skbio")
    kind = skbio.DNA if letters is BASES else skbio.Protein
    return [kind(one, metadata={"id": name}) for name, one in letters.items()]


def biotite(letters: dict[str, str]) -> Any:
    sequence = pytest.importorskip("biotite.sequence")
    kind = sequence.NucleotideSequence if letters is BASES else sequence.GeneralSequence
    if letters is BASES:
        return {name: kind(one) for name, one in letters.items()}
    alphabet = sequence.LetterAlphabet("ACDEFGHIKLMNPQRSTVWYU")
    return {name: kind(alphabet, one) for name, one in letters.items()}


@pytest.mark.parametrize("letters", [PROTEINS, BASES])
@pytest.mark.parametrize("objects", [biopython, scikit_bio, biotite])
def test_sequences_in(objects, letters):
    found, expected = pairalign.align(objects(letters)), pairalign.align(letters)
    assert [(one.name, one.residues) for one in found.queries] == list(letters.items())
    assert [one.cigar for one in found] == [one.cigar for one in expected]
    with pytest.raises(TypeError, match="expected a str, bytes"):
        pairalign.align([object(), object()])  # text is not made of everything


@MODES
@pytest.mark.parametrize("strand", ["plus", "both"])
def test_pairs_out_as_biotite(mode, strand):
    align = pytest.importorskip("biotite.sequence.align")
    sets = [BASES] if strand == "both" else [BASES, PROTEINS]
    for letters in sets:
        for pair in pairalign.align(letters, mode=mode, strand=strand):
            made = pair.to_biotite()
            spelled = [row.replace("U", "X") for row in pair.rows()]  # biotite has no U
            assert made.get_gapped_sequences() == spelled
            assert made.score == pair.score
            assert [len(one) for one in made.sequences] == [len(pair.query), len(pair.target)]
            if mode == "local":
                identity = align.get_sequence_identity(made, mode="all")
                assert identity == pytest.approx(pair.identity)


@MODES
@pytest.mark.parametrize("letters", [PROTEINS, BASES])
def test_pairs_out_as_scikit_bio(mode, letters):
    pytest.importorskip("skbio")
    for pair in pairalign.align(letters, mode=mode):
        made = pair.to_skbio()
        assert [str(one) for one in made] == list(pair.rows())
        assert list(made.index) == [pair.query.name, pair.target.name]
        assert made.metadata["score"] == pair.score


def test_multiple_alignments_out():
    skbio, _ = pytest.importorskip("skbio"), pytest.importorskip("biotite")
    found = pairalign.msa(PROTEINS)
    rows = [found.text(index) for index in range(3)]
    made = found.to_biopython()
    assert [made[index] for index in range(3)] == rows
    table = found.to_skbio()
    assert isinstance(table, skbio.TabularMSA)
    assert [str(row) for row in table] == rows
    trace = found.to_biotite().trace
    assert trace.shape == (found.width, 3)
    columns = [np.flatnonzero(trace[:, number] >= 0) for number in range(3)]
    assert np.array_equal(np.concatenate(columns), found.columns)
    # And in again: a TabularMSA is an iterable of sequences with gaps.
    again = pairalign.SequenceSet.from_strings(table, list(table.index), degap=True)
    assert [one.residues for one in again] == list(PROTEINS.values())


def test_letters_that_others_lack_and_lower_case():
    pytest.importorskip("skbio"), pytest.importorskip("biotite")
    (pair,) = pairalign.align({"a": "mkvJl", "b": "MKVIL"})
    assert [str(one) for one in pair.to_skbio()] == ["MKVJL", "MKVIL"]
    assert pair.to_biotite().get_gapped_sequences() == ["MKVXL", "MKVIL"]
    (pair,) = pairalign.align({"a": "acguACGT", "b": "ACGTACGT"})
    assert [str(one) for one in pair.to_skbio()] == ["ACGTACGT"] * 2
    assert pair.to_biotite().get_gapped_sequences() == ["ACGTACGT"] * 2


@pytest.mark.parametrize(
    ("package", "method"), [("skbio", "to_skbio"), ("biotite.sequence", "to_biotite")]
)
def test_a_missing_package_is_named(package, method, monkeypatch):
    (pair,) = pairalign.align(BASES)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingPackageError, match=r"not installed: pip install"):
        getattr(pair, method)()
