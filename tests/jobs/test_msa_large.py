"""Multiple alignments of many sequences: groups, joins, laws, sampled confidence."""

import itertools

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.cpu_msa import join_columns
from pairalign.jobs.msa import family_tree, one_family
from pairalign.jobs.msa.confidence import sample_pairs
from pairalign.jobs.msa.grouping import MOST_IN_GROUP, cut_trees, group_by_tree
from pairalign.jobs.msa.large import PARTNERS, pairs_along
from pairalign.requests.resources import Resources
from pairalign.results.tree_result import GuideTree

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")


def _evolved(count, length, seed=1, changed=0.1):
    """Return sequences of which each is a changed copy of an earlier one."""
    random = np.random.default_rng(seed)
    sequences = [random.choice(RESIDUES, length)]
    while len(sequences) < count:
        letters = sequences[int(random.integers(len(sequences)))].copy()
        which = random.random(len(letters)) < changed
        letters[which] = random.choice(RESIDUES, which.sum())
        if random.random() < 0.3:
            letters = np.delete(letters, int(random.integers(len(letters))))
        sequences.append(letters)
    return pairalign.SequenceSet.from_strings(map("".join, sequences), alphabet="protein")


def _rows(alignment):
    return [alignment.text(index) for index in range(len(alignment))]


# ---------------------------------------------------------------------------------------------
# Groups


def _tree(sequences):
    return family_tree.family_tree(sequences, Resources(device="cpu", threads=1))


@pytest.mark.parametrize("count", [51, 130])
def test_groups_part_the_family_and_joins_make_one_of_them(count):
    sequences = _evolved(count, 30)
    found = group_by_tree(_tree(sequences))
    assert sorted(np.concatenate(found.groups).tolist()) == list(range(count))
    assert max(map(len, found.groups)) <= MOST_IN_GROUP
    assert len(found.joins) == len(found.groups) - 1
    parts = [part for join in found.joins for part in (join.first, join.second)]
    assert len(set(parts)) == len(parts)
    for number, join in enumerate(found.joins):
        node = len(found.groups) + number
        assert max(join.first, join.second) < node


@pytest.mark.parametrize("most", [family_tree.MOST_UNPARTED, 20])
def test_the_tree_holds_what_is_alike_in_parts_as_well(most, monkeypatch):
    """Three families that have nothing in common are not mixed; the last two joins are of them."""
    monkeypatch.setattr(family_tree, "MOST_UNPARTED", most)
    monkeypatch.setattr(family_tree, "_FEWEST_CELLS", 0)
    families = [_evolved(90, 40, seed=seed) for seed in (1, 2, 3)]
    strings = [one.residues for trio in zip(*families, strict=True) for one in trio]
    tree = _tree(pairalign.SequenceSet.from_strings(strings, alphabet="protein"))
    inside = [{leaf % 3} for leaf in range(len(tree))]
    for one, other in tree.children.tolist():
        inside.append(inside[one] | inside[other])
    assert [len(one) for one in inside] == [1] * (len(inside) - 2) + [2, 3]
    assert sorted(tree.leaves()) == list(range(270))


def test_the_tree_is_that_of_the_command_tree():
    sequences = _evolved(60, 40, changed=0.3)
    made = pairalign.tree(sequences, measure="score")
    assert GuideTree.of(_tree(sequences)).newick() == made.newick()


@pytest.mark.parametrize("seed", [0, 4, 5])
def test_what_is_whole_is_joined_before_its_fragments_in_parts_as_well(seed, monkeypatch):
    """Whole sequences are in several parts, each with fragments that are nearest to them."""
    monkeypatch.setattr(family_tree, "MOST_UNPARTED", 20)
    monkeypatch.setattr(family_tree, "_FEWEST_CELLS", 0)
    whole = [one.residues for one in _evolved(40, 150, seed=seed)]
    random, fragments = np.random.default_rng(seed), []
    for text in whole:
        own = text[int(random.integers(105)) :][:40]
        for place in random.integers(0, 40, 4).tolist():
            fragments.append(own[:place] + "A" + own[place + 1 :])
    tree = _tree(pairalign.SequenceSet.from_strings(whole + fragments, alphabet="protein"))
    inside = [{leaf} for leaf in range(len(tree))]
    for one, other in tree.children.tolist():
        inside.append(inside[one] | inside[other])
    assert set(range(len(whole))) in inside


def test_trees_are_cut_at_one_height():
    sequences = _evolved(60, 30)
    groups = [np.arange(start, start + 20) for start in (0, 20, 40)]
    trees = [_tree(sequences.reordered(group)) for group in groups]
    for count in (1, 3, 12, 59, 60):
        pieces, parts = cut_trees(groups, trees, count)
        assert sorted(np.concatenate(pieces).tolist()) == list(range(60))
        assert [len(part) for part in parts] == [len(piece) for piece in pieces]
        assert 3 <= len(pieces) <= max(3, count)
        whole, kept = (
            np.sort(np.concatenate([one.linkage[:, 2] for one in of])) for of in (trees, parts)
        )
        assert np.allclose(kept, whole[: len(kept)])


