"""Alignments as tables of Arrow, which is imported when used.

The columns are those of the TSV and Parquet files, see `COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.base.arrays import Int32s
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    import pyarrow as pa

SCORE_COLUMNS = ("query", "target", "score")
STATS_COLUMNS = (
    *SCORE_COLUMNS,
    "identity",
    "columns",
    "matches",
    "mismatches",
    "gap_openings",
    "gap_letters",
    "query_length",
    "query_start",
    "query_end",
    "target_length",
    "target_start",
    "target_end",
)
COLUMNS = {
    Detail.SCORE: SCORE_COLUMNS,
    Detail.STATS: STATS_COLUMNS,
    Detail.CIGAR: (*STATS_COLUMNS, "cigar"),
}
"""Names of the columns of a pair, by what was computed."""

STRAND_COLUMN = "strand"
"""That after them where pairs may be on either strand."""


STATISTICS_COLUMNS = ("bits", "evalue")
"""Those after the scores, where bits and E-values are known."""

KNOWN_COLUMNS = (*COLUMNS[Detail.CIGAR], *STATISTICS_COLUMNS, STRAND_COLUMN, "confidence", "ties")
"""All that Arrow tables can have."""


def column_names(
    detail: Detail, strands: bool = False, statistics: bool = False
) -> tuple[str, ...]:
    """Return the names of the columns of a pair, with strand and statistics if wanted."""
    rest = COLUMNS[detail][len(SCORE_COLUMNS) :]
    shown = STATISTICS_COLUMNS if statistics else ()
    return (*SCORE_COLUMNS, *shown, *rest, *((STRAND_COLUMN,) if strands else ()))


_FIELD_OF = {"gap_letters": "gap_residues"}
"""Fields of `Alignments` whose columns in files have the name that they were published with."""


def arrow_names(sequences: SequenceSet) -> pa.Array:
    """Return the names of a set as an Arrow array."""
    import pyarrow as pa

    return pa.array(sequences.names, pa.string())


def arrow_schema(
    scoring: Scoring,
    names: Sequence[str],
    *,
    large: bool = False,
    unknown: Sequence[str] = (),
) -> pa.Schema:
    """Return names and types of the columns; what the scores mean is in the metadata.

    Parameters
    ----------
    names : sequence of str
        Some of `KNOWN_COLUMNS`. ``strand`` is 1, or -1 where the query is reverse-complemented.
    large : bool
        Whether there may be more than 2^31 runs of CIGARs.
    unknown : sequence of str
        Those whose values are null.
    """
    import pyarrow as pa

    from pairalign.base.version import __version__

    types = dict.fromkeys(COLUMNS[Detail.CIGAR], pa.int32())
    types["query"] = types["target"] = pa.dictionary(pa.int32(), pa.string())
    types["score"] = pa.int64() if scoring.scale == 1 else pa.float64()
    types |= dict.fromkeys(("identity", *STATISTICS_COLUMNS), pa.float64())
    types |= {STRAND_COLUMN: pa.int8(), "confidence": pa.large_string(), "ties": pa.uint32()}
    types["cigar"] = (pa.large_list if large else pa.list_)(pa.uint32())
    metadata = {
        "version": __version__,
        "mode": scoring.mode,
        "matrix": scoring.matrix_name,
        "gap_open": scoring.format_score(scoring.gap_open),
        "gap_extend": scoring.format_score(scoring.gap_extend),
        "scale": str(scoring.scale),
        "alphabet": scoring.alphabet.name,
    }
    if scoring.end_gaps is not None:
        metadata["end_gaps"] = scoring.end_gaps.describe(scoring.format_score)
    nullable = {"identity", *unknown}
    return pa.schema(
        [pa.field(name, types[name], nullable=name in nullable) for name in names],
        metadata={f"pairalign.{key}": value for key, value in metadata.items()},
    )


def arrow_table(
    group: Alignments,
    names: list[pa.Array],
    schema: pa.Schema,
    more: Mapping[str, pa.Array] | None = None,
) -> pa.Table:
    """Make a table of some alignments.

    Parameters
    ----------
    names : list of two Arrow arrays
        Of the queries' and the targets' sets.
    schema : pyarrow.Schema
        From `arrow_schema`.
    more : mapping, optional
        Columns that are not made of the alignments.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {
        **(more or {}),
        "query": _dictionary(group.query, names[0]),
        "target": _dictionary(group.target, names[1]),
        "query_length": pa.array(group.queries.lengths[group.query]),
        "target_length": pa.array(group.targets.lengths[group.target]),
    }
    if "score" in schema.names:
        columns["score"] = pa.array(group.score).cast(schema.field("score").type)
    if group.significance is not None:
        shown = [name for name in STATISTICS_COLUMNS if name in schema.names]
        columns |= {name: pa.array(getattr(group, name)) for name in shown}
    if group.has_stats:
        columns["identity"] = pa.array(group.identity, from_pandas=True)
        columns["columns"] = pa.array(group.columns)
    if "cigar" in schema.names:
        runs, offsets = runs_of(group)  # runs stay where they are; offsets are few
        if pa.types.is_large_list(schema.field("cigar").type):
            columns["cigar"] = pa.LargeListArray.from_arrays(offsets, pa.array(runs))
        else:
            columns["cigar"] = pa.ListArray.from_arrays(offsets.astype(np.int32), pa.array(runs))
    if STRAND_COLUMN in schema.names:
        strand = np.ones(len(group.query), np.int8) if group.strand is None else group.strand
        columns[STRAND_COLUMN] = pa.array(strand)
    for name in schema.names:
        if name in STATISTICS_COLUMNS and name not in columns:
            columns[name] = pa.nulls(len(group.query), pa.float64())
        elif name not in columns:
            columns[name] = pa.array(group.field(_FIELD_OF.get(name, name)))
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _dictionary(indices: Int32s, names: pa.Array) -> pa.Array:
    """Names of some pairs, with a dictionary of only those that occur in them."""
    import pyarrow as pa

    occurs = np.zeros(len(names), np.bool_)  # faster than sorting the indices
    occurs[indices] = True
    used = np.flatnonzero(occurs)
    codes = (np.cumsum(occurs, dtype=np.int32) - 1)[indices]
    return pa.DictionaryArray.from_arrays(pa.array(codes), names.take(pa.array(used)))
