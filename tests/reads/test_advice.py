"""What miniasm is to be given, from what overlaps are like."""

from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.alignments.alignments import STATS_FIELDS
from pairalign.cli.main import main
from pairalign.jobs.overlaps.string_graph import AssemblyAdvice
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.sets import SequenceSet


def advice_of(spans: list[int], identity: float = 0.95, length: int = 10_000) -> str:
    """Advice on overlaps with the same identity, each of two reads of its own."""
    reads = SequenceSet.from_strings(["A" * length] * (2 * len(spans)), alphabet="dna")
    size = np.array(spans, np.int32)
    matches = np.round(size * identity).astype(np.int32)
    values = {"query_end": size, "target_end": size + 5, "matches": matches}
    values["mismatches"] = size - matches
    stats = {name: values.get(name, np.zeros(len(spans), np.int32)) for name in STATS_FIELDS}
    numbers = np.arange(len(spans), dtype=np.int32)
    advice = AssemblyAdvice(reads)
    found = Alignments(
        queries=reads,
        targets=reads,
        scoring=pairalign.make_scoring("dna", mode="local"),
        query=2 * numbers,
        target=2 * numbers + 1,
        raw_score=size,
        **stats,
    )
    for half in (found.take(numbers[::2]), found.take(numbers[1::2])):
        advice.add(half)
    return advice.miniasm()


@pytest.mark.parametrize(
    ("spans", "options"),
    [
        ([2000] * 5 + [700] * 5, "defaults (50% of overlaps reach its -s 2000)"),
        ([2000] * 4 + [1999] * 6, "-s 1000 (40% of overlaps reach its -s 2000)"),
        ([1500] * 8 + [700] * 2, "-s 500 (0% of overlaps reach its -s 2000)"),
        ([150] * 10, "-s 100 (0% of overlaps reach its -s 2000)"),
        ([90] * 20, "-s 100 (0% of overlaps reach its -s 2000)"),
    ],
)
def test_the_span(spans, options):
    """Reads are so short that overlaps cover them more than ten times."""
    assert advice_of(spans, length=8).startswith(options[:-1])


def test_depth_and_identity():
    assert advice_of([2000] * 4) == (
        "-c 1 (100% of overlaps reach its -s 2000; they cover reads 0.2 times)"
    )
    assert advice_of([2000] * 4, 0.79, 100) == (
        "-h 300 (100% of overlaps reach its -s 2000; best partners are 79% identical)"
    )
    assert AssemblyAdvice(SequenceSet.from_strings(["ACGT"])).miniasm() == ""


def test_the_command_says_it(here, capsys):
    rng = np.random.default_rng(3)
    genome = "".join(rng.choice(list("ACGT"), 4000))
    noisy = {
        f"r{k}": "".join(rng.choice(list("ACGT")) if rng.random() < 0.2 else one for one in part)
        for k, start in enumerate(range(0, 2500, 300))
        for part in [genome[start : start + 1500]]
    }
    Path("r.fa").write_text("".join(f">{name}\n{one}\n" for name, one in noisy.items()))
    command = ["overlap", "r.fa", "-o", "o.paf", "--preset", "ont", "--device", "cpu"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "      miniasm  -s 500 -c 1 -h 300 (0% of overlaps reach its -s 2000; they" in said
    assert "         weak  --remove-weak leaves out what misleads an assembler" in said
    assert main([*command, "--remove-weak"]) == 0
    said = capsys.readouterr().err
    assert "-h 300 (" in said
    assert "         weak  " not in said
    assert main([*command, "--preset", "short", "--min-identity", "0.5"]) == 0
    assert "miniasm" not in capsys.readouterr().err
