"""Align random pairs and compare every alignment with an oracle that shares no code with pairalign.

    python scripts/fuzz_pairs.py --pairs 1000000 [--seed 1] [--isa avx2]

The oracle (``fuzz_pairs.cpp``, compiled when this runs) follows the definitions in
``docs/conventions.md``: scores, spans, CIGARs, suboptimal alignments, end gaps. Thresholds
of identity are applied to the oracle's alignments in exact fractions. Prints how many pairs of each
kind were compared, and the first pair that differs; exits with 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ORACLE = Path(__file__).with_name("fuzz_pairs.cpp")
MODES = ("global", "semiglobal", "local", "end-gaps")
KINDS = (*MODES, "hsps", "thresholds")
SEQUENCES = 160
ENDS = ("query_start", "query_end", "target_start", "target_end")


@dataclass(frozen=True)
class Expected:
    """An alignment: raw score, spans of query and target, runs ``length << 4 | operation``."""

    score: int
    spans: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def counts(self) -> Counter[int]:
        """Residues by operation: 1 I, 2 D, 7 =, 8 X."""
        counts: Counter[int] = Counter()
        for run in self.runs:
            counts[run & 15] += run >> 4
        return counts


def compile_oracle(folder: Path) -> Path:
    """Compile the oracle; return the program."""
    program = folder / "oracle"
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, ORACLE]
    subprocess.run(command, check=True)
    return program


def random_sequences(rng: np.random.Generator, letters: str) -> list[str]:
    """Short sequences, most of them related to another, so that ties and repeats abound."""
    made: list[str] = []
    for _ in range(SEQUENCES):
        if made and rng.random() < 0.7:
            source = made[int(rng.integers(len(made)))]
            kept = [one for one in source if rng.random() > 0.1]
            kept = [one if rng.random() > 0.15 else str(rng.choice(list(letters))) for one in kept]
            made.append("".join(kept * int(rng.integers(1, 3)))[:16] or letters[0])
        else:
            made.append("".join(rng.choice(list(letters), int(rng.integers(1, 13)))))
    return made


def random_scoring(rng: np.random.Generator, kind: str) -> Any:
    """A scoring of DNA or proteins; costs are small, large, equal or 0."""
    import pairalign

    scale = int(rng.choice([1, 1, 1, 7, 100, 2500]))
    options: dict[str, Any] = {}
    alphabet = str(rng.choice(["dna", "dna", "protein"]))
    if alphabet == "dna":
        options["match"] = scale * int(rng.integers(1, 6))
        options["mismatch"] = -scale * int(rng.integers(0, 6))
    else:
        options["matrix"] = str(rng.choice(["BLOSUM62", "BLOSUM45", "PAM30"]))
        scale = 1
    gap_extend = scale * int(rng.integers(0, 4))
    gap_open = gap_extend + scale * int(rng.choice([0, 1, 3, 9]))
    options |= {"gap_open": gap_open, "gap_extend": gap_extend}
    if kind == "end-gaps":
        free = [one.replace("_", "-") for one in ENDS if rng.random() < 0.3]
        opening = int(rng.integers(0, gap_open + 1))
        extending = int(rng.integers(0, min(opening, gap_extend) + 1))
        options |= {"end_gap_open": opening, "end_gap_extend": extending}
        if free:
            options["free_ends"] = ",".join(free)
        mode = "global"
    else:
        mode = "local" if kind == "hsps" else kind if kind in MODES else str(rng.choice(MODES[:3]))
    return alphabet, pairalign.make_scoring(alphabet, mode=mode, **options)


def ask_oracle(program: Path, sequences: Any, scoring: Any, hsps: int) -> list[list[Expected]]:
    """Return the oracle's alignments of all pairs of a set, in the order of its indices."""
    numbers = [MODES.index(scoring.mode), scoring.alphabet.unambiguous]
    numbers += [scoring.gap_open, scoring.gap_extend]
    numbers += scoring.end_gaps.numbers if scoring.mode == "end-gaps" else [0] * 8
    text = [np.array([*numbers, hsps], np.int32).tobytes(), scoring.matrix.astype("<i4").tobytes()]
    codes = [sequences.codes_of(k).astype(np.uint8).tobytes() for k in range(len(sequences))]
    for first in range(len(codes)):
        for second in range(first + 1, len(codes)):
            text.append(struct.pack("<ii", len(codes[first]), len(codes[second])))
            text += [codes[first], codes[second]]
    done = subprocess.run([program], input=b"".join(text), capture_output=True, check=True)
    return list(read_answers(np.frombuffer(done.stdout, np.int32).tolist()))


