"""Files of posteriors: NumPy's .npz, Parquet, TSV and T-Coffee's library.

All of them have the pairs in the order in which they come, and of a pair the entries by row, then
by column. Files of text count residues from 1, as T-Coffee does; arrays count from 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE, SparsePosteriors
from pairalign.base.arrays import Int32s, UInt8s
from pairalign.base.choices import TABLES
from pairalign.base.error_types import FormatError
from pairalign.base.texts import quoted
from pairalign.formats.libraries import BytesSink, arrow
from pairalign.formats.names import TC_LIB, compression_of
from pairalign.formats.npz import Pieces, Spool, names_array, write_npz
from pairalign.formats.output import Output, Path, open_table
from pairalign.sequences.sets import SequenceSet

Texts = npt.NDArray[np.bytes_]

_LINES_A_WRITE = 1 << 16
_MOST_IN_16_BITS = 1 << 16
_WEIGHTS = 1000
"""Of T-Coffee's library: the weight of a posterior of 1."""


class PosteriorWriter(ABC):
    """Writes posteriors piece by piece; `close` makes the file appear, `abort` leaves nothing.

    Parameters
    ----------
    output : Output
    sequences : SequenceSet
    threshold : float
        What is left out, for what the file says of itself.
    """

    def __init__(self, output: Output, sequences: SequenceSet, threshold: float) -> None:
        self._output = output
        self._sequences = sequences
        self._threshold = threshold
        try:
            self._begin()
        except BaseException:  # nobody has the writer to abort it
            output.abort()
            raise

    @abstractmethod
    def _begin(self) -> None:
        """Write what comes first."""

    @abstractmethod
    def write(self, piece: SparsePosteriors) -> None:
        """Write the pairs of a piece."""

    def close(self) -> None:
        """Write what comes last, and make the file appear under its name."""
        self._output.close()

    def abort(self) -> None:
        """Leave nothing."""
        self._output.abort()


class TsvPosteriors(PosteriorWriter):
    """A line an entry: names, residues from 1, and the posterior with five decimals."""

    def _begin(self) -> None:
        self._output.write(b"query\ttarget\tquery_residue\ttarget_residue\tposterior\n")
        self._names = _table(f"{quoted(name)}\t" for name in self._sequences.names)
        self._residues = _table(f"{number}\t" for number in _residues_of(self._sequences))
        self._values = _table(f"{value / ONE:.5f}\n" for value in range(ONE + 1))

    def write(self, piece: SparsePosteriors) -> None:
        """Write a line for each entry."""
        pairs = piece.pairs
        for part in _parts(piece):
            lines = _lines(
                self._names[piece.queries[pairs[part]]],
                self._names[piece.targets[pairs[part]]],
                self._residues[piece.rows[part]],
                self._residues[piece.columns[part]],
                self._values[piece.values[part]],
            )
            self._output.write(lines)


class TcLibPosteriors(PosteriorWriter):
    """T-Coffee's library: ``#I J`` a pair, and lines of residues and a weight from 0 to 1000.

    The weight is 1000 times the posterior, rounded half up. Pairs without entries are left out.
    """

    def _begin(self) -> None:
        lines = [f"! TC_LIB_FORMAT_01\n{len(self._sequences)}\n"]
        lines += [f"{one.name} {len(one)} {one.residues}\n" for one in self._sequences]
        self._output.write("".join(lines).encode())
        self._residues = _table(f"{number} " for number in _residues_of(self._sequences))
        self._weights = _table(
            f"{(value * 2 * _WEIGHTS + ONE) // (2 * ONE)}\n" for value in range(ONE + 1)
        )

    def write(self, piece: SparsePosteriors) -> None:
        """Write the pairs that have entries."""
        with_entries = np.flatnonzero(np.diff(piece.offsets))
        titles = _table(
            f"#{query + 1} {target + 1}\n"
            for query, target in zip(
                piece.queries[with_entries].tolist(),
                piece.targets[with_entries].tolist(),
                strict=True,
            )
        )
        heads = np.zeros(len(piece.rows), titles.dtype)  # of a pair's first entry
        heads[piece.offsets[with_entries]] = titles
        for part in _parts(piece):
            lines = _lines(
                heads[part],
                self._residues[piece.rows[part]],
                self._residues[piece.columns[part]],
                self._weights[piece.values[part]],
            )
            self._output.write(lines)

    def close(self) -> None:
        """Say that numbers count from 1, and make the file appear."""
        self._output.write(b"! SEQ_1_TO_N\n")
        super().close()


