"""Numbers of optimal alignments, against lists of all alignments and a recurrence in Python."""

import math
from pathlib import Path

import numpy as np
import pytest
from commands import fasta
from reference import Costs
from tie_cases import ENDS, MODES, scorings, some
from tie_oracle import count_ties, enumerate_ties

import pairalign
from pairalign.alignments.tie_counts import MOST_TIES, TieCounter
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.errors import UsageError


def costs_of(scoring: pairalign.Scoring) -> Costs:
    ends = scoring.end_gaps.costs if scoring.end_gaps else ()
    return Costs(
        scoring.matrix.tolist(),
        *(scoring.gap_open, scoring.gap_extend, scoring.mode),
        ends=tuple((one.open, one.extend) for one in ends),
    )


def codes_of(one: pairalign.Alignment) -> list[list[int]]:
    sets = one.alignments
    return [
        sets.queries.codes_of(one.query_index).tolist(),
        sets.targets.codes_of(one.target_index).tolist(),
    ]


@pytest.mark.parametrize("kind", [*({"mode": mode} for mode in MODES), *ENDS], ids=str)
def test_every_alignment_of_tiny_pairs(kind):
    rng = np.random.default_rng(6)
    seen = set()
    for scoring in scorings([kind]):
        found = pairalign.align(some(rng, scoring, 4, 4), scoring=scoring, device="cpu")
        for one, count in zip(found, found.ties, strict=True):
            best, alignments = enumerate_ties(*codes_of(one), costs_of(scoring))
            assert one.raw_score == best
            assert count == (len(alignments) if one.columns else 0)
            assert not one.columns or count_ties(*codes_of(one), costs_of(scoring)) == (best, count)
            seen.add(min(int(count), 5))
    assert len(seen) > 2


@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("kind", [*({"mode": mode} for mode in MODES), ENDS[3]], ids=str)
def test_longer_pairs(kind, name):
    """Of many lengths, so that lanes end in different rows and columns."""
    rng = np.random.default_rng(7)
    for scoring in scorings([kind])[::8]:
        first = some(rng, scoring, 2, 40)
        second = [*first, *some(rng, scoring, 9, 40)]
        found = pairalign.align(first, second, scoring=scoring, device="cpu")
        counts = TieCounter(found.queries, found.targets, scoring, 2, name).count(found)
        for one, count in zip(found, counts.tolist(), strict=True):
            best, expected = count_ties(*codes_of(one), costs_of(scoring))
            assert one.raw_score == best
            assert count == (min(expected, MOST_TIES) if one.columns else 0)


def test_counts_end_at_a_cap():
    """All ways to put gaps into two sequences, when they cost nothing."""
    scoring = pairalign.make_scoring("dna", match=1, mismatch=-3, gap_open=0, gap_extend=0)
    for size in (1, 5, 17, 18, 40):
        found = pairalign.align(["A" * size], ["C" * size], scoring=scoring, device="cpu")
        assert found[0].ties == min(math.comb(2 * size, size), MOST_TIES)
    assert MOST_TIES == 4294967295


def test_an_alignment_is_counted_once_where_states_meet():
    """A gap that opens for what it costs to extend is one gap; gaps in either order are two."""
    scoring = pairalign.make_scoring("dna", match=2, mismatch=-9, gap_open=2, gap_extend=2)
    found = pairalign.align({"a": "CAAC", "b": "CC", "c": "GCC"}, scoring=scoring, device="cpu")
    assert found["a", "b"].ties == 1  # 1=2I1=
    assert pairalign.align({"a": "CA", "b": "CT"}, scoring=scoring)[0].ties == 2  # 1=1I1D, 1=1D1I


def test_local_ends_add_something():
    """S and A score 1, A and M -1, T and A 0: what adds nothing is left out at both ends."""
    found = pairalign.align({"a": "TWWWT", "b": "AWWWA"}, mode="local", device="cpu")
    assert found[0].cigar == "3="
    assert found[0].ties == 1
    assert pairalign.align({"a": "WWAW", "b": "WWPPW"}, mode="local")[0].ties == 1


