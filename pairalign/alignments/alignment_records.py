"""Records of alignment files, compared with the sequences that they align, in native code.

What a file says of its alignments comes as `AlignmentRecords`, some thousands at a time, from the
readers of `pairalign.formats.readers`. `RecordChecker` says what is wrong with each and what it
scores; `pairalign.jobs.verify.verify` makes a table of it. The native side is in
``cpu/records``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.base.arrays import Int32s, Structs, UInt32s
from pairalign.base.choices import END_GAPS
from pairalign.base.native import Struct, library, struct_dtype, struct_fields
from pairalign.base.texts import unquoted
from pairalign.pairs.lists import NamesOf
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

CLAIMS = (
    *("query_length", "target_length", "score", "matches", "mismatches", "columns", "aligned"),
    *("gap_openings", "gap_letters", "edits", "positives"),
    *("identity", "pident", "identity_aligned", "pident_aligned"),
    *("identity_shorter", "identity_longer", "ppos", "query_coverage", "target_coverage"),
    *("identity_internal", "identity_mbl", "identity_full", "identity_mean"),
    *("edits_internal", "pgaps", "qcovhsp", "qcovs", "edits_of_part"),
    "ties",
)
"""Numbers that a file may state; the order is that of pairalign_claim."""

_SENTENCES = {
    "legal": "",
    "truncated": "{says} columns or rows, expected {is_}",
    "number": "a number cannot be read",
    "query": "no such name among the queries",
    "target": "no such name among the targets",
    "strand": "the strand is not + or -, or is - where residues have no complement",
    "query_length": "the query is said to have {says} residues, it has {is_}",
    "target_length": "the target is said to have {says} residues, it has {is_}",
    "query_span": "residues from {says} to {is_} are no part of the query",
    "target_span": "residues from {says} to {is_} are no part of the target",
    "cigar": "the CIGAR cannot be read, or has a run of no residues",
    "query_cigar": "the columns have {says} residues of the query, its span has {is_}",
    "target_cigar": "the columns have {says} residues of the target, its span has {is_}",
    "operation": "= or X is not true of residue {says} of the query and {is_} of the target",
    "rows": "{says} columns or residues, expected {is_}",
    "query_letters": "residue {says} is not that at position {is_} of the query",
    "target_letters": "residue {says} is not that at position {is_} of the target",
    "alignment": "the CIGAR, the rows and the traceback are not one alignment",
    "mode": "the spans leave out residues that the mode aligns",
    "tag": "a tag cannot be read, or comes twice",
    "header": "the file's header has no such target",
    "md": "MD is not that of the alignment, from its character {says} on",
    "quality": "{says} qualities of {is_} residues",
    "mapping_quality": "{says}, expected a whole number from 0 to 255",
    "mate": "the next read has a name, a coordinate or a length that it cannot have",
    "coordinates": "the row ends at {says}, its residues at {is_}",
    "bars": "what stands between the rows is not true of column {says}",
    "counts": "{says} contradicts the other counts and the spans: {is_} columns of two residues",
    **{name: "says {says}, is {is_}" for name in CLAIMS if "length" not in name},
    "edits_of_part": "says {says}, is {is_} with these costs",
}
_TWO_GAPS = "column {says} has two gaps"
FAULTS = (*list(_SENTENCES)[: list(_SENTENCES).index("counts") + 1], *CLAIMS)
"""What can be wrong with a record; the order is that of pairalign_fault."""

ROLES = (
    *("ignored", "query", "target", "strand"),
    *("query_start", "query_first", "query_end", "query_last"),
    *("target_start", "target_first", "target_end", "target_last"),
    *("cigar", "exchanged_cigar", "query_row", "target_row", "btop"),
    *("flag", "sam_cigar", "sam_sequence", "sam_quality", "next_name", "next_place", "template"),
    *("mapping_quality", "target_strand", "real", "evalue", "confidence"),
    *(f"says_{name}" for name in CLAIMS),
)
"""What a column of a table may hold; the order is that of pairalign_role."""

PROGRAMS = ("", "diamond", "vsearch")
"""Programs whose SAM is read in a way of its own; the order is that of pairalign_program."""

ROW_FORMATS = ("fasta", "srspair")
"""How pairs of rows are written; the order is that of pairalign_row_format."""

UNSAID = -(2**63)

RECORD = struct_dtype(
    "int64 number line query_name target_name; int64*4 spans; int64 first_run runs; "
    "int64*2 rows row_bytes; int64 residues residue_bytes; int64*2 clipped; "
    "int64 btop btop_bytes cs cs_bytes md md_bytes bars bar_bytes; "
    f"int64*{len(CLAIMS)} says; int8*{len(CLAIMS)} decimals; "
    "int32 query_name_bytes target_name_bytes query target turned fault trimmed first; "
    "uint64 noticed; double first_says first_is",
    align=True,
)
"""``pairalign_record``."""

FINDING = struct_dtype("int64 score; int32 scored fault; uint64 faults; double says is", align=True)
"""``pairalign_finding``."""


class NativeLayout(Struct):
    """How lines are read: ``pairalign_layout``."""

    _fields_ = struct_fields(
        "pointer roles; int32 columns quotes tags comment program required along_query"
    )


class NativeCheckedSet(Struct):
    """``pairalign_checked_set``."""

    _fields_ = struct_fields("pointer codes offsets")


class NativeCheck(Struct):
    """``pairalign_check``."""

    _fields_ = struct_fields(
        "CheckedSet queries targets; pointer encoding complement matrix; "
        "int64 gap_open gap_extend; int64*8 end_costs; int64 scale; "
        "int32 unambiguous mode skips_scores",
        CheckedSet=NativeCheckedSet,
    )


@dataclass(frozen=True)
class AlignmentRecords:
    """What a piece of a file says of some alignments.

    Attributes
    ----------
    text : bytes
        What places in `records` point into: names, rows, residues.
    records : ndarray of RECORD, shape (n,)
    runs : ndarray of uint32
        Of the CIGARs, ``length << 4 | op`` with SAM's codes.
    lines : int
        Lines of the piece; `line` of a record counts from 0 in it.
    others : int
        Entries that are no alignments: reads that a SAM file has as unmapped.
    quotes : bool
        Whether names that have quotes are between quotes.
    """

    text: bytes
    records: Structs
    runs: UInt32s
    lines: int
    others: int = 0
    quotes: bool = False

    def __len__(self) -> int:
        return len(self.records)

    def name(self, number: int, side: str) -> str:
        """Return a name as the file has it; `side` is ``"query"`` or ``"target"``."""
        record = self.records[number]
        start, size = int(record[f"{side}_name"]), int(record[f"{side}_name_bytes"])
        name = self.text[start : start + size].decode("utf-8", "replace")
        return unquoted(name) if self.quotes else name


class SetNames:
    """Names of a set, to be found by many threads.

    Attributes
    ----------
    lengths : ndarray, shape (n,)
        Residues of the sequences, in the order of the input.
    """

    def __init__(self, sequences: SequenceSet) -> None:
        self._kept = NamesOf(sequences.names)
        self.lengths = sequences.lengths
        self._sequences = sequences
        self.index = library.pairalign_open_names(self._kept.struct)
        if not self.index:
            raise MemoryError("out of memory while names are read")

    def __len__(self) -> int:
        return len(self.lengths)

    def residues_of(self, place: int) -> str:
        """Return the residues of a sequence as they were read."""
        return self._sequences[place].residues

    def find(self, names: Sequence[str]) -> Int32s:
        """Return input indices of some names, int32; -1 where the set has no such name."""
        native_names = NamesOf(names)
        indices = np.empty(len(names), np.int32)
        library.pairalign_find_names(self.index, native_names.struct, indices)
        return indices

    def __del__(self) -> None:
        if getattr(self, "index", None):
            library.pairalign_close_names(self.index)


@dataclass(frozen=True)
class Layout:
    """How lines of columns are read.

    Attributes
    ----------
    roles : tuple of str
        Of `ROLES`, what each column holds.
    quotes : bool
        Whether names that have quotes are between quotes.
    tags : bool
        Whether tags follow the columns as in PAF and SAM.
    comment : str
        Lines that begin with it are not read; empty: there are none such.
    program : str
        Of `PROGRAMS`, whose habits the file has.
    required : int
        1: all counts are known, ``*`` is none; 2: and all other numbers.
    along_query : bool
        Whether columns run along the query on strand ``-``, see
        `pairalign.alignments.fields.run_along_query`.
    """

    roles: tuple[str, ...]
    quotes: bool = False
    tags: bool = False
    comment: str = ""
    program: str = ""
    required: int = 0
    along_query: bool = False


def read_lines(text: bytes, layout: Layout, names: tuple[SetNames, SetNames]) -> AlignmentRecords:
    """Read lines of columns.

    Parameters
    ----------
    text : bytes
        Whole lines.
    names : two SetNames
        Of the queries and of the targets.
    """
    lines = text.count(b"\n") + (text[-1:] not in (b"", b"\n"))
    records = np.empty(lines, RECORD)
    runs = np.empty(len(text) // 2 + 1, np.uint32)
    counts = np.zeros(2, np.int64)
    roles = np.array([ROLES.index(role) for role in layout.roles], np.int32)
    comment = ord(layout.comment) if layout.comment else -1
    program = PROGRAMS.index(layout.program)
    native = NativeLayout(
        roles,
        *(len(roles), layout.quotes, layout.tags, comment, program, layout.required),
        layout.along_query,
    )
    count = library.pairalign_read_records(
        text, len(text), native, *(side.index for side in names), *(records, runs, counts)
    )
    kept = records[:count], runs[: int(counts[0])]
    return AlignmentRecords(text, *kept, lines, int(counts[1]), layout.quotes)


def read_rows(
    text: bytes, format: str, most: int, names: tuple[SetNames, SetNames]
) -> AlignmentRecords:
    """Read pairs of rows of residues and gaps.

    Parameters
    ----------
    text : bytes
        Whole pairs.
    format : str
        One of `ROW_FORMATS`.
    most : int
        There are no more pairs than this.
    names : two SetNames
        Of the queries and of the targets.
    """
    records = np.empty(most, RECORD)
    residues = np.empty(2 * len(text), np.uint8)  # marks between rows may have been cut short
    used = np.zeros(1, np.int64)
    count = library.pairalign_read_rows(
        text,
        len(text),
        ROW_FORMATS.index(format),
        *(side.index for side in names),
        *(records, residues, used),
    )
    if count < 0:
        raise MemoryError("out of memory while alignments are read")
    kept = residues[: int(used[0])].tobytes()
    return AlignmentRecords(kept, records[:count], np.empty(0, np.uint32), text.count(b"\n"))


def empty_records(count: int) -> Structs:
    """Return records that say nothing, to be filled, of shape (count,)."""
    records = np.zeros(count, RECORD)
    records["number"] = np.arange(count)
    records["spans"] = -1
    records["says"] = UNSAID
    for name in ("runs", "row_bytes", "residue_bytes", "btop_bytes", "cs_bytes", "md_bytes"):
        records[name] = -1
    for name in ("bar_bytes", "query", "target"):
        records[name] = -1
    return records


class RecordChecker:
    """Compares records with sequences; threads may share it.

    Parameters
    ----------
    scoring : Scoring
        Its mode decides whether gaps at the ends cost.
    whole : bool
        Spans must be such as the mode allows.
    scores : bool
        The file's scores and positives are those of `scoring`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        *,
        whole: bool,
        scores: bool,
    ) -> None:
        alphabet = scoring.alphabet
        self._check = NativeCheck(
            *(NativeCheckedSet(each.codes, each.offsets) for each in (queries, targets)),
            *(alphabet.encoding, alphabet.complement, scoring.matrix),
            *(scoring.gap_open, scoring.gap_extend),
            tuple(_end_costs(scoring)),
            *(scoring.scale, alphabet.unambiguous),
            ("local", "global", "semiglobal", END_GAPS).index(scoring.mode) if whole else 0,
            not scores,
        )

    def check(self, records: AlignmentRecords) -> Structs:
        """Return what is found of some records, FINDING of shape (n,)."""
        findings = np.empty(len(records), FINDING)
        failed = library.pairalign_check_records(
            *(records.text, records.runs, self._check, len(records), records.records, findings)
        )
        if failed:
            raise MemoryError("out of memory while alignments are checked")
        return findings


def _end_costs(scoring: Scoring) -> tuple[int, ...]:
    """Return what opening and extending cost at each of the four ends, scaled."""
    if scoring.end_gaps is not None:
        return scoring.end_gaps.numbers
    free = scoring.mode == "semiglobal"
    return 4 * ((0, 0) if free else (scoring.gap_open, scoring.gap_extend))


def fault_names(faults: int) -> list[str]:
    """Return the names of the faults of a finding, of its bits."""
    return [name for number, name in enumerate(FAULTS) if faults >> number & 1]


def describe_fault(finding: np.void) -> str:
    """Return a sentence on the first fault of a finding: ``matches: says 12, is 11``."""
    name = FAULTS[int(finding["fault"])]
    says, is_ = float(finding["says"]), float(finding["is"])
    sentence = _TWO_GAPS if name == "rows" and is_ < 0 else _SENTENCES[name]
    return f"{name}: {sentence.format(says=f'{says:.10g}', is_=f'{is_:.10g}')}"
