"""A pair's alignment, ties included, depends on its two sequences and not on the input's order."""

import re
from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main

MODES = ("global", "semiglobal", "local")
SWAPPED = {"I": "D", "D": "I", "=": "=", "X": "X"}
Seen = dict[tuple[str, str], Any]


def similar(seed: int, letters: str = "ACGT", count: int = 24) -> dict[str, str]:
    """Sequences of a few lengths, with repeats: many ties, also the same sequence twice."""
    rng = np.random.default_rng(seed)
    found: dict[str, str] = {}
    for k in range(count):
        unit = "".join(rng.choice(list(letters), int(rng.integers(1, 4))))
        text = (unit * 30)[: int(rng.choice([11, 12, 24, 24, 24, 25]))]
        for place in rng.integers(0, len(text), 3):
            text = f"{text[:place]}{rng.choice(list(letters))}{text[place + 1 :]}"
        found[f"s{k}"] = text
    found["twice"] = found["s3"]
    return found


def shuffled(sequences: dict[str, str], seed: int) -> dict[str, str]:
    names = np.random.default_rng(seed).permutation(list(sequences)).tolist()
    return {name: sequences[name] for name in names}


def mirrored(cigar: str, *, strand: int) -> str:
    runs = re.findall(r"(\d+)([=XID])", cigar)[::strand]  # it runs along the target as it was read
    return "".join(number + SWAPPED[letter] for number, letter in runs) or cigar


def seen(found: Any) -> Seen:
    """What is found of each pair, by its names in alphabetical order."""
    pairs: Seen = {}
    for one in found:
        spans = (one.query_start, one.query_end), (one.target_start, one.target_end)
        names, cigar = (one.query.name, one.target.name), one.cigar
        if names[0] > names[1]:
            names = names[::-1]
            if one.query.residues != one.target.residues:
                spans, cigar = spans[::-1], mirrored(cigar, strand=one.strand)
        pairs.setdefault(names, []).append((one.score, one.strand, spans, cigar))
    return pairs


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("mode", MODES)
def test_shuffling_a_set_changes_no_alignment(mode, strand):
    for seed in range(3):
        sequences = similar(seed)
        options: dict[str, Any] = {"mode": mode, "strand": strand}
        expected = seen(pairalign.align(sequences, **options))
        for other in range(3):
            found = pairalign.align(shuffled(sequences, other), **options)
            assert seen(found) == expected


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("mode", MODES)
def test_two_sets_align_as_one(mode, strand):
    """Whichever set is the first; strands but for ties, in which the other one is turned."""
    sequences = similar(8)
    first = {name: text for name, text in sequences.items() if int(name[-1], 36) % 2}
    second = {name: text for name, text in sequences.items() if name not in first}
    options: dict[str, Any] = {"mode": mode, "strand": strand}
    one = seen(pairalign.align(first, second, **options))
    other = seen(pairalign.align(second, first, **options))
    whole = seen(pairalign.align(sequences, **options))
    for pair, found in one.items():
        if all(strand == 1 for _, strand, _, _ in found):
            assert found == other[pair] == whole[pair]


@pytest.mark.parametrize("ending", ["paf", "tsv", "fasta", "graphml"])
def test_a_canonical_file_does_not_depend_on_the_order(ending, tmp_path):
    written = []
    for k in range(3):
        sequences = shuffled(similar(6), k)
        (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))
        output = tmp_path / f"out.{ending}"
        command = ["align", str(tmp_path / "in.fa"), "-o", str(output), "--mode", "semiglobal"]
        assert main([*command, "--orient", "canonical", "-q"]) == 0
        written.append(output.read_bytes())
    assert written[0] == written[1] == written[2]


def test_a_canonical_query_is_the_row_sequence():
    sequences = similar(7)
    found = pairalign.align(sequences, orient="canonical")
    usual = seen(pairalign.align(sequences))
    assert seen(found) == usual
    for one in found:
        query, target = one.query.residues, one.target.residues
        assert (-len(query), query, one.query.name) < (-len(target), target, one.target.name)


def test_canonical_pairs_are_those_that_were_named():
    sequences = similar(9)
    names = list(sequences)
    found = pairalign.align(sequences, pairs=[(1, 4), (9, 2)], orient="canonical")
    assert set(seen(found)) == {tuple(sorted((names[a], names[b]))) for a, b in ((1, 4), (9, 2))}


def test_two_sets_have_their_queries_in_the_first():
    with pytest.raises(ValueError, match="orient='canonical' needs one set: of two"):
        pairalign.align({"a": "ACGT"}, {"b": "ACGT"}, orient="canonical")
    with pytest.raises(ValueError, match="expected one of input, canonical"):
        pairalign.align({"a": "ACGT", "b": "ACGT"}, orient="other")  # type: ignore[arg-type]
