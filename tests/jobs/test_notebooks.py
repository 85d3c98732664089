"""How results show in a notebook: tables and texts of the first lines, and pictures."""

import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.base.error_types import MissingPackageError

EVIL = "<script>&\"'x"
READ = "ACGTTGCATGCCGATAGGCATTACGGATCCATTAGCCAGATTACAGGCATCA"
SEQUENCES = {
    EVIL: "MVHLTPEEKSAVTALWGKVN",
    "b": "MVHLTPEEKTAVNALWGKVN",
    "c" * 5000: "MVHLSPEEKTAVNALWGRVD",
    "d": "MSLTKTERTIIVSMWAKIST",
}
READS = {EVIL: READ * 2, "b": READ[20:] + READ + READ[:20], "c": READ}
MAKE = {
    "set": lambda: pairalign.SequenceSet.from_strings(SEQUENCES),
    "alignments": lambda: pairalign.align(SEQUENCES),
    "scores": lambda: pairalign.align(SEQUENCES, detail="score"),
    "alignment": lambda: pairalign.align(SEQUENCES)[EVIL, "b"],
    "distances": lambda: pairalign.distance(SEQUENCES),
    "sparse": lambda: pairalign.distance(SEQUENCES, max_edits=9, sparse=True),
    "tree": lambda: pairalign.tree(SEQUENCES),
    "overlaps": lambda: pairalign.overlap(READS, preset="short", device="cpu"),
    "clusters": lambda: pairalign.cluster(SEQUENCES, min_identity=0.99),
    "split": lambda: pairalign.split(SEQUENCES, min_identity=0.9, folds=2),
    "posteriors": lambda: pairalign.posterior(SEQUENCES),
    "msa": lambda: pairalign.msa(SEQUENCES),
}


class Tags(HTMLParser):
    """Which tags a page has, how many, and its text; each that opens must close."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.text, self.open = "", list[str]()
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", MAKE)
def test_a_result_shows_with_names_escaped_and_cut(kind):
    page = MAKE[kind]()._repr_html_()
    tags = Tags(page)
    assert tags.counts.keys() <= {"table", "caption", "tr", "th", "td", "pre"}
    assert "script" in tags.text or kind == "split"
    assert len(page) < 5000


@pytest.mark.parametrize("kind", ["set", "alignments", "distances", "clusters"])
def test_of_thousands_of_rows_the_first_are_shown(kind):
    draw = np.random.default_rng(0)
    peptides = ["".join(draw.choice([*"ACDEFGHIKLMNPQRSTVWY"], 9)) for _ in range(600)]
    result = {
        "set": lambda: pairalign.SequenceSet.from_strings(peptides),
        "alignments": lambda: pairalign.align(peptides, detail="score"),
        "distances": lambda: pairalign.distance(peptides),
        "clusters": lambda: pairalign.cluster(peptides, min_identity=0.9),
    }[kind]()
    tags = Tags(result._repr_html_())
    assert tags.counts["tr"] == 11
    assert "the first 10" in tags.text


def test_numbers_of_a_table():
    page = pairalign.cluster({"a": "MKTAYIAK", "b": "MKTAYIA"}, min_identity=0.5)._repr_html_()
    assert (
        Tags(page).text
        == "Clusters: 1 of 2 sequences, greedy linkageclusterrepresentativesequences0a2"
    )
    assert Tags(MAKE["distances"]()._repr_html_()).counts["td"] == 4 * 5


PICTURES = ("distances", "tree", "clusters")


@pytest.mark.parametrize("kind", PICTURES)
def test_a_plot_shows_and_is_saved(kind, tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    picture = MAKE[kind]().plot()
    assert isinstance(picture, figure.Figure)
    assert picture._repr_png_().startswith(b"\x89PNG")
    picture.savefig(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")


def test_sizes_of_clusters_are_drawn_largest_first():
    pytest.importorskip("matplotlib")
    clusters = pairalign.cluster(SEQUENCES, min_identity=0.6)
    (line,) = clusters.plot().axes[0].lines
    assert line.get_ydata().tolist() == sorted(clusters.sizes.tolist(), reverse=True)


def test_two_sequences_have_a_heat_map():
    pytest.importorskip("matplotlib")
    assert len(pairalign.distance(["MKTAY", "MKTAW"]).plot().axes) == 3


@pytest.mark.parametrize("kind", PICTURES)
def test_a_plot_without_matplotlib_says_what_to_install(kind, monkeypatch):
    result = MAKE[kind]()
    for name in [one for one in sys.modules if one.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("trees.tree_drawing", "base.pictures"):
        monkeypatch.delitem(sys.modules, f"pairalign.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pairalign\[plot\]'"):
        result.plot()
