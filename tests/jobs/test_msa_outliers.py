"""Sequences that do not belong to a family leave the alignment of those that do as it is."""

import random

import numpy as np
import pytest

import pairalign

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def _relatives(count, length, changed, seed):
    """Descendants of one sequence, each with two deletions: their residues and sites."""
    draw = random.Random(seed)
    root = draw.choices(AMINO_ACIDS, k=length)
    found = {}
    for index in range(count):
        cut = {site for start in draw.sample(range(length), 2) for site in range(start, start + 3)}
        sites = [site for site in range(length) if site not in cut]
        text = "".join(
            draw.choice(AMINO_ACIDS) if draw.random() < changed else root[site] for site in sites
        )
        found[f"r{index}"] = text, sites
    return found


def _right(alignment, relatives):
    """The share of the relatives' pairs of residues of one site that are in one column."""
    names, offsets = alignment.sequences.names, alignment.sequences.offsets
    places = []
    for name, (_, sites) in relatives.items():
        index = names.index(name)
        columns = alignment.columns[offsets[index] : offsets[index + 1]]
        places.append(dict(zip(sites, columns.tolist(), strict=True)))
    right = [
        one[site] == other[site]
        for index, one in enumerate(places)
        for other in places[index + 1 :]
        for site in one.keys() & other.keys()
    ]
    return np.mean(right)


def _among(relatives, others, seed):
    """One set, in an order by chance."""
    texts = {name: text for name, (text, _) in relatives.items()} | others
    names = sorted(texts)
    random.Random(seed).shuffle(names)
    return pairalign.SequenceSet.from_strings({name: texts[name] for name in names})


@pytest.mark.parametrize("seed", range(3))
def test_unrelated_sequences_leave_the_others_as_they_are(seed):
    relatives = _relatives(8, 90, 0.4, seed)
    draw = random.Random(seed)
    unrelated = {
        f"u{index}": "".join(draw.choices(AMINO_ACIDS, k=draw.randrange(60, 300)))
        for index in range(16)
    }
    alone = _right(pairalign.msa(_among(relatives, {}, seed)), relatives)
    found = _right(pairalign.msa(_among(relatives, unrelated, seed)), relatives)
    assert alone > 0.8
    assert found > alone - 0.02
