"""Records that are made in Python, of rows of letters and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairalign.records import CLAIMS, FAULTS, AlignmentRecords, SetNames, empty_records

_PLACES = {name: place for place, name in enumerate(CLAIMS)}


class RowRecords:
    """Collects records of rows.

    Parameters
    ----------
    names : two SetNames
        Of the queries and of the targets.
    """

    def __init__(self, names: tuple[SetNames, SetNames]) -> None:
        self._sets = names
        self._names: tuple[list[str], list[str]] = ([], [])
        self._parts: list[bytes] = []
        self._places: list[int] = []
        self._spans: list[list[int]] = []
        self._lines: list[int] = []
        self._says: list[tuple[int, int, int, int]] = []
        self._faults: list[int] = []
        self._end = 0

    def add(
        self,
        line: int,
        names: tuple[bytes, bytes],
        rows: tuple[bytes, bytes],
        spans: list[int],
        says: dict[str, bytes | None],
        fault: str | None = None,
    ) -> None:
        """Add a record.

        Parameters
        ----------
        line : int
            Of the piece, from 0.
        names, rows : two bytes
            Of the query and of the target.
        spans : list of four int
            From 0; -1: not said.
        says : mapping of str to bytes
            Numbers as they are written, by claim.
        fault : str, optional
            One of `pairalign.records.FAULTS`.
        """
        number = len(self._lines)
        for claim, text in says.items():
            if text is None:
                continue
            whole, _, decimals = text.partition(b".")
            try:
                digits = int(whole + decimals)
            except ValueError:
                fault = fault or "number"
                continue
            self._says.append((number, _PLACES[claim], digits, len(decimals)))
        self._lines.append(line)
        self._spans.append(spans)
        self._faults.append(FAULTS.index(fault) if fault else 0)
        for side in (0, 1):
            self._names[side].append(names[side].decode("utf-8", "surrogateescape"))
        for part in (*names, *rows):
            self._parts.append(part)
            self._places.append(self._end)
            self._end += len(part)

    def records(self, lines: int) -> AlignmentRecords:
        """Return all of them, of a piece of so many lines."""
        made: Any = empty_records(len(self._lines))
        places = np.array(self._places, np.int64).reshape(-1, 4)
        sizes = np.array([len(part) for part in self._parts], np.int64).reshape(-1, 4)
        made["line"] = self._lines
        made["fault"] = self._faults
        if self._spans:
            made["spans"] = self._spans
        made["rows"], made["row_bytes"] = places[:, 2:], sizes[:, 2:]
        for side, name in enumerate(("query", "target")):
            made[f"{name}_name"], made[f"{name}_name_bytes"] = places[:, side], sizes[:, side]
            made[name] = self._sets[side].find(self._names[side])
            # What comes first is said first.
            missing = (made[name] < 0) & (made["fault"] == 0)
            made["fault"][missing] = FAULTS.index(name)
        for number, place, digits, decimals in self._says:
            made["says"][number, place] = digits
            made["decimals"][number, place] = decimals
        return AlignmentRecords(b"".join(self._parts), made, np.empty(0, np.uint32), lines)
