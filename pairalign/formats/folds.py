"""The sequences of each fold as FASTA, in a folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

from pairalign.base.error_types import FormatError
from pairalign.base.run_files import remove_empty_folder, remove_regular
from pairalign.base.spelling import spelled
from pairalign.clusters.splits.result import Split
from pairalign.formats.output import open_output
from pairalign.formats.parts import prepare_folder
from pairalign.sequences.sets import SequenceSet


def fold_places(folder: str, fold_names: Sequence[str]) -> list[str]:
    """Return where each fold goes: ``train.fasta``; a fold with a number is ``fold_0.fasta``.

    Raises
    ------
    FormatError
        The folder is a file, or has one of these: nothing is replaced.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FormatError(
            f"'{folder}' is there and no folder: choose another {spelled('folds_dir')}"
        )
    stems = [f"fold_{name}" if name.isdigit() else name for name in fold_names]
    places = [os.path.join(folder, f"{stem}.fasta") for stem in stems]
    there = next((place for place in places if os.path.lexists(place)), None)
    if there is not None:
        raise FormatError(
            f"'{there}' is there: choose another {spelled('folds_dir')}, or remove it"
        )
    return places


def write_fold_files(folder: str, split: Split) -> None:
    """Write the sequences of each fold as they were read, in the order of the input.

    All files appear, or none.

    Raises
    ------
    FormatError
        See `fold_places`.
    OutputError
        A file cannot be written.
    """
    places = fold_places(folder, split.fold_names)
    is_new = not os.path.isdir(folder)
    prepare_folder(folder)
    written: list[str] = []
    try:
        for fold, place in enumerate(places):
            with open_output(place) as output:
                for record in _records(split.sequences, split.members(fold).tolist()):
                    output.write(record.encode())
            written.append(place)
    except BaseException:
        for place in written:
            remove_regular(place)
        if is_new:
            with contextlib.suppress(OSError):
                remove_empty_folder(folder)
        raise


def _records(sequences: SequenceSet, members: Sequence[int]) -> Iterator[str]:
    for index in members:
        one = sequences[index]
        yield f">{one.description}\n{one.residues}\n"
