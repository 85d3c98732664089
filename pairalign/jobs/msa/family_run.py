"""What a multiple alignment is made with."""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.jobs.run.kept_results import KeptResults
from pairalign.requests.resources import Resources


@dataclass(frozen=True)
class FamilyRun:
    """What each step of a multiple alignment may use, and how sure it is to say to be.

    Attributes
    ----------
    resources : Resources
    confidence : bool
        Whether it is wanted, where that takes posteriors of its own.
    partners, seed
        With how many others sequences are compared, and what is drawn; see `pairalign.msa`.
    kept : KeptResults or None
        Results of steps that were kept are taken from there, others are kept.
    """

    resources: Resources
    confidence: bool = True
    partners: int | None = None
    seed: int = 0
    kept: KeptResults | None = None
