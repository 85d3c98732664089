"""What is left out of graphs: against definitions written out, and known genomes."""

import itertools

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from overlapping import GENOME, changed, find
from strand_problems import other_strand

import pairalign
from pairalign.alignments.alignments import STATS_FIELDS
from pairalign.cli.main import main
from pairalign.jobs.overlaps import string_graph
from pairalign.jobs.overlaps.string_graph import WEAK, find_kept, find_transitive, find_weak
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, classify
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.sets import SequenceSet

TOLERANCE = 5


def edges_of(found: Alignments, kinds: np.ndarray) -> list[tuple[str, str, int, int]]:
    """Edges by the definition: (vertex, vertex, letters added, overlap), vertices as ``3-``.

    The two reads are laid beside each other with the target as it is, then with it turned.
    """
    edges = []
    for k, one in enumerate(found):
        if kinds[k] != DOVETAIL:
            continue
        lengths = len(one.query), len(one.target)
        query = (one.query_start, one.query_end)
        if one.strand < 0:
            query = (lengths[0] - query[1], lengths[0] - query[0])
        target = (one.target_start, one.target_end)
        for turned in (False, True):
            if turned:
                query, target = (
                    (length - end, length - start)
                    for (start, end), length in zip((query, target), lengths, strict=True)
                )
            names = (
                f"{one.query_index}{'+-'[(one.strand < 0) != turned]}",
                f"{one.target_index}{'+-'[turned]}",
            )
            begins = (-query[0], -target[0])  # where the overlap is at 0
            ends = (lengths[0] - query[1], lengths[1] - target[1])
            first = 0 if begins[0] < begins[1] else 1
            edges.append((names[first], names[1 - first], ends[1 - first] - ends[first], k))
    return edges


def transitive_by_definition(found: Alignments, kinds: np.ndarray) -> set[int]:
    edges = edges_of(found, kinds)
    marked = set()
    for (v, x, length, k), (v2, w, first, _) in itertools.product(edges, edges):
        if v2 != v:
            continue
        for w2, x2, second, _ in edges:
            if (w2, x2) == (w, x) and abs(first + second - length) <= TOLERANCE:
                marked.add(k)
    return marked


def made_up(seed: int, count: int = 9) -> Alignments:
    """Reads of a circle of 500 letters, of both strands, with errors."""
    rng = np.random.default_rng(seed)
    reads = {}
    for k in range(count):
        start, length = int(rng.integers(500)), int(rng.integers(90, 480))
        piece = changed((3 * GENOME[:500])[start : start + length], 0.01, 100 * seed + k)
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    return find(reads, mode="local", max_overlaps=4, min_overlap=30, min_score=25).alignments


@pytest.mark.parametrize("steps", [3, 1 << 21])
def test_transitive_as_defined(steps, monkeypatch):
    monkeypatch.setattr(string_graph, "_STEPS_AT_A_TIME", steps)
    marked = 0
    for seed in range(8):
        found = made_up(seed)
        kinds = classify(found, TOLERANCE)
        expected = transitive_by_definition(found, kinds)
        assert set(np.flatnonzero(find_transitive(found, kinds, TOLERANCE)).tolist()) == expected
        marked += len(expected)
        assert len(expected) < int((kinds == DOVETAIL).sum())
    assert marked > 20


def overlaps_of(
    reads: SequenceSet, spans: list[int], matches: list[int], columns: list[int]
) -> Alignments:
    """Overlaps of the first two reads, so long and so alike."""
    stats = {name: np.zeros(len(spans), np.int32) for name in STATS_FIELDS}
    stats["query_end"] = stats["target_end"] = np.array(spans, np.int32)
    stats["matches"] = np.array(matches, np.int32)
    stats["mismatches"] = np.array(columns, np.int32) - stats["matches"]
    return Alignments(
        queries=reads,
        targets=reads,
        scoring=pairalign.make_scoring("dna", mode="local"),
        query=np.zeros(len(spans), np.int32),
        target=np.ones(len(spans), np.int32),
        raw_score=np.ones(len(spans), np.int32),
        **stats,
    )


def weak_by_definition(found: Alignments, depth: float) -> set[int]:
    """Overlaps go in groups of one identity, least alike first, while the others are enough."""
    left = set(range(len(found)))
    for identity in sorted({one.identity for one in found if one.identity < WEAK}):
        stay = {k for k in left if found[k].identity > identity}
        covered = sum(
            (one.query_end - one.query_start) + (one.target_end - one.target_start)
            for one in (found[k] for k in stay)
        )
        if covered < depth * found.queries.total_residues:
            break
        left = stay
    return set(range(len(found))) - left


@settings(max_examples=examples(200))
@given(data=st.data(), depth=st.sampled_from([0.5, 1.0, 2.5, 4.0]))
def test_weak_as_defined(data, depth):
    reads = SequenceSet.from_strings(["A" * 12, "A" * 9], alphabet="dna")
    columns = data.draw(st.lists(st.integers(1, 12), max_size=9))
    matches = [data.draw(st.integers(0, count)) for count in columns]
    spans = [data.draw(st.integers(1, 9)) for _ in columns]
    found = overlaps_of(reads, spans, matches, columns)
    assert set(np.flatnonzero(find_weak(found, depth)).tolist()) == weak_by_definition(found, depth)


