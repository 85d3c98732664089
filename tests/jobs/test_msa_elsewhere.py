"""What is similar in another order or place than columns are is said, and changes no row."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import fasta

import pairalign
from pairalign.cli.main import main

PROTEINS = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
GENOME = "".join(np.random.default_rng(1).choice(list("ACGT"), 1300))
TILES = {"t1": GENOME[:500], "t2": GENOME[400:900], "t3": GENOME[800:]}
PIECES = {name.replace("t", "p"): text for name, text in TILES.items()}


def together(alignment: pairalign.MultipleAlignment, one: int, other: int, shift: int) -> int:
    """Count the residues of one that share a column with those of the other, so far along."""
    starts = alignment.sequences.offsets
    first, second = (alignment.columns[starts[k] : starts[k + 1]] for k in (one, other))
    count = min(len(first) - shift, len(second))
    return int(np.count_nonzero(first[shift : shift + count] == second[:count]))


def test_tiles_of_a_genome():
    """Each two that overlap and are not aligned there are said once, whatever the order."""
    found = pairalign.msa(TILES, device="cpu")
    apart = {(k, k + 1) for k in (0, 1) if together(found, k, k + 1, 400) == 0}
    assert apart
    assert {tuple(sorted(one[:2])) for one in found.elsewhere} == apart
    assert [one[2:] for one in found.elsewhere] == [(100, 0)] * len(apart)
    assert len({one["name"] for one in found.named_elsewhere}) == len(apart)
    backwards = pairalign.msa(dict(reversed(TILES.items())), device="cpu")
    pairs = [
        {frozenset((one["name"], one["other"])) for one in each.named_elsewhere}
        for each in (found, backwards)
    ]
    assert pairs[0] == pairs[1]


def test_alignments_that_are_given_are_looked_at_as_well(tmp_path):
    """Of new sequences, of merged alignments, and of one whose confidence is asked for."""
    whole = pairalign.msa(TILES, device="cpu")
    said = {frozenset((one["name"], one["other"])) for one in whole.named_elsewhere}
    parts = [{name: TILES[name]} for name in TILES]
    old = pairalign.msa(parts[0] | parts[2], device="cpu")
    (tmp_path / "tile.afa").write_text(fasta(parts[1]))
    found = [
        pairalign.msa(TILES, confidence_of=whole, confidence=False, device="cpu"),
        pairalign.msa([old, str(tmp_path / "tile.afa")], merge=True, device="cpu"),
        pairalign.msa(add=parts[1], to=old, device="cpu"),
    ]
    pairs = [
        {frozenset((one["name"], one["other"])) for one in each.named_elsewhere} for each in found
    ]
    assert pairs[0] == said
    for each, judged in zip(pairs[1:], found[1:], strict=True):
        index = [judged.sequences.names.index(name) for name in TILES]
        apart = {
            frozenset((f"t{k + 1}", f"t{k + 2}"))
            for k in (0, 1)
            if together(judged, index[k], index[k + 1], 400) < 50
        }
        assert each <= apart
        assert each
    assert all(each.unlike == () for each in found)


def test_of_copies_one_is_said():
    found = pairalign.msa({**TILES, "copy": TILES["t2"]}, device="cpu")
    names = {name for one in found.named_elsewhere for name in (one["name"], one["other"])}
    assert names
    assert names <= {"t1", "copy", "t3"}


def test_ordinary_families_have_none():
    family = pairalign.read_fasta(PROTEINS)[:10]
    assert pairalign.msa(family, device="cpu").elsewhere == ()


@pytest.mark.parametrize("inputs", [["tiles"], ["tiles", "pieces"]])
def test_the_summary_says_it(inputs, tmp_path, capsys):
    for name, records in (("tiles", TILES), ("pieces", PIECES)):
        (tmp_path / f"{name}.fa").write_text(fasta(records))
    out = tmp_path / ("o.afa" if len(inputs) == 1 else "families")
    words = ["msa", *(str(tmp_path / f"{name}.fa") for name in inputs), "-o", str(out)]
    assert main([*words, "--device", "cpu", "--summary", "json"]) == 0
    facts = json.loads(capsys.readouterr().err)["elsewhere"]
    assert all({*one} == {"name", "other", "aligned", "together"} for one in facts)
    assert {one["name"][0] for one in facts} == {name[0] for name in inputs}
    if len(inputs) == 1:
        assert main([*words[:-1], str(tmp_path / "p.afa"), "--device", "cpu"]) == 0
        said = capsys.readouterr().err
        assert "in another order or place: 0 of 100 residues" in said
