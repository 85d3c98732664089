"""What is asked of a multiple alignment: ``pairalign msa``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pairalign.base.arguments import IN_FILE, POSITIVE, SEED_OF_CHANCE, out_file
from pairalign.base.choices import (
    HOMOLOGS_PER_FAMILY,
    MSA_ORDERS,
    MSA_SUFFIXES,
    MSA_WITH_CONFIDENCE,
    STRANDS,
    TREE_SUFFIXES,
)
from pairalign.base.declaration import (
    Rule,
    choice,
    excluded,
    excludes,
    flag,
    option,
    place,
    request,
)
from pairalign.requests.resources import CoreArguments, CoreOptions
from pairalign.requests.shared import (
    SEQUENCE_FILE,
    CommandOptions,
    DryRunOptions,
    InputArguments,
    InputOptions,
    OutputOptions,
    OutputRules,
    ReportOptions,
    written_as,
)

if TYPE_CHECKING:
    from pairalign.alignments.multiple import MultipleAlignment
    from pairalign.trees.tree import GuideTree

_OF_ONE = ("add", "to", "confidence_of", "tree_in", "tree_out", "also", "report")
"""Options that say something of one family."""
_NOT_MERGED = ("add", "to", "confidence_of", "tree_in", "homologs", "also", "strand")
"""Options that need one alignment, or none."""
_NOT_FORETOLD = ("merge", "add", "confidence_of", "tree_in", "homologs")
"""Options with which the pairs of one guide tree a family are not what is aligned."""
_OF_A_TREE = ("tree_in", "tree_out", "order")


@request
class FamiliesOptions(CommandOptions):
    """One family, or several."""

    inputs: tuple[str, ...] = place(
        "IN",
        f"{SEQUENCE_FILE}; several: families, each aligned into a file of the folder OUT",
        kind=IN_FILE,
        nargs="*",
        is_several=True,
        surface="command",
    )


@request
class RowsOptions(CommandOptions):
    """Rows, trees, and what is known already."""

    order: str = choice(
        MSA_ORDERS,
        "of the rows: that of IN, or of the guide tree (default: %(default)s)",
        surface="command",
    )
    tree_in: str | None = option(
        help="align along this guide tree of the sequences of IN, ours or another program's",
        about="align along this guide tree of `sequences`, ours or a file in Newick format",
        metavar="NEWICK",
        kind=IN_FILE,
        elsewhere=("--treein", "--guidetree-in"),
    )
    tree_out: str | None = option(
        help="write the guide tree that was aligned along",
        metavar="NEWICK",
        kind=out_file("the guide tree is written in Newick", TREE_SUFFIXES["newick"]),
        decides=False,
        surface="command",
        elsewhere=("--treeout", "--guidetree-out"),
    )
    add: str | None = option(
        help="in place of IN: add these sequences to the alignment of --to, whose columns are kept",
        about="in place of `sequences`: add these to the alignment of `to`, whose columns are kept",
        metavar="NEW",
        kind=IN_FILE,
        elsewhere=("--addfragments", "--addfull"),
    )
    to: str | None = option(
        help="an alignment, ours or another program's (aligned FASTA, Stockholm and others), for "
        "--add",
        metavar="AFA",
        kind=IN_FILE,
    )
    merge: bool = flag(
        "IN are alignments, two or more: make one of them, in which the columns of each are kept; "
        "add sequences that are not aligned to it with --add",
        about="`sequences` are alignments, two or more: make one of them, in which the columns of "
        "each are kept, less those of gaps alone",
    )
    strand: str = choice(
        STRANDS,
        "both, of DNA: sequences on the other strand than most, or with --add than the alignment, "
        "are turned, and _R_ is put before their names (default: %(default)s)",
        elsewhere=("--adjustdirection", "--adjustdirectionaccurately"),
    )
    confidence_of: str | None = option(
        help="align nothing: write this alignment of the sequences of IN (aligned FASTA, ours or "
        "another program's) with its confidence",
        about="align nothing: return this alignment of `sequences` with its confidence",
        metavar="AFA",
        kind=IN_FILE,
    )


@request
class ConfidenceOptions(CommandOptions):
    """What is drawn to find how sure columns are."""

    partners: int | None = option(
        help="confidence: compare each sequence with N others, drawn by chance (default: with all "
        "of up to 200 sequences, with 20 of more; of up to 50 that are aligned, always with all)",
        metavar="N",
        kind=POSITIVE,
    )
    seed: int = option(
        0, "what is drawn follows from it (default: %(default)s)", metavar="N", kind=SEED_OF_CHANCE
    )


class MsaArguments(InputArguments, CoreArguments, total=False):
    """Types of what `pairalign.msa` takes besides sequences."""

    tree_in: GuideTree | str | os.PathLike[str] | None
    to: MultipleAlignment | str | os.PathLike[str] | None
    merge: bool
    confidence_of: MultipleAlignment | str | os.PathLike[str] | None
    strand: Literal["plus", "both"]
    homologs_per_family: int
    keep_homologs: bool
    partners: int | None
    seed: int


@request
class HomologsOptions(CommandOptions):
    """Sequences of a database that help to align a family."""

    RULES: ClassVar[tuple[Rule, ...]] = excluded(
        lambda request: request.homologs is None,
        "{} needs {homologs=DB}",
        *("keep_homologs", "homologs_per_family"),
    )

    homologs: Any = option(
        help="align each distant family together with homologs: local hits of its sequences in DB "
        "(FASTA or a store) with an E-value of at most 0.001, trimmed, evenly from near to far; "
        "they are taken out again",
        metavar="DB",
        kind=IN_FILE,
    )
    homologs_per_family: int = option(
        HOMOLOGS_PER_FAMILY,
        "sequences of a family with its homologs (default: %(default)s)",
        metavar="N",
        kind=POSITIVE,
    )
    keep_homologs: bool = flag(
        "leave homologs in the result, of any family: homolog_NAME/FIRST-LAST"
    )


@request
class MsaOptions(
    FamiliesOptions,
    OutputOptions,
    RowsOptions,
    HomologsOptions,
    ConfidenceOptions,
    ReportOptions,
    InputOptions,
    DryRunOptions,
    CoreOptions,
):
    """All that ``pairalign msa`` is asked."""

    SHORT: ClassVar[str] = (
        "output order tree_in tree_out add to strand confidence_of homologs report alphabet threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Align the sequences of IN over their whole lengths: a multiple alignment from the "
        "posteriors of pairs; more than 100 sequences are aligned in groups, which are joined. "
        "Stockholm and TSV have the confidence of residues and columns."
    )
    STDOUT_FORMAT: ClassVar[str] = "fasta"
    POSTERIORS: ClassVar[bool] = True
    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.is_of_families and request.writing.output in (None, "-"),
            "several families are written into a folder: give its name with -o",
        ),
        Rule(
            lambda request: request.is_of_families and not request.inputs,
            "'{.output}' is a folder: expected IN, a family or several",
        ),
        *excluded(
            lambda request: request.is_of_families,
            "{} is of one family: leave it out, or align one into a file",
            *_OF_ONE,
        ),
        *excludes("merge", "takes alignments alone", *_NOT_MERGED),
        *excludes("dry_run", "is of the guide trees of sequences", *_NOT_FORETOLD),
        Rule(
            lambda request: request.merge and len(request.inputs) < 2,
            "{merge} needs two alignments or more",
        ),
        Rule(
            lambda request: (request.add is None) != (request.to is None),
            "{add=NEW} and {to=AFA} come together",
        ),
        Rule(
            lambda request: (request.add is None) == (not request.inputs),
            "expected sequences, or {add=NEW} {to=AFA} in their place",
        ),
        *excludes("add", "keeps the alignment", "confidence_of", "also", "homologs", *_OF_A_TREE),
        *excludes("confidence_of", "aligns nothing", "homologs", "strand", *_OF_A_TREE),
        *excludes("tree_in", "is of the sequences as they are", "homologs", "strand"),
        *HomologsOptions.RULES,
        Rule(
            lambda request: (
                request.partners is not None
                and request.report is None
                and request.writing.format not in (None, *MSA_WITH_CONFIDENCE)
            ),
            "{.output}: {partners} is for confidence, which {.format} files do not have; take one "
            f"of {', '.join(MSA_WITH_CONFIDENCE)}",
        ),
    )

    writing: OutputRules = written_as(tuple(MSA_SUFFIXES), "fasta", but=("shard", "dask"))

    @property
    def is_of_families(self) -> bool:
        """Whether each of the files is a family: there are several, or the output is a folder."""
        if self.merge:
            return False
        output = self.writing.output or ""
        return len(self.inputs) > 1 or output.endswith(os.sep) or os.path.isdir(output)
