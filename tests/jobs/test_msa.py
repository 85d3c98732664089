"""Multiple alignments: laws of what comes out, the sums checked plainly, files, the command."""

import itertools

import numpy as np
import pytest

import pairalign
from pairalign.alignments.posteriors import ONE, SparsePosteriors, join_posteriors
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT, PosteriorGraph
from pairalign.errors import AlignmentFileError, CapacityError
from pairalign.jobs.msa.aligned_fasta import columns_in
from pairalign.jobs.msa.confidence import sample_pairs
from pairalign.jobs.msa.grouping import tree_weights
from pairalign.jobs.msa.one_family import match_states_of
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.requests.resources import Resources

RESIDUES = "ARNDCQEGHILKMFPSTWYV"


def _family(count, length, seed=1, changed=0.4):
    random = np.random.default_rng(seed)
    base = random.choice(list(RESIDUES), length)
    sequences = {}
    for number in range(count):
        letters = base.copy()
        which = random.random(length) < changed
        letters[which] = random.choice(list(RESIDUES), which.sum())
        start = int(random.integers(0, length - 5))
        kept = np.delete(letters, slice(start, start + int(random.integers(0, 5))))
        sequences[f"s{number}"] = "".join(kept)
    return pairalign.SequenceSet.from_strings(sequences, alphabet="protein")


def _posteriors(sequences):
    """Return those that the family is aligned by."""
    job = PosteriorJob(sequences, Resources(), match_states=match_states_of(sequences))
    return join_posteriors(list(job))


def _rows(alignment):
    return [alignment.text(index) for index in range(len(alignment))]


def _graph_as_dense(sequences, found):
    """Return {(x, y): matrix of whole numbers} in both directions."""
    dense = {}
    for pair, (x, y) in enumerate(zip(found.queries.tolist(), found.targets.tolist(), strict=True)):
        table = np.zeros((len(sequences[x]), len(sequences[y])), object)
        for k in range(found.offsets[pair], found.offsets[pair + 1]):
            table[found.rows[k], found.columns[k]] = int(found.values[k])
        dense[x, y], dense[y, x] = table, table.T
    return dense


