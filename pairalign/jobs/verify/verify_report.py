"""The table of what is wrong with the records of alignment files, made in native code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignment_records import AlignmentRecords, describe_fault, fault_names
from pairalign.base.native import Struct, library, struct_fields
from pairalign.scoring.scoring import Scoring


class NativeFindingLines(Struct):
    """``pairalign_finding_lines``."""

    _fields_ = struct_fields(
        "pointer text records findings details detail_ends optima below; int64 count first_record "
        "first_line; int32 decimals quoted"
    )


def format_findings(
    piece: AlignmentRecords,
    findings: npt.NDArray[np.void],
    first_record: int,
    first_line: int,
    scoring: Scoring,
    optima: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None,
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
