"""The tables of the subcommand `trees`: how good alignments along each tree are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple

import numpy as np
import numpy.typing as npt

from bench.msa_score import Score

Doubles = npt.NDArray[np.float64]
COLLECTIONS = ("bali3", "ox")
OWN = "own"


def tables(
    known: dict[tuple[str, ...], dict[str, object]],
    programs: list[str],
    groups: list[list[str]],
) -> Iterator[str]:
    """Two tables a collection and group of trees, of the families with all its results, in percent.

    Mean Q and TC; and the mean difference in Q to the program's own tree, with its standard error.
    Trees without any result are left out of a group, and groups that have only one tree or no
    family then.
    """
    for collection in COLLECTIONS:
        cells: dict[tuple[object, object], dict[str, Score]] = defaultdict(dict)
        letters: dict[str, int] = {}
        for (of, family, program, tree), line in known.items():
            if of == collection:
                cells[program, tree][family] = Score(line["q"], line["tc"])  # type: ignore[arg-type]
                letters[family] = line["letters"]  # type: ignore[assignment]
        there = [one for one in programs if any(program == one for program, _ in cells)]
        shown: list[list[str]] = []
        for group in groups:
            trees = [tree for tree in group if any((program, tree) in cells for program in there)]
            needed = [cells.get((program, tree), {}) for program in there for tree in trees]
            complete = sorted(set(letters).intersection(*needed))
            if len(trees) < 2 or not complete or any(set(trees) <= set(other) for other in shown):
                continue
            shown.append(trees)
            # Of shape (trees, programs, families, 2), Q and TC.
            values = 100 * np.array(
                [
                    [[astuple(cells[program, tree][f]) for f in complete] for program in there]
                    for tree in trees
                ]
            )
            largest = max(letters[family] for family in complete)
            title = f"{collection}: {len(complete)} families of up to {largest:,} residues, "
            yield f"{title}mean Q / TC in percent\n\n" + "\n".join(_means(values, trees, there))
            yield f"{title}Q minus that of the program's own tree, with its standard error\n\n" + (
                "\n".join(_differences(values, trees, there))
            )


def _means(values: Doubles, trees: list[str], programs: list[str]) -> Iterable[str]:
    yield from _heading(programs)
    for tree, of_programs in zip(trees, values.mean(axis=2), strict=True):
        shown = [f"{q:.2f} / {tc:.2f}" for q, tc in [*of_programs, of_programs.mean(axis=0)]]
        yield f"| {tree} | " + " | ".join(shown) + " |"


def _differences(values: Doubles, trees: list[str], programs: list[str]) -> Iterable[str]:
    yield from _heading(programs)
    with_mean = np.concatenate([values, values.mean(axis=1, keepdims=True)], axis=1)[..., 0]
    for tree, found in zip(trees[1:], with_mean[1:] - with_mean[0], strict=True):
        errors = found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        shown = [f"{m:+.2f} ± {e:.2f}" for m, e in zip(found.mean(axis=1), errors, strict=True)]
        yield f"| {tree} | " + " | ".join(shown) + " |"


def _heading(programs: list[str]) -> Iterable[str]:
    yield "| tree | " + " | ".join(programs) + " | mean |"
    yield "| --- |" + " --- |" * (len(programs) + 1)
