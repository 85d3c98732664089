"""Circular sequences turned to a common start: that of one of them, or a coordinate in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s
from pairalign.base.error_types import FastaError, WrongTypeError
from pairalign.base.function_options import takes
from pairalign.jobs.circular.circular import (
    Strands,
    align_list,
    check_circular,
    free_target_ends,
    rotated,
)
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences, check_strand, read_problem
from pairalign.jobs.run.progress import Progress
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions, StrandOptions
from pairalign.requests.similar import RotateArguments
from pairalign.sequences.sequence_records import join_records
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ANCHOR_RESIDUES = 5000
"""Of the start, which are looked for in the others."""


@takes(RotateArguments, StrandOptions, ProblemOptions, Resources)
def rotate(
    sequences: Sequences,
    *,
    to: str,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[RotateArguments],
) -> SequenceSet:
    """Rotate circular sequences so that all begin where one of them does.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`.
    to : str
        ``NAME``, one of the sequences, or ``NAME:1000``: a residue of it, counted from 1.
    scoring, mode, progress
        As for `pairalign.align`; the mode can only be global.

    Returns
    -------
    SequenceSet
        In the same order, under the same names.

    Raises
    ------
    FastaError
        There is no such sequence, or it has no such residue.
    AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.

    Notes
    -----
    The first 5,000 residues from that start are aligned with each other sequence twice in a row,
    whose ends are free (`pairalign.jobs.circular.circular`); the sequence then begins with the
    residue opposite the first one.

    Examples
    --------
    >>> import pairalign
    >>> plasmid = "ACGTTGCAAGGCTTACCGATAGGCT"
    >>> found = pairalign.rotate({"a": plasmid, "b": plasmid[9:] + plasmid[:9]}, to="a")
    >>> found[1].residues == plasmid
    True
    """
    call = Call(rotate, options, sequences, scoring=scoring, mode=mode, progress=progress)
    request = call.request(StrandOptions)
    return rotate_set(read_problem(call.problem_request), to, request.strand, call.resources)


def rotate_set(problem: Problem, to: str, strand: str, resources: Resources) -> SequenceSet:
    """Rotate the sequences of a problem of one set; see `rotate`."""
    check_circular(problem.scoring)
    sequences = problem.queries
    index, start = find_start(sequences, to)
    check_strand(strand, sequences, problem.scoring)
    strands = Strands.of(sequences, strand == "both")
    reference = rotated(strands.residues[0][index], start)
    anchor = reference[:_ANCHOR_RESIDUES]
    others = [k for k in range(len(sequences)) if k != index]
    texts = list(strands.residues[0])
    texts[index] = reference
    if others:
        kinds = len(strands.residues)
        doubled = strands.set_of([2 * residues[k] for residues in strands.residues for k in others])
        again = Problem(strands.set_of([anchor]), doubled, free_target_ends(problem.scoring))
        numbers = np.arange(len(doubled), dtype=np.int32)
        pairs = PairList(np.zeros(len(doubled), np.int32), numbers)
        alignments = align_list(again, pairs, Detail.STATS, resources)
        scores: Int32s = alignments.raw_score.reshape(kinds, -1)
        cuts = alignments.field("target_start").reshape(kinds, -1)
        for place, (k, kind) in enumerate(zip(others, scores.argmax(axis=0).tolist(), strict=True)):
            text = strands.residues[kind][k]
            texts[k] = rotated(text, int(cuts[kind, place]) % len(text))
    records = join_records(list(sequences.names), list(sequences.descriptions), texts)
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)


def find_start(sequences: SequenceSet, to: str) -> tuple[int, int]:
    """Return the input index of the sequence that ``NAME`` or ``NAME:1000`` means, and the residue.

    Returns
    -------
    index : int
    start : int
        From 0.

    Raises
    ------
    FastaError
        There is no such sequence, or it has no such residue.
    """
    if not isinstance(to, str):
        raise WrongTypeError(f"to {to!r}: expected the name of a sequence, or NAME:1000")
    name, residue = to, "1"
    if to not in sequences.names and ":" in to:
        name, _, residue = to.rpartition(":")
    if name not in sequences.names:
        raise FastaError(f"{sequences.source}: no sequence is called '{name}'")
    index = sequences.names.index(name)
    length = int(sequences.lengths[index])
    if not (residue.isascii() and residue.isdigit() and 1 <= int(residue) <= length):
        raise FastaError(
            f"{sequences.source}: {sequences.record(index)}: there is no residue '{residue}', "
            f"expected a number from 1 to {length:,}"
        )
    return index, int(residue) - 1
