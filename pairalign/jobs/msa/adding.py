"""New sequences in an alignment that is given, whose columns stay as they are."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment, unlike_of
from pairalign.base.declaration import check_arguments
from pairalign.base.error_types import AlignmentFileError
from pairalign.engines.posterior_engines import check_device
from pairalign.engines.selection import usable_cores
from pairalign.formats.aligned_fasta import read_aligned_fasta
from pairalign.formats.step_results import KeptResults
from pairalign.jobs.msa.joining import join_new
from pairalign.jobs.msa.msa import ARGUMENTS, score_multiple
from pairalign.jobs.run.inputs import ProblemRequest, Sequences, read_sets
from pairalign.jobs.run.memory import default_bytes, given_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.tidying import InputRules


def extend_multiple(
    alignment: MultipleAlignment | str | os.PathLike[str],
    sequences: Sequences,
    *,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
    kept: KeptResults | None = None,
) -> MultipleAlignment:
    """Add sequences to a multiple alignment; its columns are kept.

    Parameters
    ----------
    alignment : MultipleAlignment or path
        A path is of aligned FASTA, Stockholm and others, ours or another program's.
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        The new ones, as `pairalign.align` takes them.
    confidence : bool
        Whether to compute it, of all sequences.
    partners, seed
        For the confidence, see `score_multiple`.
    device, threads, memory, progress
        See `pairalign.msa`.
    kept : KeptResults, optional
        Where new sequences are, and posteriors, that were kept are taken from there, others are
        kept.

    Returns
    -------
    MultipleAlignment
        The sequences of the alignment, then the new ones; without a tree.

    Raises
    ------
    AlignmentFileError, FastaError
        The alignment is none, or a new sequence has the name of one that is in it.
    PartsError
        What was kept is damaged.

    Notes
    -----
    Time grows with the number of new sequences times that of the alignment's (scores), and with
    that of new ones (posteriors).
    """
    check_arguments(ARGUMENTS, {"partners": partners, "seed": seed, "threads": threads})
    check_device(device)
    threads = usable_cores() if threads is None else threads
    given = given_bytes(memory)
    memory_bytes = default_bytes() if given is None else given
    old, new, columns, width = _read(alignment, sequences)
    both = _together(old, new)
    joined = join_new(
        both,
        columns,
        width,
        device=device,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        kept=kept,
    )
    added = np.arange(len(old), len(both))
    unlike = unlike_of(both, added[~joined.related], joined.confident[~joined.related])
    if not confidence:
        nothing = np.zeros(both.total_residues), np.zeros(both.total_residues, np.int32)
        return MultipleAlignment(both, joined.columns, joined.width, *nothing, None, unlike)
    scored = score_multiple(
        both,
        joined.columns,
        joined.width,
        partners=partners,
        seed=seed,
        device=device,
        threads=threads,
        memory=memory_bytes,
        progress=progress,
        kept=kept,
    )
    return replace(scored, unlike=unlike)


def _read(
    alignment: MultipleAlignment | str | os.PathLike[str], sequences: Sequences
) -> tuple[SequenceSet, SequenceSet, npt.NDArray[np.int32], int]:
    """Return the alignment's sequences, the new ones, and the columns of the former."""
    if isinstance(alignment, MultipleAlignment):
        old, new = read_sets(ProblemRequest(alignment.sequences, sequences))
        assert new is not None
        return old, new, alignment.columns, alignment.width
    rules = InputRules(degap=True)
    old, new = read_sets(ProblemRequest(os.fspath(alignment), sequences, rules=rules))
    assert new is not None
    return old, new, *read_aligned_fasta(alignment, old)


def _together(old: SequenceSet, new: SequenceSet) -> SequenceSet:
    """Return one set of both."""
    known = set(old.names)
    for index, name in enumerate(new.names):
        if name in known:
            raise AlignmentFileError(
                f"{new.source}: {new.record(index)} is in the alignment already; rename it"
            )
    records = Records(
        [*old.names, *new.names],
        [*old.descriptions, *new.descriptions],
        old.residues.tobytes() + new.residues.tobytes(),
        np.concatenate((old.offsets, new.offsets[1:] + old.offsets[-1])),
    )
    return SequenceSet(records, alphabet=old.alphabet, source=old.source)
