"""Readers of alignment files, ours and other programs', one a module, found by a file's name.

`READERS` is their registry. A reader cuts a file into pieces of whole records and turns each piece
into `pairalign.alignments.records.AlignmentRecords`; what is in memory does not grow with the file.
"""

from __future__ import annotations

from pairalign.alignments.records import SetNames
from pairalign.formats.names import choose_format
from pairalign.formats.readers.blocks import (
    A3mReader,
    MafReader,
    StockholmReader,
    TcLibReader,
)
from pairalign.formats.readers.fasta import FastaReader
from pairalign.formats.readers.graphs import AbcReader, GfaReader, NetworkReader
from pairalign.formats.readers.lines import PafReader, SamReader
from pairalign.formats.readers.parquet import ParquetReader
from pairalign.formats.readers.reader import RecordReader
from pairalign.formats.readers.srspair import SrspairReader
from pairalign.formats.readers.tables import Blast6Reader, TsvReader

__all__ = ["READERS", "RecordReader", "open_reader"]

READERS: tuple[type[RecordReader], ...] = (
    PafReader,
    SamReader,
    TsvReader,
    Blast6Reader,
    SrspairReader,
    FastaReader,
    ParquetReader,
    MafReader,
    StockholmReader,
    A3mReader,
    TcLibReader,
    GfaReader,
    AbcReader,
    NetworkReader,
)


def open_reader(
    path: str,
    format: str | None,
    names: tuple[SetNames, SetNames],
    columns: tuple[str, ...] = (),
) -> RecordReader:
    """Open an alignment file.

    Parameters
    ----------
    path : str
        ``"-"`` is standard input. Compressed with gzip, bzip2, xz or not.
    format : str or None
        Default: by the end of the file's name.
    names : two SetNames
        Of the queries and of the targets.
    columns : tuple of str
        What the columns of a table without a header are; see `pairalign.formats.readers.tables`.

    Raises
    ------
    FormatError
        There is no such format, or it has no columns to choose.
    AlignmentFileError
        The file cannot be read.
    """
    suffixes = {reader.name: reader.suffixes for reader in READERS}
    name = choose_format(path, format, suffixes, "alignments", "standard input")
    reader = next(one for one in READERS if one.name == name)
    return reader(path, names, columns)
