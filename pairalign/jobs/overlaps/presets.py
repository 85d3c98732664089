"""What overlaps of a kind of reads are scored with, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairalign.base.error_types import UsageError

if TYPE_CHECKING:
    from pairalign.scoring.matrices import Number
    from pairalign.scoring.scoring import Scoring

AUTO = "auto"
_TYPES = ("match", "mismatch", "gap_open", "gap_extend")


@dataclass(frozen=True)
class Preset:
    """Scoring and thresholds for a kind of reads; why they are so is in docs/overlap-proofs.md.

    Attributes
    ----------
    name, summary : str
        What ``--preset`` calls it, and which reads it is for.
    match, mismatch, gap_open, gap_extend : int
        A gap of k residues costs ``gap_open + (k - 1) * gap_extend``.
    min_overlap : int
        Residues that an overlap must have on both reads.
    min_identity : float
        Matches by columns that it must have.
    min_score : int
        What a pair must score to be aligned.
    max_overhang : int
        Of local alignments: residues beyond them that do not make an overlap internal.
    mode : {"semiglobal", "local"}
        Long reads have adapters, chimeras and bad ends: where they begin an overlap ends.
    max_overlaps : int
        Of a pair on a strand: reads may go round a circle, or hold repeats.
    """

    name: str
    summary: str
    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    min_overlap: int
    min_identity: float
    min_score: int
    max_overhang: int
    mode: str
    max_overlaps: int

    def scoring(self, mode: str | None = None, **changed: Number | None) -> Scoring:
        """Make the scoring, with those of match, mismatch, gap_open and gap_extend that are given.

        Parameters
        ----------
        mode : {"semiglobal", "local"}, optional
            Default: the preset's.
        **changed : int or str, optional

        Raises
        ------
        ScoringError
            Costs out of bounds.
        """
        from pairalign.scoring.scoring import make_scoring  # the presets alone are for help, too
        from pairalign.sequences.alphabets import DNA

        changes = {name: value for name, value in changed.items() if value is not None}
        values = {name: getattr(self, name) for name in _TYPES}
        if "gap_open" in changes and "gap_extend" not in changes:
            del values["gap_extend"]  # or it might be more than the first residue costs
        if "gap_extend" in changes and "gap_open" not in changes:
            del values["gap_open"]
        return make_scoring(DNA, mode=self.mode if mode is None else mode, **{**values, **changes})


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="short",
            summary="short accurate reads, as Illumina's",
            match=1,
            mismatch=-3,
            gap_open=5,
            gap_extend=2,
            min_overlap=40,
            min_identity=0.95,
            min_score=28,
            max_overhang=5,
            mode="semiglobal",
            max_overlaps=1,
        ),
        Preset(
            name="hifi",
            summary="long accurate reads, as PacBio HiFi",
            match=1,
            mismatch=-4,
            gap_open=6,
            gap_extend=1,
            min_overlap=500,
            min_identity=0.97,
            min_score=380,
            max_overhang=200,
            mode="local",
            max_overlaps=10,
        ),
        Preset(
            name="ont",
            summary="long noisy reads, as nanopore's",
            match=1,
            mismatch=-1,
            gap_open=2,
            gap_extend=1,
            min_overlap=500,
            min_identity=0.64,
            min_score=80,
            max_overhang=1000,
            mode="local",
            max_overlaps=10,
        ),
    )
}
"""The presets by name."""


def find_preset(name: str) -> Preset:
    """Return the preset of a name.

    Raises
    ------
    UsageError
        There is no such preset.
    """
    if name not in PRESETS:
        raise UsageError(f"preset {name!r}: expected {AUTO}, {', '.join(PRESETS)}")
    return PRESETS[name]
