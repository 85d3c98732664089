"""Sequences that do not belong to a family leave the alignment of those that do as it is."""

import json
import random

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main

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


def _fragments(relatives, count, seed):
    """Pieces of 15 to 40% of sequences."""
    draw, texts = random.Random(seed), [text for text, _ in relatives.values()]
    found = {}
    for index in range(count):
        text = draw.choice(texts)
        size = int(len(text) * draw.uniform(0.15, 0.4))
        start = draw.randrange(len(text) - size)
        found[f"f{index}"] = text[start : start + size]
    return found


def _unrelated(count, seed, lengths=(60, 110)):
    draw = random.Random(seed)
    return {
        f"u{index}": "".join(draw.choices(AMINO_ACIDS, k=draw.randrange(*lengths)))
        for index in range(count)
    }


@pytest.mark.parametrize(("fragments", "outliers"), [(30, 0), (0, 30)])
def test_fragments_and_outliers_leave_the_others_as_they_are(fragments, outliers):
    relatives = _relatives(60, 90, 0.4, 1)
    others = _fragments(relatives, fragments, 2) | _unrelated(outliers, 3)
    alone = _right(pairalign.msa(_among(relatives, {}, 1)), relatives)
    found = pairalign.msa(_among(relatives, others, 1), confidence=False)
    assert alone > 0.8
    assert _right(found, relatives) > alone - 0.01
    names = [found.sequences.names[index] for index, _ in found.unlike]
    assert all(name[0] in "uf" for name in names)
    assert sorted(found.tree.leaves()) == list(range(len(found.sequences)))


def test_what_is_like_no_other_is_said_in_groups_and_along_a_given_tree():
    family = _relatives(1010, 80, 0.4, 21)
    both = _among(family, _unrelated(4, 23, (70, 100)), 24)
    made = pairalign.msa(both, confidence=False)
    assert {name for name, _ in made.named_unlike} == {"u0", "u1", "u2", "u3"}
    along = pairalign.msa(both, tree_in=made.tree, confidence=False)
    assert along.unlike == made.unlike


@pytest.mark.parametrize(("relatives", "fragments"), [(9, 0), (12, 60)])
def test_copies_of_an_outlier_do_not_hide_it(relatives, fragments):
    family = _relatives(relatives, 90, 0.4, 30)
    others = _fragments(family, fragments, 31) | _unrelated(1, 32, (80, 100))
    others |= dict.fromkeys(("u1", "u2"), others["u0"])
    made = pairalign.msa(_among(family, others, 34), confidence=False)
    assert {name for name, _ in made.named_unlike if name[0] != "f"} == {"u0", "u1", "u2"}


def test_copies_of_a_whole_family_are_not_outliers():
    unrelated = _unrelated(4, 37)
    made = pairalign.msa(unrelated | {f"r{k}": unrelated["u0"] for k in range(9)})
    said = {name for name, _ in made.named_unlike}
    assert said
    assert said <= {"u1", "u2", "u3"}


def test_a_sequence_that_is_like_no_other_is_said(tmp_path, capsys):
    relatives = _relatives(8, 90, 0.4, 12)
    path = tmp_path / "in.fa"
    texts = {name: text for name, (text, _) in relatives.items()} | _unrelated(1, 13)
    path.write_text("".join(f">{name}\n{text}\n" for name, text in texts.items()))
    out = tmp_path / "out.sto"
    assert main(["msa", str(path), "-o", str(out)]) == 0
    said = capsys.readouterr().err
    assert said.count("is like no other") == 1
    assert "u0 is like no other: " in said
    assert out.read_text().count("#=GS u0 CC is like no other: ") == 1
    assert main(["msa", str(path), "-o", str(tmp_path / "b.sto"), "--summary", "json"]) == 0
    (outlier,) = json.loads(capsys.readouterr().err.splitlines()[-1])["outliers"]
    assert outlier["name"] == "u0"
    assert outlier["confident"] < 0.05
    made = pairalign.msa(texts)
    index = made.sequences.names.index("u0")
    own = slice(*made.sequences.offsets[index : index + 2].tolist())
    means = made.support[own] / np.maximum(made.compared[own], 1)
    assert np.nanmax(np.abs(made.confidence_of(index) - means)) < 1e-12  # it has no relatives
    assert np.nanmean(made.confidence_of(index)) < 0.3 < np.nanmean(made.confidence_of(0))
    made.write(tmp_path / "m.tsv")
    rows = [line.split("\t") for line in (tmp_path / "m.tsv").read_text().splitlines()]
    assert rows[0][-1] == "outliers"
    assert sum(int(row[-1]) for row in rows[1:]) == len(texts["u0"])
    assert {row[-1] for row in rows[1:]} == {"0", "1"}
    made.write(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "<p><span class='unlike'>u0</span> is like no other" in page
    assert page.count("<span class='unlike'>u0</span>  ") > 0
    assert "<span class='unlike'>r0" not in page
    rest = {name: text for name, text in texts.items() if name != "u0"}
    first = pairalign.msa(rest)
    assert not first.unlike
    added = pairalign.msa(add={"u0": texts["u0"]}, to=first, confidence=False)
    assert [name for name, _ in added.named_unlike] == ["u0"]
