"""Distances: each measure against its formula, the command and its pictures."""

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from commands import run
from samples import random_distances
from strategies import MODES

import pairalign
from pairalign.cli.main import main
from pairalign.errors import CapacityError
from pairalign.jobs.distances import measures
from pairalign.jobs.distances.measures import MEASURES, SATURATED
from pairalign.scoring.scoring import scores_without_gaps

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"


TRANSITIONS = ({"A", "G"}, {"C", "T"})


@pytest.fixture(scope="module")
def genes() -> dict[str, str]:
    """Related DNA with some ambiguous bases."""
    rng = np.random.default_rng(5)
    base = rng.choice(list("ACGT"), 300)
    rows = {}
    for k, rate in enumerate((0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)):
        changed = np.where(rng.random(300) < rate, rng.choice(list("ACGTNR"), 300), base)
        kept = changed[rng.random(300) >= rate / 5]
        rows[f"g{k}"] = "".join(kept)
    return rows


def formula(measure: str, a: pairalign.Alignment, own: np.ndarray) -> float:
    """The definition, from the two rows of the alignment."""
    rows = [row.upper() for row in a.rows()]
    ambiguous = "NR" if a.alignments.scoring.alphabet == pairalign.DNA else "X"
    matches = columns = transition = transversion = 0
    shown = list(zip(*rows, strict=True))
    if a.alignments.scoring.mode == "semiglobal":  # free end gaps do not count
        paired = [k for k, column in enumerate(shown) if "-" not in column]
        shown = shown[paired[0] : paired[-1] + 1] if paired else []
    for x, y in shown:
        columns += 1
        if "-" in (x, y):
            continue
        matches += x == y and x not in ambiguous
        if x != y and x in "ACGT" and y in "ACGT":
            transition += {x, y} in TRANSITIONS
            transversion += {x, y} not in TRANSITIONS
    pairs = sum("-" not in column for column in shown)
    aligned = 1 - matches / pairs if pairs else 1.0
    unambiguous = sum(not {*column} & {*ambiguous, "-"} for column in shown)
    p = 1 - matches / unambiguous if unambiguous else 1.0

    def minus_log(value: float) -> float:
        return -math.log(value) if value > 0 else math.inf

    if measure == "identity-aligned":
        return aligned
    if measure == "identity":
        return 1 - matches / columns if columns else 1.0
    if measure == "identity-shorter":
        return 1 - matches / min(len(a.query), len(a.target))
    if measure == "identity-unambiguous":
        return p
    if measure == "kimura":
        return min(minus_log(1 - p - 0.2 * p * p), SATURATED)
    if measure == "jukes-cantor":
        return min(0.75 * minus_log(1 - 4 / 3 * p), SATURATED)
    if measure == "kimura-2p":
        sites = matches + transition + transversion
        if not sites:
            return SATURATED
        P, Q = transition / sites, transversion / sites
        whole = 0.5 * minus_log(1 - 2 * P - Q) + 0.25 * minus_log(1 - 2 * Q)
        return min(whole, SATURATED)
    both = own[a.alignments.query[a.index]] + own[a.alignments.target[a.index]]
    return min(max(1 - 2 * a.raw_score / both, 0), SATURATED)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", MEASURES)
def test_measures_are_their_formulas(measure, mode, genes):
    protein = MEASURES[measure].alphabet != pairalign.DNA
    sequences = pairalign.read_fasta(GLOBINS) if protein else genes
    found = pairalign.align(sequences, mode=mode)
    matrix = pairalign.distance(sequences, measure=measure, mode=mode)
    own = scores_without_gaps(found.queries, found.scoring)
    assert matrix.measure == measure
    assert matrix.names == found.queries.names
    for a, i, j in zip(found, found.query, found.target, strict=True):
        assert matrix[i, j] == pytest.approx(formula(measure, a, own), abs=1e-6)


@pytest.fixture
def masked() -> dict[str, str]:
    """A copy, and one with substitutions, of which a third is N in runs; and single Rs."""
    rng = np.random.default_rng(8)
    whole = rng.choice(list("ACGT"), 240)
    changed = whole.copy()
    changed[[7, 150, 233]] = "A"
    rows = {"whole": whole, "copy": whole.copy(), "changed": changed}
    for name in ("copy", "changed"):
        rows[name][40:120] = "N"
        rows[name][[12, 200]] = "R"
    return {name: "".join(row) for name, row in rows.items()}


