"""Files that say which sequences belong together: folds and clusters, ours or another program's."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator

from pairalign.base.choices import GROUP_SUFFIXES
from pairalign.base.errors import SplitError, describe_unreadable, shown_name
from pairalign.base.texts import is_whole, lines_of, unquoted
from pairalign.clusters.splits.groups import Groups, Membership, make_groups
from pairalign.formats.names import choose_format
from pairalign.formats.readers.reader import open_raw
from pairalign.sequences.compression import decompress
from pairalign.sequences.sets import SequenceSet

_FOLD_COLUMNS = ("fold", "set", "split", "partition", "cluster")
"""Headings of the column of folds; the first that there is. GraphPart's is the last."""
_CLSTR = re.compile(r"\d+\s+\d+(?:aa|nt),\s+>(.*?\.\.\.)\s+(\*|at\s.*)$", re.ASCII)


def read_groups(path: str, format: str | None, sequences: SequenceSet) -> Groups:
    """Read groups of sequences of a set.

    Parameters
    ----------
    path : str
        Compressed or not; ``"-"`` is standard input.
    format : {"folds", "clstr", "uc", "tsv"}, optional
        Default: by the end of the file's name.
    sequences : SequenceSet

    Raises
    ------
    FormatError
        The file's name does not tell the format.
    SplitError
        The file cannot be read, or names what is not among the sequences.

    Notes
    -----
    ``folds`` is CSV or TSV with a header line: names in the first column, and a column fold (or
    set, split, partition, or cluster as GraphPart has it). ``clstr`` is CD-HIT's, ``uc`` vsearch's
    and USEARCH's. ``tsv`` has a representative and a member a line, as MMseqs2 and DIAMOND write
    it; or it is the table of ``pairalign cluster``, by its header.
    """
    chosen = choose_format(path, format, GROUP_SUFFIXES, "folds or clusters", "standard input")
    try:
        with open_raw(path) as file:
            text = decompress(file.read(), path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SplitError(f"{path}: {describe_unreadable(error, 'a file')}") from error
    try:
        said = list(_READERS[chosen](text, path))
    except csv.Error as error:
        raise SplitError(f"{path}: {describe_unreadable(ValueError(error), 'a table')}") from error
    return make_groups(sequences, said, path)


def _read_folds(text: str, path: str) -> Iterator[Membership]:
    lines = lines_of(text)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # names may be long
    rows = csv.reader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    header = next(rows, [])
    column = next((header.index(name) for name in _FOLD_COLUMNS if name in header), 0)
    if column == 0:
        raise SplitError(f"{path}: no column fold (or {', '.join(_FOLD_COLUMNS[1:])}) after names")
    for row in rows:
        if row and len(row) <= column:
            raise SplitError(f"{path}: line {rows.line_num} has no column '{header[column]}'")
        if row and row[column]:  # removed sequences have none
            yield Membership(row[0], row[column], None, rows.line_num)


def _read_clstr(text: str, path: str) -> Iterator[Membership]:
    group, held = "", list[tuple[str, int]]()
    representative: str | None = None
    for number, line in enumerate([*lines_of(text), ">"], 1):
        if line.startswith(">"):
            if held and representative is None:
                raise SplitError(
                    f"{path}: line {number}: {shown_name(group)} has no representative (*)"
                )
            yield from (Membership(name, group, representative, at) for name, at in held)
            group, held, representative = line[1:].strip(), [], None
            continue
        found = _CLSTR.match(line)
        if not found and line.strip():
            raise SplitError(f"{path}: line {number} is none of a .clstr file")
        if found:
            held.append((found[1], number))
            if found[2] == "*" and representative is not None:
                raise SplitError(
                    f"{path}: line {number}: {shown_name(group)} has another representative (*)"
                )
            representative = found[1] if found[2] == "*" else representative


def _read_uc(text: str, path: str) -> Iterator[Membership]:
    for number, line in enumerate(lines_of(text), 1):
        fields = line.split("\t")
        if fields[0] not in ("S", "H"):  # C sums up; others are no members
            continue
        if len(fields) < 10:
            raise SplitError(f"{path}: line {number} has {len(fields)} columns, expected 10")
        if not is_whole(fields[1]):
            raise SplitError(
                f"{path}: line {number}: cluster {shown_name(fields[1])}, expected its number"
            )
        name = fields[8]
        yield Membership(name, fields[1], name if fields[0] == "S" else fields[9], number)


def _read_tsv(text: str, path: str) -> Iterator[Membership]:
    first = text.partition("\n")[0].rstrip("\r").split("\t")
    ours = first[:2] == ["cluster", "size"] and {"representative", "sequence"} <= set(first)
    columns = [first.index(name) for name in ("representative", "sequence")] if ours else [0, 1]
    for number, line in enumerate(lines_of(text), 1):
        fields = line.split("\t")
        if (ours and number == 1) or not line or fields == ["centroid", "member"]:
            continue
        if len(fields) <= max(columns):
            raise SplitError(f"{path}: line {number}: expected a representative and a member")
        representative, member = (unquoted(fields[k]) for k in columns)
        yield Membership(member, representative, representative, number)


_READERS: dict[str, Callable[[str, str], Iterator[Membership]]] = {
    "folds": _read_folds,
    "clstr": _read_clstr,
    "uc": _read_uc,
    "tsv": _read_tsv,
}
