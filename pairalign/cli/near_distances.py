"""``pairalign distance`` with ``--max-drop`` or ``--max-edits``: pairs within a limit."""

from __future__ import annotations

import time

from pairalign.formats.distances import distance_format, write_distances
from pairalign.formats.output import check_writable
from pairalign.jobs.commands.planning import (
    problem_of,
    read_sequences,
    with_output,
)
from pairalign.jobs.commands.summary_lines import Lines, say_summary
from pairalign.jobs.distances.near import find_near
from pairalign.jobs.distances.receptor_sets import read_receptor_files
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.requests.distance_request import DistanceOptions


def run_near(request: DistanceOptions) -> None:
    """Carry out ``pairalign distance`` with a limit."""
    request = with_output(request, default="tsv")
    format = distance_format(request.output, request.format, "sparse")
    check_files(request)
    if request.max_drop is not None:
        check_scoring(request)
    check_writable(request.output)
    resources = request.resources
    if request.is_of_receptors:
        problem = read_receptor_files(request)
    else:
        problem = problem_of(request, *read_sequences(request))
    started = time.perf_counter()
    distances = find_near(request, problem, resources)
    seconds = time.perf_counter() - started
    write_distances(request.output, distances, format, threads=resources.used_threads)
    pairs, measure, limit = problem.pairs, request.limited, request.limit
    lines = Lines()
    lines.add_problem(problem)
    text = f"{pairs:,}, of which {len(distances):,} within {measure} {limit}"
    lines.add("pairs", text, pairs=pairs, within=len(distances), measure=measure, limit=limit)
    rate = f", {pairs / max(seconds, 1e-9) / 1e6:.1f} M pairs/s"
    lines.add_time(seconds, more=rate)
    lines.add_outputs([request.output])
    say_summary(request, lines)
