"""Reads cut where overlaps end suddenly: without adapters, and chimeras with their better part."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int64s
from pairalign.base.choices import FASTQ_SUFFIXES
from pairalign.base.error_types import FormatError
from pairalign.formats.output import open_output
from pairalign.jobs.overlaps.read_report import ReadReport, report_reads
from pairalign.reads.candidates import Candidates
from pairalign.reads.overlap_kinds import classify
from pairalign.sequences.fasta_records import Source, read_text
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet


@dataclass(frozen=True, eq=False)
class Trimmed:
    """Reads that were cut.

    Attributes
    ----------
    reads : SequenceSet
        What is left of each, with the names that they had.
    starts, stops : ndarray of int64, shape (reads,)
        Where that is in the reads as they were.
    """

    reads: SequenceSet
    starts: Int64s
    stops: Int64s
    original: SequenceSet

    @property
    def cut(self) -> int:
        """How many reads have lost residues."""
        return int(np.count_nonzero(self.stops - self.starts < self.original.lengths))

    def write(self, path: str | os.PathLike[str], *sources: Source) -> None:
        """Write the reads: FASTQ by the end of the name, else FASTA.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete.
        *sources : paths
            FASTQ that the reads come from, where FASTQ is written: it has the qualities.

        Raises
        ------
        FormatError
            FASTQ is written, and a source is no FASTQ of four lines a record.
        OutputError
        """
        qualities = None
        if os.fspath(path).lower().endswith(FASTQ_SUFFIXES):
            qualities = _read_qualities(sources, self.original)
        output = open_output(path)
        try:
            for number, read in enumerate(self.reads):
                title, residues = read.description.encode(), read.residues.encode()
                if qualities is None:
                    output.write(b">%s\n%s\n" % (title, residues))
                    continue
                quality = qualities[number][self.starts[number] : self.stops[number]]
                output.write(b"@%s\n%s\n+\n%s\n" % (title, residues, quality))
            output.close()
        finally:
            output.abort()


def trim_reads(alignments: Alignments, max_overhang: int) -> Trimmed:
    """Cut reads where a report on them has adapters and chimeras.

    Parameters
    ----------
    alignments : Alignments
        All overlaps of a set, with spans.
    max_overhang : int
        See `pairalign.reads.overlap_kinds.classify`.

    Returns
    -------
    Trimmed
        A read is cut at all its sudden ends; the piece in which overlaps have most residues stays,
        of equals the first.
    """
    report = report_reads(alignments, classify(alignments, max_overhang))
    starts, stops = good_spans(report, alignments)
    return Trimmed(_cut(report.reads, starts, stops), starts, stops, report.reads)


def good_spans(report: ReadReport, alignments: Alignments) -> tuple[Int64s, Int64s]:
    """Return where the good piece of each read starts and stops."""
    starts = np.zeros(len(report.reads), np.int64)
    stops = report.reads.lengths.astype(np.int64)
    sides = [
        (
            getattr(alignments, side),
            alignments.field(f"{side}_start"),
            alignments.field(f"{side}_end"),
        )
        for side in ("query", "target")
    ]
    read, begin, end = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    order = np.argsort(read, kind="stable")
    bounds = np.searchsorted(read[order], np.arange(len(starts) + 1))
    for number, ends in enumerate(report.sudden_ends):
        if not ends:
            continue
        rows = order[bounds[number] : bounds[number + 1]]
        marks = np.unique([0, *(sudden.position for sudden in ends), stops[number]])
        inside = [
            int(
                np.clip(np.minimum(end[rows], last) - np.maximum(begin[rows], first), 0, None).sum()
            )
            for first, last in itertools.pairwise(marks)
        ]
        best = int(np.argmax(inside))
        starts[number], stops[number] = marks[best], marks[best + 1]
    return starts, stops


def candidates_of(alignments: Alignments) -> Candidates:
    """Return the pairs that overlap, on their strands, so that cut reads are aligned again."""
    strands = np.ones(len(alignments), np.int8) if alignments.strand is None else alignments.strand
    return Candidates(alignments.query, alignments.target, strands.astype(np.int8), "overlaps")


def _cut(reads: SequenceSet, starts: Int64s, stops: Int64s) -> SequenceSet:
    """Return a set of a piece of each read."""
    spans = [
        slice(offset + start, offset + stop)
        for offset, start, stop in zip(reads.offsets[:-1], starts, stops, strict=True)
    ]
    offsets: Int64s = np.concatenate(([0], np.cumsum(stops - starts)))
    residues = b"".join(reads.residues[span].tobytes() for span in spans)
    qualities = None
    if reads.qualities is not None:
        qualities = b"".join(reads.qualities[span].tobytes() for span in spans)
    records = Records(reads.names, reads.descriptions, residues, offsets, (), qualities)
    return SequenceSet(records, alphabet=reads.alphabet, source=reads.source)


def _read_qualities(sources: Iterable[Source], reads: SequenceSet) -> list[bytes]:
    """Return the qualities of a store, or of FASTQ with four lines a record."""
    if reads.qualities is not None:
        pieces = itertools.pairwise(reads.offsets.tolist())
        return [reads.qualities[start:stop].tobytes() for start, stop in pieces]
    texts = [read_text(source, "a FASTQ file")[0] for source in sources]
    lines = [line.rstrip() for text in texts for line in text.rstrip(b"\n").split(b"\n")[3::4]]
    qualities = [line for line in lines if line]  # reads without bases are left out
    are_fastq = all(text.startswith(b"@") for text in texts)
    if not are_fastq or list(map(len, qualities)) != reads.lengths.tolist():
        raise FormatError(
            f"{reads.source}: no FASTQ with four lines a record, so there are no qualities to "
            "write: write the cut reads as FASTA (.fa)"
        )
    return qualities
