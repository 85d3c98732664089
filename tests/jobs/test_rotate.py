"""Circular sequences turned to a common start."""

import numpy as np
import pytest
from strand_problems import other_strand
from test_circular import mutated, random_text, rotated

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FastaError, ScoringError


def genomes() -> dict[str, str]:
    """The same circle begun at several places, on both strands, and a relative of it."""
    rng = np.random.default_rng(21)
    one = random_text(rng, 700)
    relative = rotated(mutated(rng, one, 0.05), 333)
    return {
        "one": one,
        "two": rotated(one, 100),
        "back": other_strand(rotated(one, 555)),
        "relative": relative,
    }


@pytest.mark.parametrize("start", [1, 2, 350, 700])
def test_all_begin_at_the_same_residue(start):
    sequences = genomes()
    found = pairalign.rotate(sequences, to=f"one:{start}", strand="both")
    expected = rotated(sequences["one"], start - 1)
    assert found.names == list(sequences)
    assert [found[k].residues for k in range(3)] == [expected] * 3
    relative = found[3].residues
    assert relative in 2 * sequences["relative"]
    assert pairalign.distance(found, measure="identity")[0, 3] < 0.08
    assert pairalign.distance(sequences, measure="identity")[0, 3] > 0.2


def test_one_strand_is_kept():
    sequences = genomes()
    found = pairalign.rotate(sequences, to="two")
    assert found[0].residues == found[1].residues == sequences["two"]
    assert found[2].residues in 2 * sequences["back"]


def test_names_with_colons_are_names():
    text = genomes()["one"]
    found = pairalign.rotate({"chr:7": text, "b": rotated(text, 9)}, to="chr:7")
    assert found[1].residues == text
    found = pairalign.rotate({"chr:7": text, "b": rotated(text, 9)}, to="chr:7:10")
    assert found[0].residues == found[1].residues == rotated(text, 9)


@pytest.mark.parametrize("to", ["other", "one:0", "one:701", "one:x", "one:", ""])
def test_a_start_that_is_not_there(to):
    with pytest.raises(FastaError, match=r"no sequence is called|there is no residue"):
        pairalign.rotate(genomes(), to=to)


def test_it_is_of_mode_global():
    with pytest.raises(ScoringError, match="mode global"):
        pairalign.rotate(genomes(), to="one", mode="local")
    assert len(pairalign.rotate({"a": "ACGT"}, to="a:2")) == 1


def test_the_command(tmp_path, capfd):
    sequences = genomes()
    given, output = tmp_path / "in.fa", tmp_path / "out.fa"
    given.write_text("".join(f">{name} of a phage\n{s}\n" for name, s in sequences.items()))
    command = ["rotate", str(given), "-o", str(output), "--strand", "both", "--to", "two:50"]
    assert main(command) == 0
    assert "rotated to  two:50" in capfd.readouterr().err
    found = pairalign.read_fasta(output)
    expected = pairalign.rotate(sequences, to="two:50", strand="both")
    assert [one.residues for one in found] == [one.residues for one in expected]
    assert found[0].description == "one of a phage"
