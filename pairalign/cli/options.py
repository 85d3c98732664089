"""What the commands of the command line share: types of arguments, and groups of options.

A command adds groups of options to its parser with `add_scoring`, `add_input`, `add_resources` and
the like (`pairalign.cli.kept_options` has thresholds and hits). What is made of the parsed options
is in `pairalign.cli.planning`. Nothing heavy is imported here, nor in the modules with a command's
own options: help is there at once.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from pairalign.base.arguments import MOST_SHARDS, parse_shard, parse_share, parse_size
from pairalign.base.choices import (
    COMMIT_SECONDS,
    LOCAL_CLUSTER,
    MODES,
    ON_DUPLICATE,
    ON_EMPTY,
    STRANDS,
    TIES,
)

_Value = TypeVar("_Value")
_DEVICE = re.compile(r"auto|cpu|(cuda|opencl)(:\d+(,\d+)*)?")


# ---------------------------------------------------------------------------------------------
# Types of arguments, for argparse's `type`


def converter(convert: Callable[[str], _Value], expected: str) -> Callable[[str], _Value]:
    """Make a type for argparse whose message says what was expected.

    Parameters
    ----------
    convert : callable
        Makes the value of an argument's text; raises ValueError or ArithmeticError.
    expected : str
        What a right argument is, for the message: "a number".

    Returns
    -------
    callable
        For `type` of ``add_argument``.
    """

    def converted(text: str) -> _Value:
        try:
            return convert(text)
        except (ValueError, ArithmeticError):
            raise argparse.ArgumentTypeError(f"found '{text}', expected {expected}") from None

    return converted


def _parse_whole(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**31 - 1:
        raise ValueError
    return number


def _parse_positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _parse_number(text: str) -> str:
    if not Decimal(text).is_finite():
        raise ValueError
    return text


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def parse_above_zero(text: str) -> float:
    """Return a finite number above 0; ValueError if the text is none."""
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError
    return number


def _parse_path(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _parse_device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError
    return text


def _parse_cluster(text: str) -> str:
    if text.startswith(LOCAL_CLUSTER) and int(text.removeprefix(LOCAL_CLUSTER)) < 1:
        raise ValueError
    return text


PATH = converter(_parse_path, "the name of a file")
POSITIVE = converter(_parse_positive, "a whole number of at least 1")
WHOLE = converter(_parse_whole, "a whole number of 0 or more")
NUMBER = converter(_parse_number, "a number")
"""The text of a finite decimal number, which is kept as it is: costs are exact."""
_COMPLETE_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files"}
"""What shtab asks each shell for."""
MATRICES = {"bash": "_pairalign_matrices", "zsh": "_pairalign_matrices"}
"""Functions of the scripts that `pairalign.cli.completion` makes."""
SEQUENCE_FILE = (
    "FASTA, FASTQ, GenBank, EMBL, UniProt, Stockholm, Clustal, PIR or A3M, compressed or not; - is "
    "stdin"
)
SECONDS = converter(_parse_seconds, "a number of seconds, 0 or more")
SHARD = converter(parse_shard, f"K/N with K from 1 to N, and N up to {MOST_SHARDS:,}, such as 3/64")
CLUSTER = converter(_parse_cluster, "the address of a Dask scheduler, or local:N")
SHARE = converter(parse_share, "a number from 0 to 1, or with %, such as 0.97 or 97%")
DEVICE = converter(_parse_device, "auto, cpu, cuda, cuda:0,1, opencl or opencl:0,1")
SIZE = converter(parse_size, "a number with K, M, G or T, such as 512M")


# ---------------------------------------------------------------------------------------------
# Groups of options


def add_path(parser: Any, *names: str, **options: Any) -> None:
    """Add an argument that is the name of a file, which shells complete.

    Parameters
    ----------
    parser : argparse.ArgumentParser, or a group of one
        Of a subcommand.
    *names, **options
        As for ``add_argument``, without ``type``.
    """
    action: Any = parser.add_argument(*names, type=PATH, **options)
    action.complete = _COMPLETE_FILES


def add_output(
    parser: argparse.ArgumentParser, formats: Iterable[str], default: str = "paf"
) -> None:
    """Add ``-o`` and ``--format``, which `choose_output` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    formats : iterable of str
        Names of the formats.
    default : str
        The one for standard output.
    """
    parser.set_defaults(default_format=default)
    add_path(
        parser,
        "-o",
        "--output",
        metavar="OUT",
        help="file, or - for stdout, which is the default unless that is a terminal; .gz "
        "compresses",
    )
    parser.add_argument(
        "--format",
        choices=list(formats),
        help=f"default: by the ending of OUT's name; {default} for stdout",
    )


def add_sequences(parser: argparse.ArgumentParser, metavar: str = "IN") -> None:
    """Add the name of the file with the sequences.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    metavar : str
        What the help calls the file.
    """
    add_path(parser, "input", metavar=metavar, help=SEQUENCE_FILE)


def add_scoring(parser: argparse.ArgumentParser, mode: str = "global") -> None:
    """Add the options that `scoring_request` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    mode : str
        The default of ``--mode``.
    """
    group = parser.add_argument_group(
        "scoring", "default: BLOSUM62 and gaps 11/1 for proteins, 2/-3 and gaps 5/2 for DNA"
    )
    group.add_argument("--mode", choices=MODES, default=mode, help="default: %(default)s")
    matrix: Any = group.add_argument(
        "--matrix",
        metavar="NAME|FILE",
        help="substitution matrix: Biopython's name, or NCBI format",
    )
    matrix.complete = MATRICES
    add_costs(group)
    add_end_gaps(group)


def add_strand(group: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add ``--strand``."""
    group.add_argument(
        "--strand",
        choices=STRANDS,
        default=STRANDS[0],
        help="both, of DNA: align each pair on the strand with the higher score, plus if equal "
        "(default: %(default)s)",
    )


