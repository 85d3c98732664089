"""The function `pairalign.msa`: each of the ways of the command to a multiple alignment."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pairalign.alignments.multiple import Homologs
from pairalign.base.function_options import takes
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.msa_plan import plan_msa
from pairalign.jobs.msa.msa_request import MsaArguments, MsaOptions
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import Sequences, given_sequences
from pairalign.jobs.run.progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(MsaArguments, MsaOptions)
def msa(
    sequences: Sequences | None = None,
    *,
    add: Sequences | None = None,
    homologs: Sequences | Homologs | None = None,
    confidence: bool = True,
    progress: Progress = False,
    **options: Unpack[MsaArguments],
) -> MultipleAlignment:
    """Align a family of sequences over their whole lengths, or take up an alignment of them.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        Proteins or DNA, as `pairalign.align` takes them. With `merge`: alignments or their paths.
    add : as `sequences`, optional
        In their place: new sequences for the alignment of `to`, whose columns are kept.
    homologs : as `sequences`, or Homologs, optional
        A database: a distant family is aligned together with homologs from it, local hits with an
        E-value of at most 0.001, which are taken out again. A set that is mapped from a store
        serves for many calls.
    confidence : bool
        Whether to compute it, where that takes posteriors of its own.
    progress : bool or "lines"
        Show how far it is.

    Returns
    -------
    MultipleAlignment
        With `add`, the sequences of the alignment and then the new ones; with `merge`, the rows of
        each alignment in turn. With `add` and `confidence_of` without a tree.

    Raises
    ------
    UsageError
        Options do not go together.
    FormatError
        `tree_in` is not of these sequences, or no Newick.
    AlphabetError, FastaError, AlignmentFileError
        Sequences or alignments do not go together, or are none; proteins have one strand.
    CapacityError
        Posteriors do not fit the memory.

    Notes
    -----
    Up to 100 sequences time grows with the products of the lengths of all pairs, that of
    consistency with the cube of the number of sequences; of a family in groups, with the number of
    sequences. Memory: about 40 bytes for each posterior of 0.01 or more of up to 100 sequences, of
    which a residue has 3 to 13 in each other sequence.
    """
    inputs = _inputs_of(sequences, merge=options.get("merge", False))
    arguments: dict[str, Any] = {"inputs": inputs, "add": add, "homologs": homologs}
    request = Call(msa, options, inputs).request(MsaOptions, **arguments, alphabet="auto")
    resources = replace(request.resources, progress=progress)
    source = given_sequences(
        inputs[0] if request.to is None else request.to,
        {**options, "alphabet": options.get("alphabet")},
        add,
    )
    plan = plan_msa(request, source, resources, lambda *_: None)
    return plan.make(FamilyRun(resources, confidence, request.partners, request.seed))


def _inputs_of(sequences: Any, *, merge: bool) -> tuple[Any, ...]:
    """Return alignments that are merged, else the sequences, if there are any."""
    if sequences is None:
        return ()
    is_one = isinstance(sequences, (str, os.PathLike, MultipleAlignment))
    return tuple(sequences) if merge and not is_one else (sequences,)
