"""What the landing page claims; its commands run in test_site.py."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from commands import run

import pairalign
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.results.alignments_result import Alignments

EXAMPLE = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
FAMILY = {one.name: one.residues for one in list(pairalign.read_fasta(EXAMPLE))[:12]}


def by_pair(found: Alignments) -> dict[frozenset[str], tuple[object, ...]]:
    """Each pair with its score and its rows, in the order of the names."""
    return {
        frozenset((one.query.name, one.target.name)): (
            one.score,
            *sorted(zip((one.query.name, one.target.name), one.rows(), strict=True)),
        )
        for one in found
    }


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_every_pair(mode: str) -> None:
    found = pairalign.align(FAMILY, mode=mode)
    assert set(by_pair(found)) == set(map(frozenset, itertools.combinations(FAMILY, 2)))
    assert len(found) == len(FAMILY) * (len(FAMILY) - 1) // 2


def test_pairs_that_thresholds_leave_out_cannot_pass() -> None:
    found = pairalign.align(FAMILY)
    passing = pairalign.align(FAMILY, min_identity=0.4)
    assert 0 < len(passing) < len(found)
    assert by_pair(passing) == by_pair(found[found.identity >= 0.4])


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_the_exact_alignment(mode: str, tmp_path: Path) -> None:
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in FAMILY.items()))
    run("align", "in.fa", "-o", "all.paf", "--mode", mode, cwd=tmp_path)
    done = run(
        "verify", "all.paf", "in.fa", "--mode", mode, "--optimal", "-o", "checked.tsv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in (tmp_path / "checked.tsv").read_text().splitlines()]
    below = lines[0].index("below")
    assert {line[below] for line in lines[1:]} == {"0"}


def test_the_same_bytes_everywhere(tmp_path: Path) -> None:
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in FAMILY.items()))
    made = set()
    for number, (isa, options) in enumerate(
        [
            ("", ["-t", "1"]),
            ("", ["-t", "4"]),
            ("", ["--memory", "3M"]),
            *((name, []) for name in instruction_sets()),
        ]
    ):
        run(
            "align", "in.fa", "-o", f"{number}.paf", *options,
            cwd=tmp_path, env={"PAIRALIGN_ISA": isa} if isa else None,
        )  # fmt: skip
        made.add((tmp_path / f"{number}.paf").read_bytes())
    assert len(made) == 1
    assert made.pop().count(b"\n") == 66


def test_in_any_order_whatever_else_is_in_the_set() -> None:
    whole = by_pair(pairalign.align(FAMILY))
    names = list(FAMILY)
    part = {name: FAMILY[name] for name in names[3:7]}
    for pair, said in by_pair(pairalign.align(part)).items():
        assert whole[pair] == said
    order = np.random.default_rng(3).permutation(len(names))
    shuffled = by_pair(pairalign.align({names[k]: FAMILY[names[k]] for k in order}))
    assert shuffled == whole
