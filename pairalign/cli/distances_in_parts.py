"""Distances in parts, and those that are resumed: for ``pairalign distance`` and ``tree``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pairalign.alignments.problem import Problem
from pairalign.base.declaration import changed, options_of, values_of
from pairalign.formats.distance_parts import FORMAT, merge_distances, write_head, write_values
from pairalign.formats.output import Output
from pairalign.formats.pieces import remove_parts
from pairalign.jobs.commands.dask_cluster import make_parts
from pairalign.jobs.commands.summary_lines import say_summary, written_pairs
from pairalign.jobs.distances.distance import measure_in_order, plan_distances
from pairalign.jobs.distances.measures import Measure, check_alphabet, check_sets, find_measure
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.destination import (
    Destination,
    open_destination,
    prepare_output,
)
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceOptions, ReceptorOptions
from pairalign.requests.resources import Resources
from pairalign.requests.shared import InputOptions, ScoringOptions, StrandOptions
from pairalign.requests.tree_request import TreeOptions
from pairalign.trees.distance_matrix import AnyDistances

Forget = Callable[[], None]
"""Removes what was kept of distances, when the results are there."""


def write_part(request: DistanceOptions, problem: Problem, run: RunRequest) -> None:
    """Compute the distances of a shard and write them into its folder."""
    measure = find_measure(request.measure)
    check_alphabet(measure, problem.queries)
    request = changed(request, format=FORMAT)
    check_files(request)
    prepare_output(request.writing)
    job = plan_distances(request, problem, run)
    destination = open_destination(request, job, of_block=True, measure=measure.name)
    check_sets(destination.job.problem)  # a worker reads the names of its block alone
    if not destination.is_done:
        with destination.held(), destination.open() as file:
            _write(destination, file, problem, measure)
    destination.finish()
    say_summary(request, written_pairs("distances", job.pairs, destination.path))


def measure_resumed(
    request: DistanceOptions | TreeOptions, run: AlignmentJob, measure: Measure
) -> tuple[AnyDistances, AlignmentJob, Forget]:
    """Compute all distances, from where a run that was ended had got to; also return what was left.

    They are kept in ``OUT.parts`` until they are forgotten.
    """
    check_sets(run.problem)
    destination = open_destination(changed(request, format=FORMAT), run, measure=measure.name)
    kept = destination.output
    assert kept is not None
    with destination.held(), kept:
        _write(destination, kept, run.problem, measure)
    return merge_distances([kept.part]), destination.job, kept.discard


def measure_on_cluster(
    request: DistanceOptions | TreeOptions, run: AlignmentJob, measure: Measure
) -> tuple[AnyDistances, Forget]:
    """Compute all distances on a cluster; parts are kept until they are forgotten."""
    check_sets(run.problem)
    command = _command_of_a_part(request, measure)
    parts = make_parts(request, run, FORMAT, command, measure=measure.name)
    return merge_distances(parts), partial(remove_parts, parts)


def _command_of_a_part(request: DistanceOptions | TreeOptions, measure: Measure) -> list[str]:
    """Return the arguments of ``distance`` that compute the same distances."""
    values = values_of(request)
    second = values.get("input2")
    files = [request.input] if second is None else [request.input, second]
    command = ["distance", *files, f"--measure={measure.name}", "--quiet"]
    kinds = (StrandOptions, ReceptorOptions, ScoringOptions, InputOptions, Resources)
    for option in (
        option for kind in kinds for option in options_of(kind) if option.surface == "both"
    ):
        value = values.get(option.name, option.default)
        if value is None or value == option.default:  # None: `names` of a tree that names no file
            continue
        several = value if option.is_several else [value]
        command += (
            [option.flag] if option.is_flag else [f"{option.flag}={item}" for item in several]
        )
    return command


def _write(destination: Destination, output: Output, problem: Problem, measure: Measure) -> None:
    run = destination.job
    if destination.piece.first:
        write_head(output, problem, measure.name, run.window)
    for values in measure_in_order(run, measure):
        write_values(output, values)
        destination.wrote()
