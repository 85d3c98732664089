"""Which pairs a file of alignments has, by `pairalign.formats.readers` or the format itself."""

from __future__ import annotations

import numpy as np

from pairalign.alignments.alignment_records import SetNames
from pairalign.alignments.best_hits import number_pairs, pairs_of_numbers
from pairalign.base.arrays import Int32s
from pairalign.base.choices import READER_NAMES
from pairalign.base.error_types import PartsError
from pairalign.formats import WRITERS
from pairalign.formats.output import map_file
from pairalign.formats.readers import open_reader
from pairalign.sequences.sets import SequenceSet


def read_recorded_pairs(path: str, format: str, sequences: SequenceSet) -> tuple[Int32s, Int32s]:
    """Return the pairs of a file, each once: input indices, the lower first.

    Parameters
    ----------
    sequences : SequenceSet
        Aligned with itself.

    Raises
    ------
    PartsError
        The format is not read, or a name is that of no sequence.
    AlignmentFileError
        The file cannot be read.
    """
    if WRITERS[format].adds_pairs:
        return WRITERS[format].pairs_of(map_file(path))
    if format not in READER_NAMES:
        raise PartsError(
            f"{format} is not read back, so nothing can be added: write another format"
        )
    names = SetNames(sequences)
    reader = open_reader(path, format, (names, names))
    numbers = [np.empty(0, np.int64)]
    try:
        for piece in reader.pieces():
            records = reader.read(piece).records
            query, target = records["query"], records["target"]
            if (query < 0).any() or (target < 0).any():
                raise PartsError(f"'{path}': a record has a name that no sequence of its run has")
            low, high = np.minimum(query, target), np.maximum(query, target)
            numbers.append(np.unique(number_pairs(low, high)))
    finally:
        reader.close()
    return pairs_of_numbers(np.unique(np.concatenate(numbers)))