def test_groups_are_aligned_along_their_part_of_the_tree():
    """A sequence has partners on the other side of each merge: two of the other half, or all."""
    found = group_by_tree(_tree(_evolved(230, 40)))
    for group, tree in zip(found.groups, found.trees, strict=True):
        assert len(tree) == len(group)
        assert sorted(tree.leaves()) == list(range(len(group)))
        if len(group) < 2:
            continue
        leaves = tree.leaves()
        place = np.append(
            np.argsort(leaves[::2] + leaves[1::2]), np.arange(len(tree), 2 * len(tree))
        )
        children = place[tree.children]
        first, second = pairs_along(children)
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        assert pairs == sorted(set(pairs))
        assert (first < second).all()
        table = np.zeros((len(group), len(group)), int)
        table[first, second] = table[second, first] = 1
        below = [[leaf] for leaf in range(len(group))]
        half = (len(group) + 1) // 2
        for one, other in children.tolist():
            few, many = sorted((below[one], below[other]), key=len)
            between = table[np.ix_(many, few)]
            assert between.any(axis=0).all()
            if len(few) == 1:
                assert between.all()
            else:
                early = [sequence < half for sequence in few]
                for sequence, partners in zip(many, between, strict=True):
                    others = np.array(early) != (sequence < half)
                    assert not partners[~others].any()
                    assert partners.sum() == min(PARTNERS, others.sum())
            below.append(below[one] + below[other])


# ---------------------------------------------------------------------------------------------
# Joins


def _best_chain(table):
    best = np.zeros((table.shape[0] + 1, table.shape[1] + 1), np.int64)
    for i, j in np.ndindex(table.shape):
        best[i + 1, j + 1] = max(best[i, j] + table[i, j], best[i, j + 1], best[i + 1, j])
    return int(best[-1, -1])


@pytest.mark.parametrize("seed", range(20))
def test_joins_take_the_heaviest_chain(seed):
    random = np.random.default_rng(seed)
    widths = tuple(random.integers(1, 15, 2).tolist())
    count = int(random.integers(0, 60))
    first, second = (random.integers(0, width, count).astype(np.int32) for width in widths)
    values = random.integers(1, 4, count).astype(np.uint16)
    one, other, width = join_columns(first, second, values, widths)
    assert (np.diff(one) > 0).all()
    assert (np.diff(other) > 0).all()
    assert set(one.tolist()) | set(other.tolist()) == set(range(width))
    table = np.zeros(widths, np.int64)
    np.add.at(table, (first, second), values)
    together = one[:, None] == other[None, :]
    assert table[together].sum() == _best_chain(table)
    assert (table[together] > 0).all()


# ---------------------------------------------------------------------------------------------
# Alignments


@pytest.mark.parametrize("count", [51, 101, 230])
def test_rows_are_the_sequences_in_one_width_without_empty_columns(count):
    sequences = _evolved(count, 40)
    alignment = pairalign.msa(sequences)
    rows = _rows(alignment)
    assert {len(row) for row in rows} == {alignment.width}
    assert [row.replace("-", "") for row in rows] == [one.residues for one in sequences]
    assert (alignment.occupancy > 0).all()
    assert sorted(alignment.tree.leaves()) == list(range(count))
    assert (alignment.tree.lengths >= 0).all()


def test_relatives_are_aligned_as_they_have_come_about():
    """Four subfamilies of copies with a deletion each, which differ at many places."""
    base = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV"
    random = np.random.default_rng(5)
    expected = []
    for _ in range(4):
        letters = np.array(list(base))
        which = random.choice(len(base), 15, replace=False)
        letters[which] = random.choice(RESIDUES, 15)
        for number in range(30):
            row = letters.copy()
            start, stop = [(10, 10), (20, 24), (40, 43), (55, 57), (0, 3)][number % 5]
            row[start:stop] = "-"
            expected.append("".join(row))
    strings = [row.replace("-", "") for row in expected]
    sequences = pairalign.SequenceSet.from_strings(strings, alphabet="protein")
    alignment = pairalign.msa(sequences)
    right = sum(a == b for a, b in zip(_rows(alignment), expected, strict=True))
    assert alignment.width == len(base)
    assert right > 93  # a residue beside a gap that equals one in it may stand on its other side


