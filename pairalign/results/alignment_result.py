"""One alignment as functions return it: a view of one pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.tie_counts import TieCounter
from pairalign.base.arrays import UInt32s
from pairalign.base.error_types import UsageError
from pairalign.base.limits import default_bytes, usable_cores
from pairalign.base.notebooks import html_text
from pairalign.base.packages import check_biopython
from pairalign.results.objects import to_biotite_alignment, to_tabular_msa
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH, MISMATCH, OP_LETTERS
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sequence_records import Sequence

if TYPE_CHECKING:
    import Bio.Align
    import biotite.sequence.align
    import skbio

_COMPLEMENTS = str.maketrans("ACGTURYSWKMBDHVNacgturyswkmbdhvn", "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")


class Alignment:
    """One pair of an `Alignments`: a view, made when first read.

    Parameters
    ----------
    alignments : Alignments
        Where the pair is.
    index : int
        Its position there.

    Raises
    ------
    UsageError
        By whatever needs spans, counts or the CIGAR when these were not computed.
    """

    # No dataclass: pandas takes those apart, field by field.
    __slots__ = ("alignments", "index")

    def __init__(self, alignments: Alignments, index: int) -> None:
        self.alignments = alignments
        self.index = index

    @property
    def query(self) -> Sequence:
        """The sequence that came earlier in the input (with two sets: the one of the first)."""
        return self.alignments.queries[self.query_index]

    @property
    def target(self) -> Sequence:
        """The other sequence."""
        return self.alignments.targets[self.target_index]

    @property
    def query_index(self) -> int:
        """Index of the query in ``alignments.queries``."""
        return int(self.alignments.query[self.index])

    @property
    def target_index(self) -> int:
        """Index of the target in ``alignments.targets``."""
        return int(self.alignments.target[self.index])

    @property
    def strand(self) -> int:
        """1, or -1 where the query was reverse-complemented; spans are on the strands read."""
        strands = self.alignments.strand
        return 1 if strands is None else int(strands[self.index])

    @property
    def raw_score(self) -> int:
        """Score times ``scoring.scale``."""
        return int(self.alignments.raw_score[self.index])

    @property
    def score(self) -> int | float:
        """Score; an int unless costs or matrix have decimals."""
        scale = self.alignments.scoring.scale
        return self.raw_score if scale == 1 else self.raw_score / scale

    @property
    def bits(self) -> float:
        """Bit score; UsageError where it is not known."""
        return float(self._alone.bits[0])

    @property
    def evalue(self) -> float:
        """E-value of the query's search; UsageError where it is not known."""
        return float(self._alone.evalue[0])

    @property
    def confidence(self) -> str:
        """How sure each column is, see `Alignments.confidence`."""
        return mark_confidence(self._alone)[0]

    @property
    def ties(self) -> int:
        """How many optimal alignments the pair has, see `Alignments.ties`."""
        return int(count_ties(self._alone)[0])

    @property
    def _alone(self) -> Alignments:
        """The pair as an `Alignments` of one."""
        return self.alignments[self.index : self.index + 1]

    def _stat(self, name: str) -> int:
        return int(self.alignments.field(name)[self.index])

    @property
    def query_start(self) -> int:
        """First aligned residue of the query, counted from 0."""
        return self._stat("query_start")

    @property
    def query_end(self) -> int:
        """One past the last aligned residue of the query."""
        return self._stat("query_end")

    @property
    def target_start(self) -> int:
        """First aligned residue of the target, counted from 0."""
        return self._stat("target_start")

    @property
    def target_end(self) -> int:
        """One past the last aligned residue of the target."""
        return self._stat("target_end")

    @property
    def matches(self) -> int:
        """Columns with equal residues."""
        return self._stat("matches")

    @property
    def mismatches(self) -> int:
        """Columns with unequal residues."""
        return self._stat("mismatches")

    @property
    def gap_openings(self) -> int:
        """Gaps."""
        return self._stat("gap_openings")

    @property
    def gap_residues(self) -> int:
        """Residues opposite gaps."""
        return self._stat("gap_residues")

    @property
    def columns(self) -> int:
        """Columns of the alignment, free end gaps not counted."""
        return self.matches + self.mismatches + self.gap_residues

    @property
    def identity(self) -> float:
        """Matches by columns; nan when nothing is aligned."""
        return self.matches / self.columns if self.columns else float("nan")

    @property
    def runs(self) -> UInt32s:
        """CIGAR runs, uint32 of shape (runs,): ``length << 4 | op``."""
        runs, offsets = self.alignments.cigar, self.alignments.cigar_offsets
        if runs is None or offsets is None:
            raise UsageError("CIGARs were not computed for these alignments")
        return runs[offsets[self.index] : offsets[self.index + 1]]

    @property
    def cigar(self) -> str:
        """CIGAR as text, like ``12=1X3I``; ``*`` when nothing is aligned."""
        return "".join(f"{run >> 4}{OP_LETTERS[run & 15]}" for run in self.runs.tolist()) or "*"

    def rows(self) -> tuple[str, str]:
        """Query and target as two strings of equal length, ``-`` in gaps.

        Modes global and semiglobal show both sequences whole, free end gaps as gaps; mode local
        shows the aligned parts. On strand -1 the query is shown reverse-complemented.

        Returns
        -------
        query : str
        target : str
            The two rows.
        """
        query, target, _ = self._columns()
        return query, target

    def _row_runs(self) -> tuple[int, int, list[tuple[int, int]]]:
        """Where the rows start in query and target, and their runs as (op, length).

        The query's place is that on the strand that is aligned.
        """
        runs = [(run & 15, run >> 4) for run in self.runs.tolist()]
        query_length = int(self.alignments.queries.lengths[self.query_index])
        query_start, query_end = self.query_start, self.query_end
        if self.strand < 0 and runs:
            query_start, query_end = query_length - query_end, query_length - query_start
        if self.alignments.scoring.mode == "local":
            return query_start, self.target_start, runs
        head = [(INSERTION, query_start), (DELETION, self.target_start)]
        target_length = int(self.alignments.targets.lengths[self.target_index])
        tail = [
            (INSERTION, query_length - query_end),
            (DELETION, target_length - self.target_end),
        ]
        return 0, 0, [run for run in (*head, *runs, *tail) if run[1]]

    def _columns(self) -> tuple[str, str, str]:
        """Return the rows and the markup between them: ``|`` equal, ``:`` similar, ``.`` other."""
        q, t, runs = self._row_runs()
        queries, targets = self.alignments.queries, self.alignments.targets
        query, target = self.query.residues, self.target.residues
        query_codes = queries.codes_of(self.query_index)
        if self.strand < 0:
            query = query.translate(_COMPLEMENTS)[::-1]
            query_codes = reverse_complement(query_codes, queries.alphabet)
        target_codes = targets.codes[targets.offsets[self.target_index] :]
        top, bottom, markup = [], [], []
        for op, length in runs:
            top.append("-" * length if op == DELETION else query[q : q + length])
            bottom.append("-" * length if op == INSERTION else target[t : t + length])
            if op == MISMATCH:
                pairs = query_codes[q : q + length], target_codes[t : t + length]
                scores = self.alignments.scoring.matrix[pairs].tolist()
                markup.append("".join(":" if score > 0 else "." for score in scores))
            else:
                markup.append(("|" if op == MATCH else " ") * length)
            q += 0 if op == DELETION else length
            t += 0 if op == INSERTION else length
        return "".join(top), "".join(bottom), "".join(markup)

    def __repr__(self) -> str:
        return f"<Alignment: {self.query.name} x {self.target.name}, score {self.score}>"

    def _repr_html_(self) -> str:
        """Show the first columns of the alignment, for notebooks."""
        return html_text(self, str(self).splitlines())

    def __str__(self) -> str:
        """Show the alignment in blocks of 60 columns, with positions counted from 1."""
        turned = ", query reverse-complemented" if self.strand < 0 else ""
        lines = [f"{self.query.name} x {self.target.name}{turned}", f"score {self.score}"]
        if not self.alignments.has_stats:
            return "\n".join(lines) + "\n"
        if self.columns == 0:
            lines[1] += ", nothing aligned"
            return "\n".join(lines) + "\n"
        lines[1] += (
            f", {self.matches} of {self.columns} columns identical ({100 * self.identity:.1f}%), "
            f"{self.gap_residues} residues in {self.gap_openings} gaps"
        )
        if not self.alignments.has_cigar:
            return "\n".join(lines) + "\n"
        return "\n".join([*lines, "", *self._blocks()]) + "\n"

    def _blocks(self, width: int = 60) -> Iterator[str]:
        q, t, _ = self._row_runs()
        top, bottom, markup = self._columns()
        names = max(len(self.query.name), len(self.target.name))
        length = len(self.query)
        digits = len(str(max(length, len(self.target))))
        for start in range(0, len(top), width):
            if start:
                yield ""
            cut = slice(start, start + width)
            q_next = q + len(top[cut].replace("-", ""))
            t_next = t + len(bottom[cut].replace("-", ""))
            first, last = min(q + 1, q_next), q_next
            if self.strand < 0:  # positions of the query as it was read
                first, last = (length + 1 - max(1, place) for place in (first, last))
            yield f"{self.query.name:<{names}} {first:>{digits}} {top[cut]} {last}"
            yield f"{'':<{names + digits + 1}} {markup[cut]}".rstrip()
            yield (
                f"{self.target.name:<{names}} {min(t + 1, t_next):>{digits}} {bottom[cut]} {t_next}"
            )
            q, t = q_next, t_next

    def to_biopython(self) -> Bio.Align.Alignment:
        """Convert to a ``Bio.Align.Alignment`` along the same path.

        Returns
        -------
        Bio.Align.Alignment
            Of two SeqRecords, target first as in all of Biopython, so that ``.query`` and
            ``.target`` mean what they mean here. It covers the columns of `rows` and has the score
            in ``.score``. On strand -1 the query's coordinates fall.
        """
        check_biopython("such an alignment")
        import Bio.Align
        from Bio.Seq import Seq
        from Bio.SeqRecord import SeqRecord

        q, t, runs = self._row_runs()
        # Biopython's path has a corner only where the direction changes: = and X are one step,
        # and so are a free end gap and a gap beside it.
        corners, before = [(t, q)], None
        for op, length in runs:
            q += 0 if op == DELETION else length
            t += 0 if op == INSERTION else length
            direction = op if op in (INSERTION, DELETION) else MATCH
            if direction == before:
                corners.pop()
            corners.append((t, q))
            before = direction
        records = [
            SeqRecord(
                Seq(sequence.residues),
                id=sequence.name,
                name=sequence.name,
                description=sequence.description,
            )
            for sequence in (self.target, self.query)
        ]
        make: Any = Bio.Align.Alignment  # untyped
        path = np.array(corners).T
        if self.strand < 0:
            path[1] = len(self.query) - path[1]
        alignment = make(records, path)
        alignment.score = self.score
        converted: Bio.Align.Alignment = alignment
        return converted

    def to_skbio(self) -> skbio.TabularMSA:
        """Convert to a ``skbio.TabularMSA`` of the two `rows`, the query first.

        Returns
        -------
        skbio.TabularMSA
            Labelled with the names, with the score in its ``metadata``. On strand -1 the query is
            reverse-complemented.

        Raises
        ------
        MissingPackageError
            scikit-bio is not installed.
        """
        names = [self.query.name, self.target.name]
        return to_tabular_msa(self.rows(), names, self._alphabet, score=self.score)

    def to_biotite(self) -> biotite.sequence.align.Alignment:
        """Convert to a ``biotite.sequence.align.Alignment`` along the same path.

        Returns
        -------
        biotite.sequence.align.Alignment
            Of the whole sequences, the query first, with the score. On strand -1 the query is
            reverse-complemented.

        Raises
        ------
        MissingPackageError
            biotite is not installed.
        """
        q, t, _ = self._row_runs()
        query = self.query.residues
        if self.strand < 0:
            query = query.translate(_COMPLEMENTS)[::-1]
        sequences = [query, self.target.residues]
        return to_biotite_alignment(self.rows(), sequences, (q, t), self._alphabet, self.score)

    @property
    def _alphabet(self) -> Alphabet:
        return self.alignments.queries.alphabet


def mark_confidence(alignments: Alignments) -> list[str]:
    """Return how sure each column is; see `Alignments.confidence`."""
    from pairalign.engines.posterior_engines import ColumnConfidence

    if not alignments.has_cigar:
        raise UsageError("how sure columns are needs CIGARs: align with detail='cigar'")
    if alignments.strand is not None and (alignments.strand < 0).any():
        raise UsageError("how sure columns are is known of alignments on strand plus")
    marks, offsets = ColumnConfidence("auto", usable_cores(), default_bytes()).marks(alignments)
    text, bounds = marks.tobytes().decode(), offsets.tolist()
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


def count_ties(alignments: Alignments) -> UInt32s:
    """Return how many optimal alignments each pair has; see `Alignments.ties`."""
    from pairalign.engines.tie_engines import tallies_on

    sets, threads = (alignments.queries, alignments.targets), usable_cores()
    tallies = tallies_on("auto", threads, None)
    with closing(TieCounter(*sets, alignments.scoring, threads, open_tally=tallies)) as counter:
        return counter.count(alignments)