@pytest.mark.parametrize(
    ("measure", "copy"), [("identity-unambiguous", 0.0), ("jukes-cantor", 0.0), ("kimura-2p", 0.0)]
)
def test_n_is_no_difference(measure, copy, masked):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pairalign.distance(masked, measure=measure)
    assert found[0, 1] == copy
    known = [k for k in range(240) if masked["changed"][k] in "ACGT"]
    p = sum(masked["whole"][k] != masked["changed"][k] for k in known) / len(known)
    assert 0 < p < 0.02
    assert found[0, 2] == pytest.approx(p, rel=0.05)  # a correction is small here
    if measure == "jukes-cantor":  # ape: dist.dna(x, "JC69", pairwise.deletion = TRUE)
        assert found[0, 2] == pytest.approx(-0.75 * math.log(1 - 4 / 3 * p), abs=1e-7)


@pytest.mark.parametrize("options", [{}, {"circular": True}, {"strand": "both"}])
def test_n_is_no_difference_of_circles_and_strands(options, masked):
    found = pairalign.distance(masked, measure="jukes-cantor", **options)
    assert found[0, 1] == 0
    both = pairalign.distance([masked["whole"]], [masked["copy"]], measure="jukes-cantor")
    assert both.values.tolist() == [[0.0]]


def test_kimura_leaves_out_x():
    """As PHYLIP's protdist does."""
    rows = {"a": "MKVLAAGIVGERTYPLKQWE", "b": "MKVXXXGIVGERTYPLKQWD"}
    p = 1 / 17
    found = pairalign.distance(rows, measure="kimura")[0, 1]
    assert found == pytest.approx(-math.log(1 - p - 0.2 * p * p))


@pytest.mark.parametrize("measure", ["identity", "identity-aligned", "identity-shorter", "score"])
def test_measures_that_count_n_say_so(measure, masked, tmp_path):
    expected = f"2 of 3 sequences have more than 5% N .*, which {measure} counts as differences"
    with pytest.warns(UserWarning, match=expected):
        found = pairalign.distance(masked, measure=measure)
    assert found[0, 1] > 0.3
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in masked.items()))
    done = run("distance", "in.fa", "-o", "x.tsv", "--measure", measure, cwd=tmp_path)
    assert re.search(expected, done.stderr.decode())
    done = run("tree", "in.fa", "-o", "x.nwk", "--measure", measure, cwd=tmp_path)
    assert re.search(expected, done.stderr.decode())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_in_common_is_finite(measure, mode):
    """Saturated, and in some modes not even aligned."""
    protein = MEASURES[measure].alphabet == pairalign.PROTEIN
    letters = ("W" * 9, "A" * 7, "C") if protein else ("A" * 30, "C" * 20, "G")
    matrix = pairalign.distance(letters, measure=measure, mode=mode)
    assert np.isfinite(matrix.condensed).all()
    if measure.startswith("identity"):
        assert (matrix.condensed == 1).all()
    elif measure == "score":
        assert (matrix.condensed >= 1).all()
    else:
        assert (matrix.condensed == SATURATED).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_equal_sequences_have_distance_0(measure):
    letters = "ACGTTGCAACGGT" if MEASURES[measure].alphabet == pairalign.DNA else "MKTAYIAKQR"
    matrix = pairalign.distance([letters] * 3, measure=measure)
    assert (matrix.condensed == 0).all()
    assert not np.signbit(matrix.condensed).any()


def test_letters_that_match_nothing_are_finite():
    for letters in (["NNNN", "NN", "ACGTACGTAC"], ["XXXX", "XX", "MKTAYIAK"]):
        for measure, found in MEASURES.items():
            if (found.alphabet or pairalign.DNA) == pairalign.DNA and "N" in letters[0]:
                matrix = pairalign.distance(letters, measure=measure)
                assert np.isfinite(matrix.condensed).all()


@pytest.mark.parametrize("measure", ["kimura-2p", "jukes-cantor"])
def test_distances_do_not_depend_on_the_chunk(genes, monkeypatch, measure):
    asked = {**genes, "ambiguous": next(iter(genes.values())).replace("A", "R")}
    whole = pairalign.distance(asked, mode="local", measure=measure).condensed
    assert len(set(whole.tolist())) > 2
    for runs in (1, 7, 50):
        monkeypatch.setattr(measures, "_CHUNK_RUNS", runs)
        found = pairalign.distance(asked, mode="local", measure=measure).condensed
        np.testing.assert_array_equal(found, whole)


def test_self_scores_are_those_of_an_alignment_with_itself():
    sequences = pairalign.read_fasta(GLOBINS)
    for mode in MODES:
        scoring = pairalign.make_scoring("protein", mode=mode)
        own = scores_without_gaps(sequences, scoring)
        for index, sequence in enumerate(sequences):
            pair = pairalign.align([sequence.residues] * 2, scoring=scoring, detail="score")
            assert pair.raw_score[0] == own[index]


