"""What the commands ``distance`` and ``tree`` do alike: distances are computed, and reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from pairalign.alignments.problem import Problem
from pairalign.base.console import log
from pairalign.base.declaration import changed, options_of, values_of
from pairalign.base.dry_run import begin
from pairalign.base.error_types import DistanceError
from pairalign.formats.distance_parts import (
    FORMAT,
    are_of_two_sets,
    merge_distances,
    write_head,
    write_values,
)
from pairalign.formats.output import Output
from pairalign.formats.pieces import read_manifests
from pairalign.jobs.commands.summary import Lines, say_summary, written_pairs
from pairalign.jobs.distances.distance import (
    count_new,
    distance_work,
    measure_in_order,
    measure_run,
    plan_distances,
)
from pairalign.jobs.distances.measures import (
    Measure,
    ambiguous_message,
    check_alphabet,
    check_sets,
    find_measure,
)
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.destination import Destination, open_destination, prepare_output
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceOptions, ReceptorOptions
from pairalign.requests.resources import Resources
from pairalign.requests.shared import InputOptions, ScoringOptions, StrandOptions
from pairalign.requests.tree_request import TreeOptions
from pairalign.trees.distance_matrix import AnyDistances, DistanceMatrix

Options = DistanceOptions | TreeOptions


class DistanceSummary(Lines):
    """The summary, the devices that were used, and what forgets distances that were kept."""

    devices: tuple[str, ...] = ()
    forget: Forget | None = None

    def add_distances(self, distances: AnyDistances) -> None:
        """Add what was measured: the least, the largest and the mean distance."""
        measure = distances.measure
        low, high, mean = map(float, distances.summary)
        text = f"{measure}, {low:.4f} to {high:.4f}, mean {mean:.4f}"
        self.add("distances", text, measure=measure, lowest=low, highest=high, mean=mean)

    def finish(self, request: Options, outputs: Iterable[str]) -> None:
        """Say the summary; the results are there."""
        if self.forget is not None:
            self.forget()
        self.add_outputs(outputs)
        say_summary(request, self)


def run_request(options: Options) -> RunRequest:
    """Return how a command wants the results of its alignments."""
    return RunRequest(
        shard=options.writing.shard,
        result_seconds=options.writing.result_seconds,
        resources=options.resources,
    )


def merged(folder: str) -> DistanceMatrix:
    """Merge the distances of one set; DistanceError for those of two."""
    parts = read_manifests(folder)
    if are_of_two_sets(parts):
        raise DistanceError(f"'{folder}': distances of two sets, expected those of one")
    matrix = merge_distances(parts)
    assert isinstance(matrix, DistanceMatrix)
    return matrix


def measure_all(
    options: Options,
    problem: Problem,
    tree_bytes: int,
    summary: DistanceSummary,
    write: Callable[[AnyDistances, str], None] | None = None,
) -> AnyDistances:
    """Compute the distances of all pairs, and report on it.

    Parameters
    ----------
    tree_bytes : int
        What a tree of the distances takes for each pair besides.
    write : callable, optional
        Writes distances into a file, where these are the result.
    """
    request = options.distances
    measure = find_measure(request.measure)
    warn_of_ambiguous(measure, problem)
    job = plan_distances(request, problem, run_request(options), tree_bytes)
    done: Job = job
    begin(lambda: job if write is None else distance_work(request, job, write))
    started = time.perf_counter()
    distances: AnyDistances
    if options.writing.dask is not None or options.writing.resume:
        distances, done, summary.forget = measure_in_parts(options, job, measure)
    else:
        distances = measure_run(job, measure, request.extend)
    seconds = time.perf_counter() - started
    summary.devices = done.devices
    summary.add_problem(job.problem)
    pairs = count_new(request, job)
    summary.add("pairs", f"{pairs:,}", pairs=pairs)
    summary.add_time(seconds, None if request.is_of_receptors else done.cells)
    summary.add_distances(distances)
    return distances


def warn_of_ambiguous(measure: Measure, problem: Problem) -> None:
    """Say where many residues are ambiguous, and the measure takes them for differences."""
    message = ambiguous_message(measure, problem)
    if message is not None:
        log.warning("%s", message)


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


def measure_in_parts(
    request: Options, run: Job, measure: Measure
) -> tuple[AnyDistances, Job, Forget]:
    """Compute all distances, on a cluster or from where a run that was ended had got to.

    Also return what was left to be done here. They are kept in ``OUT.parts`` until they are
    forgotten.
    """
    check_sets(run.problem)
    command = _command_of_a_part(request, measure)
    destination = open_destination(
        changed(request, format=FORMAT), run, command=command, measure=measure.name
    )
    if not destination.is_done:
        with destination.held(), destination.open() as kept:
            _write(destination, kept, run.problem, measure)
    return merge_distances(destination.parts), destination.job, destination.remove


def _command_of_a_part(request: Options, measure: Measure) -> list[str]:
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
