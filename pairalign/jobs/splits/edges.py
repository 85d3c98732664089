"""The pairs of a set that are alike, held as numbers: what splits and audits look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.identities import count_identity
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import DEFAULT_WINDOW, LIST_WINDOW
from pairalign.engines.selection import usable_cores
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.memory import default_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Pairs:
    """Some pairs, in the order of output.

    Attributes
    ----------
    query, target : ndarray of int32, shape (pairs,)
        Input indices.
    identity : ndarray of float64, shape (pairs,)
        As the thresholds define it.
    reaches : ndarray of bool, shape (pairs,)
        Whether the pair reaches the thresholds; exact.
    """

    query: Ints
    target: Ints
    identity: npt.NDArray[np.float64]
    reaches: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def none(cls) -> Pairs:
        """Return no pairs."""
        nobody = np.zeros(0, np.int32)
        return cls(nobody, nobody, np.zeros(0), np.zeros(0, np.bool_))


@dataclass
class Resources:
    """What aligning may use: as for `pairalign.jobs.run.align.AlignmentJob`.

    Attributes
    ----------
    device : str
    threads : int or None
        None: all cores.
    memory_bytes : int or None
        None: half of what is free.
    progress : bool or "lines"
    kernel : str or None
    steps : Steps or None
        How many pairs each step of the thresholds has left, after aligning.
    devices : tuple of str
        Those that were opened, after aligning.
    """

    device: str = "auto"
    threads: int | None = None
    memory_bytes: int | None = None
    progress: Progress = False
    kernel: str | None = None
    steps: Steps | None = field(default=None, init=False)
    devices: tuple[str, ...] = field(default=(), init=False)


def find_pairs(
    sequences: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    thresholds: PairThresholds,
    from_identity: Fraction,
    resources: Resources,
    pair_list: PairList | None = None,
    *,
    keep: Callable[[Alignments], npt.NDArray[np.bool_]] | None = None,
    everything: bool = False,
) -> Pairs:
    """Align; keep the pairs whose identity reaches `from_identity`, and say which reach more.

    Parameters
    ----------
    sequences, targets : SequenceSet
        `targets` is None for every pair of `sequences`.
    scoring : Scoring
    thresholds : PairThresholds
    from_identity : Fraction
        At most that of the thresholds.
    resources : Resources
    pair_list : PairList, optional
        Only these pairs.
    keep : callable, optional
        Says which of some pairs are kept, bool of shape (pairs,).
    everything : bool
        Whether pairs are kept whatever identity and coverage they have.

    Notes
    -----
    Memory: 17 bytes a pair that is kept.
    """
    wanted = replace(thresholds, min_identity=min(from_identity, thresholds.min_identity))
    if everything:
        wanted = PairThresholds()
    job = AlignmentJob(
        sequences,
        targets,
        scoring,
        Want(max(Detail.STATS, thresholds.detail(scoring.mode))),
        device=resources.device,
        threads=resources.threads or usable_cores(),
        window=DEFAULT_WINDOW if pair_list is None else LIST_WINDOW,
        memory_bytes=resources.memory_bytes or default_bytes(),
        progress=resources.progress,
        kernel=resources.kernel,
        pair_list=pair_list,
        pair_thresholds=wanted,
    )
    parts: list[Pairs] = []
    with job.open() as results:
        for given in results:
            found = given if keep is None else given.take(np.flatnonzero(keep(given)))
            share, whole = count_identity(found, thresholds.identity_of)
            reaches = np.zeros(len(found), np.bool_)
            reaches[thresholds.passing(found)] = True
            parts.append(Pairs(found.query.copy(), found.target.copy(), share / whole, reaches))
    resources.steps, resources.devices = job.steps, job.devices
    return _join(parts)


def _join(parts: list[Pairs]) -> Pairs:
    if not parts:
        return Pairs.none()
    return Pairs(
        np.concatenate([part.query for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.identity for part in parts]),
        np.concatenate([part.reaches for part in parts]),
    )


def align_pairs(
    sequences: SequenceSet, scoring: Scoring, pairs: PairList, resources: Resources
) -> Iterator[Alignments]:
    """Align some pairs of a set, with CIGARs; yield them in the order of output."""
    yield from AlignmentJob(
        sequences,
        None,
        scoring,
        Want(Detail.CIGAR),
        device=resources.device,
        threads=resources.threads or usable_cores(),
        window=LIST_WINDOW,
        memory_bytes=resources.memory_bytes or default_bytes(),
        kernel=resources.kernel,
        pair_list=pairs,
    )
