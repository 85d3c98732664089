"""SciPy's .npz: the kept pairs as a sparse matrix in CSR, which ``scipy.sparse.load_npz`` reads."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Doubles, Int32s, Int64s
from pairalign.base.error_types import PartsError
from pairalign.formats.networks import edge_fields, edge_values
from pairalign.formats.npz import Pieces, Spool, names_array, write_npz
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, Writer
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import own_scores
from pairalign.sequences.block_set import indices_in_whole, slices, whole_of
from pairalign.sequences.sets import SequenceSet

Arrays = dict[str, npt.NDArray[Any]]
_ENTRIES = ("row", "col", "data")
_ENTRY = np.dtype(list(zip(_ENTRIES, ("<i4", "<i4", "<f8"), strict=True)))
_NAMES = ("names", "target_names")
_OWN = "own"
"""Of a part: what sequences score with themselves; of a whole matrix the diagonal."""
_AT_A_TIME = 1 << 18
"""Values that are sorted at once."""
_DAMAGE = (
    *(ValueError, KeyError, IndexError, TypeError, OverflowError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error, RuntimeError),  # also NotImplementedError; by zipfile
)


class MatrixWriter(Writer):
    """A matrix with an entry for each pair of which something is aligned: its weight, in float64.

    Of one set it is symmetric, of two it has a row a query and a column a target. Where the weight
    is the score, the diagonal of one set has that of each sequence with itself, as far as
    `own_scores` of `pairalign.scoring.scoring` knows it, whatever the thresholds; else it is
    empty. ``data``, ``indices`` (int32, ascending in a row), ``indptr`` (int64), ``shape`` and
    ``format`` are SciPy's; ``names``, of two sets also ``target_names`` (`names_array`), and
    ``weight`` come besides. Of a pair that comes again the first counts. Entries wait in a `Spool`:
    where they are many, on disk, with 16 bytes a pair, and 72 more as they are sorted.

    A part, and what is before and after a `flush`, has the entries in the order of output, in COO;
    the first one has the names, and the scores of the diagonal.
    """

    name = "npz"
    weighted = True
    adds_pairs = True
    suffixes = (".npz",)
    needs = Detail.STATS
    compressible = False
    either_strand = True
    pairs_once = True
    joined = True
    of_block = True

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        edge_fields(self.name, content)  # the weight is one of them
        self._held = Spool(_ENTRY, output.folder)
        self._is_begun = False

    def _write(self, alignments: Alignments) -> None:
        part = alignments.take(alignments.columns > 0)
        if len(part):
            content = self._content
            (weights,) = edge_values(part, (content.shown.weight,), content.significance)
            query = indices_in_whole(content.queries)[part.query]
            target = indices_in_whole(content.targets)[part.target]
            self._held.append(_entries((query, target, weights)))

    def _take(self) -> _Entries:
        """Return what is held, and hold it no more."""
        content, entries = self._content, self._held
        self._held = entries.like(_ENTRY)
        is_first = content.piece.first and not self._is_begun
        self._is_begun = True
        is_one_set = content.targets is content.queries
        sets = whole_of(content.queries), whole_of(content.targets)
        about: Arrays = {
            "shape": np.array([len(sequences) for sequences in sets]),
            "weight": np.array(content.shown.weight),
        }
        if is_one_set and is_first and content.shown.weight == "score":
            about[_OWN] = own_scores(sets[0], content.scoring)
        named = sets[: 1 if is_one_set else 2] if is_first else ()
        return _Entries(entries, about, is_one_set, is_first, content.piece.last, named)

    @classmethod
    def pairs_of(cls, data: memoryview) -> tuple[Int32s, Int32s]:
        """Return row and column of the pairs of one set in a whole matrix: the lower index first.

        Raises
        ------
        PartsError
            It is no such matrix.
        """
        entries = Spool(_ENTRY, None)
        list(_read([data], entries))
        cells = entries.read(0, len(entries))
        rows, columns = cells["row"], cells["col"]
        return np.minimum(rows, columns), np.maximum(rows, columns)

    @classmethod
    def join_files(cls, files: Iterable[memoryview], output: Output, threads: int = 1) -> None:
        """Write one matrix of several that come one after the other; does not close it.

        The last one may be of more sequences than the others, which come first among them.

        Raises
        ------
        PartsError
            One of them is no such matrix, or they are not of one run.
        """
        entries = Spool(_ENTRY, output.folder)
        parts = list(_read(files, entries))
        about: Arrays = {}
        for part in parts:
            about |= part.about
        shapes = {tuple(part.about["shape"].tolist()) for part in parts[:-1]}
        is_larger = (parts[-1].about["shape"] >= parts[0].about["shape"]).all()
        if len({part.key for part in parts}) != 1 or len(shapes) > 1 or not is_larger:
            raise PartsError("parts are matrices of different runs")
        _Entries(
            entries,
            about,
            parts[0].is_one_set,
            any(part.is_first for part in parts),
            any(part.is_last for part in parts),
        ).write(output)

    def flush(self) -> None:
        """End the file: what comes next is another, for `join_files`."""
        if self._held or not self._is_begun:
            self._take().write(self._output, whole=False)

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        try:
            if self._held or not self._is_begun:
                self._take().write(self._output)
            self._output.close()
        finally:
            self.abort()


@dataclass(frozen=True)
class _Entries:
    """Entries of a matrix, in the order of output: all of it, or a part.

    Attributes
    ----------
    entries : Spool
        Of `_ENTRY`.
    about : dict
        What else is stored: shape, weight, and names if it is the first part that was read.
    named : tuple of SequenceSet
        Those whose names are stored, if it is the first part and not read.
    """

    entries: Spool
    about: Arrays
    is_one_set: bool
    is_first: bool
    is_last: bool
    named: tuple[SequenceSet, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What all parts of a matrix have alike."""
        return str(self.about["weight"]), self.is_one_set

    def write(self, output: Output, whole: bool = True) -> None:
        """Write a matrix in CSR if it is whole, else what is there, in COO."""
        arrays: dict[str, npt.NDArray[Any] | Pieces]
        if whole and self.is_first and self.is_last:
            arrays = {"format": np.array(b"csr"), **self._csr()}
        else:
            arrays = {
                "format": np.array(b"coo"),
                **{name: self._field(name) for name in _ENTRIES},
                "kind": np.array((self.is_one_set, self.is_first, self.is_last)),
            }
            self_scores = {name: self.about[name] for name in (_OWN,) if name in self.about}
            arrays |= self_scores
        about = {name: array for name, array in self.about.items() if name != _OWN}
        names = {
            name: _names_of(sequences) for name, sequences in zip(_NAMES, self.named, strict=False)
        }
        write_npz(output, arrays | about | names)
        self.entries.close()

    def _field(self, name: str) -> Pieces:
        values = (some[name] for some in self.entries)
        return Pieces(self.entries.kind[name], len(self.entries), values)

    def _csr(self) -> dict[str, npt.NDArray[Any] | Pieces]:
        count, width = self.about["shape"].tolist()
        counts = np.zeros(count, np.int64)
        for some in self._both_ways():
            counts += np.bincount(some["row"], minlength=count)
        before = np.cumsum(counts) - counts
        part_of_row = before // _AT_A_TIME
        scattered = self._scatter(part_of_row, counts)
        data, indices = scattered.like(np.float64), scattered.like(np.int32)
        kept = np.zeros(count + 1, np.int64)
        ends = np.searchsorted(part_of_row, np.unique(part_of_row), side="right")
        start = first = 0
        for end in ends.tolist():
            stop = int(before[end - 1] + counts[end - 1])
            some = scattered.read(start, stop)
            places = some["row"].astype(np.int64) * width + some["col"]
            some = some[np.unique(places, return_index=True)[1]]
            data.append(some["data"])
            indices.append(some["col"])
            kept[first + 1 : end + 1] = np.bincount(some["row"] - first, minlength=end - first)
            start, first = stop, end
        sorted_ = {"data": data.pieces(), "indices": indices.pieces()}
        return {**sorted_, "indptr": np.cumsum(kept)}

    def _scatter(self, part_of_row: Int64s, counts: Int64s) -> Spool:
        """Return all entries, those of a range of rows together, each as they came."""
        parts = np.bincount(part_of_row, counts).astype(np.int64) if len(counts) else part_of_row
        places = np.cumsum(parts) - parts
        scattered = self.entries.like(_ENTRY)
        for some in self._both_ways():
            part = part_of_row[some["row"]]
            some = some[np.argsort(part, kind="stable")]
            part_counts = np.bincount(part, minlength=len(parts))
            stops = np.cumsum(part_counts)
            for number in np.flatnonzero(part_counts).tolist():
                stop = int(stops[number])
                scattered.put(int(places[number]), some[stop - int(part_counts[number]) : stop])
            places += part_counts
        return scattered

    def _both_ways(self) -> Iterator[npt.NDArray[Any]]:
        """Give all entries, some at a time; of one set each as row and as column."""
        for some in self.entries:
            if not self.is_one_set:
                yield some
                continue
            low = np.minimum(some["row"], some["col"])
            high = np.maximum(some["row"], some["col"])
            yield _entries((low, high, some["data"]))
            yield _entries((high, low, some["data"]))
        if _OWN in self.about:
            self_scores = self.about[_OWN]
            diagonal = np.flatnonzero(np.nan_to_num(self_scores))
            yield _entries((diagonal, diagonal, self_scores[diagonal]))


