"""Readers of alignment files, ours and other programs', found by a file's name.

A reader cuts a file into pieces of whole records and turns each piece into
`pairalign.alignments.alignment_records.AlignmentRecords`. Memory does not grow with the file.
"""

from __future__ import annotations

from functools import cache

from pairalign.alignments.alignment_records import SetNames
from pairalign.base.choices import MULTIPLE_SUFFIXES, READER_NAMES, REGISTRY
from pairalign.base.error_types import AlignmentFileError
from pairalign.formats.names import choose_format, format_by_suffix, suffixes_of
from pairalign.formats.readers.reader import RecordReader, no_pairs

__all__ = ["RecordReader", "open_reader", "readers"]


@cache
def readers() -> dict[str, type[RecordReader]]:
    """Return the readers of `pairalign.base.choices` by their formats' names."""
    return {name: REGISTRY[name].load_reader() for name in READER_NAMES}


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
        What the columns of a table without a header are; see
        `pairalign.formats.readers.table_reader`.

    Raises
    ------
    FormatError
        There is no such format, or it has no columns to choose.
    AlignmentFileError
        The file cannot be read, or its name is that of a multiple alignment.
    """
    if format is None and format_by_suffix(path, {"multiple": MULTIPLE_SUFFIXES}):
        raise AlignmentFileError(f"{path}: {no_pairs()}")
    suffixes = suffixes_of(readers())
    name = choose_format(path, format, suffixes, "alignments", "standard input")
    return readers()[name](path, names, columns)
