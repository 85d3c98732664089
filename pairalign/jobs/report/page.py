"""The page of a report, one HTML file without anything outside of it, and what it holds."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.alignments.identities import count_coverage
from pairalign.base.arrays import Int32s, Int64s, UInt32s
from pairalign.base.error_types import FormatError
from pairalign.base.packages import check_package
from pairalign.formats.output import Path, open_output
from pairalign.jobs.report.heat_map import HeatMap
from pairalign.jobs.report.report_collector import (
    MOST_RESIDUES,
    DistanceCollector,
    Histogram,
    ReportCollector,
)
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH, MISMATCH
from pairalign.sequences.sets import SequenceSet

_TEMPLATES = FilePath(__file__).parent / "templates"
_SCRIPTS = (
    *("d3.min", "data", "table", "filters", "histograms", "alignment", "hits", "heat_map"),
    *("network", "main"),
)
"""The page's scripts in the order in which they run; D3 has a licence of its own beside it."""


@dataclass(frozen=True)
class Table:
    """A small table of a report.

    Attributes
    ----------
    rows : sequence of sequences
        Texts and numbers.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Report:
    """What a report shows.

    Attributes
    ----------
    facts : sequence of (str, str)
        What was run: a line each.
    data : mapping
        What the page's scripts read, see `pairalign.jobs.report.page.page_data`.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    data: Mapping[str, object]
    tables: Sequence[Table] = ()


def check_jinja() -> None:
    """Raise FormatError if Jinja2 is missing."""
    check_package("jinja2", "a report", "Jinja2", "jinja2", FormatError)


