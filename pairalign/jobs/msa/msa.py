"""The function `pairalign.msa`: each of the ways of the command to a multiple alignment."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pairalign.alignments.homologs import Homologs
from pairalign.base.error_types import FormatError
from pairalign.base.function_options import takes
from pairalign.jobs.msa.adding import add_sequences, read_addition
from pairalign.jobs.msa.homolog_search import find_homologs
from pairalign.jobs.msa.merging import merge_alignments, read_given
from pairalign.jobs.msa.msa_request import MsaArguments, MsaOptions
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import align_family, columns_in, judge_alignment
from pairalign.jobs.msa.other_strand import Orientation
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import Sequences, given_sequences, read_one_set, read_sets
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.progress import Progress
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_reading import read_newick

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
    kept: KeptResults | None = None,
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
        A database: the family is aligned together with homologs from it, local hits with an
        E-value of at most 0.001, which are taken out again. A set that is mapped from a store
        serves for many calls.
    confidence : bool
        Whether to compute it, where that takes posteriors of its own.
    progress : bool or "lines"
        Show how far it is.
    kept : KeptResults, optional
        Results of steps that were kept are taken from there, others are kept.

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
    PartsError
        What was kept is damaged.
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
    arguments: dict[str, Any] = {
        "inputs": inputs,
        "add": add,
        "homologs": homologs,
        "alphabet": "auto",
    }
    request = Call(msa, options, inputs).request(MsaOptions, **arguments)
    resources = replace(request.resources, progress=progress)
    source = given_sequences(
        inputs[0] if request.to is None else request.to,
        {**options, "alphabet": options.get("alphabet")},
        add,
    )
    how: dict[str, Any] = {"confidence": confidence}
    how |= {"partners": request.partners, "seed": request.seed}
    if request.to is not None:
        old, both = read_addition(request.to, source)
        oriented = Orientation.find(both, request.strand, resources, old=len(old))
        alignment = add_sequences(old, oriented.sequences, resources, kept=kept, **how)
        return oriented.note(alignment)
    if request.merge:
        alignments = read_given(inputs, source.reading)
        return merge_alignments(alignments, resources, kept=kept, **how)
    family, _ = read_sets(source)
    if request.confidence_of is not None:
        columns, width = columns_in(request.confidence_of, family)
        return judge_alignment(family, columns, width, resources, kept=kept, **how)
    oriented = Orientation.find(family, request.strand, resources)
    family = oriented.sequences
    tree = _read_tree(request.tree_in, family)
    family_homologs = _homologs_of(family, request, resources)
    how |= {"tree": tree, "homologs": family_homologs, "keep_homologs": request.keep_homologs}
    return oriented.note(align_family(family, resources, kept=kept, **how))


def _inputs_of(sequences: Any, *, merge: bool) -> tuple[Any, ...]:
    """Return alignments that are merged, else the sequences, if there are any."""
    if sequences is None:
        return ()
    is_one = isinstance(sequences, (str, os.PathLike, MultipleAlignment))
    return tuple(sequences) if merge and not is_one else (sequences,)


def _read_tree(tree: Any, sequences: SequenceSet) -> GuideTree | None:
    """Return the guide tree that is given; its sequences have to be these."""
    if tree is None or isinstance(tree, GuideTree):
        if tree is not None and tree.names != sequences.names:
            raise FormatError("the guide tree is of other sequences, or has them in another order")
        return tree
    return read_newick(tree, sequences.names)


def _homologs_of(
    sequences: SequenceSet, request: MsaOptions, resources: Resources
) -> Homologs | None:
    """Return homologs of a family, if they are wanted and not found already."""
    if request.homologs is None or isinstance(request.homologs, Homologs):
        return request.homologs
    most, database = request.homologs_per_family, read_one_set(request.homologs)
    return find_homologs({"": sequences}, database, most=most, resources=resources)[""]
