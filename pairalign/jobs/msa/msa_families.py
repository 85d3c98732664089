"""``pairalign msa`` of several families: each into a file of its own, in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pairalign.alignments.multiple import Homologs, MultipleAlignment, describe_unlike
from pairalign.base.choices import COMPRESSED_SUFFIXES, MSA_SUFFIXES
from pairalign.base.console import log
from pairalign.base.declaration import changed, check
from pairalign.base.dry_run import begin
from pairalign.base.error_types import FormatError, cut_name
from pairalign.base.spelling import spelled
from pairalign.base.texts import stem_of
from pairalign.formats.names import format_by_suffix
from pairalign.formats.output import check_usable, check_writable, open_output
from pairalign.formats.pieces import prepare_folder
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.msa.families import (
    align_oriented,
    homologs_of,
    orient_families,
    read_families,
)
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import trees_work
from pairalign.jobs.msa.msa_files import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.jobs.msa.msa_request import MsaOptions
from pairalign.jobs.msa.other_strand import Orientation
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest
from pairalign.sequences.sets import SequenceSet

_MOST_SAID = 5
"""Sequences that are named; the others are counted."""


def run_families(request: MsaOptions) -> None:
    """Align each family, and write it as soon as it is done."""
    format = request.writing.format or _format_of(request.writing.output)
    check(changed(request, format=format))
    check_files(request)
    places = _places_of(request, format)
    started = time.perf_counter()
    left = _left_of(request, places)
    check_usable(request.writing.output)
    if left and os.path.isdir(request.writing.output):
        check_writable(next(iter(left)))
    resources = request.resources
    families = _read(request, left)
    begin(partial(trees_work, families.values(), resources))
    oriented = orient_families(families, request.strand, resources)
    sets = {place: orientation.sequences for place, orientation in oriented.items()}
    for sequences in sets.values():
        check_msa_names(sequences, format)
    prepare_folder(request.writing.output)
    most, keeps = request.homologs_per_family, request.keep_homologs
    homologs = homologs_of(sets, request.homologs, request.reading, most, resources, are_kept=keeps)
    if keeps:
        for name, family in sets.items():
            check_msa_names(homologs[name].after(family), format)
    columns, unlike, elsewhere = 0, [], []
    run = FamilyRun(resources, format in WITH_CONFIDENCE, request.partners, request.seed)
    for place, alignment in align_oriented(oriented, homologs, run, keep_homologs=keeps):
        with open_output(place) as output:
            write_alignment(output, format, alignment, request.order)
        columns += alignment.width
        unlike += alignment.named_unlike
        elsewhere += alignment.named_elsewhere
    lines = _summary(sets, columns, len(left) - len(sets))
    add_homologs(lines, homologs)
    add_unlike(lines, unlike)
    add_elsewhere(lines, elsewhere)
    add_strands(lines, oriented.values())
    lines.add_time(time.perf_counter() - started)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)


def add_homologs(lines: Lines, found: Mapping[str, Homologs]) -> None:
    """Say how many homologs were found and aligned, and how far they are."""
    if not found:
        return
    aligned = sum(map(len, found.values()))
    hits = sum(homologs.found for homologs in found.values())
    text = f"{aligned:,} of {hits:,} that were found"
    facts: dict[str, Any] = {"found": hits, "aligned": aligned}
    if len(found) > 1:
        facts["families_without"] = sum(not len(homologs) for homologs in found.values())
        text += f", none for {facts['families_without']:,} families"
    if aligned:
        identities = np.concatenate([homologs.identities for homologs in found.values()])
        least, most = float(identities.min()), float(identities.max())
        text += f", {100 * most:.0f}% to {100 * least:.0f}% identical to the nearest sequence"
        facts["identities"] = [round(least, 6), round(most, 6)]
    lines.add("homologs", text, homologs=facts)


def add_unlike(lines: Lines, found: Sequence[tuple[str, float]]) -> None:
    """Say which sequences are like no other of their family: by names and E-values."""
    if not found:
        return
    said = [f"{cut_name(name)} {describe_unlike(evalue)}" for name, evalue in found[:_MOST_SAID]]
    facts = [{"name": name, "evalue": float(f"{evalue:.4g}")} for name, evalue in found]
    _add_some(lines, "outliers", said, facts)


def add_elsewhere(lines: Lines, found: Sequence[dict[str, Any]]) -> None:
    """Say which sequences are like another of their family in another order or place."""
    if not found:
        return
    said = [
        f"{cut_name(pair['name'])} is like {cut_name(pair['other'])} in another order or place: "
        f"{pair['together']:,} of {pair['aligned']:,} residues of their local alignment are in one "
        "column"
        for pair in found[:_MOST_SAID]
    ]
    _add_some(lines, "elsewhere", said, list(found))


def _add_some(lines: Lines, title: str, said: list[str], facts: list[dict[str, Any]]) -> None:
    """Say the first of some facts, a line each, and how many more there are."""
    lines.add(title, said[0], **{title: facts})
    lines.rows += [("", text) for text in said[1:]]
    if len(facts) > len(said):
        lines.rows.append(("", f"{len(facts) - len(said):,} more"))


def add_strands(lines: Lines, families: Iterable[Orientation | MultipleAlignment]) -> None:
    """Say which sequences are on the other strand than most of their family, or were turned."""
    strands = [(family.sequences.names, family.other_strand, family.turned) for family in families]
    other = [names[index] for names, indices, _ in strands for index in indices]
    turned = [names[index] for names, _, indices in strands for index in indices]
    if other:
        is_single, both = len(other) == 1, spelled("strand", "both")
        text = f"{_listed(other)} {'is' if is_single else 'are'} the other strand: {both} turns "
        lines.add("other strand", text + ("it" if is_single else "them"), other_strand=other)
    if turned:
        lines.add("turned", _listed(turned), turned=turned)


def _listed(names: Sequence[str]) -> str:
    """Return some names in words."""
    said = [cut_name(name) for name in names[:_MOST_SAID]]
    if len(names) > _MOST_SAID:
        said.append(f"{len(names) - _MOST_SAID:,} more")
    return " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))


def _places_of(request: MsaOptions, format: str) -> dict[str, str]:
    """Return where each alignment goes, and the file of its sequences."""
    places: dict[str, str] = {}
    for path in request.inputs:
        if path == "-":
            raise FormatError("<stdin>: a family among several needs a file, whose name it takes")
        place = os.path.join(
            request.writing.output, stem_of(path, COMPRESSED_SUFFIXES) + MSA_SUFFIXES[format][0]
        )
        other = places.setdefault(place, path)
        if other is not path:
            raise FormatError(f"'{other}' and '{path}' would both be written to '{place}'")
    return places


def _format_of(folder: str | None) -> str:
    """Return the format that a folder's name means, else the first."""
    named = format_by_suffix((folder or "").rstrip(os.sep), MSA_SUFFIXES)
    return named or next(iter(MSA_SUFFIXES))


