"""What native code formats, through ctypes: the declarations of cpu/text/text.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import SCORE_FIELDS, STATS_FIELDS, Alignments
from pairalign.alignments.fields import COVERAGE_OF_PAIR, STATISTICS_CODES
from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, UInt8s, UInt32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.native_arrays import TextArrays, join_texts
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.statistics.significance import Significance

_FIELDS = (*SCORE_FIELDS, *STATS_FIELDS, "cigar", "cigar_offsets", "strand")


class NativeSet(Struct):
    """pairalign_text_set."""

    _fields_ = struct_fields(
        "int64 count; pointer names name_offsets residues codes offsets; int64 most_name_bytes; "
        "pointer titles title_offsets qualities"
    )


class NativeText(Struct):
    """pairalign_text."""

    _fields_ = struct_fields(
        f"Set queries targets; int64 pairs; pointer {' '.join(_FIELDS)} kind matrix complement; "
        "text block_header; int64 block_header_bytes; pointer format secondary fields bits "
        "log_evalue log_evalue_exchanged confidence confidence_offsets query_covered "
        "target_covered ties; int32 field_count decimals whole dual tags along_query",
        Set=NativeSet,
    )


class SetText:
    """What native code needs of a SequenceSet; made once a file. Keeps the arrays alive.

    Parameters
    ----------
    names : sequence of str, optional
        What the file calls them; default: their names.
    residues : bool
        Whether the file shows residues, or what is made of them.
    shown_as : ndarray of uint8, shape (256,), optional
        What the file has for each byte of the residues.
    titles : bool
        Whether the file shows whole headers; a tab in them is a blank there.
    qualities : ndarray of uint8, shape (residues,), optional
        Where the file shows them.
    """

    def __init__(
        self,
        sequences: SequenceSet,
        names: Sequence[str] | None = None,
        *,
        residues: bool = True,
        shown_as: UInt8s | None = None,
        titles: bool = False,
        qualities: UInt8s | None = None,
    ) -> None:
        text = sequences.text_arrays(residues=residues)
        if shown_as is not None:
            leading = text.names, text.name_offsets, shown_as[text.residues]
            text = TextArrays(*leading, text.codes, text.offsets, text.longest_name)
        if names is not None:
            shown, offsets = join_texts(names)
            longest = int(np.diff(offsets).max(initial=0))
            text = TextArrays(shown, offsets, text.residues, text.codes, text.offsets, longest)
        headers: tuple[npt.NDArray[Any] | None, ...] = (None, None)
        if titles:
            headers = join_texts(
                description.replace("\t", " ") for description in sequences.descriptions
            )
        self._sequences = sequences
        self.native = NativeSet(len(sequences), *text, *headers, qualities)

    def check(self, indices: Int32s) -> None:
        """Make sure that the names that native code reads are as they were written."""
        self._sequences.check_names(indices)


class FileText(NamedTuple):
    """What the text of all pairs of a file has in common.

    Attributes
    ----------
    queries, targets : SetText
        Of the sets of all alignments.
    format : str
        The name of a format that native code exports, see cpu/text/text_format.h.
    block_header : bytes
        For srspair, see cpu/text/text.h.
    fields : ndarray of int32, or None
        For tables of chosen columns: codes of `pairalign.alignments.fields`.
    dual : bool
        For PAF and tables: each pair both ways.
    significance : Significance or None
        For tables with bit scores and E-values.
    tags : int
        For PAF and SAM: bits of ``pairalign_tag``.
    along_query : bool
        For tables: how columns run on strand -1, see `pairalign.alignments.fields.run_along_query`.
    """

    queries: SetText
    targets: SetText
    format: str
    block_header: bytes = b""
    fields: Int32s | None = None
    dual: bool = False
    significance: Significance | None = None
    tags: int = 0
    along_query: bool = False


class Besides(NamedTuple):
    """What is shown of each of some pairs besides their alignments.

    Attributes
    ----------
    kinds : ndarray of uint8, shape (pairs,), or None
        Kinds of overlaps; for PAF and GFA.
    secondary : ndarray of bool, shape (pairs,), or None
        For SAM: pairs that are not the first of their query in the file.
    marks : (ndarray of uint8, ndarray of int64), or None
        How sure each column is, see `pairalign.formats.writer.Confidence`.
    ties : ndarray of uint32, shape (pairs,), or None
        For tables that show them: how many optimal alignments each pair has.
    """

    kinds: UInt8s | None = None
    secondary: Bools | None = None
    marks: tuple[UInt8s, Int64s] | None = None
    ties: UInt32s | None = None


class PairText:
    """The pairs of one Alignments object as native code reads them; keeps what it is made of."""

    def __init__(self, alignments: Alignments, file: FileText, besides: Besides) -> None:
        scoring = alignments.scoring
        values = [getattr(alignments, name) for name in _FIELDS]
        file.queries.check(alignments.query)
        file.targets.check(alignments.target)
        matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        assert matrix.shape == (32, 32)
        self.native = NativeText(
            file.queries.native,
            file.targets.native,
            len(alignments),
            *(*values, besides.kinds, matrix, scoring.alphabet.complement),
            *(file.block_header, len(file.block_header), native_format(file.format)),
            *(besides.secondary, file.fields, *_statistics(alignments, file)),
            *(*(besides.marks or (None, None)), *_covered(alignments, file.fields), besides.ties),
            0 if file.fields is None else len(file.fields),
            decimals_of(scoring),
            scoring.mode != "local",
            file.dual,
            file.tags,
            file.along_query,
        )


def _statistics(alignments: Alignments, file: FileText) -> tuple[Doubles | None, ...]:
    """Return bit scores and ln of E-values, either way round, as far as columns show them."""
    shown, significance = [] if file.fields is None else file.fields.tolist(), file.significance
    if significance is None or STATISTICS_CODES.isdisjoint(shown):
        return None, None, None
    one_way = significance.log_evalues(alignments)
    other_way = significance.log_evalues(alignments, exchanged=True) if file.dual else None
    return significance.bits(alignments), one_way, other_way


def _covered(alignments: Alignments, fields: Int32s | None) -> tuple[Int32s | None, ...]:
    """Return how many residues of query and target the alignments of each pair cover together.

    Nothing where that is not shown, or each pair has one alignment.
    """
    if fields is None or COVERAGE_OF_PAIR not in fields or len(alignments) == 0:
        return None, None
    pairs = np.stack([alignments.query, alignments.target])
    group = np.cumsum(np.append(False, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)))
    if group[-1] == len(alignments) - 1:
        return None, None
    return tuple(_covered_side(alignments, side, group) for side in ("query", "target"))


def _covered_side(alignments: Alignments, side: str, group: Int64s) -> Int32s:
    """Return the size of the union of the spans of each group, which are numbered ascending."""
    before = (int(alignments.field(f"{side}_end").max()) + 1) * group
    start = before + alignments.field(f"{side}_start")
    order = np.argsort(start)
    starts, ends = start[order], (before + alignments.field(f"{side}_end"))[order]
    reach = np.append(np.int64(0), np.maximum.accumulate(ends)[:-1])
    new = np.maximum(ends - np.maximum(starts, reach), 0)
    return np.bincount(group[order], new)[group].astype(np.int32)


def native_format(name: str) -> int:
    """Return the address of what native code knows of a format."""
    return ctypes.addressof(ctypes.c_char.in_dll(library, f"pairalign_format_{name}"))


def decimals_of(scoring: Scoring) -> int:
    """Return the number of decimals that scores may have: log10 of ``scoring.scale``."""
    decimals = len(str(scoring.scale)) - 1
    assert scoring.scale == 10**decimals
    return decimals
