"""Which way ``pairalign msa`` and `pairalign.msa` go to a multiple alignment, and of what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pairalign.base.dry_run import begin
from pairalign.base.error_types import FormatError
from pairalign.jobs.msa.adding import add_sequences, read_addition
from pairalign.jobs.msa.aligned_fasta import columns_in
from pairalign.jobs.msa.families import homologs_of
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import trees_work
from pairalign.jobs.msa.merging import merge_alignments, read_given
from pairalign.jobs.msa.msa_request import MsaOptions
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import align_family, judge_alignment
from pairalign.jobs.msa.other_strand import Orientation
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_text import read_newick

Check = Callable[[SequenceSet, bool], None]
"""Refuses, before any work, sequences of which there will be rows; and whether these are all."""


class MsaPlan(NamedTuple):
    """A multiple alignment that is planned.

    Attributes
    ----------
    name : str
        Of the way.
    decided : dict
        What decides the result; see `pairalign.jobs.run.kept_results.kept_results`.
    make : callable
    """

    name: str
    decided: dict[str, Any]
    make: Callable[[FamilyRun], MultipleAlignment]


def plan_msa(
    request: MsaOptions, source: ProblemRequest, resources: Resources, check: Check
) -> MsaPlan:
    """Read the sequences, or alignments, and plan what is made of them.

    Parameters
    ----------
    source : ProblemRequest
        The sequences, or an alignment and new sequences as targets; how all are read.
    check : callable
        Called as soon as it is known of which sequences there will be rows.
    """
    if request.merge:
        given = read_given(request.inputs, source.reading)
        check(given.sequences, True)
        decided = {"sequences": given.sequences, "columns": given.columns}
        decided |= {"starts": given.starts, "widths": np.array(given.widths)}
        return MsaPlan("msa --merge", decided, partial(merge_alignments, given))
    if request.to is not None:
        old, both = read_addition(request.to, source)
        oriented = Orientation.find(both, request.strand, resources, old=len(old))
        both = oriented.sequences
        check(both, True)
        decided = {"old": old.sequences, "sequences": both}
        decided |= {"columns": old.columns, "width": old.width}
        add = partial(add_sequences, old, both)
        return MsaPlan("msa --add", decided, lambda run: oriented.note(add(run)))
    family, _ = read_sets(source)
    if request.confidence_of is None:
        return _plan_family(request, source, family, resources, check)
    check(family, True)
    columns, width = columns_in(request.confidence_of, family)
    decided = {"sequences": family, "columns": columns, "width": width}
    return MsaPlan("confidence", decided, partial(judge_alignment, family, columns, width))


def _plan_family(
    request: MsaOptions,
    source: ProblemRequest,
    family: SequenceSet,
    resources: Resources,
    check: Check,
) -> MsaPlan:
    """Plan the alignment of a family, with homologs if they are wanted."""
    begin(partial(trees_work, [family], resources))
    oriented = Orientation.find(family, request.strand, resources)
    family = oriented.sequences
    check(family, not request.keep_homologs)
    tree = _read_tree(request.tree_in, family)
    of_family = homologs_of(
        {"": family},
        request.homologs,
        source.reading,
        request.homologs_per_family,
        resources,
        are_kept=request.keep_homologs,
    )
    homologs = of_family.get("")
    if homologs is not None and request.keep_homologs:
        check(homologs.after(family), True)
    decided = {
        "sequences": family,
        "homologs": None if homologs is None else homologs.sequences,
        "keep_homologs": request.keep_homologs,
        "tree": None if tree is None else tree.linkage,
    }

    def align(run: FamilyRun) -> MultipleAlignment:
        keeps = request.keep_homologs
        return oriented.note(
            align_family(family, run, tree=tree, homologs=homologs, keep_homologs=keeps)
        )

    return MsaPlan("msa", decided, align)


def _read_tree(tree: Any, sequences: SequenceSet) -> GuideTree | None:
    """Return the guide tree that is given; its sequences have to be these."""
    if tree is None or isinstance(tree, GuideTree):
        if tree is not None and tree.names != sequences.names:
            raise FormatError("the guide tree is of other sequences, or has them in another order")
        return tree
    return read_newick(tree, sequences.names)
