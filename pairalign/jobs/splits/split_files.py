"""Files of splits: tables of the folds and of what was removed, and the sequences of each fold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pairalign.base.error_types import FormatError
from pairalign.base.run_files import remove_empty_folder, remove_regular
from pairalign.base.spelling import spelled
from pairalign.base.texts import quoted
from pairalign.clusters.folds import Split
from pairalign.formats.names import table_format
from pairalign.formats.output import Path, check_usable, check_writable, open_output
from pairalign.formats.pieces import prepare_folder
from pairalign.sequences.sets import SequenceSet

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


def fold_places(folder: str, fold_names: Sequence[str]) -> list[str]:
    """Return where each fold goes: ``train.fasta``; a fold with a number is ``fold_0.fasta``.

    Raises
    ------
    FormatError
        See `check_places`.
    """
    places = [os.path.join(folder, f"{fold_stem(name)}.fasta") for name in fold_names]
    check_places(folder, places)
    return places


def fold_stem(name: str) -> str:
    """Return what the files of a fold are called, without their ending."""
    return f"fold_{name}" if name.isdigit() else name


def check_places(folder: str, places: Sequence[str]) -> None:
    """Refuse files that are there: nothing is replaced. Refuse what cannot be their folder.

    Raises
    ------
    FormatError
        The folder is a file, or has one of these.
    OutputError
        It could not be made, or nothing can be written into it.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FormatError(
            f"'{folder}' is there and no folder: choose another {spelled('folds_dir')}"
        )
    there = next((place for place in places if os.path.lexists(place)), None)
    if there is not None:
        raise FormatError(
            f"'{there}' is there: choose another {spelled('folds_dir')}, or remove it"
        )
    check_usable(folder)
    if os.path.isdir(folder):
        check_writable(places[0])


def write_fold_files(folder: str, split: Split) -> None:
    """Write the sequences of each fold as they were read, in the order of the input.

    All files appear, or none.

    Raises
    ------
    FormatError
        See `check_places`.
    OutputError
        A file cannot be written.
    """
    places = fold_places(folder, split.fold_names)
    members = (split.members(fold).tolist() for fold in range(len(split)))
    write_together(folder, places, (fasta_of(split.sequences, indices) for indices in members))


def write_together(folder: str, places: Sequence[str], texts: Iterable[Iterable[str]]) -> None:
    """Write files into a folder, each from its pieces of text; all appear, or none.

    Raises
    ------
    FormatError
        See `check_places`.
    OutputError
        A file cannot be written.
    """
    check_places(folder, places)
    is_new = not os.path.isdir(folder)
    prepare_folder(folder)
    written: list[str] = []
    try:
        for place, pieces in zip(places, texts, strict=True):
            with open_output(place) as output:
                for piece in pieces:
                    output.write(piece.encode())
            written.append(place)
    except BaseException:
        for place in written:
            remove_regular(place)
        if is_new:
            with contextlib.suppress(OSError):
                remove_empty_folder(folder)
        raise


def fasta_of(sequences: SequenceSet, members: Sequence[int]) -> Iterator[str]:
    """Yield sequences as FASTA, each as it was read."""
    for index, residues in zip(members, sequences.residue_texts(members), strict=True):
        yield f">{sequences.descriptions[index]}\n{residues}\n"