@pytest.mark.parametrize("count", [2, 12, 70, 160, 240])
def test_the_order_of_the_input_and_threads_do_not_change_the_rows(count, monkeypatch):
    """In parts as well; of copies, and of pairs that are equally far, the sequences decide."""
    monkeypatch.setattr(family_tree, "MOST_UNPARTED", 20)
    monkeypatch.setattr(family_tree, "_FEWEST_CELLS", 0)
    sequences = _evolved(count, 40, seed=count, changed=0.2)
    rng = np.random.default_rng(count)
    texts = [one.residues for one in sequences] + [sequences[0].residues]
    texts += ["".join(rng.choice(RESIDUES, 30)) for _ in range(count // 10)]
    names = [f"s{k}" for k in range(len(texts))]
    found = []
    for order in (range(len(texts)), rng.permutation(len(texts)), rng.permutation(len(texts))):
        own = {names[k]: texts[k] for k in order}
        made = pairalign.msa(own, alphabet="protein", confidence=False, threads=1 + len(found))
        found.append({name: made.text(k) for k, name in enumerate(made.sequences.names)})
    assert found[0] == found[1] == found[2]


def test_threads_memory_and_instruction_sets_do_not_change_the_alignment(monkeypatch):
    sequences = _evolved(160, 40, seed=3)
    results = [
        pairalign.msa(sequences, threads=threads, memory=memory, partners=4)
        for threads, memory in ((1, None), (3, 1 << 30), (2, 1 << 28))
    ]
    for name in instruction_sets():
        monkeypatch.setenv("PAIRALIGN_ISA", name)
        results.append(pairalign.msa(sequences, partners=4))
    for other in results[1:]:
        assert np.array_equal(results[0].columns, other.columns)
        assert np.array_equal(results[0].support, other.support)
        assert results[0].tree.newick() == other.tree.newick()


@pytest.mark.parametrize(
    ("count", "length", "in_groups"),
    [(50, 41, False), (51, 39, False), (51, 40, True), (100, 10, False), (101, 10, True)],
)
def test_up_to_a_hundred_short_ones_are_aligned_by_all_pairs(count, length, in_groups, monkeypatch):
    calls = []

    def counted(*given, **more):
        calls.append(given)
        return align_large(*given, **more)

    align_large = one_family.align_large
    monkeypatch.setattr(one_family, "align_large", counted)
    monkeypatch.setattr(one_family, "_MOST_RESIDUES", 51 * 50 // 2 * 40 - 1)
    one, others = ("MKVLAWNDST" * 5)[:length], "CEFGHIPQRYX"
    places = [(k % length, others[k // length]) for k in range(count)]
    pairalign.msa([one[:at] + letter + one[at + 1 :] for at, letter in places], confidence=False)
    assert bool(calls) == in_groups


def test_dna_is_aligned():
    random = np.random.default_rng(2)
    base = random.choice(list("ACGT"), 60)
    strings = ["".join(np.delete(base, int(random.integers(60)))) for _ in range(120)]
    alignment = pairalign.msa(pairalign.SequenceSet.from_strings(strings))
    assert alignment.width <= 61
    assert (alignment.occupancy >= 80).sum() == 60


# ---------------------------------------------------------------------------------------------
# Confidence of sampled pairs


@pytest.mark.parametrize(("count", "partners"), [(30, 4), (31, 6), (250, 20)])
def test_each_sequence_is_compared_with_equally_many_others(count, partners):
    queries, targets = sample_pairs(count, partners, seed=1)
    assert (queries < targets).all()
    pairs = list(zip(queries.tolist(), targets.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert set(np.bincount(np.concatenate((queries, targets)), minlength=count)) == {partners}
    again, other = sample_pairs(count, partners, seed=1), sample_pairs(count, partners, seed=2)
    assert np.array_equal(again[0], queries)
    assert not np.array_equal(other, (queries, targets))


def test_all_pairs_where_there_are_not_more():
    for count, partners in itertools.product((2, 3, 10), (10, 11)):
        assert sample_pairs(count, partners, seed=0) is None


def test_sampled_confidence_is_about_that_of_all_pairs():
    sequences = _evolved(110, 50, changed=0.2)
    alignment = pairalign.msa(sequences, confidence=False)
    assert not alignment.compared.any()
    every, some = (
        pairalign.msa(sequences, confidence_of=alignment, partners=partners).column_confidence
        for partners in (None, 20)
    )
    full = alignment.occupancy > 55
    assert np.abs(every - some)[full].max() < 0.1


# ---------------------------------------------------------------------------------------------
# The command


@pytest.fixture
def family(tmp_path):
    path = tmp_path / "family.fa"
    path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in _evolved(110, 40)))
    return path


def _run(*arguments):
    return main([str(one) for one in arguments])


def test_the_command_samples_pairs(tmp_path, family):
    files = []
    for seed in (1, 1, 2):
        out = tmp_path / f"m{len(files)}.sto"
        assert not _run("msa", family, "-o", out, "--partners", 4, "--seed", seed, "-q")
        files.append(out.read_text())
    assert files[0] == files[1] != files[2]


def test_the_command_computes_confidence_where_it_is_shown(tmp_path, family, capsys):
    assert not _run("msa", family, "-o", tmp_path / "m.afa")
    assert "confidence" not in capsys.readouterr().err
    assert not _run("msa", family, "-o", tmp_path / "m.sto")
    assert "confidence" in capsys.readouterr().err