def _relaxed(dense, weights, count, least):
    result, divisor = {}, sum(weights) * ONE
    for x, y in itertools.combinations(range(count), 2):
        ways = (weights[x] + weights[y]) * ONE * dense[x, y]
        for z in set(range(count)) - {x, y}:
            ways = ways + weights[z] * dense[z, x].T.dot(dense[z, y])
        value = np.minimum((ways + divisor // 2) // divisor, ONE)
        result[x, y] = np.where(value >= least, value, 0)
        result[y, x] = result[x, y].T
    return result


@pytest.mark.parametrize(("count", "length"), [(2, 1), (2, 30), (3, 40), (9, 60), (17, 45)])
def test_rows_are_the_sequences_in_one_width_without_empty_columns(count, length):
    sequences = _family(count, length + 6)
    alignment = pairalign.msa(sequences)
    rows = _rows(alignment)
    assert {len(row) for row in rows} == {alignment.width}
    assert [row.replace("-", "") for row in rows] == [one.residues for one in sequences]
    assert (alignment.occupancy > 0).all()


def test_relatives_are_aligned_as_they_have_come_about():
    """Copies of one sequence with a deletion each: every residue is where it was."""
    base = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV"
    cuts = [(10, 10), (20, 24), (40, 43), (55, 57), (0, 3)]
    strings = [base[:start] + base[stop:] for start, stop in cuts]
    alignment = pairalign.msa(pairalign.SequenceSet.from_strings(strings))
    expected = [base[:start] + "-" * (stop - start) + base[stop:] for start, stop in cuts]
    assert _rows(alignment) == expected
    assert np.nanmin(alignment.column_confidence) > 0.8


def test_consistency_and_accuracies_are_the_sums_that_they_are_said_to_be():
    sequences = _family(5, 24)
    found = _posteriors(sequences)
    dense = _graph_as_dense(sequences, found)
    weights = np.array([3000, 9000, 1, 7000, 13000], np.int32)
    graph = PosteriorGraph(sequences.lengths, found, threads=2)
    for _ in range(3):
        assert np.allclose(graph.accuracies(), _accuracies(dense, 5), rtol=1e-12)
        graph.relax(weights, 0.01)
        dense = _relaxed(dense, weights.tolist(), 5, round(0.01 * ONE))
    graph.close()


def _accuracies(dense, count):
    sums = []
    for x, y in itertools.combinations(range(count), 2):
        table = dense[x, y]
        best = np.zeros((table.shape[0] + 1, table.shape[1] + 1), object)
        for i, j in np.ndindex(table.shape):
            best[i + 1, j + 1] = max(best[i, j] + table[i, j], best[i, j + 1], best[i + 1, j])
        sums.append(int(best[-1, -1]) / ONE)
    return sums


@pytest.mark.parametrize("density", [0.004, 0.015, 0.03])
def test_of_equal_paths_the_same_is_taken_whether_all_cells_are_filled_or_few(density):
    """Both ways to join, on tables with many equal sums; the plain recurrence is the rule."""
    random = np.random.default_rng(8)
    shape = (240, 280)
    table = random.integers(1, 4, shape) * 5000 * (random.random(shape) < density)
    rows, columns = np.nonzero(table)
    ends = np.array([0, 1], np.int32)
    found = SparsePosteriors(
        ends[:1],
        ends[1:],
        np.array([0, len(rows)]),
        rows.astype(np.int32),
        columns.astype(np.int32),
        table[rows, columns].astype(np.uint16),
        np.zeros(1, np.uint8),
    )
    graph = PosteriorGraph(np.array(shape, np.int32), found)
    placed, width = graph.align(np.array([[0, 1]]), np.ones(2, np.int32), 0)
    graph.close()
    expected, expected_width = _joined(table)
    assert width == expected_width
    assert placed.tolist() == expected


def _joined(table):
    """Return the columns of two sequences: aligned, else the first one's gap, if as good."""
    rows, columns = table.shape
    best = np.zeros((rows + 1, columns + 1), np.int64)
    for i, j in np.ndindex(table.shape):
        both = best[i, j] + table[i, j] if table[i, j] else -1
        best[i + 1, j + 1] = max(both, best[i, j + 1], best[i + 1, j])
    i, j, path = rows, columns, []
    while i or j:
        aligned = i and j and table[i - 1, j - 1]
        aligned = aligned and best[i, j] == best[i - 1, j - 1] + table[i - 1, j - 1]
        up = not aligned and i and (not j or best[i - 1, j] >= best[i, j - 1])
        path.append((bool(aligned or up), bool(aligned or not up)))
        i, j = i - path[-1][0], j - path[-1][1]
    used = np.array(path[::-1])
    return [*np.flatnonzero(used[:, 0]), *np.flatnonzero(used[:, 1])], len(path)


@pytest.mark.parametrize("chosen", [None, sample_pairs(7, 2, seed=3)])
def test_support_is_the_sum_of_posteriors_in_a_residues_column(chosen):
    sequences = _family(7, 24)
    found = _posteriors(sequences)
    dense = _graph_as_dense(sequences, found)
    columns = np.concatenate(
        [np.arange(len(one)) + index % 2 for index, one in enumerate(sequences)]
    )
    nothing = np.zeros(len(columns)), np.zeros(len(columns), np.int32), np.zeros(len(columns))
    given = pairalign.MultipleAlignment(sequences, columns.astype(np.int32), 40, *nothing, None)
    result = pairalign.msa(
        sequences, confidence_of=given, partners=None if chosen is None else 2, seed=3
    )
    pairs = itertools.combinations(range(7), 2) if chosen is None else zip(*chosen, strict=True)
    sums, counts, against = (np.zeros(len(columns)) for _ in range(3))
    for x, y in pairs:
        for i, j in itertools.product(range(len(sequences[x])), range(len(sequences[y]))):
            g, h = sequences.offsets[x] + i, sequences.offsets[y] + j
            if columns[g] == columns[h]:
                sums[[g, h]] += dense[x, y][i, j] / ONE
                counts[[g, h]] += 1
                against[g] += np.delete(dense[x, y][i], j).max() / ONE
                against[h] += np.delete(dense[x, y][:, j], i).max() / ONE
    assert np.allclose(result.support, sums)
    assert np.allclose(result.against, against)
    assert np.array_equal(result.compared, counts)
    assert counts.any()


def test_two_sequences_get_the_alignment_of_most_expected_accuracy():
    sequences = _family(2, 40, seed=4)
    alignment = pairalign.msa(sequences)
    # Two rounds leave a pair's own posteriors as they are.
    dense = _graph_as_dense(sequences, _posteriors(sequences))
    assert alignment.support[: len(sequences[0])].sum() == pytest.approx(_accuracies(dense, 2)[0])


def test_copies_unrelated_and_single_sequences():
    copies = pairalign.msa(pairalign.SequenceSet.from_strings(["MKVLW"] * 3))
    assert _rows(copies) == ["MKVLW"] * 3
    unrelated = pairalign.SequenceSet.from_strings(["W" * 20, "P" * 30, "G"], alphabet="protein")
    rows = _rows(pairalign.msa(unrelated))
    assert [row.replace("-", "") for row in rows] == ["W" * 20, "P" * 30, "G"]
    single = pairalign.msa(pairalign.SequenceSet.from_strings(["MKVLW"]))
    assert _rows(single) == ["MKVLW"]
    assert np.isnan(single.column_confidence).all()


@pytest.mark.parametrize("count", [3, 60, 110])
def test_copies_get_the_row_of_the_first_and_change_no_other(count):
    family = _family(count, 40, changed=0.2)
    strings = {name: family[name].residues for name in family.names}
    more = {f"c{k}": strings[f"s{k % 3}"] for k in range(7)}
    alone = pairalign.msa(family)
    both = pairalign.msa(pairalign.SequenceSet.from_strings(strings | more, alphabet="protein"))
    assert _rows(both)[:count] == _rows(alone)
    assert _rows(both)[count:] == [_rows(alone)[k % 3] for k in range(7)]
    assert sorted(both.tree.names) == sorted(both.sequences.names)
    again = pairalign.msa(both.sequences, confidence_of=both)
    assert np.array_equal(again.support, both.support)


def test_many_copies_are_aligned_as_one():
    gene = "".join(np.random.default_rng(3).choice(list("ACGT"), 400))
    copies = pairalign.msa(pairalign.SequenceSet.from_strings([gene] * 2000), device="cpu")
    assert copies.width == len(gene)
    assert copies.column_confidence.min() > 0.9
    assert len(copies.tree) == 2000


def test_dna_is_aligned():
    strings = ["ACGTTGCAACGGTTAACCGT", "ACGTTGCACGGTTAACCGT", "ACGTTGCAACGGTTACCNGT"]
    alignment = pairalign.msa(pairalign.SequenceSet.from_strings(strings))
    assert alignment.width == 20
    assert alignment.text(0) == strings[0]


@pytest.mark.parametrize(
    ("count", "changed", "refinements"), [(8, 0.2, 0), (8, 0.8, 100), (51, 0.2, 0), (51, 0.8, 0)]
)
def test_few_distant_sequences_are_refined(count, changed, refinements, monkeypatch):
    asked = []
    align = PosteriorGraph.align

    def counted(graph, children, weights, times, rejoins):
        asked.append((times, rejoins))
        return align(graph, children, weights, times, rejoins=rejoins)

    monkeypatch.setattr(PosteriorGraph, "align", counted)
    pairalign.msa(_family(count, 60, changed=changed))
    assert asked == [(refinements, count > 50)]


@pytest.mark.parametrize(("weak", "rejoins"), [(0.41, True), (0.39, True), (0.41, False)])
def test_a_sequence_that_has_a_tenth_more_elsewhere_is_moved(weak, rejoins):
    """The second is joined with the first residue of the first one, before there are others."""
    first = {
        (1, 0): 0.5,
        (2, 1): 0.45,
        (3, 1): 0.45,
    }  # other sequence, this one's residue
    values = [*first.values(), weak, weak, 0.5]
    queries, targets = (ends.astype(np.int32) for ends in np.triu_indices(4, 1))
    rows = np.array([*(row for _, row in first), 0, 0, 0], np.int32)
    found = SparsePosteriors(
        queries,
        targets,
        np.arange(7),
        rows,
        np.zeros(6, np.int32),
        np.rint(np.array(values) * ONE).astype(np.uint16),
        np.zeros(6, np.uint8),
    )
    graph = PosteriorGraph(np.array([2, 1, 1, 1], np.int32), found)
    tree, weights = np.array([[0, 1], [2, 3], [4, 5]]), np.ones(4, np.int32)
    placed, width = graph.align(tree, weights, 0, rejoins=rejoins)
    graph.close()
    assert width == 2
    is_moved = rejoins and 2 * weak - 0.5 > 0.1 * 3
    assert placed.tolist() == [0, 1, int(is_moved), 1, 1]


def test_weights_share_branches():
    tree = pairalign.msa(_family(20, 40)).tree
    weights = tree_weights(tree)
    assert (weights > 0).all()
    assert 0.99 * MOST_WEIGHT < weights.sum() <= MOST_WEIGHT


def test_memory_that_does_not_do_is_an_error():
    sequences = _family(12, 60)
    with pytest.raises(CapacityError, match=r"MiB (of memory that )?are allowed"):
        pairalign.msa(sequences, memory=1 << 19)


# ---------------------------------------------------------------------------------------------
# Files and the command


@pytest.fixture
def family(tmp_path):
    path = tmp_path / "family.fa"
    path.write_text("".join(f">{one.name} words\n{one.residues}\n" for one in _family(6, 80)))
    return path


def _run(*arguments):
    return main([str(one) for one in arguments])


def _rows_of_fasta(path):
    rows = {}
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            rows[name] = ""
        else:
            rows[name] += line
    return rows


def test_every_format_has_the_same_rows(tmp_path, family):
    from Bio import AlignIO

    alignment = pairalign.msa(pairalign.read_fasta(family))
    expected = dict(zip(alignment.sequences.names, _rows(alignment), strict=True))
    for ending, format in (("afa", "fasta"), ("aln", "clustal"), ("sto", "stockholm")):
        assert not _run("msa", family, "-o", tmp_path / f"m.{ending}", "-q")
        read = AlignIO.read(tmp_path / f"m.{ending}", format)
        assert {row.id: str(row.seq) for row in read} == expected
    assert not _run("msa", family, "-o", tmp_path / "m.a2m", "-q")
    a2m = _rows_of_fasta(tmp_path / "m.a2m")
    assert {name: row.upper().replace(".", "-") for name, row in a2m.items()} == expected
    is_match = 2 * alignment.occupancy >= len(alignment)
    assert all(
        [letter.isupper() or letter == "-" for letter in row] == is_match.tolist()
        for row in a2m.values()
    )
    assert not _run("msa", family, "-o", tmp_path / "m.tsv", "-q")
    table = [line.split("\t") for line in (tmp_path / "m.tsv").read_text().splitlines()[1:]]
    assert [int(row[1]) for row in table] == alignment.occupancy.tolist()


def test_stockholm_has_confidence_of_residues_and_columns(tmp_path, family):
    from Bio import AlignIO

    alignment = pairalign.msa(pairalign.read_fasta(family))
    assert not _run("msa", family, "-o", tmp_path / "m.sto", "-q")
    read = AlignIO.read(tmp_path / "m.sto", "stockholm")
    marks = "".join(
        "." if np.isnan(one) else "0123456789*"[int(one * 10 + 0.5)]
        for one in alignment.column_confidence
    )
    assert marks in (tmp_path / "m.sto").read_text()
    for index, row in enumerate(read):
        own = slice(*alignment.sequences.offsets[index : index + 2])
        found = row.letter_annotations["posterior_probability"]
        shown = [found[column] for column in alignment.columns[own]]
        assert shown == [
            "." if np.isnan(one) else "0123456789*"[int(one * 10 + 0.5)]
            for one in alignment.residue_confidence[own]
        ]


def test_order_and_tree(tmp_path, family):
    tree, by_tree = tmp_path / "t.nwk", tmp_path / "m.afa"
    assert not _run("msa", family, "-o", by_tree, "--order", "tree", "--tree-out", tree, "-q")
    alignment = pairalign.msa(pairalign.read_fasta(family))
    leaves = [alignment.sequences.names[index] for index in alignment.tree.leaves()]
    assert list(_rows_of_fasta(by_tree)) == leaves
    assert tree.read_text() == alignment.tree.newick()


def test_confidence_of_another_alignment(tmp_path, family):
    ours, theirs = tmp_path / "ours.afa", tmp_path / "theirs.afa"
    assert not _run("msa", family, "-o", ours, "-q")
    assert not _run("msa", family, "-o", tmp_path / "ours.sto", "-q")
    again = tmp_path / "again.sto"
    assert not _run("msa", family, "-o", again, "--confidence-of", ours, "-q")
    assert again.read_bytes() == (tmp_path / "ours.sto").read_bytes()
    rows = _rows_of_fasta(ours)
    rows = {name: row.replace("-", "").lower().ljust(99, ".") for name, row in rows.items()}
    theirs.write_text("".join(f">{name}\n{row}\n" for name, row in reversed(rows.items())))
    confidences = []
    for aligned in (ours, theirs):
        assert not _run("msa", family, "-o", tmp_path / "c.tsv", "--confidence-of", aligned, "-q")
        lines = (tmp_path / "c.tsv").read_text().splitlines()[1:]
        known = [float(line.split("\t")[2]) for line in lines if line.split("\t")[2]]
        confidences.append(sum(known))
    assert confidences[1] < confidences[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows | {"s1": rows["s1"] + "-"}, "record 2 's1': a row of"),
        (lambda rows: {k: v for k, v in rows.items() if k != "s3"}, "no row of record 4 's3'"),
        (lambda rows: rows | {"s9": rows["s1"]}, "'s9': is not among the sequences"),
        (
            lambda rows: (
                rows | {"s2": rows["s2"].replace("-", "")[::-1].ljust(len(rows["s2"]), "-")}
            ),
            "'s2': its residues are not those",
        ),
    ],
)
def test_alignments_that_are_not_of_the_sequences(tmp_path, family, change, message, capsys):
    ours = tmp_path / "ours.afa"
    assert not _run("msa", family, "-o", ours, "-q")
    rows = change(_rows_of_fasta(ours))
    ours.write_text("".join(f">{name}\n{row}\n" for name, row in rows.items()))
    assert _run("msa", family, "-o", tmp_path / "c.sto", "--confidence-of", ours, "-q") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "c.sto").exists()
    with pytest.raises(AlignmentFileError):
        columns_in(ours, pairalign.read_fasta(family))


@pytest.mark.parametrize(
    ("lengths", "alphabet", "states"),
    [
        ([100, 90], "protein", 4),
        ([90, 100], "protein", 4),
        ([100, 89], "protein", 1),
        ([100, 89, 100], "protein", 4),  # 0.93 in the mean
        ([400, 600], "dna", 4),
        ([50, 100, 500], "dna", 4),
        ([500, 501], "dna", 1),
        ([50] * 101, "dna", 1),
        ([50] * 100, "protein", 4),
        ([50] * 101, "protein", 1),
    ],
)
def test_like_proteins_and_short_dna_have_several_match_states(lengths, alphabet, states):
    sequences = pairalign.SequenceSet.from_strings(
        ["A" * length for length in lengths], alphabet=alphabet
    )
    assert match_states_of(sequences) == states


def test_the_confidence_of_its_own_alignment_is_that_which_it_came_with():
    sequences = _family(6, 40)
    assert match_states_of(sequences) > 1
    made = pairalign.msa(sequences)
    again = pairalign.msa(sequences, confidence_of=made)
    assert np.array_equal(again.support, made.support)
