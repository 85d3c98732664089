"""SciPy's .npz: the kept pairs as a sparse matrix in CSR, which ``scipy.sparse.load_npz`` reads."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int32s
from pairalign.base.errors import PartsError
from pairalign.formats.libraries import BytesSink
from pairalign.formats.networks import edge_fields, edge_values
from pairalign.formats.output import Output
from pairalign.formats.parts import Rows
from pairalign.formats.writer import Content, Writer
from pairalign.pairs.want import Detail
from pairalign.sequences.block_set import indices_in_whole, slices, whole_of
from pairalign.sequences.sets import SequenceSet

Arrays = dict[str, npt.NDArray[Any]]
_ENTRIES = ("row", "col", "data")
_NAMES = ("names", "target_names")
_DAMAGE = (
    *(ValueError, KeyError, IndexError, TypeError, OverflowError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error, RuntimeError),  # also NotImplementedError; by zipfile
)


class MatrixWriter(Writer):
    """A matrix with an entry for each pair of which something is aligned: its weight, in float64.

    Of one set it is symmetric without a diagonal, of two it has a row a query and a column a
    target. ``data``, ``indices`` (int32, ascending in a row), ``indptr`` (int64), ``shape`` and
    ``format`` are SciPy's; ``names``, of two sets also ``target_names``, and ``weight`` come
    besides. Of a pair that comes again the first counts. Nothing but the entries is held: 16 bytes
    a pair, and up to 120 at the end, where they are sorted.

    A part, and what is before and after a `flush`, has the entries in the order of output, in COO;
    the first one has the names.
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
        self._held: list[tuple[npt.NDArray[Any], ...]] = []
        self._is_begun = False

    def _write(self, alignments: Alignments) -> None:
        part = alignments.take(alignments.columns > 0)
        if len(part):
            self.shown += len(part)
            content = self._content
            (weights,) = edge_values(part, (content.weight,), content.significance)
            query = indices_in_whole(content.queries)[part.query]
            target = indices_in_whole(content.targets)[part.target]
            self._held.append((query, target, weights.astype(np.float64)))

    def _take(self) -> _Entries:
        """Return what is held, and hold it no more."""
        content, held = self._content, self._held
        self._held = []
        is_first = content.piece.first and not self._is_begun
        self._is_begun = True
        is_one_set = content.targets is content.queries
        sets = whole_of(content.queries), whole_of(content.targets)
        about: Arrays = {
            "shape": np.array([len(one) for one in sets]),
            "weight": np.array(content.weight),
        }
        named = sets[: 1 if is_one_set else 2] if is_first else ()
        return _Entries(_concatenated(held), about, is_one_set, is_first, content.piece.last, named)

    @classmethod
    def add(cls, old: memoryview, new: memoryview, output: Output) -> None:
        """Write the entries of two whole matrices of one set as one; does not close the output.

        Raises
        ------
        PartsError
            One of them is no such matrix, or their weights are different values.
        """
        before, added = _read([old, new])
        if before.key[2:] != added.key[2:] or (before.about["shape"] > added.about["shape"]).any():
            raise PartsError("the matrices are of different runs")
        entries = _concatenated([before.entries, added.entries])
        _Entries(entries, added.about, True, True, True).write(output)

    @classmethod
    def pairs_of(cls, data: memoryview) -> tuple[Int32s, Int32s]:
        """Return row and column of the pairs of one set in a whole matrix: the lower index first.

        Raises
        ------
        PartsError
            It is no such matrix.
        """
        (found,) = _read([data])
        rows, columns, _ = found.entries
        return np.minimum(rows, columns), np.maximum(rows, columns)

    @classmethod
    def join_files(
        cls, files: Iterable[memoryview | Rows], output: Output, threads: int = 1
    ) -> None:
        """Write one matrix of several that come one after the other; does not close it.

        Raises
        ------
        PartsError
            One of them is no such matrix, or they are not of one run.
        """
        parts = list(_read(files))
        about: Arrays = {}
        for part in parts:
            about |= part.about
        if len({part.key for part in parts}) != 1:
            raise PartsError("parts are matrices of different runs")
        _Entries(
            _concatenated([part.entries for part in parts]),
            about,
            parts[0].is_one_set,
            any(part.is_first for part in parts),
            any(part.is_last for part in parts),
        ).write(output)

    def flush(self) -> int:
        """End the file: what comes next is another, for `join_files`."""
        if self._held or not self._is_begun:
            self._take().write(self._output, whole=False)
        return super().flush()

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
    entries : tuple of ndarray
        Queries, targets (int32) and weights (float64).
    about : dict
        What else is stored: shape, weight, and names if it is the first part that was read.
    is_one_set, is_first, is_last : bool
    named : tuple of SequenceSet
        Those whose names are stored, if it is the first part and not read.
    """

    entries: tuple[npt.NDArray[Any], ...]
    about: Arrays
    is_one_set: bool
    is_first: bool
    is_last: bool
    named: tuple[SequenceSet, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What all parts of a matrix have alike."""
        return (*self.about["shape"].tolist(), str(self.about["weight"]), self.is_one_set)

    def write(self, output: Output, whole: bool = True) -> None:
        """Write a matrix in CSR if it is whole, else what is there, in COO."""
        if whole and self.is_first and self.is_last:
            arrays = {"format": np.array(b"csr"), **self._csr()}
        else:
            arrays = {
                "format": np.array(b"coo"),
                **dict(zip(_ENTRIES, self.entries, strict=True)),
                "kind": np.array((self.is_one_set, self.is_first, self.is_last)),
            }
        # As numpy.savez does, which has no way to be given an array in pieces.
        with zipfile.ZipFile(BytesSink(output), "w") as archive:
            for name, array in (arrays | self.about).items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
            for name, sequences in zip(_NAMES, self.named, strict=False):
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    _write_names(file, sequences)

    def _csr(self) -> Arrays:
        rows, columns, data = self.entries
        count, width = self.about["shape"].tolist()
        if self.is_one_set:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        _, first = np.unique(rows.astype(np.int64) * width + columns, return_index=True)
        rows, columns, data = rows[first], columns[first], data[first]
        if self.is_one_set:
            rows, columns = np.concatenate((rows, columns)), np.concatenate((columns, rows))
            order = np.argsort(rows.astype(np.int64) * width + columns)
            rows, columns, data = rows[order], columns[order], np.concatenate((data, data))[order]
        indptr = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=indptr[1:])
        return {"data": data, "indices": columns, "indptr": indptr}


