"""Files of results that are in memory: what their `write` does, as the commands do."""

from __future__ import annotations

import os

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.choices import (
    MSA_SUFFIXES,
    PICTURES,
    POSTERIOR_SUFFIXES,
    TABLE_ENDINGS,
    TREE_SUFFIXES,
)
from pairalign.base.error_types import UsageError
from pairalign.clusters.splits.interaction_split import InteractionSplit
from pairalign.clusters.splits.result import Split
from pairalign.formats.interaction_tables import write_interactions
from pairalign.formats.msa_files import check_msa_names, write_alignment
from pairalign.formats.names import check_ending, choose_format
from pairalign.formats.output import Path, open_output
from pairalign.formats.posterior_files import check_format, open_posteriors
from pairalign.formats.splits import write_split
from pairalign.trees.ascii_tree import to_ascii
from pairalign.trees.mafft import to_mafft
from pairalign.trees.newick import to_newick
from pairalign.trees.nexus import to_nexus
from pairalign.trees.tree import GuideTree


def write_tree(
    tree: GuideTree, path: Path, format: str | None = None, program: str | None = None
) -> None:
    """Write a tree; see `GuideTree.write`."""
    chosen = choose_format(path, format, TREE_SUFFIXES, "trees")
    if program is not None and chosen not in ("newick", program):
        raise UsageError(f"a tree for {program} is not written as {chosen}")
    text = tree_text(tree, chosen, program)
    with open_output(path) as output:
        output.write(text)


def tree_text(tree: GuideTree, format: str, program: str | None = None) -> bytes:
    """Return a tree as a file of a format of `TREE_SUFFIXES` has it."""
    if format in PICTURES:
        from pairalign.trees.tree_drawing import draw_tree

        return draw_tree(tree, format)
    writers = {"ascii": to_ascii, "mafft": to_mafft, "nexus": to_nexus}
    text = writers[format](tree) if format in writers else to_newick(tree, program)
    return text.encode()


def write_multiple(
    alignment: MultipleAlignment, path: Path, format: str | None = None, order: str = "input"
) -> None:
    """Write a multiple alignment; see `MultipleAlignment.write`."""
    chosen = choose_format(path, format, MSA_SUFFIXES, "multiple alignments")
    check_msa_names(alignment.sequences, chosen)
    with open_output(path) as output:
        write_alignment(output, chosen, alignment, order)


def write_posteriors(posteriors: SparsePosteriors, path: Path, format: str | None = None) -> None:
    """Write posteriors; see `SparsePosteriors.write`."""
    if posteriors.sequences is None:
        raise ValueError("posteriors without their sequences cannot be written")
    chosen = choose_format(path, format, POSTERIOR_SUFFIXES, "posteriors")
    check_format(chosen, os.fspath(path))
    writer = open_posteriors(path, chosen, posteriors.sequences, posteriors.threshold)
    try:
        writer.write(posteriors)
        writer.close()
    except BaseException:
        writer.abort()
        raise


def write_folds(split: Split, path: Path) -> None:
    """Write a split; see `Split.write`."""
    check_ending(path, TABLE_ENDINGS, "folds are written as a table")
    write_split(path, split)


def write_interaction_folds(split: InteractionSplit, path: Path) -> None:
    """Write the interactions of folds; see `InteractionSplit.write`."""
    check_ending(path, TABLE_ENDINGS, "interactions are written as a table")
    write_interactions(path, split)
