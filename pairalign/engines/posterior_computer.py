"""What computes posteriors of pairs: an engine of cores or of a GPU, or what wraps one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.arrays import Int32s
from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.scoring.posterior_models import PosteriorModel, posterior_model
from pairalign.sequences.sets import SequenceSet


@dataclass(frozen=True)
class PosteriorRequest:
    """What is computed, and what may be used for it.

    Attributes
    ----------
    threshold : float
        Posteriors below are left out; from 2^-20 to 1.
    threads : int
        Of the CPU.
    memory_bytes : int
        What may be used of the host's memory, a part of it pinned; and of a GPU's, but never more
        than what is free there.
    cells : int
        How much there is to do.
    calls : int
        Calls of `compute` at the same time, each of which is for `threads`.
    match_states : int
        Of the pair HMM of proteins; see `pairalign.scoring.posterior_models.posterior_model`.
    part_threads : int
        Of the CPU for parts of pairs, within the memory that `threads` take for whole pairs; not
        fewer than `threads`.
    """

    sequences: SequenceSet
    threshold: float = POSTERIOR_THRESHOLD
    threads: int = 1
    memory_bytes: int = 1 << 30
    cells: int = 1
    calls: int = 1
    match_states: int = 1
    part_threads: int = 1

    @property
    def model(self) -> PosteriorModel:
        """The model of the sequences' alphabet."""
        return posterior_model(self.sequences.alphabet, match_states=self.match_states)


class PosteriorComputer(Protocol):
    """An engine for posteriors: `PosteriorEngine`, or one of a GPU."""

    is_gpu: bool
    """Whether calls are best made beside each other."""

    residues_at_once: int
    """Residues of queries that it is best given at a time, memory allowing."""

    def compute(self, queries: Int32s, targets: Int32s) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""

    def close(self) -> None:
        """Free what it holds."""