def test_weak_overlaps_are_left_out_where_reads_are_deep(tmp_path):
    """Of twenty reads of one place eight are bad: all pairs are, but not all are needed."""
    options = {"preset": "ont", "min_identity": 0.5, "min_overlap": 200, "max_overlaps": 1}
    place = GENOME[:900]
    reads = {f"r{k}": changed(place, 0.05 if k < 12 else 0.45, k) for k in range(20)}
    found = find(reads, **options)
    weak = found.identity < WEAK
    assert 20 < weak.sum() < len(found) == 190
    left = found.reduced(weak=True, contained=False, transitive=False)
    assert left.identity.tolist() == found.identity[~weak].tolist()
    left.write(tmp_path / "left.paf")
    path = tmp_path / "reads.fa"
    path.write_text("".join(f">{name}\n{one}\n" for name, one in reads.items()))
    command = ["overlap", str(path), "-q", "--device", "cpu", "--remove-weak"]
    for name, value in {**options, "min_score": 20}.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    assert main([*command, "-o", str(tmp_path / "command.paf")]) == 0
    assert (tmp_path / "command.paf").read_bytes() == (tmp_path / "left.paf").read_bytes()
    shallow = find({name: reads[name] for name in ("r0", "r1", "r17", "r18", "r19")}, **options)
    assert (shallow.identity < WEAK).any()
    assert len(shallow.reduced(weak=True, contained=False, transitive=False)) == len(shallow)


def containments(reads: SequenceSet, pairs: list[tuple[int, int]]) -> tuple[Alignments, np.ndarray]:
    """Overlaps in which the first of each two reads is contained in the second."""
    turned = np.array([one > other for one, other in pairs], np.bool_)
    ends = np.array([sorted(pair) for pair in pairs], np.int32).reshape(-1, 2)
    stats = {name: np.ones(len(pairs), np.int32) for name in STATS_FIELDS}
    found = Alignments(
        queries=reads,
        targets=reads,
        scoring=pairalign.make_scoring("dna", mode="local"),
        query=ends[:, 0],
        target=ends[:, 1],
        raw_score=ends[:, 0],
        **stats,
    )
    return found, np.where(turned, CONTAINS, CONTAINED).astype(np.uint8)


@settings(max_examples=examples(200))
@given(data=st.data(), count=st.integers(2, 7))
def test_kept_as_defined(data, count):
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    reads = SequenceSet.from_strings(["A" * length for length in lengths], alphabet="dna")
    every = [(i, j) for i in range(count) for j in range(count) if i != j]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=12))
    reach = np.eye(count, dtype=bool)
    for one, other in pairs:
        reach[one, other] = True
    for k in range(count):
        reach |= reach[:, k : k + 1] & reach[k : k + 1]
    expected = set()
    for read in range(count):
        around = [k for k in range(count) if reach[read, k]]
        if all(reach[k, read] for k in around):  # in no read that is not also in it
            expected.add(min(around, key=lambda k: (-lengths[k], k)))
    kept = find_kept(*containments(reads, pairs))
    assert set(np.flatnonzero(kept).tolist()) == expected


def tiling(circular: bool) -> dict[str, str]:
    """Reads without errors, of both strands, every 17 letters; and some within others."""
    letters = GENOME[:900]
    source, last = (2 * letters, 900) if circular else (letters, 780)
    reads = {
        f"r{k}": source[start : start + 120 + k % 3] for k, start in enumerate(range(0, last, 17))
    }
    reads["inside"] = source[50:110]
    reads["same"] = reads["r3"]
    return {
        name: other_strand(read) if k % 3 == 0 else read
        for k, (name, read) in enumerate(reads.items())
    }


@pytest.mark.parametrize("circular", [False, True])
def test_a_genome_is_one_path(circular):
    reads = tiling(circular)
    found = find(reads, min_overlap=30, min_score=30)
    left = found.reduced()
    assert {name for name, kept in zip(left.reads.names, left.kept, strict=True) if not kept} == {
        "inside",
        "same",
    }
    edges = edges_of(left.alignments, left.kind_codes)
    count = len(reads) - 2
    assert len(edges) == 2 * (count if circular else count - 1)
    following = {v: x for v, x, _, _ in edges}
    assert len(following) == len(edges)  # nowhere two ways to go on
    assert all(letters <= 19 for _, _, letters, _ in edges)
    graph = left.to_networkx()
    assert len(graph) == count
    assert sorted(dict(graph.degree).values())[:2] == ([2, 2] if circular else [1, 1])
    only = found.reduced(transitive=False)
    assert only.kept.tolist() == left.kept.tolist()
    assert len(left) < len(only) < len(found)
    assert found.reduced(contained=False).kept is None


def test_files(tmp_path, capsys):
    reads = tmp_path / "reads.fa"
    reads.write_text("".join(f">{name}\n{one}\n" for name, one in tiling(True).items()))
    command = ["overlap", str(reads), "--device", "cpu", "--preset", "short", "--min-score", "30"]
    command += ["--min-overlap", "30"]
    gfa, paf = tmp_path / "one.gfa", tmp_path / "one.paf"
    removing = ["--remove-contained", "--remove-transitive"]
    for path in (gfa, paf):
        assert main([*command, *removing, "-o", str(path), "--no-cigar"]) == 0
    said = capsys.readouterr().err
    count = len(tiling(True)) - 2
    assert f"left  {count} of {count + 2} reads, {count} of " in said
    lines = [line.split("\t") for line in gfa.read_text().splitlines()]
    assert [line[0] for line in lines].count("S") == count
    assert [line[0] for line in lines].count("L") == count == len(paf.read_text().splitlines())
    assert not {"inside", "same"} & {field for line in lines for field in line}
    overlaps = find(tiling(True), min_overlap=30, min_score=30).reduced()
    overlaps.write(tmp_path / "two.gfa")
    assert [line for line in (tmp_path / "two.gfa").read_text().splitlines() if line[0] == "S"] == [
        line for line in gfa.read_text().splitlines() if line[0] == "S"
    ]
