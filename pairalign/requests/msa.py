"""What is asked of a multiple alignment: ``pairalign msa``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pairalign.base.choices import MSA_ORDERS, MSA_SUFFIXES
from pairalign.base.declaration import choice, option, place
from pairalign.requests.kinds import PATH, POSITIVE, SEED_OF_CHANCE
from pairalign.requests.shared import (
    SEQUENCE_FILE,
    Asked,
    CoreOptions,
    InputOptions,
    OutputOptions,
    ResumeOptions,
    format_option,
)


@dataclass(frozen=True)
class FamiliesOptions(Asked):
    """One family, or several."""

    inputs: tuple[str, ...] = place(
        "IN",
        f"{SEQUENCE_FILE}; several: families, each aligned into a file of the folder OUT",
        kind=PATH,
        nargs="*",
        is_several=True,
        surface="command",
    )


@dataclass(frozen=True)
class RowsOptions(Asked):
    """Rows, trees, and what is known already."""

    order: str = choice(
        MSA_ORDERS, "of the rows: that of IN, or of the guide tree (default: %(default)s)"
    )
    tree_in: str | None = option(
        help="align along this guide tree of the sequences of IN, ours or another program's",
        metavar="NEWICK",
        kind=PATH,
    )
    tree_out: str | None = option(
        help="write the guide tree that was aligned along",
        metavar="NEWICK",
        kind=PATH,
        decides=False,
        surface="command",
    )
    add: str | None = option(
        help="in place of IN: add these sequences to the alignment of --to, whose columns are kept",
        metavar="NEW",
        kind=PATH,
    )
    to: str | None = option(
        help="an alignment, ours or another program's (aligned FASTA), for --add",
        metavar="AFA",
        kind=PATH,
    )
    confidence_of: str | None = option(
        help="align nothing: write this alignment of the sequences of IN (aligned FASTA, ours or "
        "another program's) with its confidence",
        metavar="AFA",
        kind=PATH,
    )
    partners: int | None = option(
        help="confidence: compare each sequence with N others, drawn by chance (default: with all "
        "of up to 200 sequences, with 20 of more)",
        metavar="N",
        kind=POSITIVE,
    )
    seed: int = option(
        0, "what is drawn follows from it (default: %(default)s)", metavar="N", kind=SEED_OF_CHANCE
    )


@dataclass(frozen=True)
class MsaOptions(
    FamiliesOptions,
    OutputOptions,
    RowsOptions,
    InputOptions,
    CoreOptions,
    ResumeOptions,
):
    """All that ``pairalign msa`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Align the sequences of IN over their whole lengths: a multiple alignment from the "
        "posteriors of pairs; more than 100 sequences are aligned in groups, which are joined. "
        "Stockholm and TSV have the confidence of residues and columns."
    )
    STDOUT_FORMAT: ClassVar[str] = "fasta"
    FIXED: ClassVar[dict[str, Any]] = {"input": None, "input2": None, "progress": False}

    format: str | None = format_option(tuple(MSA_SUFFIXES), "fasta")