def test_local_distances_by_score_leave_unknown_ends_out():
    gene = "ACGTTGCATGCATGACTAGC"
    sequences = {"a": gene + 30 * "N", "b": gene + 30 * "N", "c": gene, "d": "TTT" + gene[:15]}
    found = pairalign.distance(sequences, mode="local", measure="score").condensed
    np.testing.assert_allclose(found, [0, 0, 1 - 60 / 76, 0, 1 - 60 / 76, 1 - 60 / 76], atol=1e-7)


def test_too_many_pairs_are_said_before_aligning(monkeypatch):
    # The package has a function of the module's name.
    monkeypatch.setattr("pairalign.jobs.run.memory.free_bytes", lambda: 100)
    with pytest.raises(CapacityError, match="12 sequences have 66 pairs") as caught:
        pairalign.distance(GLOBINS)
    assert caught.value.needed_bytes == 264


# ---------------------------------------------------------------------------------------------
# The command


def test_lines_that_clustal_omega_cannot_read_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("pairalign.cli.distance_command.LONGEST_LINE", 50)
    assert main(["distance", str(GLOBINS), "-o", str(tmp_path / "a.phy")]) == 0
    assert "Clustal Omega stops at 50" in capsys.readouterr().err


def test_heat_map_of_two_is_refused(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    (tmp_path / "two.fa").write_text(">a\nMKTAY\n>b\nMKTAW\n")
    words = [str(tmp_path / "two.fa"), "-o", str(tmp_path / "a.phy"), "--plot", "a.svg"]
    assert main(["distance", *words]) == 1
    assert "needs at least 3" in capsys.readouterr().err
    assert not (tmp_path / "a.phy").exists()


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_heat_map(tmp_path, ending):
    pytest.importorskip("matplotlib")
    out = tmp_path / f"a.{ending}"
    assert main(["distance", str(GLOBINS), "--plot", str(out), "--quiet"]) == 0
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    if ending == "svg":
        assert all(name.encode() in data for name in pairalign.read_fasta(GLOBINS).names)
        assert main(["distance", str(GLOBINS), "--plot", str(out), "--quiet"]) == 0
        assert out.read_bytes() == data


def test_heat_map_of_similarities(tmp_path, monkeypatch):
    """As that of distances: the same order and the same colors, with 1 where these have 0."""
    axes = pytest.importorskip("matplotlib.axes")
    drawn = []

    def keep(self: object, values: np.ndarray, **settings: object) -> object:
        drawn.append(draw(self, values, **settings))
        return drawn[-1]

    draw = axes.Axes.imshow
    monkeypatch.setattr(axes.Axes, "imshow", keep)
    texts = []
    for options in ([], ["--similarity"]):
        out = tmp_path / f"{len(options)}.svg"
        assert main(["distance", str(GLOBINS), "--plot", str(out), "--quiet", *options]) == 0
        texts.append(out.read_text())
    distances, similarities = (np.asarray(one.get_array()) for one in drawn)
    np.testing.assert_allclose(similarities, 1 - distances, atol=1e-6)
    colors = [one.to_rgba(one.get_array()) for one in drawn]
    np.testing.assert_allclose(*colors, atol=0.01)
    assert [">similarity<" in text for text in texts] == [False, True]
    assert [">distance<" in text for text in texts] == [True, False]


def test_heat_map_of_many_is_averaged(monkeypatch):
    pytest.importorskip("matplotlib")
    from pairalign.trees import tree_drawing as plots

    matrix = random_distances(31)
    order = np.random.default_rng(0).permutation(31)
    np.testing.assert_array_equal(plots._blocks(matrix, order), matrix.square()[order][:, order])
    monkeypatch.setattr(plots, "_PIXELS", 8)
    blocks = plots._blocks(matrix, order)
    square = matrix.square()[order][:, order]
    assert blocks.shape == (8, 8)
    assert blocks[1, 7] == pytest.approx(square[4:8, 28:].mean())


def test_large_heat_map_has_a_pixel_for_each_sequence(monkeypatch):
    pytest.importorskip("matplotlib")
    from pairalign.trees import tree_drawing as plots

    monkeypatch.setattr(plots, "DOTS", 30)  # coarse, so that 400 are many
    png = plots.draw_distances(random_distances(400), "png")
    assert int.from_bytes(png[20:24], "big") >= 400  # its height, in the header


def test_pictures_do_not_grow_with_names():
    """A name of thousands of letters made them metres wide."""
    pytest.importorskip("matplotlib")
    from pairalign.trees import tree_drawing as plots

    measured = random_distances(4)
    widths = set()
    for letters in (83, 3000):
        names = [f"{k}{'x' * letters}"[:letters] for k in range(4)]
        matrix = pairalign.DistanceMatrix(names, measured.condensed)
        for picture in (
            plots.draw_distances(matrix, "svg"),
            plots.draw_tree(pairalign.tree(matrix), "svg"),
        ):
            widths.add(re.search(rb'width="([0-9.]+)pt"', picture)[1])
    assert len(widths) == 2
