"""Sequences that do not belong to a family leave the alignment of those that do as it is."""

import json
import random

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.msa.grouping import ScoreDistances
from pairalign.jobs.msa.latecomers import find_latecomers
from pairalign.jobs.msa.model_choice import match_states_of

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


@pytest.mark.parametrize(("fragments", "outliers"), [(36, 0), (110, 0), (0, 90), (45, 45)])
def test_fragments_and_outliers_leave_the_others_as_they_are(fragments, outliers):
    relatives = _relatives(16, 90, 0.4, 1)
    others = _fragments(relatives, fragments, 2) | _unrelated(outliers, 3)
    alone = _right(pairalign.msa(_among(relatives, {}, 1)), relatives)
    found = pairalign.msa(_among(relatives, others, 1), confidence=False)
    assert alone > 0.8
    assert _right(found, relatives) > alone - 0.01
    names = [found.sequences.names[index] for index, _ in found.unlike]
    assert all(name[0] in "uf" for name in names)
    assert sum(name[0] == "u" for name in names) >= 0.9 * outliers
    assert sorted(found.tree.leaves()) == list(range(len(found.sequences)))


def test_fragments_are_where_their_sequences_are():
    relatives = _relatives(16, 90, 0.4, 4)
    fragments = _fragments(relatives, 100, 5)
    found = pairalign.msa(_among(relatives, fragments, 6), confidence=False)
    columns = {
        name: found.columns[slice(*found.sequences.offsets[index : index + 2])]
        for index, name in enumerate(found.sequences.names)
    }
    right = total = 0
    for name, text in fragments.items():
        whole = next(one for one, (other, _) in relatives.items() if text in other)
        start = relatives[whole][0].index(text)
        right += (columns[name] == columns[whole][start : start + len(text)]).sum()
        total += len(text)
    assert right > 0.9 * total


def test_fragments_are_found_though_the_long_ones_are_not_related():
    """Each long sequence has fragments of relatives of its own alone."""
    clades = [_relatives(6, 200, 0.3, seed) for seed in range(20, 26)]
    texts = {f"w{k}": clade["r0"][0] for k, clade in enumerate(clades)}
    for k, clade in enumerate(clades):
        others = {name: clade[name] for name in clade if name != "r0"}
        texts |= {f"{k}{name}": text for name, text in _fragments(others, 15, k).items()}
    both = pairalign.SequenceSet.from_strings(texts)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert {both.names[index][0] for index in late.usual} == {"w"}
    assert len(late.added) == 90


def test_a_few_long_sequences_do_not_make_fragments_of_the_others():
    relatives = _relatives(12, 100, 0.3, 14)
    names = list(relatives)
    texts = {name: text for name, (text, _) in relatives.items()} | _fragments(relatives, 60, 15)
    for k in range(3):
        texts[names[k]] += "".join(random.Random(k).choices(AMINO_ACIDS, k=170))
    both = pairalign.SequenceSet.from_strings(texts)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert {both.names[index] for index in late.added} == {f"f{k}" for k in range(60)}
    assert {both.names[index] for index in late.usual} == set(names[3:])


@pytest.mark.parametrize("are_fragments", [False, True])
def test_what_has_more_than_half_is_a_fragment_if_it_looks_like_one(are_fragments):
    """Members that lack a domain are none, though there are fragments beside them."""
    relatives = _relatives(30, 160, 0.3, 35)
    texts = {name: text for name, (text, _) in relatives.items()}
    others = _fragments(dict(list(relatives.items())[:12]), 60, 36)
    for k, name in enumerate(list(texts)[12:]):
        start = (len(texts[name]) - 85) * (k % 2) * are_fragments
        texts[name] = texts[name][start : start + 85]
    both = pairalign.SequenceSet.from_strings(texts | others)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    expected = set(others) | (set(list(texts)[12:]) if are_fragments else set())
    assert {both.names[index] for index in late.added} == expected


