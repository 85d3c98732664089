"""Files of splits: a table of the folds, and one of what was removed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pairalign.base.texts import quoted
from pairalign.clusters.splits.result import Split
from pairalign.formats.names import table_format
from pairalign.formats.output import Path, open_output

REMOVED_COLUMNS = ("name", "label", "cluster")


def write_split(path: Path, split: Split) -> None:
    """Write the folds: a line a sequence that was not removed, in the order of the input.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.

    Raises
    ------
    OutputError
        The file cannot be written.

    Notes
    -----
    The columns are name, label (empty without labels), name of the fold, number of the cluster, and
    the most similar sequence of another fold with its identity, 6 decimals; both are empty where
    none reaches `Split.nearest_from`. An identity other than matches by columns has its name in
    the header: ``nearest_identity_full``.
    """
    names, labels = split.sequences.names, _labels(split)
    chosen = split.thresholds.identity_column
    columns = ("name", "label", "fold", "cluster", "nearest", f"nearest_{chosen}")
    rows: list[tuple[object, ...]] = [columns]
    for k in np.flatnonzero(split.folds >= 0).tolist():
        near = int(split.nearest[k])
        nearest = ("", "") if near < 0 else (names[near], f"{split.nearest_identity[k]:.6f}")
        fold = split.fold_names[int(split.folds[k])]
        rows.append((names[k], labels[k], fold, int(split.clusters[k]), *nearest))
    write_rows(path, rows)


def write_removed(path: Path, split: Split) -> None:
    """Write what was removed: name, label and cluster; as `write_split`."""
    names, labels = split.sequences.names, _labels(split)
    rows: list[tuple[object, ...]] = [REMOVED_COLUMNS]
    rows += [(names[k], labels[k], int(split.clusters[k])) for k in split.removed.tolist()]
    write_rows(path, rows)


def write_rows(path: Path, rows: Iterable[tuple[object, ...]]) -> None:
    """Write rows as a table, CSV unless the name says TSV, lines ending in a line feed.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    with open_output(path) as output:
        output.write(table_text(rows, table_format(path, "csv")).encode())


def table_text(rows: Iterable[tuple[object, ...]], format: str = "csv") -> str:
    """Return rows as a table, lines ending in a line feed."""
    mark = "," if format == "csv" else "\t"
    marks = f"{mark}\n\r"
    return "".join(mark.join(quoted(str(field), marks) for field in row) + "\n" for row in rows)


def _labels(split: Split) -> tuple[str, ...]:
    return split.labels or ("",) * len(split.sequences)
