"""Overlaps: kinds, strands, thresholds and files, on reads whose overlaps are known."""

from __future__ import annotations

import gzip
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same
from commands import run as run_program
from test_strands import other_strand

import pairalign
from pairalign.cli import main
from pairalign.engines import Detail
from pairalign.errors import AlphabetError, DeviceError, FastaError, FormatError
from pairalign.formats import open_overlap_writer
from pairalign.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, INTERNAL, classify
from pairalign.overlap_presets import PRESETS, find_preset
from pairalign.sequences import DNA, SequenceSet

GENOME = "".join(np.random.default_rng(7).choice(list("ACGT"), 2000))
EASY: dict[str, Any] = {"preset": "short", "min_overlap": 20, "min_score": 20, "device": "cpu"}


def changed(letters: str, share: float, seed: int) -> str:
    """Letters with some of them substituted, dropped or doubled."""
    rng = np.random.default_rng(seed)
    out = []
    for letter in letters:
        kind = rng.random() / share
        if kind < 0.5:
            out.append(str(rng.choice(list("ACGT"))))
        elif kind < 0.75:
            out.append(2 * letter)
        elif kind >= 1:
            out.append(letter)
    return "".join(out)


def find(reads: dict[str, str], **options: Any) -> pairalign.Overlaps:
    return pairalign.overlaps(reads, **{**EASY, **options})


