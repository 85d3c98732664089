"""Alignment files checked against the sequences, scored again, and compared with the optimum."""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pairalign.alignments.alignment_records import (
    CLAIMS,
    FAULTS,
    UNSAID,
    AlignmentRecords,
    RecordChecker,
    SetNames,
    describe_fault,
    fault_names,
)
from pairalign.alignments.problem import Problem
from pairalign.alignments.tie_counts import TieCounter
from pairalign.base.arrays import Bools, Int64s, Structs
from pairalign.base.choices import END_GAPS, LIST_WINDOW
from pairalign.base.error_types import FormatError, shown_name
from pairalign.base.native import Struct, library, struct_fields
from pairalign.base.spelling import spelled
from pairalign.engines.tie_engines import tallies_on
from pairalign.formats.readers import RecordReader, open_reader
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet

_AHEAD = 2
"""Pieces of the file that wait for each thread."""

_TOGETHER_RECORDS, _TOGETHER_PIECES = 1 << 18, 16
"""Records, or pieces of text, aligned at a time: an engine is opened for them."""

_OF_ALIGNMENT = (1 << FAULTS.index("mode") + 1) - 1
"""Faults of the alignment itself; the others are of what is said of it."""

_SCORE = CLAIMS.index("score")
_SCORE_FAULT = FAULTS.index("score")
_TIES, _TIES_FAULT = CLAIMS.index("ties"), FAULTS.index("ties")
Scores = Int64s


@dataclass
class Totals:
    """What was found in a file.

    Attributes
    ----------
    records, illegal, scored, others : int
        All; those with faults; those with columns to score; entries that are no alignments.
    faults : dict of str to int
        Records by fault; one may have several.
    compared, optimal, better : int
        Records that were compared with the optimum; those that attain it; those that score more,
        which cannot be.
    missing : int
        Raw score that all of those compared are below their optima.
    """

    records: int = 0
    illegal: int = 0
    scored: int = 0
    others: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    compared: int = 0
    optimal: int = 0
    better: int = 0
    missing: int = 0

    def add(self, checked: Checked) -> None:
        """Count some more records."""
        faults = checked.findings["faults"]
        self.records += len(faults)
        self.illegal += int(np.count_nonzero(faults))
        self.scored += int(np.count_nonzero(checked.findings["scored"]))
        self.others += checked.found.others
        seen = int(np.bitwise_or.reduce(faults, initial=np.uint64(0)))
        for number, name in enumerate(FAULTS):
            if seen >> number & 1:
                count = int(np.count_nonzero(faults >> np.uint64(number) & np.uint64(1)))
                self.faults[name] = self.faults.get(name, 0) + count
        if checked.below is not None:
            below = checked.below[checked.below != UNSAID]
            self.compared += len(below)
            self.optimal += int(np.count_nonzero(below == 0))
            self.better += int(np.count_nonzero(below < 0))
            self.missing += int(below[below > 0].sum())


@dataclass(frozen=True)
class Checked:
    """What was found of a piece of a file.

    Attributes
    ----------
    found : AlignmentRecords
        What the file says.
    findings : ndarray of FINDING, shape (n,)
    first_record, first_line : int
        Numbers in the file, from 1.
    optima, below : ndarray of int64, shape (n,), or None
        Raw score of an optimal alignment of the pair, and how far the record is below it; `UNSAID`
        where it is not known.
    """

    found: AlignmentRecords
    findings: Structs
    first_record: int
    first_line: int
    optima: Scores | None = None
    below: Scores | None = None

    def suspicious(self) -> Checked:
        """Return those records that are illegal, or below the optimum."""
        chosen = self.findings["faults"] != 0
        if self.below is not None:
            chosen |= (self.below != UNSAID) & (self.below != 0)
        numbers = np.flatnonzero(chosen)
        return replace(
            self,
            found=replace(self.found, records=self.found.records[numbers]),
            findings=self.findings[numbers],
            optima=None if self.optima is None else self.optima[numbers],
            below=None if self.below is None else self.below[numbers],
        )

    def lines(self, scoring: Scoring) -> bytes:
        """Return the lines of the table."""
        return format_findings(
            self.found,
            self.findings,
            self.first_record,
            self.first_line,
            scoring,
            None if self.optima is None or self.below is None else (self.optima, self.below),
        )

    def messages(self, most: int) -> Iterator[str]:
        """Yield a sentence on each of the first illegal records."""
        for k in np.flatnonzero(self.findings["faults"])[: max(most, 0)].tolist():
            record = self.found.records[k]
            number = self.first_record + int(record["number"])
            line = self.first_line + int(record["line"])
            names = " and ".join(
                shown_name(self.found.name(k, side)) for side in ("query", "target")
            )
            yield (f"record {number} (line {line}), {names}: {describe_fault(self.findings[k])}")


