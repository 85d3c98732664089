"""What is done about records before they become a set: stops at ends, empty and repeated records.

Where a record is left out, those that stay keep the number that they have in their file, so that
messages name what people see there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from pairalign.base.arrays import Bools, Int64s
from pairalign.base.choices import NAMES, ON_DUPLICATE, ON_EMPTY
from pairalign.base.error_types import shown_name
from pairalign.base.texts import counted, words_of
from pairalign.sequences.input_rules import InputRules
from pairalign.sequences.sequence_records import Origin, Records

log = logging.getLogger("pairalign")

_STOP = ord("*")


def tidy(records: Records, source: str, rules: InputRules, *, are_proteins: bool) -> Records:
    """Leave out stops at the ends of proteins, and do as `rules` say about unusual records.

    Parameters
    ----------
    source : str
        What messages call the records.
    are_proteins : bool
        A ``*`` at the end of a protein is a stop codon and no residue; in DNA it stays, an error.

    Returns
    -------
    Records
        The same object where nothing is to be done.
    """
    if rules.names != NAMES[0]:
        whole = ["_".join(words_of(header)) for header in records.descriptions]
        records = Records(whole, whole, *records[2:])
    if are_proteins and b"*" in records.residues:
        records = _without_stops(records, source)
    if rules.on_empty != ON_EMPTY[0]:
        records = _without_empty(records, source)
    if rules.on_duplicate != ON_DUPLICATE[0] and len(set(records.names)) < len(records.names):
        mend = _renamed if rules.on_duplicate == "rename" else _without_copies
        records = mend(records, source)
    return records


def _without_stops(records: Records, source: str) -> Records:
    residues = np.frombuffer(records.residues, np.uint8)
    starts, ends = records.offsets[:-1], records.offsets[1:].copy()
    while True:
        at_stop = ends > starts
        at_stop[at_stop] = residues[ends[at_stop] - 1] == _STOP
        if not at_stop.any():
            break
        ends[at_stop] -= 1
    cut = ends < records.offsets[1:]
    if not cut.any():
        return records
    log.info(
        "%s: %s with * at the end, a stop and no residue: it is left out",
        source,
        _counted(int(cut.sum()), records.names[int(np.argmax(cut))]),
    )
    kept = np.ones(len(residues), np.bool_)
    for start, stop in zip(ends[cut], records.offsets[1:][cut], strict=True):
        kept[start:stop] = False
    return _with_residues(records, kept, ends - starts)


def _with_residues(records: Records, kept: Bools, lengths: Int64s) -> Records:
    """Return records with some of their residues, and their qualities; `lengths` are the new."""
    residues, qualities = (
        None if text is None else np.frombuffer(text, np.uint8)[kept].tobytes()
        for text in (records.residues, records.qualities)
    )
    assert residues is not None
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Records(*records[:2], residues, offsets, records.origins, qualities)


def _without_empty(records: Records, source: str) -> Records:
    is_empty = np.diff(records.offsets) == 0
    if not is_empty.any():
        return records
    first = records.names[int(np.argmax(is_empty))]
    log.info("%s: %s left out: no residues", source, _counted(int(is_empty.sum()), first))
    return _keep_records(records, source, ~is_empty)


def _keep_records(records: Records, source: str, kept: Bools) -> Records:
    """Return some of the records; those that are left out must have no residues."""
    indices = np.flatnonzero(kept)
    offsets = np.append(records.offsets[:-1][kept], records.offsets[-1])
    origins: list[Origin] = []
    start = 0
    for origin in records.origins or (Origin(source, np.arange(1, len(kept) + 1)),):
        stop = start + len(origin.numbers)
        origins.append(Origin(origin.name, origin.numbers[kept[start:stop]]))
        start = stop
    return Records(
        [records.names[index] for index in indices],
        [records.descriptions[index] for index in indices],
        records.residues,
        offsets,
        tuple(origins),
        records.qualities,
    )


def _renamed(records: Records, source: str) -> Records:
    all_names = set(records.names)
    seen: dict[str, int] = {}
    names, descriptions, renamed = [], [], []
    for name, description in zip(records.names, records.descriptions, strict=True):
        number = seen[name] = seen.get(name, 0) + 1
        new = name
        if number > 1 and name:
            while (new := f"{name}_{number}") in all_names:
                number += 1
            seen[name] = number
            all_names.add(new)
            renamed.append(name)
        names.append(new)
        descriptions.append(new + description.removeprefix(name))
    if not renamed:
        return records
    counted = _counted(len(renamed), renamed[0])
    log.info("%s: %s with the name of another: renamed to NAME_2 and so on", source, counted)
    return Records(names, descriptions, *records[2:])


def _without_copies(records: Records, source: str) -> Records:
    """Leave out records that have name and residues of an earlier one, whatever their case."""
    offsets = records.offsets.tolist()
    bodies = [records.residues[a:b].upper() for a, b in pairwise(offsets)]
    seen: dict[str, bytes] = {}
    kept = np.ones(len(bodies), np.bool_)
    for index, (name, body) in enumerate(zip(records.names, bodies, strict=True)):
        kept[index] = not name or name not in seen or seen[name] != body
        seen.setdefault(name, body)
    if kept.all():
        return records
    first = records.names[int(np.argmin(kept))]
    left_out = _counted(int((~kept).sum()), first)
    log.info("%s: %s with name and residues of another left out", source, left_out)
    lengths = np.diff(records.offsets)
    emptied = _with_residues(records, np.repeat(kept, lengths), np.where(kept, lengths, 0))
    return _keep_records(emptied, source, kept)


def _counted(count: int, first: str) -> str:
    return f"{counted(count, 'record')} ({'the first is ' * (count > 1)}{shown_name(first)})"


def join_files(parts: Iterable[tuple[Records, str]]) -> tuple[Records, str]:
    """Put the records of several files together, in their order.

    Parameters
    ----------
    parts : iterable of (Records, str)
        Each with what messages call its file.

    Returns
    -------
    records : Records
    source : str
        What messages call them together: ``a.fa and b.fa``, ``a.fa and 3 more files``.
    """
    files = list(parts)
    if len(files) == 1:
        return files[0]
    names: list[str] = []
    descriptions: list[str] = []
    origins: list[Origin] = []
    offsets = [np.zeros(1, np.int64)]
    for records, source in files:
        names += records.names
        descriptions += records.descriptions
        offsets.append(records.offsets[1:] + offsets[-1][-1])
        origins += records.origins or (Origin(source, np.arange(1, len(records.names) + 1)),)
    rest = files[1][1] if len(files) == 2 else f"{len(files) - 1} more files"
    residues = b"".join(records.residues for records, _ in files)
    scores = [records.qualities for records, _ in files]
    qualities = (
        b"".join(part for part in scores if part is not None) if None not in scores else None
    )
    joined = Records(
        names, descriptions, residues, np.concatenate(offsets), tuple(origins), qualities
    )
    return joined, f"{files[0][1]} and {rest}"