def _names_of(sequences: SequenceSet) -> npt.NDArray[np.str_] | Pieces:
    return names_array(lambda: map(sequences.names_at, slices(sequences)))


def _entries(fields: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return rows, columns and values as entries."""
    entries = np.empty(len(fields[0]), _ENTRY)
    for name, values in zip(_ENTRIES, fields, strict=True):
        entries[name] = values
    return entries


def _diagonal(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], values: npt.NDArray[Any], count: int
) -> Doubles:
    """Return the values of the diagonal of a matrix, nan where there is none; empty without any."""
    is_own = rows == columns
    diagonal = np.full(count if is_own.any() else 0, np.nan)
    diagonal[rows[is_own]] = values[is_own]
    return diagonal


def _read(files: Iterable[memoryview], entries: Spool) -> Iterator[_Entries]:
    """Read the parts of a matrix, whose entries are added to others; one in CSR is the whole."""
    for part in files:
        try:
            fields, about, flags = _read_one(_read_arrays(part))
            _check(about, fields)
        except _DAMAGE as error:
            raise PartsError(f"a part is no matrix of this run: {error}") from error
        entries.append(_entries(fields))
        yield _Entries(entries, about, *flags)


def _read_arrays(data: memoryview) -> Arrays:
    """Read what `numpy.savez` writes; no array is made that the file is too small for."""
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            with archive.open(info) as file:
                np.lib.format.read_magic(file)
                shape, _, kind = np.lib.format.read_array_header_1_0(file)
                size = kind.itemsize * prod(shape)
                if kind.hasobject or size > len(data):
                    raise ValueError(f"'{info.filename}' is of {shape} values of {kind}")
                values = np.frombuffer(file.read(size + 1), kind)
                arrays[info.filename.removesuffix(".npy")] = values.reshape(shape)
    return arrays


def _check(about: Arrays, entries: Sequence[npt.NDArray[Any]]) -> None:
    """Raise ValueError unless entries are places of the matrix and its names are as many."""
    shape = about["shape"]
    if shape.shape != (2,) or shape.dtype.kind != "i" or (shape < 0).any():
        raise ValueError("its shape is no pair of numbers")
    rows, columns, data = entries
    if {field.shape for field in entries} != {(len(rows),)} or data.dtype != np.float64:
        raise ValueError("its entries are not three lists of the same length")
    for places, size in zip((rows, columns), shape.tolist(), strict=True):
        if places.dtype != np.int32 or ((places < 0) | (places >= size)).any():
            raise ValueError(f"an entry is outside of a matrix of {shape.tolist()}")
    for name, size in zip(_NAMES, shape.tolist(), strict=True):
        names = about.get(name)
        if names is None:
            continue
        count = names.item().count("\n") + 1 if not names.shape else len(names)
        if count != size or names.dtype.kind != "U":
            raise ValueError(f"'{name}' are not {size:,} names")
    self_scores = about.get(_OWN)
    if self_scores is not None and (
        self_scores.shape != shape[:1] or self_scores.dtype != np.float64
    ):
        raise ValueError("it has other scores of sequences with themselves than sequences")
    if about["weight"].dtype.kind != "U":
        raise ValueError("its weight has no name")


def _read_one(stored: Arrays) -> tuple[list[npt.NDArray[Any]], Arrays, tuple[bool, bool, bool]]:
    """Return entries, what else is stored, and whether it is of one set, the first, the last."""
    about: Arrays = {
        name: stored[name] for name in ("shape", "weight", _OWN, *_NAMES) if name in stored
    }
    if stored["format"] == b"coo":
        is_one_set, is_first, is_last = map(bool, stored["kind"].tolist())
        return [stored[name] for name in _ENTRIES], about, (is_one_set, is_first, is_last)
    indices, values = stored["indices"], stored["data"]
    numbers = np.repeat(np.arange(len(stored["indptr"]) - 1), np.diff(stored["indptr"]))
    is_one_set = "target_names" not in about
    if (
        is_one_set
        and (self_scores := _diagonal(numbers, indices, values, len(stored["indptr"]) - 1)).size
    ):
        about[_OWN] = self_scores
    kept = numbers < indices if is_one_set else np.ones(len(indices), bool)
    fields = [field[kept] for field in (numbers.astype(np.int32), indices, values)]
    return fields, about, (is_one_set, True, True)