def write_report(path: Path, report: Report) -> None:
    """Write a report.

    Parameters
    ----------
    path : str or path
        The file appears when it is complete.

    Raises
    ------
    FormatError
        Jinja2 is not installed.
    OutputError
        The file cannot be written.
    """
    check_jinja()
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    scripts = [_read(f"{name}.js") for name in _SCRIPTS]
    template = environment.from_string(_read("report.html"))
    text = template.render(
        report=report,
        scripts=scripts,
        digests=[_digest(script) for script in scripts],  # nothing else runs on the page
        style=_read("report.css"),
    )
    with open_output(path) as output:
        output.write(text.encode("utf-8", "replace"))


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(script: str) -> str:
    """Return what a content security policy calls a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_MOST_LISTED = 20_000
"""Sequences of a set that are listed; of larger sets those of the pairs."""
_MOST_RUNS = 4_000_000
_NAMES = {INSERTION: "I", DELETION: "D", 0: "M"}
_FIELDS = (
    "query_start",
    "query_end",
    "target_start",
    "target_end",
    "matches",
    "mismatches",
    "gap_openings",
)


def page_data(
    collector: ReportCollector,
    offered: Alignments | None,
    heat_map: HeatMap | None,
    reads: Mapping[str, Sequence[object]] | None = None,
) -> dict[str, object]:
    """Return what the page's scripts read.

    Parameters
    ----------
    offered : Alignments or None
        With CIGARs; those that the page holds no runs of are left out.
    reads : dict of lists, optional
        What is known of each sequence of the queries besides, by title.

    Returns
    -------
    dict
        Texts, numbers, lists and dicts of them. ``sets`` has the listed sequences of one or two
        sets, and ``pairs`` an entry a field with a value a pair: ``query`` and ``target`` are
        places in ``sets``, coordinates count from 0, ``cigar`` has the operations M, I and D.
    """
    one_set = collector.queries is collector.targets
    sets = [collector.queries] if one_set else [collector.queries, collector.targets]
    is_all = collector.is_all
    if offered is not None:
        all_runs, offered = len(offered), _with_few_runs(offered)
        is_all &= all_runs == len(offered)
    used: list[Int32s] = [np.zeros(0, np.int32)] * len(sets)
    if offered is not None:
        ends = (offered.query, offered.target)
        used = [np.concatenate(ends)] if one_set else list(ends)
    listed = [_listed(sequence_set, mine) for sequence_set, mine in zip(sets, used, strict=True)]
    residues = (
        sequence_set.lengths[np.unique(mine)].sum()
        for sequence_set, mine in zip(sets, used, strict=True)
    )
    room = MOST_RESIDUES - int(sum(residues))
    shown = []
    for sequences, numbers, mine in zip(sets, listed, used, strict=True):
        entry, room = _sequences(sequences, numbers, mine, room)
        shown.append(entry)
    if reads is not None:
        shown[0]["known"] = {k: [v[i] for i in listed[0].tolist()] for k, v in reads.items()}
    alphabet = collector.queries.alphabet
    return {
        "sets": shown,
        "unambiguous": alphabet.letters[: alphabet.unambiguous],
        "alphabet": alphabet.name,
        "isOneSet": one_set,
        "pairs": _pairs(collector, offered, (listed[0], listed[-1])),
        "allPairs": collector.pairs,
        "isAll": is_all,
        "which": collector.which,
        "rankedBy": collector.ranked_by,
        "histograms": [_histogram(histogram) for histogram in collector.histograms()],
        "map": None if heat_map is None else _map(heat_map, listed[0]),
        "noMap": collector.no_map,
    }


def merged_cigars(alignments: Alignments) -> list[str]:
    """Return the CIGARs as texts with the operations M, I and D.

    Parameters
    ----------
    alignments : Alignments
        With CIGARs.
    """
    runs, starts, bounds = _merged(alignments)
    lengths = np.add.reduceat(runs >> 4, starts).tolist() if len(starts) else []
    kinds = [_NAMES[int(op)] for op in _plain(runs[starts] & 15)]
    texts = [f"{length}{kind}" for length, kind in zip(lengths, kinds, strict=True)]
    ends = bounds.tolist()
    return ["".join(texts[a:b]) for a, b in pairwise(ends)]


def _plain(operations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    plain: npt.NDArray[Any] = np.where(
        (operations == MATCH) | (operations == MISMATCH), 0, operations
    )
    return plain


def _merged(alignments: Alignments) -> tuple[UInt32s, Int64s, Int64s]:
    """Return the runs, where merged ones start, and how many of these come before each pair."""
    runs, offsets = runs_of(alignments)
    plain = _plain(runs & 15)
    begins = np.ones(len(runs), np.bool_)
    begins[1:] = plain[1:] != plain[:-1]
    begins[offsets[:-1][offsets[:-1] < len(runs)]] = True
    starts = np.flatnonzero(begins)
    return runs, starts, np.searchsorted(starts, offsets)


def _with_few_runs(alignments: Alignments) -> Alignments:
    """Return the first alignments, as many as the page has room for the runs of."""
    bounds = _merged(alignments)[2]
    few = max(1, int(np.searchsorted(bounds, _MOST_RUNS, "right")) - 1)
    return alignments[:few] if few < len(alignments) else alignments


def _listed(sequences: SequenceSet, used: Int32s) -> Int64s:
    """Return the input indices of the sequences that are listed, rising."""
    if len(sequences) <= _MOST_LISTED:
        return np.arange(len(sequences))
    return np.unique(used).astype(np.int64)


def _sequences(
    sequences: SequenceSet,
    numbers: Int64s,
    used: Int32s,
    room: int,
) -> tuple[dict[str, Any], int]:
    """Return what is said of listed sequences, and the room for residues that is left.

    Those of the pairs have their residues; others as far as there is room.
    """
    needed = set(used.tolist())
    residues: list[str | None] = []
    for number in numbers.tolist():
        length = int(sequences.lengths[number])
        if number not in needed:
            if length > room:
                residues.append(None)
                continue
            room -= length
        residues.append(sequences[number].residues)
    names = [sequences.names[k] for k in numbers.tolist()]
    headers = [sequences.descriptions[k] for k in numbers.tolist()]
    entry: dict[str, Any] = {
        "names": names,
        "descriptions": [h[len(n) :].strip() for n, h in zip(names, headers, strict=True)],
        "lengths": sequences.lengths[numbers].tolist(),
        "residues": residues,
        "all": len(sequences),
    }
    return entry, room


def _pairs(
    collector: ReportCollector,
    alignments: Alignments | None,
    listed: tuple[Int64s, Int64s],
) -> dict[str, list[Any]]:
    """Return a list a field, with a value a pair."""
    if alignments is None:
        return {"query": []}
    aligned, longer = count_coverage(alignments)
    columns: dict[str, list[Any]] = {
        "query": np.searchsorted(listed[0], alignments.query).tolist(),
        "target": np.searchsorted(listed[1], alignments.target).tolist(),
        "score": alignments.score.tolist(),
        "identity": np.nan_to_num(alignments.identity).round(6).tolist(),
        "coverage": (aligned / longer).round(6).tolist(),
        "columns": alignments.columns.tolist(),
        **{_camel(name): alignments.field(name).tolist() for name in (*_FIELDS, "gap_openings")},
        "gapLetters": alignments.field("gap_residues").tolist(),
        "cigar": merged_cigars(alignments),
    }
    if alignments.strand is not None:
        columns["strand"] = alignments.strand.tolist()
    if collector.significance is not None:
        columns["bits"] = collector.significance.bits(alignments).round(1).tolist()
        logs = collector.significance.log_evalues(alignments) / math.log(10)
        columns["logEvalue"] = logs.round(4).tolist()
    if isinstance(collector, DistanceCollector):
        columns["distance"] = [
            round(distance, 6) for distance in collector.distances_of(alignments).tolist()
        ]
    return columns


def _camel(name: str) -> str:
    first, second = name.split("_") if "_" in name else (name, "")
    return first + second.capitalize()


def _histogram(histogram: Histogram) -> dict[str, object]:
    return {
        "title": histogram.title,
        "edges": histogram.edges.tolist(),
        "counts": histogram.counts.tolist(),
        "isShare": histogram.is_share,
    }


def _map(heat_map: HeatMap, listed: Int64s) -> dict[str, object]:
    assert len(listed) == len(heat_map.order)  # maps are of few sequences, which are all listed
    tree = heat_map.tree
    return {
        "measure": heat_map.measure,
        "order": heat_map.order,
        "block": heat_map.block,
        "low": heat_map.low,
        "high": heat_map.high,
        "cells": base64.b64encode(heat_map.cells.tobytes()).decode(),
        "method": tree.method,
        "children": tree.children.ravel().tolist(),
        "branches": [float(f"{branch:.7g}") for branch in tree.lengths.ravel().tolist()],
    }
