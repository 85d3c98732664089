"""``pairalign distance`` with ``--max-drop`` or ``--max-edits``: pairs within a limit."""

from __future__ import annotations

import argparse
import time
from typing import Any

from pairalign.alignments.thresholds import make_pair_thresholds
from pairalign.base.declaration import option_of
from pairalign.base.errors import FormatError
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    problem_of,
    read_sequences,
    resources_of,
)
from pairalign.formats.output import check_writable
from pairalign.formats.sparse_distances import sparse_format, write_sparse
from pairalign.jobs.distances.near import NearRequest, find_near
from pairalign.requests.distance import DistanceOptions

_OF_ALL_PAIRS = (
    *("shard", "resume", "dask", "plot", "report", "lower", "strict_names", "commit_every"),
    *("similarity", "circular", "extend"),
)
"""Options of a matrix of all pairs."""


def run_near(options: argparse.Namespace) -> None:
    """Carry out ``pairalign distance`` with a limit."""
    options.default_format = "tsv"
    choose_output(options)
    format = sparse_format(options.output, options.format)
    _check(options)
    check_files(options)
    if options.max_edits is None:
        check_scoring(options)
    check_writable(options.output)
    measure, limit = (
        ("edits", options.max_edits) if options.max_drop is None else ("drop", options.max_drop)
    )
    lengths = make_pair_thresholds(max_length_ratio=options.max_length_ratio)
    request = NearRequest(measure, limit, resources_of(options), lengths)
    sequences, _ = read_sequences(options)
    problem = problem_of(options, sequences, None)
    started = time.perf_counter()
    found = find_near(request, problem)
    seconds = time.perf_counter() - started
    write_sparse(options.output, found, format, threads=request.resources.used_threads)
    pairs = len(sequences) * (len(sequences) - 1) // 2
    lines = Lines()
    lines.add_problem(problem)
    text = f"{pairs:,}, of which {len(found):,} within {measure} {limit}"
    lines.add("pairs", text, pairs=pairs, within=len(found), measure=measure, limit=limit)
    rate = f", {pairs / max(seconds, 1e-9) / 1e6:.1f} M pairs/s"
    lines.add_time(seconds, more=rate)
    lines.add_outputs([options.output])
    say_summary(options, lines)


def _default(name: str) -> Any:
    return option_of(DistanceOptions, name).default


def _check(options: argparse.Namespace) -> None:
    """Refuse options that say something of all pairs."""
    asked = "--max-drop" if options.max_drop is not None else "--max-edits"
    if options.max_drop is not None and options.max_edits is not None:
        raise FormatError("--max-drop and --max-edits are two distances: give one")
    for name in _OF_ALL_PAIRS:
        if getattr(options, name, None) not in (None, False, _default(name)):
            raise FormatError(f"{asked} keeps some pairs: leave --{name.replace('_', '-')} out")
    if options.strand != _default("strand"):
        raise FormatError(f"{asked} compares sequences as they are: leave --strand out")
    if options.measure != _default("measure"):
        raise FormatError(f"{asked} is a distance of its own: leave --measure out")
