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
    path: Path, found: SparseDistances, format: str | None = None, *, threads: int = 1
) -> None:
    """Write distances within a limit.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses TSV. The file appears when it is complete.
    found : SparseDistances
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
        write[chosen](output, found)


def _write_npz(output: Output, found: SparseDistances) -> None:
    indptr = found.indptr
    count = int(indptr[-1])
    two = found.target_names is not None
    others = {"target_names": names_array(lambda: [found.other_names])} if two else {}
    arrays: dict[str, npt.NDArray[Any] | Pieces] = {
        "indices": Pieces(np.dtype(np.int32), count, (one for _, one in found.csr_blocks())),
        "indptr": indptr,
        "format": np.array(b"csr"),
        "shape": np.array(found.shape),
        "data": Pieces(found.dtype, count, (one for one, _ in found.csr_blocks())),
        "names": names_array(lambda: [found.names]),
        **others,
        "measure": np.array(found.measure),
        "limit": np.array(found.limit),
    }
    write_npz(output, arrays)


def _write_tsv(output: Output, found: SparseDistances) -> None:
    names, others = ([quoted(name) for name in side] for side in (found.names, found.other_names))
    output.write(b"query\ttarget\tdistance\n")
    for start in range(0, len(found), _LINES_A_WRITE):
        part = slice(start, start + _LINES_A_WRITE)
        fields = (found.queries[part], found.targets[part], found.values[part])
        rows = zip(*(field.tolist() for field in fields), strict=True)
        lines = [f"{names[query]}\t{others[target]}\t{value}\n" for query, target, value in rows]
        output.write("".join(lines).encode())


def _write_parquet(output: Output, found: SparseDistances) -> None:
    pa, pq = arrow()
    columns = {
        title: pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(names, pa.string()))
        for title, indices, names in (
            ("query", found.queries, found.names),
            ("target", found.targets, found.other_names),
        )
    }
    about = {"pairalign.measure": found.measure, "pairalign.limit": str(found.limit)}
    table = pa.table({**columns, "distance": pa.array(found.values.astype(found.dtype))})
    pq.write_table(table.replace_schema_metadata(about), BytesSink(output), compression="zstd")
