"""What a report holds: which pairs, their alignments, the heat map, and nothing from outside."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from commands import fasta, run

import pairalign
from pairalign.jobs.report.heat_map import MISSING, make_heat_map
from pairalign.jobs.report.page import merged_cigars

pytest.importorskip("jinja2")

ODD = '<img/src=x/onerror="document.title=1">'
RECORDS = {
    ODD: "MKVLAAGGWTREHHKLAMNPQRSTVWY",
    "</script><b>": "MKXLAGGWTREHHKLAMNPQRSTVWY",
    "plain": "MKXLAGREHHKLPMNPQRSTVWY",
    "other&amp;": "WWPHCMKVLHHKLAMNPQR",
}
PLAIN = dict(zip("abcd", RECORDS.values(), strict=True))
FAMILY = [f"MKVLAAGGW{'TR' * k}{'HKL' * (k % 3)}" for k in range(9)]


class Page(HTMLParser):
    """Tags and addresses of a page, and its data."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text, self._data = "", ""
        self._is_data = False
        self.feed(path.read_text())
        self.data = json.loads(self._data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.addresses += [values[k] or "" for k in ("src", "href") if k in values]
        self._is_data = values.get("id") == "data"

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self._data += data
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the pairs."""
        sets, pairs = self.data["sets"], self.data["pairs"]
        query, target = sets[0]["names"], sets[-1]["names"]
        ends = zip(pairs["query"], pairs["target"], strict=True)
        return [(query[i], target[j]) for i, j in ends]

    def rows(self, number: int) -> tuple[str, str]:
        """The gapped rows of a pair on the strand +, as the page's script makes them."""
        sets, pairs = self.data["sets"], self.data["pairs"]
        one = sets[0]["residues"][pairs["query"][number]]
        other = sets[-1]["residues"][pairs["target"][number]]
        q, t = pairs["queryStart"][number], pairs["targetStart"][number]
        rows = ["", ""]
        for size, kind in re.findall(r"(\d+)([MID])", pairs["cigar"][number]):
            length = int(size)
            rows[0] += "-" * length if kind == "D" else one[q : q + length]
            rows[1] += "-" * length if kind == "I" else other[t : t + length]
            q += length if kind != "D" else 0
            t += length if kind != "I" else 0
        return rows[0], rows[1]


def report(
    folder: Path,
    command: str,
    *arguments: str,
    records: dict[str, str] = PLAIN,
    device: str = "cpu",
) -> Page:
    (folder / "in.fa").write_text(fasta(records))
    given = (command, "in.fa", *arguments, "--report", "r.html", "--device", device)
    done = run(*given, cwd=folder)
    assert done.returncode == 0, done.stderr
    return Page(folder / "r.html")


def test_one_file_with_names_escaped(tmp_path):
    page = report(tmp_path, "align", "-o", "o.paf", records=RECORDS)
    assert page.tags.count("b") == page.tags.count("img") == 0
    assert all(address.startswith("data:") for address in page.addresses)
    styles = (tmp_path / "r.html").read_text().split("<script>")[0]
    assert not re.search(r"@import|url\(", styles)
    assert "script-src 'sha256-" in styles
    assert not re.search(r"(script|connect)-src[^;]*unsafe", styles)
    assert "default-src 'none'" in styles
    assert page.data["sets"][0]["names"] == list(RECORDS)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "o.paf"),
        ("-o", "o.tsv"),
        ("-o", "o.tsv", "--columns", "query,target,score"),
        ("-o", "o.tsv", "--mode", "local"),
        ("-o", "o.paf", "--min-identity", "0.5"),
    ],
)
def test_every_pair_has_its_alignment(arguments, tmp_path):
    page = report(tmp_path, "align", *arguments)
    mode = "local" if "local" in arguments else "global"
    least = 0.5 if "--min-identity" in arguments else None
    found = pairalign.align(PLAIN, mode=mode, min_identity=least, device="cpu")
    expected = {(p.query.name, p.target.name): p for p in found}
    assert sorted(page.pairs) == sorted(expected)
    for number, names in enumerate(page.pairs):
        assert page.rows(number) == expected[names].rows()
        assert page.data["pairs"]["score"][number] == expected[names].score
        assert page.data["pairs"]["matches"][number] == expected[names].matches
    assert page.data["allPairs"] == len(found)
    assert page.data["isAll"]


def test_bits_and_evalues_of_local_alignments(tmp_path):
    page = report(tmp_path, "align", "-o", "o.paf", "--mode", "local")
    done = run(
        "align", "in.fa", "-o", "o.tsv", "--mode", "local", "--device", "cpu",
        "--columns", "query,target,bits,evalue", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in (tmp_path / "o.tsv").read_text().splitlines()]
    expected = {tuple(line[:2]): (float(line[2]), float(line[3])) for line in lines[1:]}
    pairs = page.data["pairs"]
    assert page.data["rankedBy"] == "E-value"
    for names, bits, log in zip(page.pairs, pairs["bits"], pairs["logEvalue"], strict=True):
        assert bits == pytest.approx(expected[names][0], abs=0.11)
        assert 10**log == pytest.approx(expected[names][1], rel=0.06)
    assert "E-values" in page.text


