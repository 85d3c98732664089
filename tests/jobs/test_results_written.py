"""What results write are the files of the commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FormatError

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"
CASES: dict[str, tuple[str, Callable[[], Any], tuple[str, ...]]] = {
    "align": ("", lambda: pairalign.align(GLOBINS), ("paf", "tsv")),
    "distance": ("", lambda: pairalign.distance(GLOBINS), ("phy", "tsv", "npy")),
    "distance ": (
        "--max-edits 40",
        lambda: pairalign.distance(GLOBINS, max_edits=40, sparse=True),
        ("tsv", "npz"),
    ),
    "tree": ("", lambda: pairalign.tree(GLOBINS), ("nwk", "mafft", "txt")),
    "cluster": (
        "--min-identity 0.5",
        lambda: pairalign.cluster(GLOBINS, min_identity=0.5),
        ("tsv", "uc", "clstr", "fasta"),
    ),
    "split": (
        "--min-identity 0.5 --folds 2",
        lambda: pairalign.split(GLOBINS, min_identity=0.5, folds=2),
        ("csv",),
    ),
    "msa": ("", lambda: pairalign.msa(GLOBINS), ("afa", "aln", "sto", "tsv", "html")),
    "posterior": ("", lambda: pairalign.posterior(GLOBINS), ("tsv", "tc_lib", "npz")),
}


@pytest.mark.parametrize("command", CASES)
def test_written_as_the_command_writes(command, tmp_path):
    options, make, endings = CASES[command]
    found = make()
    for ending in endings:
        out = tmp_path / f"a.{ending}"
        words = [command.strip(), str(GLOBINS), "-o", str(out), "--quiet", *options.split()]
        assert main(words) == 0
        found.write(tmp_path / f"b.{ending}")
        assert (tmp_path / f"b.{ending}").read_bytes() == out.read_bytes()
    with pytest.raises(FormatError):
        found.write(tmp_path / "c.doc")
    assert not (tmp_path / "c.doc").exists()