def _write_names(file: IO[bytes], sequences: SequenceSet) -> None:
    """Write all names as `numpy.lib.format.write_array` writes an array of them."""
    longest = max(max(map(len, sequences.names_at(some))) for some in slices(sequences))
    kind = np.dtype((np.str_, longest))
    about = {"descr": kind.str, "fortran_order": False, "shape": (len(sequences),)}
    np.lib.format.write_array_header_1_0(file, about)
    for some in slices(sequences):
        file.write(np.array(sequences.names_at(some), kind).tobytes())


def _concatenated(parts: list[tuple[npt.NDArray[Any], ...]]) -> tuple[npt.NDArray[Any], ...]:
    none: Int32s = np.empty(0, np.int32)
    kept = [(none, none, np.empty(0)), *parts]
    return tuple(np.concatenate(arrays) for arrays in zip(*kept, strict=True))


def _read(files: Iterable[memoryview | Rows]) -> Iterator[_Entries]:
    """Read the parts of a matrix; one in CSR is the whole."""
    for one in files:
        data, start, stop = one if isinstance(one, Rows) else (one, 0, None)
        try:
            found = _read_one(_read_arrays(data), slice(start, stop))
            _check(found)
        except _DAMAGE as error:
            raise PartsError(f"a part is no matrix of this run: {error}") from error
        yield found


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


def _check(found: _Entries) -> None:
    """Raise ValueError unless entries are places of the matrix and its names are as many."""
    shape = found.about["shape"]
    if shape.shape != (2,) or shape.dtype.kind != "i" or (shape < 0).any():
        raise ValueError("its shape is no pair of numbers")
    rows, columns, data = found.entries
    if {one.shape for one in found.entries} != {(len(rows),)} or data.dtype != np.float64:
        raise ValueError("its entries are not three lists of the same length")
    for places, size in zip((rows, columns), shape.tolist(), strict=True):
        if places.dtype != np.int32 or ((places < 0) | (places >= size)).any():
            raise ValueError(f"an entry is outside of a matrix of {shape.tolist()}")
    for name, size in zip(_NAMES, shape.tolist(), strict=True):
        names = found.about.get(name)
        if names is not None and (names.shape != (size,) or names.dtype.kind != "U"):
            raise ValueError(f"'{name}' are not {size:,} names")
    if found.about["weight"].dtype.kind != "U":
        raise ValueError("its weight has no name")


def _read_one(stored: Arrays, rows: slice) -> _Entries:
    about: Arrays = {name: stored[name] for name in ("shape", "weight", *_NAMES) if name in stored}
    if stored["format"] == b"coo":
        entries = tuple(stored[name][rows] for name in _ENTRIES)
        is_one_set, is_first, is_last = map(bool, stored["kind"].tolist())
        return _Entries(entries, about, is_one_set, is_first, is_last)
    indices, values = stored["indices"], stored["data"]
    numbers = np.repeat(np.arange(len(stored["indptr"]) - 1), np.diff(stored["indptr"]))
    is_one_set = "target_names" not in about
    kept = numbers < indices if is_one_set else np.ones(len(indices), bool)
    found = numbers[kept].astype(np.int32), indices[kept], values[kept]
    return _Entries(tuple(one[rows] for one in found), about, is_one_set, True, True)