@pytest.mark.parametrize("command", ["distance", "tree"])
def test_distances(command, tmp_path):
    name = {"distance": "d.phy", "tree": "t.txt"}[command]
    page = report(tmp_path, command, "-o", name, "--measure", "identity")
    found = pairalign.align(PLAIN, device="cpu")
    expected = {(p.query.name, p.target.name): p for p in found}
    matrix = pairalign.distance(PLAIN, measure="identity", device="cpu")
    assert sorted(page.pairs) == sorted(expected)
    for number, names in enumerate(page.pairs):
        assert page.rows(number) == expected[names].rows()
        ends = [list(PLAIN).index(one) for one in names]
        distance = page.data["pairs"]["distance"][number]
        assert distance == pytest.approx(matrix[ends[0], ends[1]], abs=1e-6)
    assert page.data["map"]["measure"] == "distance (identity)"


def test_rows_of_a_multiple_alignment(tmp_path):
    """Also of an alignment that is given, which has no guide tree."""
    page = report(tmp_path, "msa", "-o", "m.afa")
    rows = dict(zip(PLAIN, aligned_rows(tmp_path / "m.afa"), strict=True))
    given = ("--confidence-of", "m.afa", "-o", "n.afa", "--partners", "2")
    for one in (page, report(tmp_path, "msa", *given)):
        assert len(one.pairs) == 6
        for number, names in enumerate(one.pairs):
            both = zip(*(rows[name] for name in names), strict=True)
            shown = [column for column in both if column != ("-", "-")]
            assert list(zip(*one.rows(number), strict=True)) == shown
        assert one.data["histograms"][0]["title"] == "Confidence of the residues"
        assert "The least sure sequences" in one.text


def aligned_rows(path: Path) -> list[str]:
    records = path.read_text().split(">")[1:]
    return ["".join(one.splitlines()[1:]) for one in records]


def test_overlaps_have_alignments_and_reads(tmp_path):
    reads = {"a": "ACGTTGCAACGTACGGTCATTAGCCA" * 8, "b": "TGGCTAATGACCGTACGTTGCAACGT" * 8}
    page = report(tmp_path, "overlap", "-o", "o.paf", "--preset", "short", records=reads)
    assert page.pairs == [("a", "b")]
    assert page.data["pairs"]["strand"] == [-1]
    assert page.data["pairs"]["cigar"] != [""]
    known = page.data["sets"][0]["known"]
    assert known["overlaps"] == [1, 1]
    assert {"median depth", "flags", "kind"} <= set(known)


@pytest.mark.parametrize("given", [("align", "-o", "o.paf"), ("distance", "-o", "d.phy")])
def test_both_strands(given, tmp_path):
    records = {"a": "ACGTTGCAACGTACGGTCATTAGCCA", "b": "TGGCTAATGACCTACGTTGCAACG"}
    page = report(tmp_path, *given, "--strand", "both", records={**records, "c": "ACGTTGCAA"})
    (k,) = (k for k, names in enumerate(page.pairs) if set(names) == {"a", "b"})
    (pair,) = pairalign.align(records, strand="both", device="cpu")
    assert page.data["pairs"]["strand"][k] == pair.strand == -1
    assert page.data["pairs"]["matches"][k] == pair.matches
    assert page.data["pairs"]["queryStart"][k] == pair.query_start


def test_reads_without_cigars_in_their_file(tmp_path):
    reads = {"a": "ACGTTGCAACGTACGGTCATTAGCCA" * 8, "b": "ACGTTGCAACGTACGGTCATTAGCCA" * 8}
    given = ("-o", "o.paf", "--preset", "short", "--no-cigar")
    page = report(tmp_path, "overlap", *given, records=reads)
    assert page.rows(0) == (reads["a"], reads["b"])


def test_two_sets(tmp_path):
    (tmp_path / "other.fa").write_text(fasta(PLAIN))
    page = report(tmp_path, "align", "other.fa", "-o", "o.tsv")
    assert sorted(page.pairs) == sorted((a, b) for a in PLAIN for b in PLAIN)
    assert page.data["noMap"] == "it is drawn of one set"


def test_several_alignments_of_a_pair_are_aligned_again_alike(tmp_path):
    part = "MKVLAAGGWTREHHKLAMNPQRSTVWYC"
    records = {"a": part, "b": part + "GGGGGGGG" + part[:20], "c": part[5:]}
    given = ("align", "-o", "o.tsv", "--mode", "local", "--hsps", "2")
    page = report(tmp_path, *given, records=records)
    found = pairalign.align(records, mode="local", hsps=2, device="cpu")
    rows = sorted(pair.rows() for pair in found)
    assert sorted(page.rows(k) for k in range(len(page.pairs))) == rows
    assert len(found) > 3


