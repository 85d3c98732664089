"""The command ``pairalign msa``."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.base.choices import MSA_SUFFIXES
from pairalign.base.declaration import changed, check
from pairalign.base.dry_run import begin, is_dry_run
from pairalign.base.error_types import FormatError
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.commands.planning import report_of, with_output
from pairalign.jobs.commands.summary_lines import Lines, say_summary
from pairalign.jobs.msa.adding import add_sequences, read_addition
from pairalign.jobs.msa.family_tree import trees_work
from pairalign.jobs.msa.merging import merge_alignments, read_given
from pairalign.jobs.msa.msa_families import (
    add_elsewhere,
    add_homologs,
    add_strands,
    add_unlike,
    homologs_of,
    run_families,
)
from pairalign.jobs.msa.msa_files import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.jobs.msa.msa_request import MsaOptions
from pairalign.jobs.msa.one_family import align_family, columns_in, judge_alignment
from pairalign.jobs.msa.other_strand import Orientation
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.jobs.run.kept_results import kept_results
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.newick import check_names, to_newick
from pairalign.trees.tree_reading import read_newick


def run_msa(request: MsaOptions) -> None:
    """Carry out ``pairalign msa``."""
    if request.is_of_families:
        run_families(request)
        return
    request = with_output(request)
    format = choose_format(
        request.writing.output, request.writing.format, MSA_SUFFIXES, "multiple alignments"
    )
    check_files(request)
    check(changed(request, format=format))
    outputs = [path for path in (request.writing.output, request.tree_out) if path is not None]
    for path in outputs:
        check_writable(path)
    page = report_of(request, *(request.inputs or (request.to, request.add)))
    started = time.perf_counter()
    if request.merge:
        alignment = _merge(request, format)
    else:
        make = _align if request.add is None else _extend
        alignment = make(request, format)
    lines = _summary(alignment, outputs, time.perf_counter() - started)
    if page is not None:
        from pairalign.jobs.msa.msa_report import report_rows

        report_rows(page, alignment, lines.text())
    say_summary(request, lines)


def _write(request: MsaOptions, format: str, alignment: MultipleAlignment) -> None:
    with open_output(request.writing.output) as output:
        write_alignment(output, format, alignment, request.order)
        if alignment.tree is not None and request.tree_out is not None:
            with open_output(request.tree_out) as tree:
                tree.write(to_newick(alignment.tree).encode())


def _check(request: MsaOptions, format: str, sequences: SequenceSet) -> None:
    """Refuse, before any work, what files cannot hold of the sequences."""
    check_msa_names(sequences, format)
    if request.tree_out is not None:
        _check_tree(sequences)
    if request.report is not None and not request.keep_homologs:
        _check_report(sequences)


def _check_report(sequences: SequenceSet) -> None:
    """Refuse a report of too few sequences, or too many."""
    from pairalign.jobs.msa.msa_report import check_rows

    check_rows(sequences)


def _check_tree(sequences: SequenceSet) -> None:
    if len(sequences) < 2:
        raise FormatError(f"{sequences.source}: --tree-out needs two or more sequences, found one")
    check_names(sequences.names, source=sequences.source)


def _extend(request: MsaOptions, format: str) -> MultipleAlignment:
    """Add sequences to an alignment, and write it."""
    assert request.to is not None
    old, both = read_addition(
        request.to, ProblemRequest(request.to, request.add, reading=request.reading)
    )
    oriented = Orientation.find(both, request.strand, request.resources, old=len(old))
    both = oriented.sequences
    _check(request, format, both)
    confidence = _confidence_of(request, format)
    decided = {"old": old.sequences, "sequences": both, **confidence}
    what = {"columns": old.columns, "width": old.width}
    with kept_results(request.writing, "msa --add", **decided, **what) as kept:
        alignment = add_sequences(old, both, request.resources, kept=kept, **confidence)
        alignment = oriented.note(alignment)
        _write(request, format, alignment)
    return alignment


def _merge(request: MsaOptions, format: str) -> MultipleAlignment:
    """Make one alignment of several, and write it."""
    inputs = read_given(request.inputs, request.reading)
    _check(request, format, inputs.sequences)
    confidence = _confidence_of(request, format)
    decided = {"sequences": inputs.sequences, **confidence}
    what = {"columns": inputs.columns, "starts": inputs.starts, "widths": np.array(inputs.widths)}
    with kept_results(request.writing, "msa --merge", **decided, **what) as kept:
        alignment = merge_alignments(inputs, request.resources, kept=kept, **confidence)
        _write(request, format, alignment)
    return alignment


def _align(request: MsaOptions, format: str) -> MultipleAlignment:
    """Align sequences, or compute how sure an alignment of them is, and write that."""
    sequences, _ = read_sets(ProblemRequest(request.inputs[0], reading=request.reading))
    if is_dry_run():
        begin(trees_work([sequences], request.resources))
    oriented = Orientation(sequences, ())
    if request.confidence_of is None:
        oriented = Orientation.find(sequences, request.strand, request.resources)
    sequences = oriented.sequences
    _check(request, format, sequences)
    confidence = _confidence_of(request, format)
    decided, how = {"sequences": sequences, **confidence}, dict(confidence)
    if request.confidence_of is not None:
        columns, width = columns_in(request.confidence_of, sequences)
        how["confidence"] = True  # the summary has it
        with kept_results(
            request.writing, "confidence", **decided, columns=columns, width=width
        ) as kept:
            alignment = judge_alignment(
                sequences, columns, width, request.resources, kept=kept, **how
            )
            _write(request, format, alignment)
        return alignment
    if (homologs_by_family := homologs_of(request, {"": sequences}, format)) is not None:
        homologs = homologs_by_family[""]
        if request.keep_homologs and request.tree_out is not None:
            _check_tree(homologs.after(sequences))
        if request.keep_homologs and request.report is not None:
            _check_report(homologs.after(sequences))
        decided |= {"homologs": homologs.sequences, "keep_homologs": request.keep_homologs}
        how |= {"homologs": homologs, "keep_homologs": request.keep_homologs}
    tree = None if request.tree_in is None else read_newick(request.tree_in, sequences.names)
    linkage = None if tree is None else tree.linkage
    with kept_results(request.writing, "msa", **decided, tree=linkage) as kept:
        alignment = align_family(sequences, request.resources, kept=kept, tree=tree, **how)
        alignment = oriented.note(alignment)
        _write(request, format, alignment)
    return alignment


def _confidence_of(request: MsaOptions, format: str) -> dict[str, Any]:
    """Return what is asked of the confidence."""
    confidence = format in WITH_CONFIDENCE or request.report is not None
    return {"confidence": confidence, "partners": request.partners, "seed": request.seed}


def _summary(alignment: MultipleAlignment, outputs: list[str], seconds: float) -> Lines:
    confidence = alignment.column_confidence
    values = confidence[~np.isnan(confidence)]
    lines = Lines()
    lines.add_sets(alignment.sequences)
    lines.add("columns", f"{alignment.width:,}", columns=alignment.width)
    if len(values):
        mean = float(values.mean())
        lines.add("confidence", f"{mean:.3f} in the mean of columns", confidence=round(mean, 6))
    if alignment.homologs is not None:
        add_homologs(lines, {"": alignment.homologs})
    add_unlike(lines, alignment.named_unlike)
    add_elsewhere(lines, alignment.named_elsewhere)
    add_strands(lines, [alignment])
    lines.add_time(seconds)
    lines.add_outputs(outputs)
    return lines
