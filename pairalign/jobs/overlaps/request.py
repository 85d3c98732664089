"""What is asked of overlaps: made of the command's options, or of the arguments in Python."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from pairalign.base.arguments import Shard
from pairalign.base.choices import OVERLAP_FILTERS
from pairalign.jobs.overlaps.plan import AskedThresholds
from pairalign.jobs.run.inputs import AnyScoring, as_scoring
from pairalign.jobs.run.resources import Resources
from pairalign.reads.candidates import Candidates
from pairalign.reads.presets import AUTO, PRESETS, Preset, find_preset
from pairalign.scoring.matrices import Number
from pairalign.scoring.request import check_any
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA


@dataclass(frozen=True)
class OverlapRequest:
    """What is asked of the overlaps of a set of reads.

    Attributes
    ----------
    preset : {"auto", "short", "hifi", "ont"}
    mode : {"semiglobal", "local"} or None
        None: the preset's.
    scoring : Scoring, matrix as `make_scoring` takes it, or None
        Instead of the preset's.
    match, mismatch, gap_open, gap_extend : int, float, str or None
        Instead of the preset's, without `scoring`.
    limits : AskedThresholds
        Thresholds instead of the preset's.
    max_overhang : int or None
        Residues that both reads may have beyond an end of an overlap, instead of the preset's.
    candidates : Candidates, path, "mappy" or None
        Only these pairs.
    filter : {"auto", "none", "bitwise", "runs"}
    resources : Resources
    shard, result_seconds
        As for `pairalign.jobs.run.align.AlignmentJob`.
    """

    preset: str = AUTO
    mode: str | None = None
    scoring: AnyScoring | None = None
    match: Number | None = None
    mismatch: Number | None = None
    gap_open: Number | None = None
    gap_extend: Number | None = None
    limits: AskedThresholds = field(default_factory=AskedThresholds)
    max_overhang: int | None = None
    candidates: Candidates | str | os.PathLike[str] | None = None
    filter: str = "auto"
    resources: Resources = field(default_factory=Resources)
    shard: Shard | None = None
    result_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.filter not in OVERLAP_FILTERS:
            known = ", ".join(OVERLAP_FILTERS)
            raise ValueError(f"filter {self.filter!r}: expected one of {known}")
        if self.scoring is not None and any(cost is not None for cost in self._costs.values()):
            raise ValueError(
                "a scoring has costs: leave out match, mismatch, gap_open and gap_extend"
            )

    @property
    def _costs(self) -> dict[str, Number | None]:
        names = ("match", "mismatch", "gap_open", "gap_extend")
        return {name: getattr(self, name) for name in names}

    def scoring_for(self, preset: Preset) -> Scoring:
        """Return the scoring of a preset, with what is asked for instead.

        Raises
        ------
        ScoringError
            Costs out of bounds.
        """
        if self.scoring is None:
            return preset.scoring(self.mode, **self._costs)
        return as_scoring(self.scoring, DNA, self.mode, preset.mode)

    def check(self) -> None:
        """Refuse scores and costs that make no sense for any reads, before these are read."""
        presets = PRESETS.values() if self.preset == AUTO else [find_preset(self.preset)]
        check_any(presets, self.scoring_for)
