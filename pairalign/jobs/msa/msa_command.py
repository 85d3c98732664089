"""The command ``pairalign msa``."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.base.choices import MSA_SUFFIXES
from pairalign.base.declaration import changed, check
from pairalign.base.error_types import FormatError
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.commands.planning import report_of, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.msa_families import (
    add_elsewhere,
    add_homologs,
    add_strands,
    add_unlike,
    run_families,
)
from pairalign.jobs.msa.msa_files import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.jobs.msa.msa_plan import plan_msa
from pairalign.jobs.msa.msa_request import MsaOptions
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest
from pairalign.jobs.run.kept_results import kept_results
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree_text import check_names, to_newick


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
    alignment = _align(request, format)
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


def _check(request: MsaOptions, format: str, sequences: SequenceSet, are_all: bool) -> None:
    """Refuse what files cannot hold of the sequences; `are_all`: there are no more rows."""
    check_msa_names(sequences, format)
    if are_all and request.tree_out is not None:
        if len(sequences) < 2:
            raise FormatError(
                f"{sequences.source}: --tree-out needs two or more sequences, found one"
            )
        check_names(sequences.names, source=sequences.source)
    if are_all and request.report is not None:
        from pairalign.jobs.msa.msa_report import check_rows

        check_rows(sequences)


def _align(request: MsaOptions, format: str) -> MultipleAlignment:
    """Align sequences, or take up an alignment, and write that."""
    first = request.inputs[0] if request.to is None else request.to
    source = ProblemRequest(first, request.add, reading=request.reading)
    plan = plan_msa(request, source, request.resources, partial(_check, request, format))
    is_shown = format in WITH_CONFIDENCE or request.report is not None
    confidence: dict[str, Any] = {
        "confidence": is_shown or request.confidence_of is not None,  # the summary has it
        "partners": request.partners,
        "seed": request.seed,
    }
    with kept_results(request.writing, plan.name, **plan.decided, **confidence) as kept:
        alignment = plan.make(FamilyRun(request.resources, **confidence, kept=kept))
        _write(request, format, alignment)
    return alignment


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