def read_answers(numbers: list[int]) -> Iterator[list[Expected]]:
    """Read what the oracle writes, pair by pair."""
    at = 0
    while at < len(numbers):
        found, at, count = [], at + 1, numbers[at]
        for _ in range(count):
            runs = numbers[at + 5]
            found.append(
                Expected(
                    numbers[at],
                    tuple(numbers[at + 1 : at + 5]),
                    tuple(numbers[at + 6 : at + 6 + runs]),
                )
            )
            at += 6 + runs
        yield found


def passes(one: Expected, lengths: tuple[int, int], identity_of: str, least: Fraction) -> bool:
    """Whether an alignment has an identity, as a definition counts it."""
    counts = one.counts
    whole = {
        "columns": sum(counts.values()),
        "aligned": counts[7] + counts[8],
        "shorter": min(lengths),
    }[identity_of]
    return sum(counts.values()) > 0 and Fraction(counts[7], max(whole, 1)) >= least


def ours(sequences: Any, scoring: Any, **options: Any) -> dict[tuple[int, int], list[Expected]]:
    """Return our alignments by pair of indices."""
    import pairalign

    found = pairalign.align(sequences, scoring=scoring, device="cpu", **options)
    spans = [found.field(f"{one}_{end}") for one in ("query", "target") for end in ("start", "end")]
    offsets, runs = found.field("cigar_offsets"), found.field("cigar")
    made: dict[tuple[int, int], list[Expected]] = {}
    for k in range(len(found)):
        pair = int(found.query[k]), int(found.target[k])
        of_pair = tuple(runs[offsets[k] : offsets[k + 1]].tolist())
        one = Expected(int(found.raw_score[k]), tuple(int(span[k]) for span in spans), of_pair)
        made.setdefault(pair, []).append(one)
    return made


def compare(program: Path, seed: int, kind: str) -> tuple[int, str | None]:
    """Align a random set; return how many pairs were compared, and what differs."""
    import pairalign

    rng = np.random.default_rng(seed)
    alphabet, scoring = random_scoring(rng, kind)
    letters = "ACGTN" if alphabet == "dna" else "ARNDCQEGHILKMFPSTWYVX"
    texts = random_sequences(rng, letters[: int(rng.integers(2, len(letters) + 1))])
    sequences = pairalign.SequenceSet.from_strings(texts, alphabet=alphabet)
    hsps = int(rng.integers(2, 6)) if kind == "hsps" else 1
    expected = ask_oracle(program, sequences, scoring, hsps)
    options: dict[str, Any] = {"hsps": hsps} if hsps > 1 else {}
    least, identity_of = Fraction(0), "columns"
    if kind == "thresholds":
        identity_of = str(rng.choice(["columns", "aligned", "shorter"]))
        least = Fraction(int(rng.integers(1, 101)), 100)
        options |= {"min_identity": least, "identity_of": identity_of}
    found = ours(sequences, scoring, **options)
    pairs = [(q, t) for q in range(len(texts)) for t in range(q + 1, len(texts))]
    for pair, wanted in zip(pairs, expected, strict=True):
        if kind == "thresholds":
            lengths = len(texts[pair[0]]), len(texts[pair[1]])
            wanted = [one for one in wanted if passes(one, lengths, identity_of, least)]
        given = found.get(pair, [])
        if not any(one.runs for one in wanted):  # nothing is aligned: the score is all there is
            wanted, given = ([one.score for one in some] for some in (wanted, given))
        if given != wanted:
            shown = f"{texts[pair[0]]} {texts[pair[1]]}, {scoring}, {options}"
            return len(pairs), f"seed {seed}, {kind}, {shown}:\n  ours   {given}\n  oracle {wanted}"
    return len(pairs), None


def main(arguments: list[str]) -> int:
    """Compare as many pairs as are asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1, help="the first; the others follow")
    parser.add_argument("--isa", help="instruction set of the CPU engine (default: the best)")
    options = parser.parse_args(arguments)
    if options.isa:
        os.environ["PAIRALIGN_ISA"] = options.isa
    compared: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        program = compile_oracle(Path(folder))
        seed = options.seed
        while compared.total() < options.pairs:
            kind = KINDS[seed % len(KINDS)]
            pairs, fault = compare(program, seed, kind)
            compared[kind] += pairs
            if fault is not None:
                print(fault)
                return 1
            seed += 1
    print(", ".join(f"{kind} {compared[kind]:,}" for kind in KINDS), "pairs: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
