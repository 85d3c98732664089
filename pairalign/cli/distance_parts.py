"""Distances in parts, and those that are resumed: for ``pairalign distance`` and ``tree``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from pairalign.base.errors import FormatError
from pairalign.cli.dask_cluster import Parts, make_parts, workers_of
from pairalign.cli.destination import (
    Destination,
    OutputRequest,
    output_of,
    replace_leftovers,
)
from pairalign.cli.lines import say_summary, written_pairs
from pairalign.cli.planning import problem_of
from pairalign.formats.distance_parts import (
    FORMAT,
    SUFFIX,
    DistanceWriter,
    merge_distances,
    read_values,
)
from pairalign.formats.output import Output, open_output
from pairalign.formats.part_places import clear_parts
from pairalign.formats.parts import read_manifests
from pairalign.formats.resumable import check_resumable
from pairalign.jobs.distances.distances import DistanceRequest, measure_in_order, plan_distances
from pairalign.jobs.distances.measures import Measure, check_alphabet
from pairalign.jobs.run.align import AlignmentJob
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, check_names

Forget = Callable[[], None]
"""Removes what was kept of distances, when the results are there."""


def check_part_options(options: argparse.Namespace) -> None:
    """Raise FormatError for options of ``distance`` that are for the whole."""
    for given, name in (
        (options.format, "--format"),
        (options.plot, "--plot"),
        (options.lower, "--lower"),
        (options.strict_names, "--strict-names"),
    ):
        if given:
            raise FormatError(f"--shard makes a part of the distances: {name} is for the whole")


def write_part(
    options: argparse.Namespace, sequences: SequenceSet, request: DistanceRequest
) -> None:
    """Compute the distances of a shard and write them into its folder."""
    measure = request.chosen_measure
    check_alphabet(measure, sequences)
    asked = output_of(options, FORMAT, SUFFIX)
    run = plan_distances(request, problem_of(options, sequences))
    destination = Destination(asked, run, of_block=True, measure=measure.name)
    check_names(destination.job.queries.names, sequences.source)
    if not destination.is_done:
        output = destination.output or open_output(asked.path)
        with destination.held(), output:
            _write(destination, output, sequences, measure)
    destination.finish()
    say_summary(options, written_pairs("distances", run.pairs, asked.path))


def measure_resumed(
    options: argparse.Namespace, run: AlignmentJob, measure: Measure
) -> tuple[DistanceMatrix, AlignmentJob, Forget]:
    """Compute all distances, from where a run that was ended had got to; also return what was left.

    They are kept beside the output (``OUT.distances.part``) until they are forgotten.
    """
    check_resumable(options.output)
    check_names(run.queries.names, run.queries.source)
    asked = OutputRequest(_beside(options.output), FORMAT, True, options.commit_every)
    destination = Destination(asked, run, measure=measure.name)
    assert destination.output is not None
    kept = destination.take_back()
    with destination.held():
        _write(destination, destination.output, run.queries, measure)
    return read_values(kept.blocks(), kept.size), destination.job, kept.discard


def measure_on_cluster(
    options: argparse.Namespace, run: AlignmentJob, measure: Measure
) -> tuple[DistanceMatrix, Forget]:
    """Compute all distances on a cluster; parts are kept until they are forgotten."""
    check_names(run.queries.names, run.queries.source)
    parts = Parts(FORMAT, SUFFIX, _command_of_a_part(options, measure))
    asked = workers_of(options)
    assert asked is not None
    folder = make_parts(asked, options.output, run, parts, measure=measure.name)
    manifests = read_manifests(folder)
    return merge_distances(folder, manifests), partial(clear_parts, folder, manifests[0].run)


def _command_of_a_part(options: argparse.Namespace, measure: Measure) -> list[str]:
    """Return the arguments of ``distance`` that compute the same distances."""
    command = ["distance", options.input, f"--measure={measure.name}", "--quiet"]
    for name in (
        *("mode", "matrix", "match", "mismatch", "gap_open", "gap_extend", "alphabet"),
        *("on_empty", "on_duplicate", "names"),
        *("device", "kernel", "threads", "memory"),
    ):
        value = getattr(options, name)
        if value is not None:
            command.append(f"--{name.replace('_', '-')}={value}")
    command += [f"--also={path}" for path in options.also]
    return [*command, *(["--degap"] if options.degap else [])]


def replace_distances(options: argparse.Namespace) -> None:
    """Say, and remove, what a dead run with ``--resume`` has left."""
    replace_leftovers(_beside(options.output))


def _beside(output: str) -> str:
    return f"{output}{SUFFIX}"


def _write(
    destination: Destination, output: Output, sequences: SequenceSet, measure: Measure
) -> None:
    run = destination.job
    writer = DistanceWriter(output, sequences, measure.name, run.window, destination.piece)
    for values in measure_in_order(run, measure):
        writer.write(values)
        destination.wrote(writer)
    destination.wrote_all(writer)
