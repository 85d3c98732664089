"""The sequences of each fold as FASTA, in a folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence

from pairalign.base.error_types import FormatError
from pairalign.base.run_files import remove_empty_folder, remove_regular
from pairalign.base.spelling import spelled
from pairalign.clusters.splits.result import Split
from pairalign.formats.output import check_usable, check_writable, open_output
from pairalign.formats.pieces import prepare_folder
from pairalign.sequences.sets import SequenceSet


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
