"""The command ``pairalign msa``."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.base.choices import MSA_SUFFIXES
from pairalign.base.errors import FormatError
from pairalign.cli.files import check_files
from pairalign.cli.kept_results import kept_results
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.msa_families import check_partners, is_of_families, run_families
from pairalign.cli.planning import choose_output, progress_of, read_sequences
from pairalign.formats.aligned_fasta import read_aligned_fasta
from pairalign.formats.msa import WITH_CONFIDENCE, check_msa_names, write_alignment
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.msa.adding import extend_multiple
from pairalign.jobs.msa.msa import align_multiple, score_multiple
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.newick import check_names
from pairalign.trees.reading import read_newick


def run_msa(options: argparse.Namespace) -> None:
    """Carry out ``pairalign msa``."""
    if is_of_families(options):
        run_families(options)
        return
    options.input = options.inputs[0] if options.inputs else None
    choose_output(options)
    format = choose_format(options.output, options.format, MSA_SUFFIXES, "multiple alignments")
    _check_inputs(options)
    check_files(options)
    check_partners(options, format)
    outputs = [path for path in (options.output, options.tree_out) if path is not None]
    for path in outputs:
        check_writable(path)
    started = time.perf_counter()
    make = _align if options.add is None else _extend
    alignment = make(options, format)
    if not options.quiet:
        say_summary(options, _summary(alignment, outputs, time.perf_counter() - started))


def _write(options: argparse.Namespace, format: str, alignment: MultipleAlignment) -> None:
    with open_output(options.output) as output:
        write_alignment(output, format, alignment, options.order)
        if alignment.tree is not None and options.tree_out is not None:
            with open_output(options.tree_out) as tree:
                tree.write(alignment.tree.newick().encode())


def _check_tree(sequences: SequenceSet) -> None:
    if len(sequences) < 2:
        raise FormatError(f"{sequences.source}: --tree-out needs two or more sequences, found one")
    check_names(sequences.names, source=sequences.source)


def _check_inputs(options: argparse.Namespace) -> None:
    """Refuse inputs that do not go together, before anything is read."""
    if (options.add is None) != (options.to is None):
        raise FormatError("--add NEW and --to AFA come together")
    if (options.add is None) == (options.input is None):
        raise FormatError("expected IN, or --add NEW --to AFA in its place")
    reason = None
    if options.confidence_of is not None:
        reason = "--confidence-of aligns nothing"
    if options.add is not None:
        reason = "--add keeps the alignment"
    for name in ("tree_in", "tree_out", "order"):
        if reason is not None and getattr(options, name) not in (None, "input"):
            option = "--" + name.replace("_", "-")
            raise FormatError(f"{option} needs a guide tree, but {reason}")
    if options.add is not None and options.confidence_of is not None:
        raise FormatError("--add and --confidence-of: leave one out")


def _extend(options: argparse.Namespace, format: str) -> MultipleAlignment:
    """Add sequences to an alignment, and write it."""
    options.input, options.input2 = options.to, options.add
    degap, options.degap = options.degap, True  # of the alignment
    old, new = read_sequences(options)
    options.degap = degap
    assert new is not None
    for one in (old, new):
        check_msa_names(one, format)
    columns, width = read_aligned_fasta(options.to, old)
    given = {"partners": options.partners, "seed": options.seed}
    decided = {"old": old, "sequences": new, "confidence": format in WITH_CONFIDENCE, **given}
    nothing = np.zeros(old.total_residues), np.zeros(old.total_residues, np.int32)
    with kept_results(options, "msa --add", **decided, columns=columns, width=width) as kept:
        alignment = extend_multiple(
            MultipleAlignment(old, columns, width, *nothing, None),
            new,
            confidence=format in WITH_CONFIDENCE,
            partners=options.partners,
            seed=options.seed,
            device=options.device,
            threads=options.threads,
            memory_bytes=options.memory,
            progress=progress_of(options),
            kept=kept,
        )
        _write(options, format, alignment)
    return alignment


def _align(options: argparse.Namespace, format: str) -> MultipleAlignment:
    """Align sequences, or compute how sure an alignment of them is, and write that."""
    sequences, _ = read_sequences(options)
    check_msa_names(sequences, format)
    if options.tree_out is not None:
        _check_tree(sequences)
    given: dict[str, Any] = {"partners": options.partners, "seed": options.seed}
    decided = {"sequences": sequences, "confidence": format in WITH_CONFIDENCE, **given}
    given |= {"device": options.device, "threads": options.threads}
    given |= {"memory_bytes": options.memory, "progress": progress_of(options)}
    if options.confidence_of is not None:
        columns, width = read_aligned_fasta(options.confidence_of, sequences)
        with kept_results(options, "confidence", **decided, columns=columns, width=width) as kept:
            alignment = score_multiple(sequences, columns, width, kept=kept, **given)
            _write(options, format, alignment)
        return alignment
    tree = None if options.tree_in is None else read_newick(options.tree_in, sequences.names)
    linkage = None if tree is None else tree.linkage
    with kept_results(options, "msa", **decided, tree=linkage) as kept:
        alignment = align_multiple(
            sequences, tree=tree, confidence=format in WITH_CONFIDENCE, kept=kept, **given
        )
        _write(options, format, alignment)
    return alignment


def _summary(alignment: MultipleAlignment, outputs: list[str], seconds: float) -> Lines:
    confidence = alignment.column_confidence
    known = confidence[~np.isnan(confidence)]
    lines = Lines()
    lines.add_sets(alignment.sequences)
    lines.add("columns", f"{alignment.width:,}", columns=alignment.width)
    if len(known):
        mean = float(known.mean())
        lines.add("confidence", f"{mean:.3f} in the mean of columns", confidence=round(mean, 6))
    lines.add_time(seconds)
    lines.add_outputs(outputs)
    return lines
