"""The options of ``pairalign overlap``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import MUTUAL, OVERLAP_FILTERS, OVERLAP_FORMAT_NAMES
from pairalign.cli.loading import later
from pairalign.cli.options import (
    NUMBER,
    POSITIVE,
    SHARE,
    add_cluster,
    add_costs,
    add_input,
    add_output,
    add_path,
    add_report,
    add_resume,
    add_sequences,
    add_shard,
    add_tags,
    converter,
    parse_above_zero,
)
from pairalign.cli.resource_options import add_resources
from pairalign.jobs.overlaps.presets import AUTO, PRESETS

_MODES = ("semiglobal", "local")


def _parse_count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


_ABOVE_ZERO = converter(parse_above_zero, "a number above 0")
_COUNT = converter(_parse_count, "a whole number of at least 0")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Align every pair of reads on both strands and write those that overlap: what miniasm, "
        "racon and others take."
    )
    parser.epilog = (
        "All pairs are scored first; those that score enough are aligned. Presets and their "
        "scoring: " + "; ".join(f"{p.name}: {p.summary}" for p in PRESETS.values()) + "."
    )
    parser.set_defaults(run=later("pairalign.cli.overlaps", "run_overlap"), input2=None)
    add_sequences(parser, "READS")
    add_output(parser, OVERLAP_FORMAT_NAMES)
    parser.add_argument(
        "--dual", action="store_true", help="PAF with each pair both ways, as racon -f wants it"
    )
    parser.add_argument(
        "--no-cigar",
        action="store_true",
        help="PAF without CIGARs, and GFA with each overlap as one nM",
    )
    add_tags(parser)
    _add_reads(parser)
    _add_thresholds(parser)
    _add_graph(parser)
    add_input(parser)
    add_shard(parser)
    add_resume(parser)
    add_cluster(parser)
    add_resources(parser)


def _add_reads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring", "instead of the preset's")
    group.add_argument(
        "--preset",
        choices=(AUTO, *PRESETS),
        default=AUTO,
        help="scoring and thresholds for a kind of reads; auto (default) looks at a sample",
    )
    group.add_argument(
        "--mode", choices=_MODES, help="default: semiglobal for short reads, else local"
    )
    add_costs(group)


def _add_thresholds(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("overlaps", "thresholds instead of the preset's")
    group.add_argument(
        "--min-overlap", metavar="N", type=_COUNT, help="residues that must overlap, on both reads"
    )
    group.add_argument(
        "--min-identity", metavar="X", type=SHARE, help="matches by columns: 0.9 or 90%%"
    )
    group.add_argument(
        "--min-score", metavar="N", type=NUMBER, help="pairs that score less are not aligned"
    )
    group.add_argument(
        "--max-overhang",
        metavar="N",
        type=_COUNT,
        help="local: residues beyond an overlap that do not make it internal",
    )
    group.add_argument(
        "--max-false",
        metavar="X",
        type=_ABOVE_ZERO,
        help="raise the least score or identity until X overlaps by chance are expected, by a "
        "sample of reads against reversed reads",
    )
    group.add_argument(
        "--max-overlaps",
        metavar="N",
        type=POSITIVE,
        help="most overlaps of a pair, as circles and repeats have several "
        "(default: 10; short reads: 1)",
    )
    add_path(
        group,
        "--candidates",
        metavar="FILE|mappy",
        help="align only these pairs, on their strands: PAF, as minimap2 -x ava-ont writes it, or "
        "two names a line; - is stdin; mappy finds them (needs pip install 'pairalign[overlap]')",
    )
    add_report(group)
    group.add_argument(
        "--all-strands",
        action="store_true",
        help="keep both strands of a pair where both pass, not just the better one",
    )
    group.add_argument(
        "--filter",
        choices=OVERLAP_FILTERS,
        default=OVERLAP_FILTERS[0],
        help="what leaves pairs out before they are scored, and loses nothing: scores by bits, or "
        "runs of equal residues that overlaps must have (default: where that is faster)",
    )


def _add_graph(parser: argparse.ArgumentParser) -> None:
    """Add ``--read-report`` and what removes reads and overlaps."""
    group = parser.add_argument_group("all overlaps together")
    add_path(
        group,
        "--read-report",
        metavar="TABLE",
        help="write a row a read: depth, residues without overlap, kind, places where overlaps end "
        "suddenly: adapters and chimeras",
    )
    group.add_argument(
        "--trim",
        action="store_true",
        help="cut reads where overlaps end suddenly, at adapters and chimeras, and align them "
        "again: an assembler then needs the cut reads, too (--trimmed)",
    )
    add_path(
        group,
        "--trimmed",
        metavar="READS",
        help="with --trim, which it means: write the cut reads, FASTQ (.fastq, .fq) or FASTA",
    )
    group.add_argument(
        "--remove-weak",
        action="store_true",
        help="leave out overlaps less than 60%% identical, as far as others cover reads 10 times: "
        "for assemblers, which else take bad ends of reads for good",
    )
    group.add_argument(
        "--mutual",
        choices=MUTUAL,
        default=MUTUAL[0],
        help="reads that are contained in each other, which miniasm deletes both: keep their "
        "overlaps (default), drop these, or keep one read, the longest, of equals the first",
    )
    group.add_argument(
        "--remove-contained",
        action="store_true",
        help="leave out reads that are contained in others, and their overlaps",
    )
    group.add_argument(
        "--remove-transitive",
        action="store_true",
        help="leave out dovetails that two others make superfluous",
    )
    group.add_argument(
        "--unitigs",
        action="store_true",
        help="GFA of the stretches of the graph without a fork, circles closed, with the bases of "
        "their reads; removes contained reads and transitive overlaps",
    )
