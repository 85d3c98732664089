"""``pairalign msa`` of several families: each into a file of its own, in a folder."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

from pairalign.base.choices import COMPRESSED_SUFFIXES, MSA_SUFFIXES
from pairalign.base.errors import FormatError
from pairalign.cli.console import log
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.loading import no_collection
from pairalign.cli.planning import progress_of, sequences_request
from pairalign.formats.msa import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.formats.names import format_by_suffix
from pairalign.formats.output import check_writable, open_output
from pairalign.formats.parts import prepare_folder
from pairalign.jobs.msa.families import align_families
from pairalign.jobs.run.inputs import read_sets
from pairalign.sequences.sets import SequenceSet

_OF_ONE = ("add", "to", "confidence_of", "tree_in", "tree_out", "also")
"""Options that say something of one family."""


def is_of_families(options: argparse.Namespace) -> bool:
    """Whether each of the files is a family: there are several, or the output is a folder."""
    output = options.output or ""
    return len(options.inputs) > 1 or output.endswith(os.sep) or os.path.isdir(output)


def run_families(options: argparse.Namespace) -> None:
    """Align each family, and write it as soon as it is done."""
    format = options.format or _format_of(options.output)
    _check_options(options, format)
    check_files(options)
    places = _places_of(options, format)
    started = time.perf_counter()
    left = _left_of(options, places)
    sets = _read(options, format, left)
    prepare_folder(options.output)
    if left:
        check_writable(next(iter(left)))
    columns = 0
    for place, alignment in align_families(
        sets,
        confidence=format in WITH_CONFIDENCE,
        partners=options.partners,
        seed=options.seed,
        device=options.device,
        threads=options.threads,
        memory_bytes=options.memory,
        progress=progress_of(options),
    ):
        with open_output(place) as output:
            write_alignment(output, format, alignment, options.order)
        columns += alignment.width
    say_summary(options, _summary(options, sets, columns, time.perf_counter() - started))


def _check_options(options: argparse.Namespace, format: str) -> None:
    if options.output in (None, "-"):
        raise FormatError("several families are written into a folder: give its name with -o")
    if not options.inputs:
        raise FormatError(f"'{options.output}' is a folder: expected IN, a family or several")
    for name in _OF_ONE:
        if getattr(options, name):
            option = "--" + name.replace("_", "-")
            raise FormatError(f"{option} is of one family: leave it out, or align one into a file")
    check_partners(options, format)


def check_partners(options: argparse.Namespace, format: str) -> None:
    """Refuse ``--partners`` for files that have no confidence."""
    if options.partners is not None and format not in WITH_CONFIDENCE:
        raise FormatError(
            f"{options.output}: --partners is for confidence, which {format} files do not have; "
            f"take one of {', '.join(WITH_CONFIDENCE)}"
        )


def _places_of(options: argparse.Namespace, format: str) -> dict[str, str]:
    """Return where each alignment goes, and the file of its sequences."""
    places: dict[str, str] = {}
    for path in options.inputs:
        if path == "-":
            raise FormatError("<stdin>: a family among several needs a file, whose name it takes")
        place = os.path.join(options.output, _stem_of(path) + MSA_SUFFIXES[format][0])
        other = places.setdefault(place, path)
        if other is not path:
            raise FormatError(f"'{other}' and '{path}' would both be written to '{place}'")
    return places


def _stem_of(path: str) -> str:
    name = os.path.basename(path)
    for ending in COMPRESSED_SUFFIXES:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[0]


def _format_of(folder: str | None) -> str:
    """Return the format that a folder's name means, else the first."""
    named = format_by_suffix((folder or "").rstrip(os.sep), MSA_SUFFIXES)
    return named or next(iter(MSA_SUFFIXES))


def _left_of(options: argparse.Namespace, places: dict[str, str]) -> dict[str, str]:
    """Return what is not there yet; without ``--resume`` nothing may be."""
    left = {place: path for place, path in places.items() if not os.path.lexists(place)}
    there = next((place for place in places if place not in left), None)
    if there is None:
        return left
    if not options.resume:
        raise FormatError(
            f"'{there}' is there: choose another folder, or add --resume to leave out families "
            "whose file is there"
        )
    done, count = len(places) - len(left), len(places)
    log.warning("resumed: %s of %s families have their file", f"{done:,}", f"{count:,}")
    return left


def _read(
    options: argparse.Namespace, format: str, places: dict[str, str]
) -> dict[str, SequenceSet]:
    """Read all families, so that none is refused after others have been aligned."""
    with no_collection():
        request = sequences_request(options)
        sets = {
            place: read_sets(replace(request, sequences=path))[0] for place, path in places.items()
        }
    for sequences in sets.values():
        check_msa_names(sequences, format)
    return sets


def _summary(
    options: argparse.Namespace, sets: dict[str, SequenceSet], columns: int, seconds: float
) -> Lines:
    count = sum(map(len, sets.values()))
    text = f"{len(sets):,} of {count:,} sequences"
    lines = Lines()
    lines.add("families", text, families=len(sets), sequences=count)
    lines.add("columns", f"{columns:,}", columns=columns)
    lines.add_time(seconds)
    lines.add_outputs([options.output])
    return lines
