"""A worker with a shard reads, and holds, the sequences of its block and no others."""

import gc
import shutil
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairalign.base import compression
from pairalign.cli.main import main
from pairalign.formats import networks
from pairalign.jobs.run import hits
from pairalign.sequences import block_set, stored_set
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.store_format import CHUNK_BYTES, encode_store
from pairalign.sequences.stored_set import StoredSet

HEADERS = ("sam", "blast7", "stockholm", "graphml", "gexf", "npz")
"""Formats whose first part says something of all sequences, or looks at them."""
LETTERS = ("rows", "posteriors", "sam", "stockholm")
"""Commands whose lines have residues."""
COMMANDS = {
    "align": ("align", "--format", "paf"),
    "scores": ("align", "--format", "tsv", "--score-only"),
    "rows": ("align", "--format", "srspair"),
    "posteriors": ("align", "--format", "paf", "--objective", "mea"),
    "evalues": (
        *("align", "--format", "blast6", "--mode", "local"),
        *("--max-evalue", "1e-3", "--search-space", "1e11"),
    ),
    "thresholds": ("align", "--format", "paf", "--min-identity", "0.5"),
    **{name: ("align", "--format", name, "--min-identity", "0.5") for name in HEADERS},
    "distance": ("distance",),
}
KINDS = ("align", "posteriors", "evalues", "sam", "gexf", "distance")
"""Commands of which each keeps other things in memory; "sam" and "gexf" have thresholds."""
WINDOW = 16


def store_of(path: Path, count: int, shortest: int = 30, longest: int = 90) -> Path:
    """A store of random proteins."""
    rng = np.random.default_rng(count)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(shortest, longest + 1, count))))
    letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)[rng.integers(0, 20, offsets[-1])]
    names = [f"protein-{k:07d}" for k in range(count)]
    sequences = SequenceSet(Records(names, names, letters.tobytes(), offsets), alphabet="protein")
    path.write_bytes(b"".join(bytes(part) for part in encode_store(sequences)))
    return path


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("stores")
    return {n: store_of(folder / f"{n}.pairset", n) for n in (4000, 32_000)}