class VerifyJob:
    """A file that is checked; `open` it for what is found.

    Parameters
    ----------
    path : str
        The alignment file; ``"-"`` is standard input.
    problem : Problem
        Of one set, both names of a record are among the queries. The mode of its scoring is used
        only where `mode` says so.
    format : str, optional
        Default: by the end of the file's name.
    columns : tuple of str
        Of a table without a header.
    mode : str, optional
        Which spans are legal, and what optimal means. Default: what the file says; else any spans
        are legal, and gaps at the ends cost.
    scores : bool
        The file's scores are those of the scoring; one that is not is a fault.
    optimal : bool
        Align all pairs of legal records and compare the scores.
    resources : Resources, optional
        Default: one thread.

    Attributes
    ----------
    scoring : Scoring
        With the mode that is used, once the job is open.
    mode : str or None
        The one that was given or found.
    totals : Totals
        Of what has been handed out.
    columns : tuple of str
        Of the table.

    Raises
    ------
    FormatError
        There is no such format; or, once the job is open, `optimal` without any mode, or a file
        whose end gaps have costs that are not known.
    AlignmentFileError
        The file cannot be read, here or later.
    AlphabetError, ScoringError
        The sequences cannot be scored.
    """

    def __init__(
        self,
        path: str,
        problem: Problem,
        *,
        format: str | None = None,
        columns: tuple[str, ...] = (),
        mode: str | None = None,
        scores: bool = True,
        optimal: bool = False,
        resources: Resources | None = None,
    ) -> None:
        queries, targets = problem.queries, problem.targets
        self.queries, self.targets = queries, problem.others
        self.scoring, self.mode = problem.scoring, mode
        self.totals = Totals()
        self._scores, self._optimal = scores, optimal
        self._resources = Resources(threads=1) if resources is None else resources
        self.threads = self._resources.used_threads
        problem.scoring.check_sets(queries, targets)
        first = SetNames(queries)
        names = first, first if targets is None else SetNames(targets)
        self.reader: RecordReader = open_reader(path, format, names, columns)
        self.reader.whole = mode in ("global", END_GAPS)
        self._optima: Optima | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the table's columns."""
        names = ("record", "line", "query", "target", "verdict", "detail", "score", "file_score")
        return (*names, "optimum", "below") if self._optimal else names

    @property
    def not_checked(self) -> list[str]:
        """What the file states that is not compared, or only as far as it can be."""
        checked = ("ties",) if self._optimal else ()
        names = [name for name in self.reader.not_checked if name not in checked]
        return [*names, *(() if self._scores else ("scores", "positives"))]

    @contextmanager
    def open(self) -> Iterator[Iterator[Checked]]:
        """Begin; what is found comes in the order of the file, some records at a time."""
        try:
            pieces = self.reader.pieces()
            first = next(pieces, None)
            if self.mode is None:
                self.mode = self.reader.mode
            if self.mode == END_GAPS and self.scoring.end_gaps is None:
                raise FormatError(
                    f"{self.reader.source}: its end gaps have costs of their own: say which with "
                    f"{spelled('end_gap_open')}, {spelled('end_gap_extend')} and "
                    f"{spelled('free_ends')}"
                )
            if self._optimal and self.mode is None:
                options = spelled("optimal", True), spelled("mode")
                raise FormatError("{} needs {}: the file does not say which it is".format(*options))
            mode = self.mode or "global"
            end_gaps = self.scoring.end_gaps if mode == END_GAPS else None
            self.scoring = replace(self.scoring, mode=mode, end_gaps=end_gaps)
            checker = RecordChecker(
                self.queries,
                self.targets,
                self.scoring,
                whole=self.mode is not None,
                scores=self._scores,
            )
            chained = pieces if first is None else itertools.chain((first,), pieces)
            yield self._run(chained, checker)
        finally:
            self.reader.close()
            if self._optima is not None:
                self._optima.close()

    def _run(self, pieces: Iterator[Any], checker: RecordChecker) -> Iterator[Checked]:
        """Check pieces, on threads, and compare them with the optimum, some together."""
        batch: list[Checked] = []
        for checked in self._number(self._check_all(pieces, checker)):
            batch.append(checked)
            records = sum(len(piece.found) for piece in batch)
            if self._optimal and records < _TOGETHER_RECORDS and len(batch) < _TOGETHER_PIECES:
                continue
            yield from self._compare(batch)
            batch = []
        yield from self._compare(batch)

    def _check_all(
        self, pieces: Iterator[Any], checker: RecordChecker
    ) -> Iterator[tuple[AlignmentRecords, Structs]]:
        def check(piece: Any) -> tuple[AlignmentRecords, Structs]:
            records = self.reader.read(piece)
            findings = checker.check(records)
            if self.mode is None and self.reader.has_two_readings and findings["faults"].any():
                whole = self.reader.read_whole(piece)
                of_whole = checker.check(whole)
                if np.count_nonzero(of_whole["faults"]) < np.count_nonzero(findings["faults"]):
                    return whole, of_whole
            return records, findings

        waiting: deque[Future[tuple[AlignmentRecords, Structs]]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for piece in pieces:
                    waiting.append(pool.submit(check, piece))
                    if len(waiting) > _AHEAD * self.threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _number(self, pieces: Iterator[tuple[AlignmentRecords, Structs]]) -> Iterator[Checked]:
        record, line = 1, 1 + self.reader.lines_before
        for records, findings in pieces:
            yield Checked(records, findings, record, line)
            record += len(records)
            line += records.lines

    def _compare(self, batch: Sequence[Checked]) -> Iterator[Checked]:
        if self._optimal and batch:
            if self._optima is None:
                problem = self.queries, self.targets, self.scoring
                self._optima = Optima(*problem, self._scores, self._resources)
            batch = self._optima.compare(batch)
        for checked in batch:
            self.totals.add(checked)
            yield checked


class Optima:
    """Scores of optimal alignments of the pairs of records.

    Parameters
    ----------
    stated : bool
        Scores that the file states are of that scoring.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        stated: bool,
        resources: Resources,
    ) -> None:
        self._stated = stated
        # Two sets always: a file may have a sequence with itself, and a pair both ways.
        self._sets = queries, copy.copy(targets)
        self._other_strand: SequenceSet | None = None
        self._scoring = scoring
        self._resources = resources
        self._ties: TieCounter | None = None

    def close(self) -> None:
        """Free what counts optimal alignments."""
        if self._ties is not None:
            self._ties.close()

    def compare(self, pieces: Sequence[Checked]) -> list[Checked]:
        """Return what was found with the optima of records whose alignments are legal."""
        records = np.concatenate([piece.found.records for piece in pieces])
        findings = np.concatenate([piece.findings for piece in pieces])
        sound = findings["faults"] & np.uint64(_OF_ALIGNMENT) == 0
        optima = np.full(len(records), UNSAID, np.int64)
        for turned in (False, True):
            chosen = np.flatnonzero(sound & ((records["turned"] != 0) == turned))
            if len(chosen):
                optima[chosen] = self._scores(records[chosen], turned)
        scores, has_score = _scores_of(records, findings, self._scoring.scale, self._stated)
        below = np.where(
            has_score & (optima != UNSAID), optima - np.where(has_score, scores, 0), UNSAID
        )
        self._mark_impossible(findings, scores, optima, below)
        self._mark_ties(records, findings, scores, below)
        ends = np.cumsum([0, *(len(piece.found) for piece in pieces)])
        return [
            replace(piece, findings=findings[part], optima=optima[part], below=below[part])
            for piece, part in zip(pieces, map(slice, ends[:-1], ends[1:]), strict=True)
        ]

    def _mark_impossible(
        self, findings: Structs, scores: Scores, optima: Scores, below: Scores
    ) -> None:
        """Make scores that are only stated, and above the optimum, faults of their records."""
        chosen = (findings["scored"] == 0) & (below != UNSAID) & (below < 0)
        below[chosen] = UNSAID
        first = chosen & (findings["faults"] == 0)
        findings["faults"][chosen] |= np.uint64(1 << _SCORE_FAULT)
        findings["fault"][first] = _SCORE_FAULT
        findings["says"][first] = scores[first] / self._scoring.scale
        findings["is"][first] = optima[first] / self._scoring.scale

    def _mark_ties(
        self,
        records: Structs,
        findings: Structs,
        scores: Scores,
        below: Scores,
    ) -> None:
        """Count the optimal alignments of optimal records that say how many there are."""
        said, is_empty = records["says"][:, _TIES], self._are_empty(records, scores)
        chosen = np.flatnonzero((said != UNSAID) & (below == 0))
        if not len(chosen):
            return
        if self._ties is None:
            device, threads = self._resources.device, self._resources.used_threads
            tallies = tallies_on(device, threads, self._resources.memory_bytes)
            self._ties = TieCounter(*self._sets, self._scoring, threads, open_tally=tallies)
        query, target, turned = (records[name][chosen] for name in ("query", "target", "turned"))
        raw = scores[chosen].astype(np.int32)
        counts = self._ties.count_pairs(query, target, raw, turned != 0)
        counts[is_empty[chosen]] = 0
        numbers = said[chosen] / 10.0 ** records["decimals"][chosen, _TIES]
        wrong = numbers != counts
        chosen, counts, numbers = chosen[wrong], counts[wrong], numbers[wrong]
        first = findings["faults"][chosen] == 0
        findings["faults"][chosen] |= np.uint64(1 << _TIES_FAULT)
        findings["fault"][chosen[first]] = _TIES_FAULT
        findings["says"][chosen[first]] = numbers[first]
        findings["is"][chosen[first]] = counts[first]

    def _are_empty(self, records: Structs, scores: Scores) -> Bools:
        """Return of which optimal records nothing is aligned."""
        if self._scoring.mode in ("local", "semiglobal"):
            are_empty: Bools = scores == 0
            return are_empty
        starts, ends = records["spans"][:, ::2], records["spans"][:, 1::2]
        are_empty = (records["runs"] == 0) | ((starts >= 0) & (starts == ends)).all(axis=1)
        return are_empty

    def _scores(self, records: Structs, turned: bool) -> Scores:
        """Align the pairs of records; return their raw scores, in the order of the records."""
        queries, targets = self._sets[0], self._targets(turned)
        pairs = PairList(
            np.ascontiguousarray(records["query"]),
            np.ascontiguousarray(records["target"]),
            may_repeat=True,
        )
        job = AlignmentJob(
            queries,
            targets,
            self._scoring,
            Want(Detail.SCORE),
            window=LIST_WINDOW,
            pair_list=pairs,
            resources=self._resources,
        )
        keys, scores = [], []
        with job.open() as results:
            for alignments in results:
                keys.append(alignments.query.astype(np.int64) * len(targets) + alignments.target)
                scores.append(alignments.raw_score.astype(np.int64))
        all_keys, all_scores = np.concatenate(keys), np.concatenate(scores)
        order = np.argsort(all_keys)
        pair_keys = pairs.first.astype(np.int64) * len(targets) + pairs.second
        places = np.searchsorted(all_keys, pair_keys, sorter=order)
        result: Scores = all_scores[order[places]]
        return result

    def _targets(self, turned: bool) -> SequenceSet:
        if not turned:
            return self._sets[1]
        if self._other_strand is None:
            self._other_strand = _other_strand(self._sets[1])
        return self._other_strand


def _scores_of(
    records: Structs, findings: Structs, scale: int, with_stated: bool
) -> tuple[Scores, Bools]:
    """Raw scores of records, and where they are known: of the columns, else stated if wanted."""
    said, decimals = records["says"][:, _SCORE], records["decimals"][:, _SCORE]
    scores, has_score = findings["score"].copy(), findings["scored"] != 0
    stated = with_stated & ~has_score & (said != UNSAID) & (np.abs(said) < 2**40) & (decimals <= 6)
    stated &= records["runs"] < 0
    units = 10 ** np.where(stated, decimals, 0).astype(np.int64)
    stated &= np.where(stated, said, 0) * scale % units == 0
    scores[stated] = said[stated] * scale // units[stated]
    return scores, has_score | stated


def _other_strand(sequences: SequenceSet) -> SequenceSet:
    """Return the reverse complements of all sequences of a set."""
    letters = np.frombuffer(sequences.alphabet.letters.encode(), np.uint8)
    turned = [
        letters[reverse_complement(sequences.codes_of(k), sequences.alphabet)].tobytes()
        for k in range(len(sequences))
    ]
    records = Records(
        sequences.names, sequences.descriptions, b"".join(turned), sequences.offsets.copy()
    )
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)


class NativeFindingLines(Struct):
    """``pairalign_finding_lines``."""

    _fields_ = struct_fields(
        "pointer text records findings details detail_ends optima below; int64 count first_record "
        "first_line; int32 decimals quoted"
    )


def format_findings(
    piece: AlignmentRecords,
    findings: Structs,
    first_record: int,
    first_line: int,
    scoring: Scoring,
    optima: tuple[Int64s, Int64s] | None = None,
) -> bytes:
    """Return the lines of the table, one a record.

    Parameters
    ----------
    findings : ndarray of FINDING, shape (n,)
    first_record, first_line : int
        Numbers of the first record and of the first line of the piece.
    optima : two ndarrays of int64, shape (n,), optional
        Raw scores of optimal alignments, and how far records are below them; `UNSAID` where they
        are not known.
    """
    details, ends = [], [0]
    for k in np.flatnonzero(findings["faults"]).tolist():
        names = ",".join(fault_names(int(findings[k]["faults"])))
        details.append(f"{names}\t{describe_fault(findings[k])}".encode())
        ends.append(ends[-1] + len(details[-1]))
    records, findings = np.ascontiguousarray(piece.records), np.ascontiguousarray(findings)
    blob, detail_ends = b"".join(details), np.array(ends[1:], np.int64)
    sizes = piece.records["query_name_bytes"].sum() + piece.records["target_name_bytes"].sum()
    line = library.pairalign_finding_line_bytes()
    out = np.empty(2 * int(sizes) + len(blob) + line * len(piece), np.uint8)
    text, told = (np.frombuffer(data, np.uint8) for data in (piece.text, blob))
    lines = NativeFindingLines(
        *(text, records, findings, told, detail_ends),
        *((None, None) if optima is None else optima),
        *(len(piece), first_record, first_line),
        len(str(scoring.scale)) - 1,
        piece.quotes,
    )
    return out[: library.pairalign_put_findings(lines, out)].tobytes()
