"""Files that say which sequences belong together: folds and clusters, ours or another program's."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pairalign.base.arrays import Int32s
from pairalign.base.choices import GROUP_SUFFIXES
from pairalign.base.compression import decompress
from pairalign.base.error_types import FormatError, SplitError, shown_name, unreadable
from pairalign.base.texts import as_tsv, is_whole, lines_of, unquoted
from pairalign.clusters.groups import Groups, Membership, make_groups
from pairalign.formats.names import choose_format, format_by_suffix
from pairalign.formats.readers.reader import open_raw
from pairalign.sequences.sets import SequenceSet

_FOLD_COLUMNS = ("fold", "set", "split", "partition", "cluster")
"""Headings of the column of folds; the first that there is. GraphPart's is the last."""
_CLUSTERS = ["cluster", "size"]
"""The first headings of the table of `pairalign cluster`."""
_CLSTR = re.compile(r"\d+\s+\d+(?:aa|nt),\s+>(.*?\.\.\.)\s+(\*|at\s.*)$", re.ASCII)


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table of folds have what; None: the usual ones.

    Attributes
    ----------
    name, fold : str or None
        Default: the first column; fold, set, split, partition or cluster.
    sequence : str or None
        The residues, where the table has them.
    """

    name: str | None = None
    fold: str | None = None
    sequence: str | None = None

    def __bool__(self) -> bool:
        return any((self.name, self.fold, self.sequence))


USUAL_COLUMNS = TableColumns()


def read_groups(
    path: str,
    format: str | None,
    sequences: SequenceSet,
    columns: TableColumns = USUAL_COLUMNS,
    *,
    several: bool = False,
) -> Groups:
    """Read groups of sequences of a set.

    Parameters
    ----------
    path : str
        Compressed or not; ``"-"`` is standard input.
    format : {"folds", "clstr", "uc", "tsv"}, optional
        Default: by the end of the file's name.
    columns : TableColumns
        Of ``folds``.
    several : bool
        Whether a sequence may be in more than one group.

    Raises
    ------
    FormatError
        The file's name does not tell the format, or another than ``folds`` has no such columns.
    SplitError
        The file cannot be read, or names what is not among the sequences.

    Notes
    -----
    ``folds`` is CSV or TSV with a header line: names in the first column, and a column fold (or
    set, split, partition, or cluster as GraphPart has it). ``clstr`` is CD-HIT's, ``uc`` vsearch's
    and USEARCH's. ``tsv`` has a representative and a member a line, as MMseqs2 and DIAMOND write
    it; or it is the table of ``pairalign cluster``, by its header.
    """
    said, chosen = _read_said(path, format, columns)
    each = "representative and member of line" if chosen == "tsv" else "line"
    return make_groups(sequences, said, path, several=several, each=each)


def read_named_groups(path: str) -> tuple[list[str], Int32s]:
    """Read names and their groups where there are no sequences.

    Returns
    -------
    names : list of str
        In the order of the file.
    groups : ndarray of int32, shape (n,)
        Numbered from 0 as they come.

    Raises
    ------
    FormatError, SplitError
        As `read_groups`; or a name comes twice.
    """
    groups: dict[str, int] = {}
    numbers: dict[str, int] = {}
    said, _ = _read_said(path, None, USUAL_COLUMNS)
    for membership in said:
        name = membership.name.removesuffix("...")  # CD-HIT's
        if name in groups:
            raise SplitError(
                f"{path}: line {membership.line}: {shown_name(name)} again; each name once"
            )
        groups[name] = numbers.setdefault(membership.group, len(numbers))
    if not said:
        raise SplitError(f"{path}: no name in it")
    return list(groups), np.array(list(groups.values()), np.int32)


def _read_said(
    path: str, format: str | None, columns: TableColumns
) -> tuple[list[Membership], str]:
    """Return what a file says, and which format it has."""
    text = text_of(path)
    chosen = _chosen(path, format, columns, text)
    if chosen == "folds":
        return [membership for membership, _ in _read_folds(text, path, columns)], chosen
    return list(_READERS[chosen](text, path)), chosen


def _kind_of_table(text: str, path: str) -> str | None:
    """Return what a table is by its header, where that is one of ours."""
    header = next(TableRows(text, path), [])
    if header[:2] == _CLUSTERS:
        return "tsv"
    return "folds" if header[:1] == ["name"] and {*_FOLD_COLUMNS} & {*header} else None


def read_table(
    path: str, format: str | None, columns: TableColumns
) -> tuple[list[Membership], list[str]]:
    """Read a table of folds that has the sequences as well.

    Parameters
    ----------
    path, format
        As for `read_groups`.
    columns : TableColumns
        With `TableColumns.sequence`.

    Returns
    -------
    said : list of Membership
        Lines without a fold are left out.
    residues : list of str

    Raises
    ------
    SplitError
        The file cannot be read, or has no such columns.
    """
    assert columns.sequence is not None
    _chosen(path, format, columns)
    rows = list(_read_folds(text_of(path), path, columns))
    if not rows:
        raise SplitError(f"{path}: no sequence is named")
    return [membership for membership, _ in rows], [residues for _, residues in rows]


def read_group_table(path: str, sequences: SequenceSet) -> Groups:
    """Read the group of each sequence: its name and that of its group a line, a tab between.

    Or a comma, where the file's name ends in ``.csv``.

    Parameters
    ----------
    path : str
        Compressed or not; ``"-"`` is standard input.

    Raises
    ------
    SplitError
        The file cannot be read, names what is not among the sequences, or a sequence in two groups.
    """
    said: dict[str, Membership] = {}
    text = as_tsv(text_of(path).encode(), path).decode()
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        fields = [unquoted(field) for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise SplitError(f"{where}: expected a name and a group, with a tab between")
        membership = Membership(fields[0], fields[1], None, number)
        before = said.setdefault(membership.name, membership)
        if before.group != membership.group:
            raise SplitError(
                f"{where}: {shown_name(membership.name)} is in {shown_name(membership.group)}, "
                f"and by line {before.line} in {shown_name(before.group)}; "
                "each sequence is in one group"
            )
    return make_groups(sequences, list(said.values()), path)


def _chosen(path: str, format: str | None, columns: TableColumns, text: str = "") -> str:
    """Return the format; a file whose columns are named is a table of folds."""
    if columns:
        if format not in (None, "folds"):
            raise FormatError(
                f"{path}: columns are those of a table of folds, and this is {format}"
            )
        return "folds"
    if format is not None:
        return choose_format(path, format, GROUP_SUFFIXES, "folds or clusters")
    by_name = format_by_suffix(path, GROUP_SUFFIXES)
    chosen = by_name if by_name in ("clstr", "uc") else _kind_of_table(text, path) or by_name
    if chosen is None:
        endings = "; ".join(f"{kind}: {' '.join(ends)}" for kind, ends in GROUP_SUFFIXES.items())
        raise FormatError(
            f"{'standard input' if path == '-' else path} does not tell the format of folds or "
            "clusters: expected a first line with name and fold, or cluster and size, or an "
            f"ending ({endings}; also with .gz or .zst)"
        )
    return chosen


def text_of(path: str) -> str:
    """Return the text of a file, compressed or not; SplitError where it cannot be read."""
    try:
        with open_raw(path) as file:
            return decompress(file.read(), path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(SplitError, path, error, "a file") from error


def _read_folds(
    text: str, path: str, columns: TableColumns = USUAL_COLUMNS
) -> Iterator[tuple[Membership, str]]:
    """Yield what each line says, and its residues where the table has them."""
    rows = TableRows(text, path)
    header: list[str] = next(rows, [])
    name = 0 if columns.name is None else _column(header, columns.name, path)
    fold = fold_column(header, columns.fold, path)
    residues = None if columns.sequence is None else _column(header, columns.sequence, path)
    for row in rows:
        if not row:
            continue
        for column in (name, fold, residues or 0):
            if len(row) <= column:
                raise SplitError(f"{path}: line {rows.line} has no column '{header[column]}'")
        if row[fold]:  # removed sequences have none
            membership = Membership(row[name], row[fold], None, rows.line)
            yield membership, "" if residues is None else row[residues]


class TableRows:
    """The rows of a table; one with a tab in its first line is TSV. SplitError names the line."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # names may be long
        lines = io.StringIO(text, newline="")  # line ends between quotes stay
        delimiter = "\t" if "\t" in lines.readline() else ","
        lines.seek(0)
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def __iter__(self) -> TableRows:
        return self

    def __next__(self) -> list[str]:
        first = self.line + 1
        try:
            return next(self._reader)
        except csv.Error as error:
            where = f"{self._source}: line {first}"
            raise unreadable(SplitError, where, ValueError(error), "a table") from error

    @property
    def line(self) -> int:
        """Where the last row ends."""
        return self._reader.line_num


