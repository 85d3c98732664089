"""``pairalign msa`` of several families: each into a file of its own, in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pairalign.alignments.homologs import Homologs
from pairalign.alignments.multiple import describe_unlike
from pairalign.base.choices import COMPRESSED_SUFFIXES, MSA_SUFFIXES
from pairalign.base.declaration import check
from pairalign.base.error_types import FormatError, cut_name
from pairalign.base.texts import stem_of
from pairalign.cli.console import log
from pairalign.cli.summary_lines import Lines, say_summary
from pairalign.formats.msa_files import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.formats.names import format_by_suffix
from pairalign.formats.output import check_writable, open_output
from pairalign.formats.parts import prepare_folder
from pairalign.jobs.msa.families import align_families, read_families
from pairalign.jobs.msa.homolog_search import find_homologs
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import read_sets, sequences_request
from pairalign.requests.msa_request import MsaOptions
from pairalign.sequences.sets import SequenceSet

_MOST_SAID = 5
"""Sequences that are like no other; the others are counted."""


def run_families(asked: MsaOptions) -> None:
    """Align each family, and write it as soon as it is done."""
    format = asked.format or _format_of(asked.output)
    check(replace(asked, format=format))
    check_files(asked)
    places = _places_of(asked, format)
    started = time.perf_counter()
    left = _left_of(asked, places)
    sets = _read(asked, format, left)
    prepare_folder(asked.output)
    if left:
        check_writable(next(iter(left)))
    found = homologs_of(asked, sets, format)
    columns, unlike = 0, []
    for place, alignment in align_families(
        sets,
        homologs=found,
        keep_homologs=asked.keep_homologs,
        confidence=format in WITH_CONFIDENCE,
        **_how_of(asked),
    ):
        with open_output(place) as output:
            write_alignment(output, format, alignment, asked.order)
        columns += alignment.width
        unlike += alignment.named_unlike
    lines = _summary(sets, columns, len(left) - len(sets))
    add_homologs(lines, found)
    add_unlike(lines, unlike)
    lines.add_time(time.perf_counter() - started)
    lines.add_outputs([asked.output])
    say_summary(asked, lines)


def _how_of(asked: MsaOptions) -> dict[str, Any]:
    """Return what decides and does the work besides the sequences and the format."""
    return {
        "partners": asked.partners,
        "seed": asked.seed,
        "device": asked.resources.device,
        "threads": asked.resources.threads,
        "memory": asked.resources.memory,
        "progress": asked.resources.progress,
    }


def homologs_of(
    asked: MsaOptions, families: Mapping[str, SequenceSet], format: str
) -> dict[str, Homologs] | None:
    """Find homologs of families in the database; None without one."""
    if asked.homologs is None:
        return None
    request = replace(sequences_request(asked, asked.homologs), also=())
    database, _ = read_sets(request)
    most, resources = asked.homologs_per_family, asked.resources
    found = find_homologs(families, database, most=most, resources=resources)
    if asked.keep_homologs:
        for name, family in families.items():
            check_msa_names(found[name].after(family), format)
    return found


def add_homologs(lines: Lines, found: Mapping[str, Homologs] | None) -> None:
    """Say how many homologs were found and aligned, and how far they are."""
    if found is None:
        return
    aligned = sum(map(len, found.values()))
    hits = sum(one.found for one in found.values())
    text = f"{aligned:,} of {hits:,} that were found"
    facts: dict[str, Any] = {"found": hits, "aligned": aligned}
    if len(found) > 1:
        facts["families_without"] = sum(not len(one) for one in found.values())
        text += f", none for {facts['families_without']:,} families"
    if aligned:
        identities = np.concatenate([one.identities for one in found.values()])
        least, most = float(identities.min()), float(identities.max())
        text += f", {100 * most:.0f}% to {100 * least:.0f}% identical to the nearest sequence"
        facts["identities"] = [round(least, 6), round(most, 6)]
    lines.add("homologs", text, homologs=facts)


def add_unlike(lines: Lines, found: Sequence[tuple[str, float]]) -> None:
    """Say which sequences are like no other of their family: by names and shares."""
    if not found:
        return
    said = [f"{cut_name(name)} {describe_unlike(share)}" for name, share in found[:_MOST_SAID]]
    facts = [{"name": name, "confident": round(share, 6)} for name, share in found]
    lines.add("outliers", said[0], outliers=facts)
    lines.rows += [("", text) for text in said[1:]]
    if len(found) > _MOST_SAID:
        lines.rows.append(("", f"{len(found) - _MOST_SAID:,} more"))


def _places_of(asked: MsaOptions, format: str) -> dict[str, str]:
    """Return where each alignment goes, and the file of its sequences."""
    places: dict[str, str] = {}
    for path in asked.inputs:
        if path == "-":
            raise FormatError("<stdin>: a family among several needs a file, whose name it takes")
        place = os.path.join(
            asked.output, stem_of(path, COMPRESSED_SUFFIXES) + MSA_SUFFIXES[format][0]
        )
        other = places.setdefault(place, path)
        if other is not path:
            raise FormatError(f"'{other}' and '{path}' would both be written to '{place}'")
    return places


def _format_of(folder: str | None) -> str:
    """Return the format that a folder's name means, else the first."""
    named = format_by_suffix((folder or "").rstrip(os.sep), MSA_SUFFIXES)
    return named or next(iter(MSA_SUFFIXES))


def _left_of(asked: MsaOptions, places: dict[str, str]) -> dict[str, str]:
    """Return what is not there yet; without ``--resume`` nothing may be."""
    left = {place: path for place, path in places.items() if not os.path.lexists(place)}
    there = next((place for place in places if place not in left), None)
    if there is None:
        return left
    if not asked.resume:
        raise FormatError(
            f"'{there}' is there: choose another folder, or add --resume to leave out families "
            "whose file is there"
        )
    done, count = len(places) - len(left), len(places)
    log.warning("resumed: %s of %s families have their file", f"{done:,}", f"{count:,}")
    return left


def _read(asked: MsaOptions, format: str, places: dict[str, str]) -> dict[str, SequenceSet]:
    """Read all families, so that none is refused after others have been aligned."""
    sets = read_families({k: sequences_request(asked, path) for k, path in places.items()})
    for sequences in sets.values():
        check_msa_names(sequences, format)
    return sets


def _summary(sets: dict[str, SequenceSet], columns: int, empty: int) -> Lines:
    count = sum(map(len, sets.values()))
    text = f"{len(sets):,} of {count:,} sequences"
    lines = Lines()
    lines.add("families", text, families=len(sets), sequences=count)
    if empty:
        lines.add("left out", f"{empty:,} without residues", families_left_out=empty)
    lines.add("columns", f"{columns:,}", columns=columns)
    return lines