def test_either_strand_and_copies():
    rng = np.random.default_rng(8)
    bases = ["".join(rng.choice(list("ACGT"), rng.integers(20, 60))) for _ in range(4)]
    turned = [one[::-1].translate(str.maketrans("ACGT", "TGCA")) for one in bases]
    plus = pairalign.align(bases, bases, mode="semiglobal", device="cpu")
    both = pairalign.align(bases, turned, mode="semiglobal", strand="both", device="cpu")
    same = both.strand < 0
    assert same.sum() > 4
    assert both.ties[same].tolist() == plus.ties[same].tolist()
    counts = dict(zip(zip(plus.query, plus.target, strict=True), plus.ties, strict=True))
    copies = pairalign.align([*bases, *bases[::-1]], mode="semiglobal", device="cpu")
    for one in copies:
        place = min(one.query_index, 7 - one.query_index)
        other = min(one.target_index, 7 - one.target_index)
        assert one.ties == counts[place, other]


def test_what_cannot_be_counted():
    reads = {"a": "ACGTACGTAAACCGTTT", "b": "ACGTACGTCCCACCGTTT"}
    several = pairalign.align(reads, mode="local", hsps=3, device="cpu")
    with pytest.raises(UsageError, match="alignment 1 has not the highest score of its pair"):
        _ = several.ties
    assert several[0].ties == count_ties(*codes_of(several[0]), costs_of(several.scoring))[1] == 3
    scores = pairalign.align(reads, detail="score", device="cpu")
    with pytest.raises(UsageError, match="only scores were computed"):
        _ = scores.ties


NAMES = "query,target,score,ties"


def rows_of(path: str) -> list[tuple[str, str, float, int]]:
    if path.endswith(".parquet"):
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        return [tuple(row.values()) for row in table.select(NAMES.split(",")).to_pylist()]
    lines = [line.split("\t") for line in Path(path).read_text().splitlines()[1:]]
    return [(one[0], one[1], float(one[2]), int(one[3])) for one in lines]


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_files(here, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    rng = np.random.default_rng(9)
    reads = {f"r{k}": "".join(rng.choice(list("ACGT"), 12 + k % 5)) for k in range(30)}
    reads["copy"] = reads["r3"]
    Path("in.fa").write_text(fasta(reads))
    usual = ["align", "in.fa", "--columns", NAMES, "-q", "--device", "cpu", "--window", "8"]
    assert main([*usual, "-o", f"all.{suffix}"]) == 0
    found = pairalign.align(reads, device="cpu", window=8)
    pairs = zip(found, found.ties.tolist(), strict=True)
    rows = [(one.query.name, one.target.name, one.score, count) for one, count in pairs]
    assert rows_of(f"all.{suffix}") == rows
    assert len({row[3] for row in rows}) > 5
    assert main([*usual, "-o", f"hits.{suffix}", "--max-hits", "2"]) == 0
    counts = {frozenset(row[:2]): row[3] for row in rows}
    hits = rows_of(f"hits.{suffix}")
    assert len(hits) == 62
    assert [row[3] for row in hits] == [counts[frozenset(row[:2])] for row in hits]


def test_verify_counts_again(here):
    reads = {"a": "ACGTTGCAAC", "b": "ACGTGCAC", "c": "TTTGCAACGT"}
    Path("in.fa").write_text(fasta(reads))
    made = ["--columns", f"{NAMES},cigar,strand", "--strand", "both", "-q", "--device", "cpu"]
    assert main(["align", "in.fa", *made, "-o", "x.tsv"]) == 0
    given = {"mode": "global", "optimal": True, "device": "cpu"}
    checked = pairalign.verify("x.tsv", "in.fa", **given)
    assert checked.is_legal
    assert "ties" not in checked.not_checked
    text = Path("x.tsv").read_text().splitlines()
    fields = text[1].split("\t")
    fields[3] = str(int(fields[3]) + 1)
    Path("x.tsv").write_text("\n".join([text[0], "\t".join(fields), *text[2:]]) + "\n")
    checked = pairalign.verify("x.tsv", "in.fa", **given)
    assert checked.totals.faults == {"ties": 1}
    assert "ties: says" in checked.messages[0]
    fields[3] += ".0"  # as tables of floating-point numbers have it
    Path("x.tsv").write_text("\n".join([text[0], "\t".join(fields), *text[2:]]) + "\n")
    assert f"says {fields[3][:-2]}, is" in pairalign.verify("x.tsv", "in.fa", **given).messages[0]
    fields[3] = f"{int(fields[3][:-2]) - 1}.0"
    Path("x.tsv").write_text("\n".join([text[0], "\t".join(fields), *text[2:]]) + "\n")
    assert pairalign.verify("x.tsv", "in.fa", **given).is_legal
    unchecked = pairalign.verify("x.tsv", "in.fa", mode="global")
    assert unchecked.is_legal
    assert "ties" in unchecked.not_checked
