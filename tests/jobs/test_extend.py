"""Distances and clusters that go on from those of fewer sequences."""

from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import DistanceError
from pairalign.jobs.run.align import AlignmentJob


def sequences(count: int, prefix: str, seed: int) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    common = np.random.default_rng(0).choice(list("ARNDCQEGHILKMFPSTWYV"), (4, 50))
    found = {}
    for number in range(count):
        letters = common[number % 4][: 20 + rng.integers(30)].copy()
        changed = rng.random(len(letters)) < 0.4 * rng.random()
        letters[changed] = rng.choice(list("AGILV"), changed.sum())
        found[f"{prefix}{number}"] = "".join(letters)
    return found


OLD, NEW = sequences(25, "o", 1), sequences(6, "n", 2)


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    for path, some in (("old.fa", OLD), ("new.fa", NEW)):
        Path(path).write_text("".join(f">{name}\n{one}\n" for name, one in some.items()))


@pytest.fixture(name="cells")
def _cells(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Cells of the jobs that are opened."""
    cells: list[int] = []
    opened, handed = AlignmentJob.open, AlignmentJob.hand_out

    def open_(job: AlignmentJob):
        cells.append(job.cells)
        return opened(job)

    def hand_out(job: AlignmentJob, use):
        cells.append(job.cells)
        return handed(job, use)

    monkeypatch.setattr(AlignmentJob, "open", open_)
    monkeypatch.setattr(AlignmentJob, "hand_out", hand_out)
    return cells


def new_cells() -> int:
    old, new = ([len(one) for one in some.values()] for some in (OLD, NEW))
    return sum(old) * sum(new) + (sum(new) ** 2 - sum(one * one for one in new)) // 2


@pytest.mark.parametrize("measure", ["identity-aligned", "score", "kimura"])
def test_distances_of_all(measure, cells):
    known = pairalign.distance(OLD, measure=measure)
    cells.clear()
    found = pairalign.distance({**OLD, **NEW}, measure=measure, extend=known)
    assert cells == [new_cells()]
    expected = pairalign.distance({**OLD, **NEW}, measure=measure)
    assert found.names == expected.names
    assert found.condensed.tobytes() == expected.condensed.tobytes()


@pytest.mark.parametrize("known", ["old.npy", "old.npy.gz", "parts"])
def test_distance_extends_a_file(known):
    shard = ["--shard", "1/1"] if known == "parts" else []
    assert main(["distance", "old.fa", "-o", known, "-q", *shard]) == 0
    of_all = ["distance", "old.fa", "--also", "new.fa", "-q"]
    for name in ("all.npy", "all.phy"):
        assert main([*of_all, "-o", f"fresh-{name}"]) == 0
        assert main([*of_all, "-o", name, "--extend", known]) == 0
        assert Path(name).read_bytes() == Path(f"fresh-{name}").read_bytes()
    trees = ["tree", "-q", "-o"]
    assert main([*trees, "fresh.nwk", "fresh-all.phy"]) == 0
    assert main([*trees, "all.nwk", "all.phy"]) == 0
    assert Path("all.nwk").read_bytes() == Path("fresh.nwk").read_bytes()


def test_distances_that_do_not_fit():
    known = pairalign.distance(NEW)
    with pytest.raises(DistanceError, match="not the first 6"):
        pairalign.distance({**OLD, **NEW}, extend=known)
    with pytest.raises(DistanceError, match="no sequence that"):
        pairalign.distance(NEW, extend=known)
    with pytest.raises(DistanceError, match="expected score"):
        pairalign.distance({**NEW, **OLD}, measure="score", extend=known)


@pytest.mark.parametrize("least", ["0.5", "0.8", "0.95"])
def test_single_linkage_of_all(least, cells):
    asked = {"min_identity": least, "linkage": "single"}
    known = pairalign.cluster(OLD, **asked)
    cells.clear()
    labels = np.concatenate((known.labels, np.full(len(NEW), -1)))
    found = pairalign.cluster({**OLD, **NEW}, **asked, extend=labels)
    assert cells[0] == new_cells()
    expected = pairalign.cluster({**OLD, **NEW}, **asked)
    assert list(found) == list(expected)
    assert found.labels.tolist() == expected.labels.tolist()


def test_other_linkages_are_refused():
    with pytest.raises(ValueError, match="linkage='single'"):
        pairalign.cluster(OLD, min_identity=0.8, extend=np.zeros(len(OLD), int))
    with pytest.raises(ValueError, match="shape"):
        pairalign.cluster(OLD, min_identity=0.8, linkage="single", extend=[0])
