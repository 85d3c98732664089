"""Scores that other programs printed (tests/data/golden_scores.tsv), ready to be reproduced."""

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.sets import SequenceSet

PATH = Path(__file__).parents[1] / "data" / "golden_scores.tsv"


@dataclass(frozen=True)
class Golden:
    """One pair and its score. `gap_open`, `gap_extend` and `score` are as the program printed."""

    id: str
    tool: str
    mode: str
    matrix: str
    gap_open: str
    gap_extend: str
    score: Decimal
    query: str
    target: str

    @property
    def alphabet(self) -> Alphabet:
        return DNA if self.matrix == "EDNAFULL" else PROTEIN

    def scoring(self) -> Scoring:
        return _scoring(self.alphabet.name, self.mode, self.matrix, self.gap_open, self.gap_extend)

    def raw_score(self) -> int:
        """The score as an integer in units of ``1 / scoring().scale``."""
        raw = self.score * self.scoring().scale
        assert raw == int(raw)
        return int(raw)

    def sequences(self) -> SequenceSet:
        """The query (input index 0) and the target (1)."""
        return SequenceSet.from_strings(
            [self.query, self.target], ["query", "target"], alphabet=self.alphabet, source=self.id
        )


@cache
def load_golden() -> tuple[Golden, ...]:
    """All rows, in the order of the file."""
    with PATH.open(newline="") as file:
        lines = (line for line in file if not line.startswith("# "))
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(Golden(**{**row, "score": Decimal(row["score"])}) for row in rows)


@cache
def _scoring(alphabet: str, mode: str, matrix: str, gap_open: str, gap_extend: str) -> Scoring:
    return make_scoring(
        alphabet, mode=mode, matrix=matrix, gap_open=gap_open, gap_extend=gap_extend
    )