@pytest.fixture(scope="module")
def even_stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Of one length, so that blocks of as many pairs are as much work."""
    folder = tmp_path_factory.mktemp("even")
    return {n: store_of(folder / f"{n}.pairset", n, 60, 60) for n in (4000, 32_000)}


class Reads:
    """Counts the bytes of each section that are read, each chunk once, and whole sections."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mapped: set[str] = set()
        self._chunks: set[tuple[str, int]] = set()
        read, raw = StoredSet._read, StoredSet._raw

        def counted(one: StoredSet, start: int, size: int = CHUNK_BYTES) -> bytes:
            for name, (first, length) in one._header.sections.items():
                begin, end = max(start, first) - first, min(start + size, first + length) - first
                chunks = range(begin // CHUNK_BYTES, -(-end // CHUNK_BYTES))
                self._chunks |= {(name, chunk) for chunk in chunks if begin < end}
            return read(one, start, size)

        def mapped(one: StoredSet, name: str) -> Any:
            self.mapped.add(name)
            return raw(one, name)

        monkeypatch.setattr(StoredSet, "_read", counted)
        monkeypatch.setattr(StoredSet, "_raw", mapped)

    @property
    def bytes(self) -> Counter[str]:
        return Counter({k: n * CHUNK_BYTES for k, n in Counter(k for k, _ in self._chunks).items()})


def run(store: Path, command: tuple[str, ...], shard: str) -> None:
    window = ("--window", str(WINDOW)) if command[0] == "align" else ()
    given = [command[0], str(store), *command[1:], *window]
    folder = store.with_suffix(".parts")
    shutil.rmtree(folder, ignore_errors=True)  # to look at an earlier part takes a buffer of 16 MiB
    out = ["-o", str(folder), "--shard", shard]
    assert main([*given, *out, "--device", "cpu", "--threads", "1", "-q"]) == 0


def least_peak(store: Path, command: tuple[str, ...], shard: str) -> int:
    """Return the most bytes that a run holds at a time, the lesser of two runs.

    How much of the work threads have at a time varies, and in a process that has run many tests
    the table of interned strings grows now and then, by 7.7 MB at once.
    """
    peaks = []
    for _ in range(2):
        gc.collect()  # which is then due at the same moments of all runs
        tracemalloc.start()
        try:
            run(store, command, shard)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_worker_reads_its_block(
    name: str, stores: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stores[32_000]
    reads = Reads(monkeypatch)
    # distances are in windows of 1,024, whose rows and columns are the least that a shard touches
    run(store, COMMANDS[name], "50001/100000" if name == "distance" else "5001/10000")
    check_reads(reads, store, has_residues=name in LETTERS)


@pytest.mark.parametrize("name", HEADERS)
def test_the_first_part_writes_of_all_and_reads_its_block(
    name: str, stores: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its header has names and lengths of all; of residues it reads those of its block."""
    reads = Reads(monkeypatch)
    run(stores[32_000], COMMANDS[name], "1/10000")
    check_reads(reads, stores[32_000], has_residues=name in LETTERS)


def check_reads(reads: Reads, store: Path, *, has_residues: bool) -> None:
    sections = StoredSet(store.read_bytes(), "store")._header.sections
    # A block has 1.4% of all rows, and as many columns, in up to four ranges, whose ends are in
    # chunks that are read whole. There are 29 chunks of codes.
    assert reads.bytes["codes"] <= 0.04 * sections["codes"][1] + 6 * CHUNK_BYTES
    assert reads.bytes["order"] <= 0.04 * sections["order"][1] + 2 * CHUNK_BYTES
    assert reads.mapped <= {"sorted_lengths"}  # which is checked, and not looked at
    if not has_residues:
        assert reads.bytes["residues"] <= 8 * CHUNK_BYTES  # of four that the summary names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "small", "large"),
    [
        *((name, "501/1000", "32001/64000") for name in KINDS),
        *((name, "1/1000", "1/64000") for name in ("sam", "gexf")),
    ],
)
def test_memory_does_not_grow_with_the_set(
    name: str, small: str, large: str, even_stores: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same block of a set of eight times as many sequences."""
    monkeypatch.setattr(stored_set, "BLOCK", 1 << 14)  # what both sets have several of
    monkeypatch.setattr(block_set, "_AT_A_TIME", 256)
    monkeypatch.setattr(networks, "_LINES", 256)
    monkeypatch.setattr(compression, "_BLOCK_BYTES", 1 << 14)

    few, many = (
        (even_stores[4000], COMMANDS[name], small),
        (even_stores[32_000], COMMANDS[name], large),
    )
    for _ in range(2):  # what is loaded once, and what is kept for another run
        run(*few)
    least = least_peak(*few)
    # The others have 1.7 MB of codes, as much of residues, 1.8 MB of names. Blocks are planned by
    # sums of windows, here of 16 sequences and usually of 1,024.
    windows = (32_000 - 4000) // WINDOW
    most = least + 350 * windows + (1 << 19)
    assert least_peak(*many) <= most


@pytest.mark.slow
def test_a_search_for_hits_holds_a_slice(
    stores: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a query or two, whatever the size of the set."""
    monkeypatch.setattr(hits, "_LEAST_SLICE", 1 << 15)
    monkeypatch.setattr(hits, "_SLICES", 1 << 60)
    command = ("align", "--format", "tsv", "--mode", "local", "--max-hits", "5")
    store = stores[32_000]
    for _ in range(2):  # what is loaded once, and what is kept for another run
        run(store, command, "16001/32000")
    # A slice has 32 KiB of codes and 550 sequences; all have 1.9 MB, and 0.4 MB of indices.
    assert least_peak(store, command, "16001/32000") <= 1 << 21