def fold_column(header: list[str], request: str | None, path: str, after: int = 1) -> int:
    """Return which column has the folds; by its heading it is not one of the first, the names.

    Raises
    ------
    SplitError
        There is none, or there are several.
    """
    if request is not None:
        return _column(header, request, path)
    headings = header[after:]
    column = next((after + headings.index(name) for name in _FOLD_COLUMNS if name in headings), 0)
    if column == 0:
        raise SplitError(f"{path}: no column fold (or {', '.join(_FOLD_COLUMNS[1:])}) after names")
    return column


def _column(header: list[str], heading: str, path: str) -> int:
    if header.count(heading) != 1:
        problem = "several columns" if heading in header else "no column"
        headings = ", ".join(map(shown_name, header))
        raise SplitError(f"{path}: {problem} {shown_name(heading)}; its header has {headings}")
    return header.index(heading)


def _read_clstr(text: str, path: str) -> Iterator[Membership]:
    group, members = "", list[tuple[str, int]]()
    representative: str | None = None
    for number, line in enumerate([*lines_of(text), ">"], 1):
        if line.startswith(">"):
            if members and representative is None:
                raise SplitError(
                    f"{path}: line {number}: {shown_name(group)} has no representative (*)"
                )
            yield from (Membership(name, group, representative, at) for name, at in members)
            group, members, representative = line[1:].strip(), [], None
            continue
        match = _CLSTR.match(line)
        if not match and line.strip():
            raise SplitError(f"{path}: line {number} is none of a .clstr file")
        if match:
            members.append((match[1], number))
            if match[2] == "*" and representative is not None:
                raise SplitError(
                    f"{path}: line {number}: {shown_name(group)} has another representative (*)"
                )
            representative = match[1] if match[2] == "*" else representative


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
    text = as_tsv(text.encode(), path).decode()
    first = text.partition("\n")[0].rstrip("\r").split("\t")
    ours = first[:2] == _CLUSTERS and {"representative", "sequence"} <= set(first)
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
    "clstr": _read_clstr,
    "uc": _read_uc,
    "tsv": _read_tsv,
}