def run_well(*arguments: Any, cwd: Path) -> Any:
    done = run_program(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def described(found: pairalign.Overlaps) -> list[tuple[str, str, int, str]]:
    names = found.reads.names
    columns = zip(found.query, found.target, found.strand, found.kind, strict=True)
    return [(names[q], names[t], int(s), str(k)) for q, t, s, k in columns]


# ---------------------------------------------------------------------------------------------
# What is found


def test_kinds_and_strands() -> None:
    reads = {
        "left": GENOME[:120],
        "right": GENOME[60:200],
        "inside": other_strand(GENOME[70:110]),
        "turned": other_strand(GENOME[150:300]),
        "far": GENOME[1000:1100],
    }
    found = find(reads)
    assert sorted(described(found)) == [
        ("left", "inside", -1, "contains"),
        ("left", "right", 1, "dovetail"),
        ("right", "inside", -1, "contains"),
        ("right", "turned", -1, "dovetail"),
    ]
    assert (found.identity == 1).all()
    spans = {
        (found.reads.names[a.query_index], found.reads.names[a.target_index]): (
            (a.query_start, a.query_end, a.target_start, a.target_end)
        )
        for a in found.alignments
    }
    assert spans["left", "right"] == (60, 120, 0, 60)
    assert spans["left", "inside"] == (70, 110, 0, 40)
    assert spans["right", "turned"] == (90, 140, 100, 150)


def test_names_do_not_decide_which_strand_is_minus() -> None:
    """Whichever of the two was turned, and whichever is longer."""
    for first in (GENOME[:100], GENOME[:130]):
        for turned in (False, True):
            reads = {"a": other_strand(first) if turned else first, "b": GENOME[50:160]}
            (one,) = find(reads).alignments
            overlap = len(first) - 50
            query = (0, overlap) if turned else (50, len(first))
            assert one.strand == (-1 if turned else 1)
            assert (one.query_start, one.query_end) == query
            assert (one.target_start, one.target_end) == (0, overlap)


def test_duplicates_palindromes_and_both_strands_of_a_read() -> None:
    half = GENOME[300:350]
    palindrome = half + other_strand(half)
    reads = {
        "read": GENOME[:100],
        "again": GENOME[:100],
        "turned": other_strand(GENOME[:100]),
        "palindrome": palindrome,
        "palindrome2": palindrome,
    }
    assert sorted(described(find(reads))) == [
        ("again", "turned", -1, "contains"),
        ("palindrome", "palindrome2", 1, "contains"),  # of equal strands plus
        ("read", "again", 1, "contains"),
        ("read", "turned", -1, "contains"),
    ]
    both = find(reads, all_strands=True)
    assert [line for line in described(both) if line[0] == "palindrome"] == [
        ("palindrome", "palindrome2", 1, "contains"),
        ("palindrome", "palindrome2", -1, "contains"),
    ]


def test_ambiguous_and_tiny_reads() -> None:
    reads = {
        "n": GENOME[:50] + "N" * 10 + GENOME[60:100],
        "whole": GENOME[:100].lower(),
        "all": "N" * 100,
        "one": "A",
        "two": "T",
    }
    found = find(reads, min_identity=0.5)
    assert described(found) == [("n", "whole", 1, "contains")]
    assert found.matches.tolist() == [90]
    every = find(reads, min_identity=0, min_overlap=1, min_score=1)
    assert ("one", "two", -1, "contains") in described(every)


def test_only_thresholds_decide() -> None:
    reads = {"a": GENOME[:200], "b": changed(GENOME[100:300], 0.1, 3)}
    (one,) = find(reads, min_identity=0.5).alignments
    span = min(one.query_end - one.query_start, one.target_end - one.target_start)
    for options, count in (
        ({"min_overlap": span, "min_identity": one.identity, "min_score": one.score}, 1),
        ({"min_overlap": span + 1, "min_identity": 0}, 0),
        ({"min_identity": one.identity + 1e-9}, 0),
        ({"min_identity": 0, "min_score": one.score + 1}, 0),
    ):
        assert len(find(reads, **options)) == count, options


def test_the_better_strand_is_kept_and_stages_are_counted() -> None:
    """Against the engine alone: both strands of every pair, scored and compared here."""
    rng = np.random.default_rng(11)
    reads = {}
    for k in range(30):
        start = int(rng.integers(0, 1500))
        piece = changed(GENOME[start : start + int(rng.integers(30, 400))], 0.05, k)
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    found = find(reads, min_identity=0.8, filter="none")
    assert len(found) > 30
    assert (found.strand < 0).sum() > 5
    turned = {n: other_strand(s) for n, s in reads.items()}
    scoring = found.alignments.scoring
    for one in found.alignments:
        query, target = one.query.letters, one.target.letters
        scores = [
            int(pairalign.align([query, other], scoring=scoring, detail="score").score[0])
            for other in (target, turned[one.target.name])
        ]
        assert one.score == max(scores)
        assert one.strand == (1 if scores[0] >= scores[1] else -1)
    stages = found.stages
    assert stages["score"].alignments == 30 * 29
    assert stages["score"].passed >= stages["align"].alignments >= len(found)
    assert stages["align"].passed == len(found)
    assert stages["filter"].alignments == 0


@pytest.mark.parametrize("mode", ["semiglobal", "local"])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_filter_loses_nothing(preset: str, mode: str) -> None:
    rng = np.random.default_rng(17)
    reads = {}
    for k in range(40):
        start = int(rng.integers(0, 1500))
        piece = changed(GENOME[start : start + int(rng.integers(10, 300))], 0.03, k)
        reads[f"r{k}"] = (piece if rng.integers(2) else other_strand(piece)) + "N" * (k % 3)
    options = {"preset": preset, "mode": mode, "min_identity": 0.7, "min_score": 30}
    plain = find(reads, filter="none", **options)
    filtered = find(reads, filter="bitwise", **options)
    assert len(plain) > 20
    assert_same(plain.alignments, filtered.alignments)
    assert plain.strand.tolist() == filtered.strand.tolist()
    stages = filtered.stages
    assert stages["filter"].alignments == plain.stages["score"].alignments == 40 * 39
    assert stages["score"].alignments == stages["filter"].passed < 40 * 39
    assert stages["score"].passed == plain.stages["score"].passed


def test_short_reads_on_cores_are_filtered_unasked() -> None:
    for length, filtered in ((600, 2), (601, 0)):
        found = find({"a": GENOME[:length], "b": GENOME[50:90]})
        assert len(found) == 1
        assert found.stages["filter"].alignments == filtered


def test_what_the_filter_cannot_score() -> None:
    reads = [GENOME[:50], GENOME[:60]]
    with pytest.raises(DeviceError, match="bitwise filter"):
        pairalign.overlaps(
            reads,
            filter="bitwise",
            device="cpu",
            scoring=pairalign.make_scoring("dna", matrix="NUC.4.4", mode="local"),
        )


@pytest.mark.parametrize("window", [3, 1024])
def test_windows_and_strands_keep_their_order(window: int) -> None:
    from pairalign.engines import Want
    from pairalign.overlap_stages import Thresholds
    from pairalign.overlaps import OverlapRun

    reads = SequenceSet.from_strings(
        [GENOME[k : k + 90] for k in range(0, 400, 40)]
        + [other_strand(GENOME[k : k + 80]) for k in range(20, 400, 40)]
    )
    scoring = PRESETS["short"].scoring("semiglobal")
    run = OverlapRun(
        reads,
        None,
        scoring,
        Want(Detail.CIGAR),
        device="cpu",
        window=window,
        thresholds=Thresholds(min_raw_score=5, min_overlap=5, all_strands=True),
    )
    found = pairalign.alignments.concatenate(list(run))
    position = np.argsort(reads.order)
    rows = np.minimum(position[found.query], position[found.target])
    columns = np.maximum(position[found.query], position[found.target])
    order = np.lexsort((-found.strand, columns, rows, columns // window, rows // window))
    assert (order == np.arange(len(found))).all()


def test_local_overlaps_may_be_internal() -> None:
    core = GENOME[500:600]
    reads = {
        "a": 50 * "A" + core + 50 * "A",
        "b": 60 * "C" + core + 60 * "C",
    }
    assert described(find(reads, mode="local")) == [("a", "b", 1, "internal")]
    found = find(reads, mode="local").alignments
    assert classify(found, 110).tolist() == [INTERNAL]  # 50 and 50 letters: also 0.8 x 100 is less
    reads = {"a": 10 * "A" + core + 10 * "A", "b": 20 * "C" + core + 5 * "C"}
    found = find(reads, mode="local").alignments
    assert classify(found, 14).tolist() == [INTERNAL]
    assert classify(found, 15).tolist() == [DOVETAIL]


def test_kinds_seen_from_either_side() -> None:
    long, part = GENOME[:100], GENOME[20:70]
    assert classify(find({"a": long, "b": part}).alignments).tolist() == [CONTAINS]
    assert classify(find({"b": part, "a": long}).alignments).tolist() == [CONTAINED]


# ---------------------------------------------------------------------------------------------
# Presets and errors


def test_the_preset_follows_the_reads() -> None:
    def reads(length: int) -> SequenceSet:
        return SequenceSet.from_strings(["A" * length] * 3)

    assert find_preset("auto", reads(600)).name == "short"
    assert find_preset("auto", reads(601)).name == "ont"
    assert find_preset("hifi", reads(5)).name == "hifi"
    with pytest.raises(ValueError, match="preset 'x': expected auto, short"):
        find_preset("x", reads(5))


@pytest.mark.parametrize("name", PRESETS)
def test_min_score_loses_no_overlap_that_the_others_let_through(name: str) -> None:
    """Of accurate reads: the worst alignment that is long and alike enough scores no less."""
    preset = PRESETS[name]
    worst = max(-preset.mismatch, preset.gap_open)
    identity = Fraction(str(preset.min_identity))
    a_column = identity * preset.match - (1 - identity) * worst
    if name == "ont":
        assert a_column < 0  # nothing can be promised there; docs/overlaps.md has what was measured
    else:
        assert preset.min_score <= a_column * preset.min_overlap


def test_costs_replace_those_of_the_preset() -> None:
    scoring = PRESETS["short"].scoring("local", match="2", gap_open="1")
    assert (scoring.matrix[0, 0], scoring.matrix[0, 1]) == (2, -3)
    assert (scoring.gap_open, scoring.gap_extend) == (1, 1)
    assert PRESETS["short"].scoring("local", gap_extend="9").gap_open == 9


def test_proteins_do_not_overlap() -> None:
    with pytest.raises(AlphabetError, match="protein sequences have one strand, expected DNA"):
        pairalign.overlaps(["MKVLAAGG", "MKVLQQGG"])


def test_wrong_arguments() -> None:
    reads = [GENOME[:50], GENOME[:60]]
    with pytest.raises(ValueError, match=r"min_identity 1\.5: expected 0 to 1"):
        pairalign.overlaps(reads, min_identity=1.5)
    with pytest.raises(ValueError, match="filter 'x'"):
        pairalign.overlaps(reads, filter="x")
    with pytest.raises(FastaError, match="one sequence only"):
        pairalign.overlaps(reads[:1])


# ---------------------------------------------------------------------------------------------
# Files


@pytest.fixture
def reads(tmp_path: Path) -> Path:
    """Reads of both strands that cover a genome, with errors, as FASTQ."""
    rng = np.random.default_rng(5)
    path = tmp_path / "reads.fastq.gz"
    with gzip.open(path, "wt") as out:
        for k, start in enumerate(range(0, 1700, 70)):
            letters = changed(GENOME[start : start + (100 if k % 5 == 0 else 300)], 0.02, k)
            letters = other_strand(letters) if rng.integers(2) else letters
            out.write(f"@r{k} x\n{letters}\n+\n{'I' * len(letters)}\n")
    return path


def paf_lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def rescored(line: list[str], reads: SequenceSet, scoring: Any) -> int:
    """Score of a PAF line from the letters and the CIGAR, as any reader of PAF would see it."""
    names = {name: k for k, name in enumerate(reads.names)}
    query, target = (reads.codes_of(names[line[k]]) for k in (0, 5))
    start, end = int(line[2]), int(line[3])
    if line[4] == "-":
        query = pairalign.strands.reverse_complement(query, DNA)
        start, end = len(query) - end, len(query) - start
    cigar = next(tag[5:] for tag in line if tag.startswith("cg:Z:"))
    runs = [
        int(length) << 4 | "MIDNSHP=X".index(op) for length, op in re.findall(r"(\d+)(\D)", cigar)
    ]
    return scoring.rescore(
        query,
        target,
        np.array(runs, np.uint32),
        query_start=start,
        query_end=end,
        target_start=int(line[7]),
        target_end=int(line[8]),
    )


@pytest.mark.parametrize("mode", ["semiglobal", "local"])
def test_paf(reads: Path, tmp_path: Path, mode: str) -> None:
    out = tmp_path / "out.paf"
    arguments = ["overlap", str(reads), "-o", str(out), "--mode", mode, "--device", "cpu"]
    assert main([*arguments, "--min-identity", "90%", "--quiet"]) == 0
    lines = paf_lines(out)
    assert len(lines) > 50
    assert {line[4] for line in lines} == {"+", "-"}
    sets = pairalign.read_fasta(reads)
    scoring = PRESETS["short"].scoring(mode)
    for line in lines:
        tags = {tag[:4]: tag[5:] for tag in line[12:]}
        assert rescored(line, sets, scoring) == int(tags["AS:i"])
        assert int(line[10]) - int(line[9]) == int(tags["NM:i"])
        assert tags["ov:Z"] in ("dovetail", "contained", "contains", "internal")
    # the same once more both ways
    assert main([*arguments, "--min-identity", "0.9", "--quiet", "--dual"]) == 0
    dual = paf_lines(out)
    assert dual[0::2] == lines
    other = {"contained": "contains", "contains": "contained"}
    for one, two in zip(dual[0::2], dual[1::2], strict=True):
        assert two[:4] + two[5:9] == one[5:9] + one[:4]
        assert two[4] == one[4]
        assert two[9:12] == one[9:12]
        kinds = [next(t[5:] for t in line if t.startswith("ov:Z:")) for line in (one, two)]
        assert kinds[1] == other.get(kinds[0], kinds[0])
        assert rescored(two, sets, scoring) == rescored(one, sets, scoring)


def test_gfa(reads: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.gfa.gz"
    found = pairalign.overlaps(reads, min_identity=0.9)
    found.write(out)
    text = gzip.decompress(out.read_bytes()).decode()
    lines = [line.split("\t") for line in text.splitlines()]
    assert lines[0] == ["H", "VN:Z:1.0"]
    segments = {line[1]: line[2] for line in lines if line[0] == "S"}
    assert segments == {one.name: one.letters for one in found.reads}
    links = [line for line in lines if line[0] == "L"]
    inside = [line for line in lines if line[0] == "C"]
    assert len(links) == (found.kind == "dovetail").sum() > 20
    assert len(inside) == (found.kind != "dovetail").sum() > 0
    for line in [*links, *inside]:
        first, second = (
            other_strand(segments[line[k]]) if line[k + 1] == "-" else segments[line[k]]
            for k in (1, 3)
        )
        runs = [(int(n), op) for n, op in re.findall(r"(\d+)([MID])", line[5 + (line[0] == "C")])]
        in_first = sum(n for n, op in runs if op in "MD")
        in_second = sum(n for n, op in runs if op in "MI")
        if line[0] == "L":
            at, other = len(first) - in_first, 0
        else:
            at, other = int(line[5]), 0
            assert in_second == len(second)
        matches = columns = 0
        for n, op in runs:
            if op == "M":
                matches += sum(
                    a == b for a, b in zip(first[at : at + n], second[other:], strict=False)
                )
            at += 0 if op == "I" else n
            other += 0 if op == "D" else n
            columns += n
        assert line[-1] == f"NM:i:{columns - matches}"


def test_names_that_gfa_cannot_hold(tmp_path: Path) -> None:
    found = find({"*a": GENOME[:100], "b": GENOME[:100]})
    with pytest.raises(FormatError, match="GFA names"):
        found.write(tmp_path / "out.gfa")
    assert not list(tmp_path.iterdir())


def test_formats_without_strands_refuse_them(tmp_path: Path) -> None:
    found = find({"a": GENOME[:100], "b": other_strand(GENOME[:100])}).alignments
    from pairalign.formats import open_writer

    with (
        pytest.raises(FormatError, match="tsv has no strands"),
        open_writer(
            tmp_path / "o.tsv", None, found.queries, found.targets, found.scoring, Detail.CIGAR
        ) as writer,
    ):
        writer.write(found)


def test_dual_is_for_paf(tmp_path: Path) -> None:
    found = find({"a": GENOME[:100], "b": GENOME[:100]})
    with pytest.raises(FormatError, match="leave --dual out"):
        open_overlap_writer(
            tmp_path / "o.gfa", None, found.reads, found.alignments.scoring, dual=True
        )


def test_networkx() -> None:
    pytest.importorskip("networkx")
    reads = {"a": GENOME[:120], "b": GENOME[60:200], "c": other_strand(GENOME[70:110])}
    found = find(reads)
    graph = found.to_networkx()
    assert dict(graph.nodes(data="length")) == {"a": 120, "b": 140, "c": 40}
    assert graph.number_of_edges() == 3
    edge = graph.get_edge_data("c", "a")[0]
    assert (edge["query"], edge["target"], edge["strand"]) == ("a", "c", -1)
    assert (edge["kind"], edge["identity"], edge["query_span"]) == ("contains", 1.0, (70, 110))


def test_columns_in_python() -> None:
    found = find({"a": GENOME[:120], "b": GENOME[60:200], "c": GENOME[100:180]})
    assert sorted(found.kind.tolist()) == ["contains", "dovetail", "dovetail"]
    chosen = found.take(found.kind == "dovetail")
    assert chosen.kind.tolist() == ["dovetail"] * 2
    assert sorted(chosen.score.tolist()) == [20, 60]
    assert sorted(chosen.query_start.tolist()) == [60, 100]


def test_command(reads: Path, tmp_path: Path) -> None:
    done = run_well("overlap", reads, "-o", "-", "--format", "paf", "--device", "cpu", cwd=tmp_path)
    said = done.stderr.decode()
    assert re.search(r"pairs +300, on both strands", said)
    assert re.search(r"filtered +600 in [\d.]+ s, \d+ pass", said)
    assert re.search(r"scored +\d+ in [\d.]+ s, \d+ reach 28", said)
    assert re.search(r"aligned +\d+ in [\d.]+ s, \d+ have 40 letters at 95% identity", said)
    assert re.search(r"overlaps +\d+: \d+ dovetails, \d+ containments", said)
    lines = done.stdout.decode().splitlines()
    assert f"overlaps  {len(lines)}:" in said
    found = pairalign.overlaps(reads)
    assert len(found) == len(lines)
    options = ["--threads", "3", "--memory", "40M", "--filter", "none", "--quiet"]
    other = run_well("overlap", reads, "-o", "-", "--format", "paf", *options, cwd=tmp_path)
    assert other.stdout == done.stdout
    assert not other.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["p.fa", "-o", "o.paf"], 1, "protein sequences have one strand, expected DNA"),
        (["p.fa", "-o", "o.sam"], 2, "does not tell the format"),
        (["p.fa", "-o", "o.paf", "--min-identity", "95"], 2, "a number from 0 to 1"),
        (["p.fa", "-o", "o.paf", "--preset", "pacbio"], 2, "invalid choice"),
        (["r.fa", "-o", "o.gfa", "--dual"], 2, "leave --dual out"),
        (["r.fa", "-o", "o.paf", "--filter", "bytes"], 2, "invalid choice"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.fa").write_text(">a\nMKVLAAGG\n>b\nMKVLQQGG\n")
    (tmp_path / "r.fa").write_text(f">a\n{GENOME[:50]}\n>b\n{GENOME[:60]}\n")
    try:
        found = main(["overlap", *arguments])
    except SystemExit as stopped:
        found = stopped.code
    assert found == code
    assert message in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.fa", "r.fa"]
