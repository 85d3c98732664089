"""The request of a file of alignments: ``pairalign verify``."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.arguments import IN_FILE
from pairalign.base.choices import READER_NAMES, TABLES
from pairalign.base.declaration import Rule, again, flag, group, option, place, request
from pairalign.requests.resources import ResourceArguments, ResourcesOptions
from pairalign.requests.shared import (
    SCORING,
    SEQUENCE_FILE,
    CommandOptions,
    MaskArguments,
    Masking,
    MaskOptions,
    OutputOptions,
    OutputRules,
    ProblemArguments,
    ProblemOptions,
    written_as,
)
from pairalign.scoring.scoring_request import ScoringRequest

_CHECKED = "what is checked"


@request
class CheckedFiles(CommandOptions):
    """The file, and the sequences of its records."""

    alignments: str = place(
        "ALIGNMENTS", "the file to check, compressed or not; - is stdin", kind=IN_FILE
    )
    input: str = place("SEQUENCES", f"the queries: {SEQUENCE_FILE}", kind=IN_FILE)
    input2: str | None = place(
        "SEQUENCES2", "the targets, if not in there", kind=IN_FILE, nargs="?"
    )


@request
class CheckedOptions(CommandOptions):
    """How the file is read, and what is checked."""

    read_as: str | None = option(
        help="format of ALIGNMENTS; default: by the ending of its name",
        about="the format; default: by the ending of the name",
        flags=("--from",),
        values=READER_NAMES,
    )
    columns: str = option(
        "",
        "columns of blast6, by our names, BLAST's or MMseqs2's; _ is any that is not checked",
        metavar="NAME,NAME...",
        elsewhere=("--userfields", "--format-output"),
    )
    optimal: bool = flag(
        "align the pairs, and say how far each record is from the optimum", group=_CHECKED
    )
    ignore_scores: bool = flag(
        "the file's scores are of another scoring: do not compare them", group=_CHECKED
    )
    illegal: bool = flag(
        "write only records that are illegal or, with --optimal, not optimal",
        about="keep only records that are illegal or, with `optimal`, not optimal",
        group=_CHECKED,
    )


class VerifyArguments(ProblemArguments, MaskArguments, ResourceArguments, total=False):
    """Types of what `pairalign.verify` takes besides files, scoring and mode."""

    read_as: str | None
    optimal: bool
    ignore_scores: bool
    illegal: bool


@request
class VerifyOptions(
    CheckedFiles,
    OutputOptions,
    CheckedOptions,
    MaskOptions,
    ProblemOptions,
    ResourcesOptions,
):
    """The request of ``pairalign verify``; of a scoring, what is not given is any."""

    SHORT: ClassVar[str] = (
        "output read_as columns optimal ignore_scores illegal mode matrix gap_open "
        "gap_extend threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Check each alignment of a file, ours or another program's, against the sequences, score "
        "it, and say with --optimal how far it is from the best there is: a table with a line a "
        "record. The exit code is 1 if any record is illegal."
    )
    STDOUT_FORMAT: ClassVar[str] = "tsv"
    PLACED: ClassVar[dict[type, str]] = {MaskOptions: SCORING}

    writing: OutputRules = written_as(tuple(TABLES), "tsv")
    scoring: ScoringRequest = group(
        ScoringRequest,
        SCORING,
        mode={
            "default": None,
            "help": "which spans are legal, and what optimal means; default: what the file says, "
            "or any",
        },
    )
    masking: Masking = again(
        MaskOptions,
        "masking",
        mask={
            "help": "what masked residues were found by; with --mask-scores",
            "needs": Rule(
                lambda request: not request.masking.mask_scores, "{mask=.} needs {mask_scores} here"
            ),
        },
    )

    @property
    def has_mode(self) -> bool:
        """Whether the mode is known: also where gaps at ends cost something of their own."""
        return self.scoring.mode is not None or self.scoring.has_end_gaps
