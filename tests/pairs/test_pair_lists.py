"""Lists of pairs: reading, errors that name the line, and the alignments that all pairs have."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from align_command import align as run_align
from checks import assert_equal
from commands import BASES, PROTEINS, fasta
from hypothesis import given
from hypothesis import strategies as st

from pairalign.errors import PairListError
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.align_all import align
from pairalign.jobs.run.listed_pairs import ListedPairs
from pairalign.pairs.lists import PairList, as_pair_list, read_pair_list, sort_pairs
from pairalign.pairs.want import Detail
from pairalign.reads.candidates import read_candidates
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

PAF = "{}\t9\t0\t9\t{}\t{}\t9\t0\t9\t5\t9\t60\tcg:Z:9=\n"
SET = SequenceSet.from_strings(PROTEINS)


def read(tmp_path: Path, text: str, targets: SequenceSet | None = None) -> PairList:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    return read_pair_list(path, SET, targets)


def names(pairs: PairList) -> list[tuple[str, str]]:
    return [(SET.names[a], SET.names[b]) for a, b in zip(pairs.first, pairs.second, strict=True)]


@pytest.mark.parametrize(
    "text",
    ["a\tb\nd\tc\n", "a b\n\n  d   c", "a\tb\t0.9\r\nd\tc\tother\r\n", "\ufeffa\tb\nd\tc\n\n"],
)
def test_two_names_a_line(tmp_path, text):
    assert names(read(tmp_path, text)) == [("a", "b"), ("d", "c")]


def test_paf_compressed(tmp_path):
    path = tmp_path / "hits.paf.gz"
    path.write_bytes(
        gzip.compress((PAF.format("a", "+", "b") + PAF.format("d", "-", "c")).encode())
    )
    assert names(read_pair_list(path, SET)) == [("a", "b"), ("d", "c")]


def test_files_may_repeat_pairs(tmp_path):
    """Tables of hits have both ways of a pair, each sequence with itself, and a line a hit."""
    lines = [("a", "+", "b"), ("b", "-", "a"), ("c", "+", "c"), ("d", "+", "c")]
    paf = read(tmp_path, "".join(PAF.format(*line) for line in lines))
    run = AlignmentJob(SET, None, make_scoring("protein"), pair_list=paf)
    assert (run.pairs, run.left_out) == (2, 2)
    assert len(align(SET, pairs=paf)) == 2
    table = read(tmp_path, "".join(f"{line[0]}\t{line[2]}\t97.5\n" for line in lines))
    run = AlignmentJob(SET, None, make_scoring("protein"), pair_list=table)
    assert (run.pairs, run.left_out) == (2, 2)
    assert_equal(align(SET, pairs=table), align(SET, pairs=paf))


def test_lengths_of_other_sequences_are_a_warning(tmp_path, caplog):
    reads = SequenceSet.from_strings({"a": "ACGTACGTA", "b": "ACGTACGTC", "c": "ACGT"})
    right, wrong = PAF.format("a", "+", "b"), PAF.format("b", "+", "c")
    for reader in (read_pair_list, read_candidates):
        for text, said in ((right, ""), (right + wrong + wrong, "line 2 says other lengths")):
            caplog.clear()
            (tmp_path / "x.paf").write_text(text)
            reader(tmp_path / "x.paf", reads)
            assert (said in caplog.text) if said else not caplog.text
        assert "as 2 lines do" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\na\tzz\n", r"pairs.tsv: line 2: 'zz' is not in sequences$"),
        ("a\tb\n\nc\n", r"pairs.tsv: line 3: a name is missing, expected two names$"),
        ("a\tb\n\td\n", r"line 2: a name is missing"),
        ("\n\n", "pairs.tsv: no pairs"),
        (PAF.format("a", "+", "b") + "a\t9\t0\n", "line 2: a name is missing, expected PAF"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path, text, message):
    with pytest.raises(PairListError, match=message):
        read(tmp_path, text)


def test_no_such_file(tmp_path):
    with pytest.raises(PairListError, match=r"none\.tsv: no such file"):
        read_pair_list(tmp_path / "none.tsv", SET)


def test_pairs_from_python():
    expected = as_pair_list([("a", "b"), ("d", "c")], SET, None)
    assert names(expected) == [("a", "b"), ("d", "c")]
    for given_pairs in ([(0, 1), (3, 2)], np.array([[0, 1], [3, 2]]), iter([(0, 1), (3, 2)])):
        assert names(as_pair_list(given_pairs, SET, None)) == names(expected)
    with pytest.raises(PairListError, match=r"pairs\[1\]: 'q' is not in sequences"):
        as_pair_list([("a", "b"), ("q", "c")], SET, None)
    with pytest.raises(PairListError, match=r"pairs\[1\]: index 4, but sequences has 4"):
        as_pair_list([(0, 1), (4, 2)], SET, None)
    with pytest.raises(PairListError, match="there are none"):
        as_pair_list([], SET, None)
    with pytest.raises(TypeError, match="expected two names"):
        as_pair_list(np.zeros((3, 3), int), SET, None)
    with pytest.raises(TypeError, match=r"pairs\[1\]"):
        as_pair_list([("a", "b"), ("a",)], SET, None)
    with pytest.raises(PairListError, match=r"pairs\[1\]: the pair of .* at pairs\[0\];"):
        align(SET, pairs=[(0, 1), (1, 0)])


@st.composite
def chosen(draw: st.DrawFn) -> tuple[int, int | None, list[tuple[int, int]], int]:
    """Sizes of one or two sets, some of their pairs in any order, and a window."""
    rows = draw(st.integers(2, 30))
    columns = draw(st.none() | st.integers(1, 30))
    every = [
        (i, j)
        for i in range(rows)
        for j in range(rows if columns is None else columns)
        if columns is not None or i < j
    ]
    pairs = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    return rows, columns, pairs, draw(st.sampled_from([1, 3, 8, 1024, 65536]))


def only(found: Alignments, pairs: list[tuple[int, int]]) -> Alignments:
    wanted = set(pairs)
    named = zip(found.query.tolist(), found.target.tolist(), strict=True)
    return found.take(np.array([pair in wanted for pair in named]))


def made(count: int, seed: int) -> SequenceSet:
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(
        ["".join(rng.choice(list("ACGT"), rng.integers(1, 60))) for _ in range(count)]
    )


@pytest.mark.slow
@given(chosen(), st.sampled_from(list(Detail)), st.sampled_from([None, 20]))
def test_a_list_gives_what_all_pairs_give(problem, detail, least):
    rows, columns, pairs, window = problem
    queries = made(rows, 1)
    targets = None if columns is None else made(columns, 2)
    options = {"detail": detail.name, "min_score": least, "window": window}
    turned = [(b, a) if targets is None and (a + b) % 2 else (a, b) for a, b in pairs]
    found = align(queries, targets, pairs=turned, **options)
    assert_equal(found, only(align(queries, targets, **options), pairs))


def test_slabs_do_not_change_the_order():
    queries = made(80, 3)
    pairs = [(i, j) for i in range(80) for j in range(i + 1, 80) if (i * j) % 3 == 1]
    listed = ListedPairs(
        sort_pairs(as_pair_list(pairs, queries, None), queries, None, 16),
        queries.lengths[queries.order],
        queries.lengths[queries.order],
        triangular=True,
    )
    slabs = listed.split(180, 2.0, 2000)
    assert len(slabs) > 100
    held = [listed.mask_of(slab) for slab in slabs]
    assert sum(
        s.pairs if m is None else int(m.sum()) for s, m in zip(slabs, held, strict=True)
    ) == len(pairs)
    order = [(slab.row_start // 16, slab.column_start // 16, slab.row_start) for slab in slabs]
    assert order == sorted(order)


# The command


def test_the_command_says_what_is_left_out(here, capsys):
    Path("in.fa").write_text(fasta(BASES))
    Path("hits.paf").write_text(PAF.format("r1", "+", "r2") + PAF.format("r2", "+", "r1"))
    run_align("in.fa", "--pairs", "hits.paf", "-o", "out.tsv")
    assert "hits.paf: 1 pair left out" in capsys.readouterr().err
