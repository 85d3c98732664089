"""What results have in common; tables of Arrow, pandas and polars, which are imported when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.tables import arrow_names, arrow_schema, arrow_table, column_names
from pairalign.base.packages import check_package, needed
from pairalign.pairs.want import Detail
from pairalign.scoring.cigars import OP_LETTERS

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa
    from typing_extensions import Self


class Result:
    """A class of data with what users do with it: files, pictures, objects of other packages.

    The class of data has the same name, and knows nothing of this one. Its docstring, which says
    what the fields are, is that of both.
    """

    def __init_subclass__(cls) -> None:
        data = (base for base in cls.__mro__[1:] if base.__name__ == cls.__name__)
        cls.__doc__ = next(data, cls).__doc__

    @classmethod
    def of(cls, data: object) -> Self:
        """Return data as a result: the same fields, neither copied nor checked again.

        Parameters
        ----------
        data : object
            Of the class of data that this one extends.

        Returns
        -------
        Result
        """
        result = object.__new__(cls)
        vars(result).update(vars(data))
        return result


_TABLES = "'pairalign[tables]'"
_MOST_RUNS = 2**31 - 1
"""What the offsets of an Arrow list reach; those of a large list are twice as wide."""

_PAIRS_OF_TEXTS = 1 << 16
"""Whose CIGARs are made text at a time: offsets of Arrow's text have 32 bits."""


class Tabular:
    """What has columns that become an Arrow table, and so a table of pandas and polars."""

    def to_arrow(self) -> pa.Table:
        """Convert to a ``pyarrow.Table``; see the class."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a ``pandas.DataFrame``: the columns of `to_arrow`, names as categories.

        CIGARs are strings.

        Raises
        ------
        MissingPackageError
            pandas or pyarrow is not installed.
        """
        check_package("pandas", "this", "pandas", _TABLES)
        frame: pandas.DataFrame = with_text_cigars(self.to_arrow()).to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Convert to a ``polars.DataFrame``: the columns of `to_arrow`, names as categories.

        CIGARs are strings.

        Raises
        ------
        MissingPackageError
            polars or pyarrow is not installed.
        """
        with needed("this", "polars", _TABLES):
            import polars
        frame = polars.from_arrow(with_text_cigars(self.to_arrow()))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the table to any library that takes Arrow data (the Arrow PyCapsule interface)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def make_table(alignments: Alignments) -> pa.Table:
    """Make an Arrow table of all alignments; a column ``strand`` where there are strands.

    Raises
    ------
    MissingPackageError
        pyarrow is not installed.
    """
    check_package("pyarrow", "this", "pyarrow", _TABLES)
    detail = Detail.STATS if alignments.has_stats else Detail.SCORE
    runs = 0
    if alignments.cigar is not None:
        detail, runs = Detail.CIGAR, len(alignments.cigar)
    statistics = alignments.significance is not None
    strands = alignments.strand is not None
    large = runs > _MOST_RUNS
    columns = column_names(detail, strands, statistics)
    schema = arrow_schema(alignments.scoring, columns, large=large)
    names = [arrow_names(alignments.queries), arrow_names(alignments.targets)]
    return arrow_table(alignments, names, schema)


def with_text_cigars(table: pa.Table) -> pa.Table:
    """Return a table with CIGARs, if it has any, as in SAM instead of as runs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "cigar" not in table.column_names:
        return table
    operations = pa.array(list(OP_LETTERS))
    texts = []
    for chunk in table["cigar"].chunks:
        for start in range(0, len(chunk), _PAIRS_OF_TEXTS):
            runs = chunk.slice(start, _PAIRS_OF_TEXTS)
            flat = runs.flatten()
            lengths = pc.shift_right(flat, pa.scalar(4, pa.uint32())).cast(pa.string())
            letters = operations.take(pc.bit_wise_and(flat, pa.scalar(15, pa.uint32())))
            parts = pc.binary_join_element_wise(lengths, letters, "")
            offsets = pc.subtract(runs.offsets, runs.offsets[0]).cast(pa.int32())
            joined = pc.binary_join(pa.ListArray.from_arrays(offsets, parts), "")
            texts.append(pc.replace_with_mask(joined, pc.equal(joined, ""), "*"))
    place = table.column_names.index("cigar")
    column = pa.chunked_array(texts, pa.string())
    return table.set_column(place, pa.field("cigar", pa.string(), nullable=False), column)
