"""Results go through pickle, copies and processes, and are written afterwards as before."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pairalign
from pairalign.cli.main import main

GLOBINS = os.fspath(Path(__file__).parents[1] / "data" / "globins.fasta")
READS = ["ACGTTGCATTGACCATGACA" * 10, "TTGACCATGACAACGTTGCA" * 10, "ACGTTGGATTGACCATGACA" * 10]


def stored(folder: Path) -> pairalign.SequenceSet:
    return pairalign.pack(GLOBINS, folder / "globins.pairset")


def stored_paf(folder: Path) -> Path:
    pairalign.align(GLOBINS).write(folder / "globins.paf")
    return folder / "globins.paf"


def grouped() -> dict[str, str]:
    return {one.name: "ab"[k % 2] for k, one in enumerate(pairalign.read_fasta(GLOBINS))}


def updated(folder: Path) -> Any:
    first, second = folder / "first.fa", folder / "second.fa"
    for path, part in ((first, slice(6)), (second, slice(6, 9))):
        some = list(pairalign.read_fasta(GLOBINS))[part]
        path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in some))
    main(["align", str(first), "-o", str(folder / "parts"), "--format", "paf", "--shard", "1/1"])
    return pairalign.update(folder / "parts", second, folder / "updated.paf")


def interactions() -> Any:
    names = list(pairalign.read_fasta(GLOBINS).names)
    pairs = list(zip(names[:6], names[3:], strict=False))
    return pairalign.split(GLOBINS, pairs=pairs, min_identity=0.9, folds=2, tolerance=1)


def violating(folder: Path) -> Any:
    path = folder / "interactions.csv"
    interactions().write(path)
    return pairalign.audit(path, GLOBINS, pairs=True, min_identity=0.3)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "align": lambda _: pairalign.align(GLOBINS),
    "scores": lambda _: pairalign.align(GLOBINS, detail="score"),
    "two sets": lambda _: pairalign.align(GLOBINS, list(pairalign.read_fasta(GLOBINS))),
    "both strands": lambda _: pairalign.align(READS, strand="both", mode="semiglobal"),
    "E-values": lambda _: pairalign.align(GLOBINS, mode="local", max_evalue=1, mask="tantan"),
    "hits": lambda _: pairalign.align(GLOBINS, mode="local", max_hits=2),
    "of a store": lambda folder: pairalign.align(stored(folder)),
    "one pair": lambda _: pairalign.align(GLOBINS)[3],
    "distances": lambda _: pairalign.distance(GLOBINS),
    "rectangle": lambda _: pairalign.distance(GLOBINS, list(pairalign.read_fasta(GLOBINS))),
    "groups": lambda _: pairalign.distance(GLOBINS, group_by=grouped()),
    "sparse": lambda _: pairalign.distance(GLOBINS, sparse=True, max_edits=90),
    "tree": lambda _: pairalign.tree(GLOBINS),
    "overlaps": lambda _: pairalign.overlap(READS, preset="short"),
    "clusters": lambda _: pairalign.cluster(GLOBINS, min_identity=0.5, edges=True),
    "update": updated,
    "split": lambda _: pairalign.split(GLOBINS, min_identity=0.6, folds=2),
    "posteriors": lambda _: pairalign.posterior(GLOBINS),
    "msa": lambda _: pairalign.msa(GLOBINS),
    "verification": lambda folder: pairalign.verify(stored_paf(folder), GLOBINS),
    "violations": lambda _: pairalign.audit(
        pairalign.read_fasta(GLOBINS)[:5], pairalign.read_fasta(GLOBINS)[5:], min_identity=0.3
    ),
    "interactions": lambda _: interactions(),
    "violations of interactions": violating,
    "set": lambda _: pairalign.read_fasta(GLOBINS),
    "store": stored,
    "sequence": lambda _: pairalign.read_fasta(GLOBINS)[0],
    "scoring": lambda _: pairalign.make_scoring("protein", free_ends="query-start"),
    "alphabet": lambda _: pairalign.DNA,
}


OF_CSV = ("Split", "Violations", "InteractionSplit", "InteractionViolations")


def written(found: Any, folder: Path) -> bytes:
    """Return what files of a result hold, or else what it shows."""
    path = folder / "written"
    if isinstance(found, pairalign.SequenceSet):
        pairalign.pack(found, path)
    elif hasattr(found, "write"):
        formats = {"Overlaps": "gfa", "Clusters": "uc", "GuideTree": "newick"}
        formats |= {"MultipleAlignment": "stockholm", "DistanceMatrix": "phylip"}
        formats |= {"GroupDistances": "phylip", "Verification": "", **dict.fromkeys(OF_CSV, "")}
        formats["Alignments"] = "paf" if getattr(found, "has_cigar", False) else "tsv"
        name = type(found).__name__
        format = formats.get(name, "tsv")
        path = path if format else path.with_suffix(".csv" if name in OF_CSV else ".tsv")
        found.write(path, *([format] if format else []))
    else:
        return f"{found!r}{found}".encode()
    return path.read_bytes()


def other_process(data: bytes, folder: Path) -> bytes:
    """Write a result in a process that has loaded nothing."""
    (folder / "result").write_bytes(data)
    program = (
        "import pathlib, pickle, sys\n"
        "found = pickle.loads(pathlib.Path('result').read_bytes())\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "from test_results_travel import written\n"
        "pathlib.Path('found').write_bytes(written(found, pathlib.Path()))"
    )
    command = [sys.executable, "-c", program, os.fspath(Path(__file__).parent)]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "found").read_bytes()


def size_of(found: Any) -> int:
    return len(found)


@pytest.mark.parametrize("name", MAKERS)
def test_copies_are_written_as_the_result(name, tmp_path):
    found = MAKERS[name](tmp_path)
    expected = written(found, tmp_path)
    assert expected
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert type(copied) is type(found)
        assert written(copied, tmp_path) == expected


def test_every_public_result_is_looked_at(tmp_path):
    made = {type(make(tmp_path)) for make in MAKERS.values()}
    names = [name for name in pairalign.__all__ if isinstance(getattr(pairalign, name), type)]
    lacking = [
        name
        for name in names
        if not issubclass(getattr(pairalign, name), Exception)
        and getattr(pairalign, name) not in made
    ]
    assert lacking == []


@pytest.mark.parametrize("name", ["align", "overlaps", "E-values", "clusters", "msa"])
def test_another_process_writes_the_same(name, tmp_path):
    found = MAKERS[name](tmp_path)
    assert other_process(pickle.dumps(found), tmp_path) == written(found, tmp_path)


def test_results_go_to_processes_and_come_back(tmp_path):
    found = [MAKERS[name](tmp_path) for name in ("align", "overlaps", "sparse", "store")]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(size_of, found)) == list(map(len, found))
        assert pool.submit(pairalign.overlap, READS, preset="short").result().reads.names == [
            "seq1",
            "seq2",
            "seq3",
        ]