def _left_of(request: MsaOptions, places: dict[str, str]) -> dict[str, str]:
    """Return what is not there yet; without ``--resume`` nothing may be."""
    left = {place: path for place, path in places.items() if not os.path.lexists(place)}
    there = next((place for place in places if place not in left), None)
    if there is None:
        return left
    if not request.writing.resume:
        raise FormatError(
            f"'{there}' is there: choose another folder, or add --resume to leave out families "
            "whose file is there"
        )
    done, count = len(places) - len(left), len(places)
    log.warning("resumed: %s of %s families have their file", f"{done:,}", f"{count:,}")
    return left


def _read(request: MsaOptions, places: dict[str, str]) -> dict[str, SequenceSet]:
    """Read all families, so that none is refused after others have been aligned."""
    return read_families(
        {k: ProblemRequest(path, reading=request.reading) for k, path in places.items()}
    )


def _summary(sets: dict[str, SequenceSet], columns: int, empty: int) -> Lines:
    count = sum(map(len, sets.values()))
    text = f"{len(sets):,} of {count:,} sequences"
    lines = Lines()
    lines.add("families", text, families=len(sets), sequences=count)
    if empty:
        lines.add("left out", f"{empty:,} without residues", families_left_out=empty)
    lines.add("columns", f"{columns:,}", columns=columns)
    return lines
