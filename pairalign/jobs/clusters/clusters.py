"""Clusters of a set, from exact alignments of all its pairs.

Two sequences are *similar enough* if their alignment attains an identity and a coverage
(`pairalign.alignments.thresholds`). With that:

========  ==========================================================================================
single    a cluster is what pairs that are similar enough connect
complete  all pairs of a cluster are similar enough; clusters whose least similar pair is the most
          similar are joined first
average   the mean identity of the pairs between two clusters that are joined attains the threshold;
          the most similar are joined first. A pair whose coverage is too low counts as identity 0
greedy    longest first, a sequence goes to the most similar of the representatives before it that
          is similar enough, or becomes one
========  ==========================================================================================

The result does not depend on the order of the input: all is done in one order, by length, the
longest first, then by residues, then by name. Ties go to what comes first in it. Single, greedy and
complete linkage need only what passes, the first two one pair at a time; complete and average
linkage hold 12 bytes for each pair.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.thresholds import PairThresholds, make_pair_thresholds
from pairalign.base.arrays import Int32s
from pairalign.base.choices import LINKAGES, REPRESENTATIVES, STRANDS
from pairalign.clusters.clusters import Clusters
from pairalign.engines.selection import usable_cores
from pairalign.errors import ScoringError
from pairalign.jobs.clusters.cluster_work import ClusterWork
from pairalign.jobs.run.inputs import AnyScoring, ProblemRequest, Sequences, read_problem
from pairalign.jobs.run.limits import check_strand
from pairalign.jobs.run.progress import Progress
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.fasta import join_records
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps


@dataclass
class ClusterJob:
    """What is clustered, how, on what.

    Attributes
    ----------
    sequences : SequenceSet
    scoring : Scoring
    thresholds : PairThresholds
        What two sequences must attain to be similar enough.
    linkage : {"greedy", "single", "complete", "average"}
    representative : {"longest", "medoid"}
    keep_edges : bool
        Whether `Clusters.edges` is wanted; they take some 60 bytes each.
    device, threads, memory_bytes, progress, kernel
        As for `pairalign.jobs.run.align.AlignmentJob`; `memory_bytes` None: half of what is free.
    strand : {"plus", "both"}
        As for `pairalign.jobs.run.align.AlignmentJob`.
    steps : Steps or None
        How many pairs each step of the thresholds has left, after `run`.
    """

    sequences: SequenceSet
    scoring: Scoring
    thresholds: PairThresholds
    linkage: str = LINKAGES[0]
    representative: str = REPRESENTATIVES[0]
    keep_edges: bool = False
    device: str = "auto"
    threads: int | None = None
    memory_bytes: int | None = None
    progress: Progress = False
    kernel: str | None = None
    strand: str = STRANDS[0]
    steps: Steps | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        _check_choice("linkage", self.linkage, LINKAGES)
        _check_choice("representative", self.representative, REPRESENTATIVES)
        check_strand(self.strand, self.sequences, self.scoring)
        ends = self.scoring.end_gaps
        if ends is not None and not ends.is_symmetric:
            raise ScoringError(
                f"{ends.describe(self.scoring.format_score)}: clusters need the same of query and "
                "target, since the order of the input makes no difference"
            )

    def run(self) -> Clusters:
        """Align all pairs and return the clusters.

        Raises
        ------
        AlphabetError, ScoringError, CapacityError, DeviceError
            See `pairalign.errors`.
        """
        order = canonical_order(self.sequences)
        work = ClusterWork(
            _in_order(self.sequences, order),
            self.scoring,
            self.thresholds,
            self.linkage,
            self.keep_edges,
            device=self.device,
            threads=usable_cores() if self.threads is None else self.threads,
            memory_bytes=self.memory_bytes,
            progress=self.progress,
            kernel=self.kernel,
            strand=self.strand,
        )
        leaders, edges = work.find_leaders()
        self.steps = work.steps
        first, labels = np.unique(leaders, return_inverse=True)
        chosen = work.find_medoids(labels, first) if self.representative == "medoid" else first
        alignments = work.align_with(chosen[labels])
        by_cluster = np.lexsort(
            (np.arange(len(labels)), np.arange(len(labels)) != chosen[labels], labels)
        )
        alignments = alignments.take(np.argsort(np.argsort(by_cluster)[alignments.query]))
        labels_of_input = np.empty(len(labels), np.int32)
        labels_of_input[order] = labels
        return Clusters(
            sequences=self.sequences,
            linkage=self.linkage,
            thresholds=self.thresholds,
            labels=labels_of_input,
            representatives=order[chosen],
            order=order[by_cluster],
            alignments=_of_input(alignments, self.sequences, order),
            edges=None if edges is None else _of_input(edges, self.sequences, order),
        )


def cluster(
    sequences: Sequences,
    *,
    min_identity: float | str | Fraction,
    identity_of: str = "columns",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: str = "aligned",
    linkage: str = LINKAGES[0],
    representative: str = REPRESENTATIVES[0],
    edges: bool = False,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    strand: str = STRANDS[0],
    device: str = "auto",
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> Clusters:
    """Align every pair of a set and put sequences that are similar enough together.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; one is enough.
    min_identity : float, str or Fraction
        From 0 to 1 or as ``"97%"``, exactly as written; with `min_coverage`, what a pair must
        attain to be similar enough.
    identity_of : {"columns", "aligned", "shorter", "internal", "mbl"}
        What the identity is, see `pairalign.base.choices.IDENTITIES`.
    min_coverage : float, str or Fraction, optional
        Default: none.
    coverage_of : {"aligned", "both", "query", "target", "shorter"}
        What the coverage is, see `pairalign.base.choices.COVERAGES`. The longer sequence is the
        query.
    linkage : {"greedy", "single", "complete", "average"}
        See `pairalign.jobs.clusters.clusters`.
    representative : {"longest", "medoid"}
        What stands for a cluster: its longest sequence, or the one with the highest mean identity
        with all others of its cluster, for which the pairs of each cluster are aligned again.
    edges : bool
        Keep all pairs that are similar enough, as `Clusters.edges`.
    scoring, mode, strand, device, threads, memory_bytes, progress
        As for `pairalign.align`.

    Returns
    -------
    Clusters

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    ValueError
        An argument out of its range.

    Notes
    -----
    Time is that of the alignments of pairs that lengths,
    q-grams and scores do not rule out; average linkage aligns all. Memory: some bytes a letter;
    linkages complete and average 12 bytes a pair.

    References
    ----------
    Li W, Godzik A. Cd-hit: a fast program for clustering and comparing large sets of protein or
    nucleotide sequences. Bioinformatics 22:1658-1659, 2006.
    Rognes T et al. VSEARCH: a versatile open source tool for metagenomics. PeerJ 4:e2584, 2016.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> found = pairalign.cluster(globins, min_identity="90%")
    >>> list(found)
    [['HBZ'], ['HBB', 'HBD']]
    >>> found.labels.tolist()
    [1, 1, 0]
    """
    problem = read_problem(ProblemRequest(sequences, None, scoring, mode))
    if problem.replaced_message:
        warnings.warn(problem.replaced_message, stacklevel=2)
    first, chosen = problem.queries, problem.scoring
    return ClusterJob(
        first,
        chosen,
        make_pair_thresholds(min_identity, identity_of, min_coverage, coverage_of),
        linkage,
        representative,
        edges,
        device=device,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        strand=strand,
    ).run()


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} {value!r}: expected one of {', '.join(known)}")


# ---------------------------------------------------------------------------------------------
# One order whatever that of the input


def canonical_order(sequences: SequenceSet) -> Int32s:
    """Input indices by length, longest first, then by residues, then by name; int32, shape (n,)."""
    keys = [
        (-int(sequences.lengths[index]), sequences.codes_of(index).tobytes(), name)
        for index, name in enumerate(sequences.names)
    ]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int32)


def _in_order(sequences: SequenceSet, order: Int32s) -> SequenceSet:
    """Return the same sequences in another order."""
    letters, offsets = sequences.letters, sequences.offsets
    records = join_records(
        [sequences.names[index] for index in order],
        [sequences.descriptions[index] for index in order],
        [letters[offsets[index] : offsets[index + 1]].tobytes() for index in order],
    )
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)


def _of_input(found: Alignments, sequences: SequenceSet, order: Int32s) -> Alignments:
    """Return alignments of the sequences in canonical order as ones of those as read."""
    return replace(
        found,
        queries=sequences,
        targets=sequences,
        query=order[found.query],
        target=order[found.target],
    )