def test_the_lengths_of_fragments_and_outliers_do_not_choose_the_model():
    relatives = _relatives(8, 90, 0.4, 16)
    others = _fragments(relatives, 5, 17) | _unrelated(4, 18, (200, 300))
    both = _among(relatives, others, 19)
    assert match_states_of(both) == 1
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert match_states_of(both, late.usual) > 1
    made = pairalign.msa(both)
    again = pairalign.msa(both, confidence_of=made)
    assert np.array_equal(again.support, made.support)
    along = pairalign.msa(both, tree_in=made.tree)
    assert np.array_equal(along.columns, made.columns)
    assert along.unlike == made.unlike
    assert {name[0] for name, _ in made.named_unlike} == {"u"}


@pytest.mark.parametrize(("relatives", "fragments"), [(12, 60), (1010, 0)])
def test_what_is_like_no_other_is_said_wherever_it_is_aligned(relatives, fragments):
    """Among those that fragments are added to, and in groups, along a given tree as well."""
    family = _relatives(relatives, 80, 0.4, 21)
    others = _fragments(family, fragments, 22) | _unrelated(4, 23, (70, 100))
    both = _among(family, others, 24)
    made = pairalign.msa(both, confidence=False)
    said = {name for name, _ in made.named_unlike if name[0] != "f"}
    assert said == {"u0", "u1", "u2", "u3"}
    if not fragments:
        along = pairalign.msa(both, tree_in=made.tree, confidence=False)
        assert along.unlike == made.unlike


@pytest.mark.parametrize(("relatives", "fragments"), [(9, 0), (12, 60)])
@pytest.mark.parametrize("changed", [0, 0.1])
def test_copies_of_an_outlier_do_not_hide_it(relatives, fragments, changed):
    family = _relatives(relatives, 90, 0.4, 30)
    others = _fragments(family, fragments, 31) | _unrelated(1, 32, (80, 100))
    draw = random.Random(33)
    for name in ("u1", "u2"):
        letters = (draw.choice("ACDEF") if draw.random() < changed else c for c in others["u0"])
        others[name] = "".join(letters)
    made = pairalign.msa(_among(family, others, 34), confidence=False)
    assert {name for name, _ in made.named_unlike if name[0] != "f"} == {"u0", "u1", "u2"}


def test_copies_of_a_whole_family_are_not_outliers():
    unrelated = _unrelated(4, 37)
    made = pairalign.msa(unrelated | {f"r{k}": unrelated["u0"] for k in range(9)})
    said = {name for name, _ in made.named_unlike}
    assert said
    assert said <= {"u1", "u2", "u3"}


def test_the_order_of_the_input_changes_nothing():
    relatives = _relatives(12, 80, 0.4, 7)
    others = _fragments(relatives, 60, 8) | _unrelated(40, 9)
    one, other = (
        pairalign.msa(_among(relatives, others, seed), confidence=False) for seed in (1, 2)
    )
    rows = [
        {name: found.text(index) for index, name in enumerate(found.sequences.names)}
        for found in (one, other)
    ]
    assert rows[0] == rows[1]
    assert dict(one.named_unlike) == dict(other.named_unlike)


def test_domains_alone_stay_among_the_others():
    relatives = _relatives(30, 200, 0.3, 10)
    domains = {f"d{index}": text[60:140] for index, (text, _) in enumerate(relatives.values())}
    both = _among(relatives, domains, 11)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert not len(late.added)
    assert not len(late.lonely)
    others = domains | _unrelated(8, 25, (40, 70))
    both = _among(relatives, others, 11)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert {both.names[index] for index in late.added} == {f"u{k}" for k in range(8)}


def test_fragments_are_found_beside_domains_that_are_longer():
    relatives = _relatives(30, 300, 0.3, 26)
    whole = {name: relatives[name] for name in list(relatives)[:6]}
    domains = {f"d{index}": text[90:210] for index, (text, _) in enumerate(relatives.values())}
    draw = random.Random(27)
    starts = [draw.randrange(90, 170) for _ in range(20)]
    texts = [text for text, _ in list(relatives.values())[6:26]]
    fragments = {
        f"f{index}": text[start : start + 36]
        for index, (text, start) in enumerate(zip(texts, starts, strict=True))
    }
    both = _among(whole, domains | fragments, 28)
    late = find_latecomers(both, ScoreDistances(both, 1, 1 << 28))
    assert {both.names[index] for index in late.added} == set(fragments)


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
