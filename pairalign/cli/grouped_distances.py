"""``pairalign distance --group-by``: how far apart proteomes and genomes are."""

from __future__ import annotations

import time
from dataclasses import replace

from pairalign.base.choices import BY_FILE, ON_DUPLICATE
from pairalign.formats.distance_text import check_strict_names
from pairalign.jobs.commands.planning import (
    problem_of,
)
from pairalign.jobs.commands.summary_lines import Lines
from pairalign.jobs.distances.group_membership import BY_FILE_RULES, find_groups
from pairalign.jobs.distances.guide_tree import check_count
from pairalign.jobs.distances.proteome_distances import measure_groups
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.requests.distance_request import DistanceOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import check_words
from pairalign.trees.group_distances import GroupDistances

_OF_WORDS = ("phylip", "column")
"""Formats whose names end at blanks."""


def measure_grouped(
    request: DistanceOptions, report: Lines
) -> tuple[GroupDistances, tuple[str, ...]]:
    """Compute the distances of groups, and report on it; also return the devices."""
    sequences = _read(request)
    groups = find_groups(request.group_by, sequences)
    if request.format in _OF_WORDS:
        check_words(groups.names, "groups")
    if request.strict_names:
        check_strict_names(groups.names)
    if request.plot is not None:
        check_count(len(groups.names), sequences.source)
    problem, started = problem_of(request, sequences), time.perf_counter()
    distances, aligned = measure_groups(request, problem, groups, request.resources)
    seconds = time.perf_counter() - started
    report.add_problem(problem)
    text = f"{len(distances):,} of {distances.sizes.min():,} to {distances.sizes.max():,} sequences"
    report.add("groups", text, groups=len(distances))
    facts, text = {"pairs": aligned.pairs}, f"{aligned.pairs:,}"
    if "matched" in distances.columns:
        facts["matched"] = int(distances.columns["matched"].sum())
        text += f", of which {facts['matched']:,} are each other's best hits"
    report.add("pairs", text, **facts)
    report.add_time(seconds, aligned.cells)
    return distances, aligned.devices


def _read(request: DistanceOptions) -> SequenceSet:
    """Read all files as one set."""
    rules = request.reading
    if request.group_by == BY_FILE and rules.on_duplicate == ON_DUPLICATE[0]:
        rules = replace(rules, on_duplicate=BY_FILE_RULES.on_duplicate)
    first, *others = request.files
    reading = replace(rules, also=(*others, *rules.also))
    return read_sets(ProblemRequest(first, reading=reading))[0]
