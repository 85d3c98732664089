"""The multiple alignments of many families, small ones beside each other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from itertools import islice

from pairalign.alignments.multiple import Homologs
from pairalign.base.choices import HOMOLOGS_PER_FAMILY
from pairalign.base.declaration import check, check_arguments, make
from pairalign.base.error_types import (
    CapacityError,
    FastaError,
    NoSequencesError,
    WrongTypeError,
)
from pairalign.engines.posterior_engines import check_device
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.grouping import MOST_IN_GROUP
from pairalign.jobs.msa.homolog_search import find_homologs
from pairalign.jobs.msa.msa_request import ConfidenceOptions, HomologsOptions, RowsOptions
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import align_family
from pairalign.jobs.msa.other_strand import Orientation
from pairalign.jobs.run.inputs import (
    ProblemRequest,
    Sequences,
    given_sequences,
    read_sets,
)
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.pairs.windows import cells_of_all
from pairalign.requests.resources import Resources
from pairalign.sequences.input_rules import InputRules
from pairalign.sequences.sets import SequenceSet

log = logging.getLogger("pairalign")
_Task = Callable[[FamilyRun], MultipleAlignment]

_AHEAD = 4
"""Families for each thread that are begun before a result is taken."""


def align_families(
    families: Mapping[str, Sequences],
    *,
    homologs: Sequences | Mapping[str, Homologs] | None = None,
    homologs_per_family: int = HOMOLOGS_PER_FAMILY,
    keep_homologs: bool = False,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
    strand: str = "plus",
    device: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
) -> Iterator[tuple[str, MultipleAlignment]]:
    """Align each of many families: the alignments that `msa` makes of them.

    Parameters
    ----------
    families : mapping of str to what `msa` takes as sequences
        By name.
    homologs : as of `msa`, or a mapping of names to Homologs, optional
        A database in which homologs of all families are searched at once, or what was found.
    homologs_per_family, keep_homologs, confidence, partners, seed, strand
        See `msa`.
    device : str
        Of families that take all threads; those that are aligned beside each other, a thread each,
        take the CPU unless a GPU is named.
    threads : int, optional
        Default: all cores.
    memory : int or str, optional
        Default: half of what is free.
    progress : bool or "lines"
        Show how far it is.

    Yields
    ------
    (str, MultipleAlignment)
        The name and alignment of a family, in the order in which they are done.

    Raises
    ------
    FastaError, AlphabetError
        Sequences cannot be read, or no family has any; before anything is aligned. A family
        without residues is left out, with a message to the log.
    CapacityError
        A family does not fit the memory, see `msa`.
    """
    arguments = {"homologs": homologs, "keep_homologs": keep_homologs, "seed": seed}
    arguments |= {
        "homologs_per_family": homologs_per_family,
        "partners": partners,
    }
    check_arguments((HomologsOptions, ConfidenceOptions), arguments)
    check_arguments((RowsOptions,), {"strand": strand})
    how = {"device": device, "threads": threads, "memory": memory, "progress": progress}
    resources = make(Resources, how)
    check(resources)
    check_device(device)
    if not isinstance(families, Mapping):
        raise WrongTypeError(f"families {families!r}: expected names and their sequences")
    sets = read_families({name: given_sequences(family, {}) for name, family in families.items()})
    oriented = orient_families(sets, strand, resources)
    sets = {name: orientation.sequences for name, orientation in oriented.items()}
    reading = given_sequences((), {}).reading
    homologs_by_family = homologs_of(
        sets, homologs, reading, homologs_per_family, resources, are_kept=keep_homologs
    )
    run = FamilyRun(resources, confidence, partners, seed)
    yield from align_oriented(oriented, homologs_by_family, run, keep_homologs=keep_homologs)


def orient_families(
    sets: Mapping[str, SequenceSet], strand: str, resources: Resources
) -> dict[str, Orientation]:
    """Find the sequences on the other strand of each family, and turn them if `strand` is both."""
    one_each = replace(resources, threads=1)
    with ThreadPoolExecutor(resources.used_threads) as pool:
        orientations = pool.map(
            lambda sequences: Orientation.find(sequences, strand, one_each), sets.values()
        )
        return dict(zip(sets, orientations, strict=True))


def align_oriented(
    families: Mapping[str, Orientation],
    homologs: Mapping[str, Homologs],
    run: FamilyRun,
    *,
    keep_homologs: bool,
) -> Iterator[tuple[str, MultipleAlignment]]:
    """Align families whose homologs are known; see `align_families`.

    Parameters
    ----------
    homologs : mapping of str to Homologs
        Of families that have some.
    """
    costs: dict[str, int] = {}
    tasks: dict[str, _Task] = {}
    for name, family in families.items():
        own = homologs.get(name)
        costs[name] = cells_of(own.after(family.sequences) if own else family.sequences)
        tasks[name] = partial(
            align_family, family.sequences, homologs=own, keep_homologs=keep_homologs
        )
    silent = replace(run, resources=replace(run.resources, progress=False))
    with show_progress(sum(costs.values()), run.resources.progress) as meter:
        for name, alignment in _align_all(tasks, costs, silent):
            meter.update(costs[name])
            yield name, families[name].note(alignment)


def read_families(requests: Mapping[str, ProblemRequest]) -> dict[str, SequenceSet]:
    """Read all families; those without residues are left out, which is said.

    Raises
    ------
    FastaError, AlphabetError
        A family cannot be read, or none has a residue.
    """
    sets: dict[str, SequenceSet] = {}
    empty: list[FastaError] = []
    for name, request in requests.items():
        try:
            sets[name] = read_sets(request)[0]
        except FastaError as error:
            if not _are_without_residues(request):
                raise
            empty.append(error)
    if empty and not sets:
        raise empty[0]
    for failure in empty:
        log.warning("a family without residues is left out: %s", failure)
    return sets


def _are_without_residues(request: ProblemRequest) -> bool:
    """Whether no record of a family, which cannot be read, has a residue."""
    try:
        read_sets(request._replace(reading=replace(request.reading, on_empty="skip", degap=True)))
    except NoSequencesError:
        return True
    except FastaError:
        return False
    return False


def homologs_of(
    families: Mapping[str, SequenceSet],
    given: Sequences | Homologs | Mapping[str, Homologs] | None,
    reading: InputRules,
    most: int,
    resources: Resources,
    *,
    are_kept: bool,
) -> Mapping[str, Homologs]:
    """Return homologs of families: those that are given, or are found in a database.

    Parameters
    ----------
    given : Sequences, Homologs or mapping of names to these, optional
        A database; those of each family. None: none have any.
    reading : InputRules
        How a database is read.
    most, are_kept
        See `find_homologs`.
    """
    if given is None:
        return {}
    if isinstance(given, Homologs):
        return dict.fromkeys(families, given)
    if isinstance(given, Mapping):
        known = {name: value for name, value in given.items() if isinstance(value, Homologs)}
        if known or not given:
            return known
    request = ProblemRequest(given, reading=replace(reading, also=()))
    database = read_sets(request)[0]
    return find_homologs(families, database, most=most, resources=resources, are_kept=are_kept)


def cells_of(sequences: SequenceSet) -> int:
    """Return about how many cells the alignment of a family takes."""
    in_groups = MOST_IN_GROUP * sequences.total_residues * int(sequences.lengths.max())
    return min(cells_of_all(sequences.lengths, None), in_groups) + 1


def _align_all(
    tasks: Mapping[str, _Task], costs: Mapping[str, int], run: FamilyRun
) -> Iterator[tuple[str, MultipleAlignment]]:
    """Align families with all threads where that ends sooner, the others beside each other."""
    whole = run.resources
    threads, left = whole.used_threads, sum(costs.values())
    has_all = threads == 1 or whole.device.startswith("cuda")
    beside = sorted(tasks, key=lambda name: (-costs[name], name))
    # Until no thread would still be at the largest while the others have nothing left to do.
    while beside and (has_all or costs[beside[0]] * threads > left):
        name = beside.pop(0)
        left -= costs[name]
        yield name, tasks[name](run)
    part = replace(whole, device="cpu", threads=1, memory=bytes_of(whole) // threads)
    too_large = []
    for name, alignment in _side_by_side(
        {name: tasks[name] for name in beside}, threads, replace(run, resources=part)
    ):
        if alignment is None:
            too_large.append(name)
        else:
            yield name, alignment
    for name in too_large:
        yield name, tasks[name](run)


def _side_by_side(
    tasks: Mapping[str, _Task], threads: int, run: FamilyRun
) -> Iterator[tuple[str, MultipleAlignment | None]]:
    """Align families, a thread each; None of one that does not fit its share of the memory."""

    def align(name: str) -> tuple[str, MultipleAlignment | None]:
        try:
            return name, tasks[name](run)
        except CapacityError:
            return name, None

    waiting = iter(tasks)
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(align, name) for name in islice(waiting, _AHEAD * threads)}
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                running |= {pool.submit(align, name) for name in islice(waiting, len(done))}
                for future in done:
                    yield future.result()
        except BaseException:
            for future in running:
                future.cancel()
            raise
