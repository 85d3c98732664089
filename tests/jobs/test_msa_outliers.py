"""Sequences that do not belong to a family leave the alignment of those that do as it is."""

import json
import random

import numpy as np
import pytest
from conftest import examples

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.msa import relatives
from pairalign.jobs.msa.relatives import find_relatives
from pairalign.requests.resources import Resources

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
    names = {name for name, _ in made.named_unlike}
    assert names <= {"u0", "u1", "u2", "u3"}
    assert len(names) >= 3
    along = pairalign.msa(both, tree_in=made.tree, confidence=False)
    assert along.unlike == made.unlike


def test_most_of_many_random_proteins_beside_near_copies_are_said():
    draw = random.Random(40)
    near = _relatives(3, 150, 0.05, 41)
    said = 0
    for seed in range(examples(4)):
        made = pairalign.msa(_among(near, _unrelated(25, seed, (100, 200)), seed), confidence=False)
        said += len(made.unlike)
        assert {name[0] for name, _ in made.named_unlike} == {"u"}
    assert said >= 22 * examples(4)
    family = _relatives(30, 120, 0.45, 42)
    others = draw.sample(sorted(family), 12)
    assert not pairalign.msa(_among({k: family[k] for k in others}, {}, 1), confidence=False).unlike


@pytest.mark.parametrize("letters", [AMINO_ACIDS, "ACGT"])
def test_evalues_are_those_of_the_family_however_many_are_compared_at_a_time(letters):
    draw = random.Random(3)
    texts = {str(k): "".join(draw.choices(letters, k=draw.randrange(60, 300))) for k in range(20)}
    family, resources = pairalign.SequenceSet.from_strings(texts), Resources(threads=1)
    every = np.arange(20)
    whole = relatives.log_evalues(family, every, every, resources)
    parts = [
        relatives.log_evalues(family, every, every[k : k + 8], resources) for k in range(0, 20, 8)
    ]
    assert np.array_equal(np.hstack(parts), whole)


def test_what_is_said_does_not_depend_on_the_order():
    texts = _among(_relatives(60, 90, 0.5, 50), _unrelated(30, 51), 52)
    order = np.random.default_rng(1).permutation(len(texts)).astype(np.int32)
    resources = Resources(threads=1)
    one, other = (
        find_relatives(each, resources).unlike() for each in (texts, texts.reordered(order))
    )
    assert {index: evalue for index, evalue in one} == {
        int(order[index]): evalue for index, evalue in other
    }
    assert len(one) >= 25


def test_each_sequence_of_a_large_family_has_a_bounded_number_of_scores(monkeypatch):
    """Families of more than 500 unrelated sequences take no more than is allowed."""
    compared = []
    whole = relatives.log_evalues

    def counted(sequences, indices, others, resources):
        compared.append(len(indices) * len(others))
        return whole(sequences, indices, others, resources)

    monkeypatch.setattr(relatives, "log_evalues", counted)
    found = _among({}, _unrelated(1100, 60, (20, 30)), 61)
    assert len(find_relatives(found, Resources(threads=1)).unlike()) > 1000
    assert sum(compared) <= 200 * 1100


def test_each_of_up_to_500_sequences_may_be_like_one_other_alone():
    unrelated = _unrelated(200, 62)
    others = {f"{name}_2": f"{text[:20]}A{text[21:]}" for name, text in unrelated.items()}
    found = _among({}, unrelated | others, 63)
    assert not find_relatives(found, Resources(threads=1)).unlike()


def test_copies_are_like_each_other():
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
    assert outlier["evalue"] > 0.05
    made = pairalign.msa(texts)
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


@pytest.mark.parametrize("letters", ["XXXX XXXX", "XXXXXX XXXX", "NNNNNN NNNN NNNNN"])
def test_what_has_no_residue_that_is_known_is_aligned(letters):
    family = {f"s{k}": text for k, text in enumerate(letters.split())}
    alignment = pairalign.msa(family, alphabet="dna" if "N" in letters else "protein")
    assert len(alignment) == len(family)
    assert alignment.elsewhere == ()
    assert all(np.isfinite(one.evalue) for one in alignment.unlike)
    aligned = pairalign.align(family, mode="local", alphabet="dna" if "N" in letters else "protein")
    assert len(aligned) == len(family) * (len(family) - 1) // 2