class NpzPosteriors(PosteriorWriter):
    """The arrays of `SparsePosteriors`, with ``names``, ``lengths`` and ``threshold``.

    Rows and columns have 16 bits where all sequences allow that, and rows are compressed. All
    entries wait in hidden files beside the output until the end: 6 bytes each.
    """

    _FIELDS = ("queries", "targets", "rows", "columns", "values", "arithmetic", "offsets")

    def _begin(self) -> None:
        self._held: dict[str, Spool] = {}
        self._entries = 0
        longest = self._sequences.lengths.max()
        self._residue = np.dtype(np.uint16 if longest <= _MOST_IN_16_BITS else np.int32)

    def write(self, piece: SparsePosteriors) -> None:
        """Keep a piece."""
        for name in self._FIELDS[:-1]:
            is_residue = name in ("rows", "columns")
            self._hold(name, getattr(piece, name), self._residue if is_residue else None)
        self._hold("offsets", piece.offsets[:-1] + self._entries)
        self._entries += len(piece.rows)

    def _hold(self, name: str, array: npt.NDArray[Any], kind: np.dtype[Any] | None = None) -> None:
        if name not in self._held:
            self._held[name] = Spool(kind or array.dtype, self._output.folder)
        self._held[name].append(array)

    def close(self) -> None:
        """Write all arrays; equal posteriors give equal bytes."""
        self._hold("offsets", np.array([self._entries]))
        held = {name: one.pieces(repeats=name == "rows") for name, one in self._held.items()}
        about: dict[str, npt.NDArray[Any] | Pieces] = {
            "names": names_array(lambda: [self._sequences.names]),
            "lengths": self._sequences.lengths,
            "threshold": np.array(self._threshold),
        }
        write_npz(self._output, held | about)
        self._let_go()
        super().close()

    def abort(self) -> None:
        """Leave nothing."""
        self._let_go()
        super().abort()

    def _let_go(self) -> None:
        for one in self._held.values():
            one.close()
        self._held = {}


class ParquetPosteriors(PosteriorWriter):
    """A row an entry: ``query``, ``target``, their residues from 0, ``posterior`` (float32)."""

    def _begin(self) -> None:
        pa, pq = arrow()
        names = pa.dictionary(pa.int32(), pa.string())
        self._schema = pa.schema(
            [
                ("query", names),
                ("target", names),
                ("query_residue", pa.int32()),
                ("target_residue", pa.int32()),
                ("posterior", pa.float32()),
            ],
            metadata={"pairalign.threshold": f"{self._threshold:g}"},
        )
        self._names = pa.array(self._sequences.names, pa.string())
        self._sink = BytesSink(self._output)
        self._file = pq.ParquetWriter(self._sink, self._schema, compression="zstd")

    def write(self, piece: SparsePosteriors) -> None:
        """Write a piece as a row group."""
        pa, _ = arrow()

        def named(indices: Int32s) -> Any:
            return pa.DictionaryArray.from_arrays(pa.array(indices[piece.pairs]), self._names)

        posterior = (piece.values / ONE).astype(np.float32)
        columns = [named(piece.queries), named(piece.targets), piece.rows, piece.columns, posterior]
        arrays = [pa.array(one) if isinstance(one, np.ndarray) else one for one in columns]
        self._file.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file and make it appear."""
        self._file.close()
        super().close()

    def abort(self) -> None:
        """Leave nothing."""
        self._sink.give_up()
        super().abort()


_WRITERS: dict[str, type[PosteriorWriter]] = {
    "npz": NpzPosteriors,
    "parquet": ParquetPosteriors,
    **dict.fromkeys(TABLES, TsvPosteriors),
    "tc_lib": TcLibPosteriors,
}
"""By the names in `pairalign.base.choices.POSTERIOR_SUFFIXES`."""


def open_posteriors(
    path: Path, format: str, sequences: SequenceSet, threshold: float
) -> PosteriorWriter:
    """Open a file for posteriors.

    Raises
    ------
    FormatError
        The format cannot hold a name.
    OutputError
        See `open_output`.
    """
    if format == "tc_lib":
        TC_LIB.check(sequences)
    return _WRITERS[format](open_table(path, format), sequences, threshold)


def check_format(format: str, path: str) -> None:
    """Refuse what cannot be written, before work begins.

    Raises
    ------
    FormatError
        A package is missing, or a format that is compressed itself would be compressed.
    """
    if format == "parquet":
        arrow()
    if format in ("npz", "parquet") and compression_of(path):
        raise FormatError(f"'{path}': {format} is not written as .gz or .zst")


def _parts(piece: SparsePosteriors) -> list[slice]:
    count = len(piece.rows)
    return [slice(start, start + _LINES_A_WRITE) for start in range(0, count, _LINES_A_WRITE)]


def _residues_of(sequences: SequenceSet) -> range:
    return range(1, int(sequences.lengths.max(initial=0)) + 1)


def _table(texts: Iterable[str]) -> Texts:
    """Return texts without NUL as an array of bytes, each filled up with NUL."""
    return np.array([text.encode() for text in texts], np.bytes_)


def _lines(*columns: Texts) -> bytes:
    """Return lines whose parts are these columns', without what parts are filled up with."""
    table = np.empty(len(columns[0]), [(f"part{k}", one.dtype) for k, one in enumerate(columns)])
    for k, one in enumerate(columns):
        table[f"part{k}"] = one
    filled = table.view(np.uint8)
    kept: UInt8s = filled[filled != 0]
    return kept.tobytes()
