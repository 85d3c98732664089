"""``pairalign distance`` with ``--max-drop`` or ``--max-edits``: pairs within a limit."""

from __future__ import annotations

import time

from pairalign.cli.planning import (
    problem_of,
    read_receptors,
    read_sequences,
    with_output,
)
from pairalign.cli.summary_lines import Lines, say_summary
from pairalign.formats.output import check_writable
from pairalign.formats.sparse_distance_files import sparse_format, write_sparse
from pairalign.jobs.distances.near import find_near
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.requests.distance_request import DistanceOptions


def run_near(asked: DistanceOptions) -> None:
    """Carry out ``pairalign distance`` with a limit."""
    asked = with_output(asked, default="tsv")
    format = sparse_format(asked.output, asked.format)
    check_files(asked)
    if asked.max_drop is not None:
        check_scoring(asked)
    check_writable(asked.output)
    resources = asked.resources
    if asked.is_of_receptors:
        problem = read_receptors(asked)
    else:
        problem = problem_of(asked, *read_sequences(asked))
    started = time.perf_counter()
    found = find_near(asked, problem, resources)
    seconds = time.perf_counter() - started
    write_sparse(asked.output, found, format, threads=resources.used_threads)
    pairs, measure, limit = problem.pairs, asked.limited, asked.limit
    lines = Lines()
    lines.add_problem(problem)
    text = f"{pairs:,}, of which {len(found):,} within {measure} {limit}"
    lines.add("pairs", text, pairs=pairs, within=len(found), measure=measure, limit=limit)
    rate = f", {pairs / max(seconds, 1e-9) / 1e6:.1f} M pairs/s"
    lines.add_time(seconds, more=rate)
    lines.add_outputs([asked.output])
    say_summary(asked, lines)