@pytest.mark.parametrize("ending", ["paf", "tsv", "abc"])
def test_best_hits_come_once(ending, tmp_path):
    records = {f"s{k}": text for k, text in enumerate(FAMILY)}
    page = report(tmp_path, "align", "-o", f"o.{ending}", "--max-hits", "2", records=records)
    found = pairalign.align(records, device="cpu", max_hits=2)
    assert page.data["isAll"]
    pairs = {tuple(sorted((p.query_index, p.target_index))) for p in found}
    assert sorted(page.pairs) == sorted((f"s{a}", f"s{b}") for a, b in pairs)
    expected = {(p.query.name, p.target.name): p.rows() for p in pairalign.align(records)}
    for number, names in enumerate(page.pairs):
        assert page.rows(number) == expected[names]


# ---------------------------------------------------------------------------------------------
# The heat map


def cells_of(shown: dict[str, object]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(str(shown["cells"])), "<u2")


def test_the_heat_map_stays_under_thresholds(tmp_path):
    page = report(tmp_path, "align", "-o", "o.tsv", "--min-identity", "0.5")
    shown = page.data["map"]
    order = shown["order"]
    found = pairalign.align(PLAIN, device="cpu")
    values = {
        frozenset((p.query_index, p.target_index)): p.identity if p.identity >= 0.5 else None
        for p in found
    }
    rows, columns = np.triu_indices(4)
    for cell, i, j in zip(cells_of(shown).tolist(), rows.tolist(), columns.tolist(), strict=True):
        value = 1.0 if i == j else values[frozenset((order[i], order[j]))]
        if value is None:
            assert cell == MISSING
        else:
            size = shown["high"] - shown["low"]
            assert shown["low"] + cell / (MISSING - 1) * size == pytest.approx(value, abs=2e-5)
    assert None in values.values()


def test_scores_alone_have_a_heat_map(tmp_path):
    page = report(tmp_path, "align", "-o", "o.tsv", "--score-only")
    assert page.data["map"]["measure"] == "score"
    assert page.data["map"]["high"] == max(page.data["pairs"]["score"])


def test_large_maps_have_means_of_blocks(monkeypatch):
    monkeypatch.setattr("pairalign.jobs.report.heat_map.SIDE", 3)
    matrix = pairalign.distance(FAMILY, device="cpu")
    tree = pairalign.tree(matrix, method="upgma")
    made = make_heat_map(matrix.condensed, 0.0, tree, "distance")
    square = matrix.square()[np.ix_(made.order, made.order)]
    means = square.reshape(3, 3, 3, 3).mean(axis=(1, 3))
    values = made.low + made.cells / (MISSING - 1) * (made.high - made.low)
    assert values == pytest.approx(means[np.triu_indices(3)], abs=1e-4)
    assert made.block == 3


# ---------------------------------------------------------------------------------------------
# Other


def test_cigars_are_merged():
    found = pairalign.align(RECORDS, device="cpu")
    for pair, text in zip(found, merged_cigars(found), strict=True):
        plain = re.sub(r"[=X]", "M", pair.cigar)
        lengths = [(int(n), kind) for n, kind in re.findall(r"(\d+)([MID])", plain)]
        merged = "".join(
            kind * n for n, kind in lengths
        )  # one letter a column, so that neighbours merge
        runs = [(len(one.group()), one.group()[0]) for one in re.finditer(r"M+|I+|D+", merged)]
        assert text == "".join(f"{n}{kind}" for n, kind in runs)


@pytest.mark.parametrize(
    "command",
    [
        ("align", "-o", "o.paf"),
        ("align", "-o", "o.tsv", "--max-hits", "1"),
        ("distance", "-o", "o.phy"),
        ("tree", "-o", "o.nwk"),
        ("split", "-o", "o.csv", "--min-identity", "0.9", "--folds", "2"),
        ("cluster", "-o", "o.tsv", "--min-identity", "0.9"),
    ],
)
def test_when_and_where_it_was_made(command, tmp_path):
    """A small set is aligned on the CPU, on machines with GPUs as well."""
    page = report(tmp_path, *command, device="auto")
    assert re.search(r"date\s*20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", page.text)
    assert re.search(r"device\s*cpu\s", page.text)


def test_scripts_set_text_as_text_alone():
    """No script of ours makes HTML or programs of texts; nothing else may run on the page."""
    folder = Path(pairalign.__file__).parent / "jobs" / "report" / "templates"
    ours = [path for path in folder.glob("*.js") if not path.name.startswith("d3.")]
    assert len(ours) > 5
    risky = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|\.html\(|fetch\("
    )
    for path in ours:
        assert not re.search(risky, path.read_text()), path.name


@pytest.mark.parametrize(
    ("command", "ending"), [("cluster", "uc"), ("split", "csv")], ids=["cluster", "split"]
)
def test_what_draws_no_heat_map_has_no_place_for_one(command, ending, tmp_path):
    more = ("--folds", "2", "--tolerance", "1") if command == "split" else ()
    page = report(tmp_path, command, "-o", f"o.{ending}", "--min-identity", "0.5", *more)
    assert (page.data["map"], page.data["noMap"]) == (None, None)