def add_end_gaps(group: argparse._ArgumentGroup) -> None:
    """Add the costs of gaps at ends, and the rule for ties."""
    group.add_argument(
        "--free-ends",
        metavar="END,...",
        help="ends where gaps are free: query-start, query-end, target-start, target-end",
    )
    group.add_argument(
        "--end-gap-open", metavar="X", help="cost of the first residue of a gap at another end"
    )
    group.add_argument("--end-gap-extend", metavar="X", help="cost of each further residue there")
    group.add_argument(
        "--ties",
        choices=TIES,
        default=TIES[0],
        help="which of equally good alignments is taken: vsearch's where end gaps cost less than "
        "others, on the CPU (usual)",
    )


def add_costs(group: argparse._ArgumentGroup) -> None:
    """Add the scores of residues and the costs of gaps.

    Parameters
    ----------
    group : argparse._ArgumentGroup
        What `add_argument_group` of a subcommand's parser returned.
    """
    group.add_argument("--match", metavar="N", help="score of equal residues")
    group.add_argument("--mismatch", metavar="N", help="score of different residues, such as -3")
    group.add_argument("--gap-open", metavar="X", help="cost of a gap's first residue")
    group.add_argument("--gap-extend", metavar="X", help="cost of each further residue")


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the options that `read_sequences` reads beside the names of the files.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("input")
    group.add_argument(
        "--alphabet", choices=("auto", "dna", "protein"), default="auto", help="default: guessed"
    )
    group.add_argument(
        "--degap", action="store_true", help="drop - and . from the sequences (of alignments)"
    )
    add_path(
        group,
        "--also",
        metavar="FILE",
        action="append",
        default=[],
        help="another file of the same set, whose sequences follow; may be given again",
    )
    for name, choices, what in (
        ("--on-empty", ON_EMPTY, "skip: no records without residues (default: error)"),
        ("--on-duplicate", ON_DUPLICATE, "rename: NAME_2 of a second NAME (default: error)"),
    ):
        group.add_argument(name, choices=choices, default=choices[0], help=what)


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Add ``--shard``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("in parts")
    group.add_argument(
        "--shard",
        metavar="K/N",
        type=SHARD,
        help="do the K-th of N parts, which take about the same time, and write it into the "
        "folder OUT; see: pairalign merge",
    )


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add ``--resume``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("to go on after a kill or a full disk")
    group.add_argument(
        "--resume",
        action="store_true",
        help="keep OUT.part and OUT.journal, and go on where a run of the same command was ended",
    )
    group.add_argument(
        "--commit-every",
        metavar="S",
        type=SECONDS,
        default=COMMIT_SECONDS,
        help="commit interval in seconds; 0: as often as results allow (default: %(default)g)",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add ``--dask``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    parser.add_argument_group("on a cluster").add_argument(
        "--dask",
        metavar="ADDRESS|local:N",
        type=CLUSTER,
        help="align on the workers of a Dask scheduler (pip install 'pairalign[cluster]'), or in N "
        "processes here; parts go into the folder OUT.parts, which all workers must see",
    )


def add_tags(parser: argparse.ArgumentParser) -> None:
    """Add what lines of PAF and SAM have besides."""
    parser.add_argument(
        "--paf-tags", metavar="TAG,...", help="PAF: tp (primary), cs (minimap2's traceback), pp"
    )
    parser.add_argument(
        "--sam-tags",
        metavar="TAG,...",
        help="SAM: MD (the target's residues that differ), pp (how sure columns are)",
    )
    parser.add_argument(
        "--plain-cigar",
        action="store_true",
        help="PAF, SAM: CIGARs with M in the place of = and X, for programs that know no others",
    )


def add_report(group: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add ``--report``."""
    add_path(
        group,
        "--report",
        metavar="HTML",
        help="write a page to look at: histograms, a heat map, the best pairs and their alignments",
    )
