"""New sequences in an alignment that is given, whose columns stay as they are."""

from __future__ import annotations

import os
from dataclasses import replace

from pairalign.engines.posterior_engines import check_device
from pairalign.jobs.msa.confidence import Confidence
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.joining import join_new
from pairalign.jobs.msa.merging import together
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import AnyAlignment, columns_in, score_alignment
from pairalign.jobs.msa.relatives import find_elsewhere, find_relatives
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.sequences.sets import SequenceSet


def read_addition(
    to: AnyAlignment, request: ProblemRequest
) -> tuple[MultipleAlignment, SequenceSet]:
    """Read an alignment, and new sequences.

    Parameters
    ----------
    to : MultipleAlignment or path
    request : ProblemRequest
        Its targets are new; how the sequences of a file are read as well.

    Returns
    -------
    old : MultipleAlignment
    both : SequenceSet
        Its sequences, then the new ones.

    Raises
    ------
    FastaError, AlignmentFileError
        The alignment is none, or a new sequence has the name of one that is in it.
    """
    if isinstance(to, MultipleAlignment):
        old, new = read_sets(replace(request, sequences=to.sequences))
    else:
        reading = replace(request.reading, degap=True, qualities=False)
        old, new = read_sets(replace(request, sequences=os.fspath(to), reading=reading))
    assert new is not None
    columns, width = columns_in(to, old)
    unknown = Confidence.unknown(old.total_residues)
    return MultipleAlignment(old, columns, width, *unknown, None), together((old, new))


def add_sequences(old: MultipleAlignment, both: SequenceSet, run: FamilyRun) -> MultipleAlignment:
    """Add sequences to a multiple alignment; its columns are kept.

    Parameters
    ----------
    both : SequenceSet
        The sequences of the alignment, then the new ones.

    Returns
    -------
    MultipleAlignment
        The sequences of the alignment, then the new ones; without a tree.

    Raises
    ------
    PartsError
        What was kept is damaged.
    """
    check_device(run.resources.device)
    columns, width = join_new(both, old.columns, old.width, run)
    relatives = find_relatives(both, run.resources, old=len(old.sequences))
    elsewhere = find_elsewhere(both, columns, relatives, run.resources)
    scored = score_alignment(both, columns, width, run)
    return replace(scored, unlike=relatives.unlike(), elsewhere=elsewhere)
