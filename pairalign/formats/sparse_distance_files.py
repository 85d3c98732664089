"""Files of distances within a limit: SciPy's .npz in CSR, TSV and Parquet.

The .npz is what ``scipy.sparse.load_npz`` reads: of one set the symmetric matrix with its diagonal,
of two a rectangle. An entry is the distance plus 1; ``names``, of two sets ``target_names``,
``measure`` and ``limit`` are further arrays. TSV and
Parquet have a row a pair: ``query``, ``target``, ``distance``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.choices import SPARSE_SUFFIXES, TABLES
from pairalign.base.texts import quoted
from pairalign.formats.libraries import BytesSink, array_format, arrow
from pairalign.formats.npz import Pieces, names_array, write_npz
from pairalign.formats.output import Output, Path, open_table
from pairalign.trees.sparse_distances import SparseDistances

_LINES_A_WRITE = 1 << 16


def sparse_format(path: Path, format: str | None) -> str:
    """Return the format that is meant, and refuse what cannot be written.

    Raises
    ------
    FormatError
        There is no such format, it has its own compression, or PyArrow is not installed.
    """
    return array_format(path, format, SPARSE_SUFFIXES, "distances within a limit")


def write_sparse(
    path: Path, distances: SparseDistances, format: str | None = None, *, threads: int = 1
) -> None:
    """Write distances within a limit.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses TSV. The file appears when it is complete.
    format : {"npz", "tsv", "parquet"}, optional
        Default: by the end of the file's name.
    threads : int
        Threads to compress on.

    Raises
    ------
    FormatError
        See `sparse_format`.
    OutputError
        The file cannot be written.
    """
    tables = dict.fromkeys(TABLES, _write_tsv)
    write = {"npz": _write_npz, **tables, "parquet": _write_parquet}
    chosen = sparse_format(path, format)
    with open_table(path, chosen, threads=threads) as output:
        write[chosen](output, distances)


def _write_npz(output: Output, distances: SparseDistances) -> None:
    indptr = distances.indptr
    count = int(indptr[-1])
    two = distances.target_names is not None
    others = {"target_names": names_array(lambda: [distances.other_names])} if two else {}
    arrays: dict[str, npt.NDArray[Any] | Pieces] = {
        "indices": Pieces(
            np.dtype(np.int32), count, (columns for _, columns in distances.csr_blocks())
        ),
        "indptr": indptr,
        "format": np.array(b"csr"),
        "shape": np.array(distances.shape),
        "data": Pieces(distances.dtype, count, (values for values, _ in distances.csr_blocks())),
        "names": names_array(lambda: [distances.names]),
        **others,
        "measure": np.array(distances.measure),
        "limit": np.array(distances.limit),
    }
    write_npz(output, arrays)


def _write_tsv(output: Output, distances: SparseDistances) -> None:
    names, others = (
        [quoted(name) for name in side] for side in (distances.names, distances.other_names)
    )
    output.write(b"query\ttarget\tdistance\n")
    for start in range(0, len(distances), _LINES_A_WRITE):
        part = slice(start, start + _LINES_A_WRITE)
        fields = (distances.queries[part], distances.targets[part], distances.values[part])
        rows = zip(*(field.tolist() for field in fields), strict=True)
        lines = [f"{names[query]}\t{others[target]}\t{value}\n" for query, target, value in rows]
        output.write("".join(lines).encode())


def _write_parquet(output: Output, distances: SparseDistances) -> None:
    pa, pq = arrow()
    columns = {
        title: pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(names, pa.string()))
        for title, indices, names in (
            ("query", distances.queries, distances.names),
            ("target", distances.targets, distances.other_names),
        )
    }
    about = {"pairalign.measure": distances.measure, "pairalign.limit": str(distances.limit)}
    table = pa.table({**columns, "distance": pa.array(distances.values.astype(distances.dtype))})
    pq.write_table(table.replace_schema_metadata(about), BytesSink(output), compression="zstd")
