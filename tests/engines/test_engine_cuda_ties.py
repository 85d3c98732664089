"""Numbers of optimal alignments on a GPU: those that cores count, and where they are counted."""

import logging
import math
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from commands import fasta
from cuda_on_host.device import HostDevice
from tie_cases import ENDS, MODES, scorings, some

import pairalign
from pairalign.alignments.tie_counts import MOST_TIES, Counts, TieCounter, TiePairs, TieProblem
from pairalign.cli.main import main
from pairalign.engines import tie_engines
from pairalign.engines.cuda import cuda_devices, cuda_selection, cuda_ties
from pairalign.engines.cuda.cuda_ties import CudaTies
from pairalign.errors import DeviceError

KINDS = [*({"mode": mode} for mode in MODES), *ENDS]


def counts_of(found: Any, scores: Any, device: Any = None, room: int = 1 << 26) -> list[int]:
    """What cores count, or a device that has room."""

    class Tally(CudaTies):
        def count(self, pairs: TiePairs) -> Counts:
            counts = super().count(pairs)
            assert counts is not None
            return counts

    def open_tally(problem: TieProblem) -> Tally:
        return Tally(device, problem, room)

    sets = found.queries, found.targets
    counter = TieCounter(*sets, found.scoring, 2, open_tally=open_tally if device else None)
    turned = None if found.strand is None else found.strand < 0
    counts = counter.count_pairs(found.query, found.target, scores, turned)
    counter.close()
    return counts.tolist()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("long", [1, 20, cuda_ties.LONG])
def test_counts_are_those_of_cores(device, monkeypatch, kind, long):
    """Several strips, pairs of a warp of unlike lengths, scores that no alignment has."""
    monkeypatch.setattr(cuda_ties, "LONG", long)
    rng = np.random.default_rng(5)
    seen = set()
    for scoring in scorings([kind])[long % 3 :: 3]:
        most = int(rng.choice([5, 40, 150]))
        first, second = some(rng, scoring, 9, most), some(rng, scoring, 5, most)
        found = pairalign.align(first, [*second, first[0]], scoring=scoring, device="cpu")
        scores = found.raw_score + rng.integers(-1, 2, len(found), np.int32)
        counts = counts_of(found, scores, device)
        assert counts == counts_of(found, scores)
        seen |= {min(count, 9) for count in counts}
    assert {0, 1, 2, 9} <= seen


@pytest.mark.parametrize("mode", MODES)
def test_either_strand_and_any_base(device, mode):
    rng = np.random.default_rng(4)
    reads = ["".join(rng.choice(list("ACGTN"), rng.integers(1, 70))) for _ in range(12)]
    found = pairalign.align(reads, reads[::-1], mode=mode, strand="both", device="cpu")
    assert 10 < (found.strand < 0).sum() < len(found) - 10
    counts = counts_of(found, found.raw_score, device)
    assert counts == counts_of(found, found.raw_score)
    assert len(set(counts)) > 5


def test_counts_end_at_a_cap(device):
    scoring = pairalign.make_scoring("dna", match=1, mismatch=-3, gap_open=0, gap_extend=0)
    for size in (1, 17, 18, 40):
        found = pairalign.align(["A" * size], ["C" * size], scoring=scoring, device="cpu")
        expected = min(math.comb(2 * size, size), MOST_TIES)
        assert counts_of(found, found.raw_score, device) == [expected]


@pytest.mark.parametrize("long", [1, cuda_ties.LONG])
def test_pairs_in_parts(device, monkeypatch, long):
    """Of few cells or pairs each, and on devices with room for few warps."""
    monkeypatch.setattr(cuda_ties, "LONG", long)
    rng = np.random.default_rng(3)
    proteins = ["".join(rng.choice(list("AILV"), rng.integers(1, 60))) for _ in range(25)]
    found = pairalign.align(proteins, gap_open=2, gap_extend=1, device="cpu")
    expected = counts_of(found, found.raw_score)
    for name, most in (
        ("_MULTIPROCESSOR_CELLS_AT_ONCE", 1),
        ("_MULTIPROCESSOR_CELLS_AT_ONCE", 9000),
        ("_PAIRS_AT_ONCE", 37),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(cuda_ties, name, most)
            assert counts_of(found, found.raw_score, device) == expected
    assert counts_of(found, found.raw_score, device, 1 << 16) == expected


@pytest.fixture
def used(monkeypatch):
    """Pairs that each call has counted on GPUs; where they are that `auto` finds: `devices`."""
    calls: list[int] = []

    def count(self: CudaTies, pairs: TiePairs) -> Counts | None:
        counts = on_gpu(self, pairs)
        calls.append(0 if counts is None else len(pairs))
        return counts

    on_gpu = CudaTies.count
    monkeypatch.setattr(CudaTies, "count", count)
    return calls


def find(monkeypatch: pytest.MonkeyPatch, *devices: Any) -> None:
    monkeypatch.setattr(cuda_selection, "usable_devices", lambda: list(devices))
    monkeypatch.setattr(cuda_selection, "choose_devices", lambda indices: list(devices))


def pays_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tie_engines, "START_SECONDS", 1e-12)
    monkeypatch.setattr(tie_engines, "CORE_CELLS", 1)


def some_reads(count: int = 20) -> dict[str, str]:
    rng = np.random.default_rng(9)
    return {f"r{k}": "".join(rng.choice(list("ACGT"), 12 + k % 5)) for k in range(count)}


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
@pytest.mark.parametrize("gpus", [1, 3])
def test_files_of_commands(here, device, monkeypatch, used, suffix, gpus):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    find(monkeypatch, *[device] * gpus)
    Path("in.fa").write_text(fasta(some_reads()))
    fields = "query,target,score,cigar,strand,ties"
    usual = ["align", "in.fa", "--columns", fields, "--strand", "both", "-q", "--window", "8"]
    assert main([*usual, "-o", f"cpu.{suffix}", "--device", "cpu"]) == 0
    assert main([*usual, "-o", f"few.{suffix}"]) == 0
    assert used == []  # cores need no second
    pays_at_once(monkeypatch)
    assert main([*usual, "-o", f"gpu.{suffix}"]) == 0
    assert sum(used) == 190
    assert main([*usual, "-o", f"own.{suffix}", "--device", "cpu"]) == 0
    assert sum(used) == 190
    for name in ("few", "gpu"):
        assert Path(f"{name}.{suffix}").read_bytes() == Path(f"cpu.{suffix}").read_bytes()
    checked = pairalign.verify(f"gpu.{suffix}", "in.fa", optimal=True, mode="global")
    assert checked.is_legal
    assert "ties" not in checked.not_checked
    assert sum(used) == 380
    pairalign.verify(f"gpu.{suffix}", "in.fa", optimal=True, mode="global", device="cpu")
    assert sum(used) == 380
    found = pairalign.align(some_reads())
    assert len(set(found.ties.tolist())) > 3
    assert sum(used) == 570


def test_nothing_stays_on_a_device(device, monkeypatch, used):
    if not isinstance(device, HostDevice):
        pytest.skip("of the emulation's memory")
    find(monkeypatch, device)
    pays_at_once(monkeypatch)
    before = device.driver.memory.used_bytes
    found = pairalign.align(some_reads(), device="cpu")
    expected = counts_of(found, found.raw_score)
    assert found.ties.tolist() == expected
    assert used == [190]
    assert device.driver.memory.used_bytes == before


@pytest.mark.parametrize("room", [0, 200, 1 << 12])
def test_cores_count_where_a_device_has_no_room(device, monkeypatch, used, room):
    found = pairalign.align(some_reads(), device="cpu")
    find(monkeypatch, device)
    pays_at_once(monkeypatch)
    if isinstance(device, HostDevice):
        total = device.driver.memory.used_bytes + 16 * room
        monkeypatch.setattr(device.driver.memory, "total_bytes", total)
    else:
        monkeypatch.setattr(tie_engines, "_MEMORY_SHARE", room / device.memory_bytes)
    assert found.ties.tolist() == counts_of(found, found.raw_score)
    assert used == [0]


def test_a_device_that_is_full(monkeypatch, used, device):
    """Others have taken the memory since the sequences were copied."""
    found = pairalign.align(some_reads(), device="cpu")
    find(monkeypatch, device)
    pays_at_once(monkeypatch)

    def arrange(*_: object) -> None:
        raise device.driver.MemoryError("cuMemAlloc failed: out of memory")

    monkeypatch.setattr("pairalign.engines.cuda.buffers.Slot.arrange", arrange)
    assert found.ties.tolist() == counts_of(found, found.raw_score)
    assert used == [0]


def test_a_failure_names_the_device(here, monkeypatch, capsys, device):
    if not isinstance(device, HostDevice):
        pytest.skip("only the emulation fails when told")
    find(monkeypatch, device)
    pays_at_once(monkeypatch)
    Path("in.fa").write_text(fasta(some_reads()))
    monkeypatch.setattr(device.driver.memory, "failing_launches", {"count_ties_8"})
    assert main(["align", "in.fa", "-o", "x.tsv", "--columns", "query,target,ties", "-q"]) == 1
    said = capsys.readouterr().err
    assert f"{device.name}: counting optimal alignments failed: cuLaunchKernel failed" in said
    assert not list(Path().glob("x.tsv*"))


class Gpu:
    """Stands for `CudaTies`."""

    opened: ClassVar[list[tuple[str, int]]] = []
    counted: ClassVar[list[int]] = []

    def __init__(self, device: Any, problem: object, memory_bytes: int) -> None:
        self.multiprocessors = device.multiprocessors
        self.opened.append((device.name, memory_bytes))

    def count(self, pairs: TiePairs) -> Counts:
        self.counted.append(len(pairs))
        return np.ones(len(pairs), np.uint32)

    def close(self) -> None: ...


def pairs_of(cells: list[int]) -> TiePairs:
    return TiePairs(*[np.zeros(len(cells), np.int64)] * 6, np.array(cells, np.int64))


SECOND = 16 * 10**9
"""Cells that 16 cores count in a second."""


@pytest.mark.parametrize(
    ("device", "cells", "gpus", "counted"),
    [
        ("auto", [SECOND // 200] * 100, 0, []),  # half a second on cores
        ("auto", [SECOND // 100] * 190, 1, [190]),  # 1.9 s on cores, 0.3 s on a GPU
        ("auto", [2 * SECOND], 1, []),  # a core has them before a warp
        ("auto", [SECOND // 100] * 1900, 2, [950, 950]),  # 3 s on one GPU
        ("cuda", [SECOND // 100] * 1900, 2, [950, 950]),
        ("cuda", [SECOND // 100] * 190, 1, [190]),
        ("cuda:0,1", [SECOND // 100] * 190, 2, [95, 95]),
        ("cuda:0,1", [2] * 190, 0, []),
    ],
)
def test_a_model_says_what_pays(monkeypatch, caplog, device, cells, gpus, counted):
    find(monkeypatch, *(HostDevice(index, multiprocessors=100) for index in range(2)))
    monkeypatch.setattr(cuda_ties, "CudaTies", Gpu)
    Gpu.opened.clear()
    Gpu.counted.clear()
    caplog.set_level(logging.DEBUG, "pairalign")
    tallies = tie_engines.tallies_on(device, 16, 1 << 30)
    assert tallies is not None
    tally = tallies(cast("TieProblem", None))
    counts = tally.count(pairs_of(cells))
    assert Gpu.counted == counted
    assert (counts is None) == (counted == [])
    assert Gpu.opened == [(f"cuda:{index}", 1 << 26) for index in range(gpus)]
    assert caplog.text.count("optimal alignments are counted on cuda") == gpus
    tally.close()


def test_cores_count_where_one_of_several_devices_has_no_room(monkeypatch):
    find(monkeypatch, *(HostDevice(index, multiprocessors=100) for index in range(2)))
    monkeypatch.setattr(cuda_ties, "CudaTies", Gpu)
    tallies = tie_engines.tallies_on("cuda:0,1", 16, None)
    assert tallies is not None
    tally = tallies(cast("TieProblem", None))
    many = pairs_of([SECOND // 100] * 190)
    counts = tally.count(many)
    assert counts is not None
    assert counts.tolist() == [1] * 190
    answers = iter([np.ones(95, np.uint32), None])
    monkeypatch.setattr(Gpu, "count", lambda *_: next(answers))
    assert tally.count(many) is None


def test_small_parts_pay_together(monkeypatch):
    find(monkeypatch, HostDevice(multiprocessors=100))
    monkeypatch.setattr(cuda_ties, "CudaTies", Gpu)
    Gpu.counted.clear()
    tallies = tie_engines.tallies_on("auto", 16, None)
    assert tallies is not None
    tally = tallies(cast("TieProblem", None))
    for _ in range(5):
        tally.count(pairs_of([SECOND // 4000] * 1000))
    assert Gpu.counted == [1000]  # the last: before it a GPU does not pay its start


def test_what_is_for_cores(monkeypatch, caplog):
    def none() -> list[Any]:
        raise DeviceError("no CUDA device")

    monkeypatch.setattr(cuda_selection, "usable_devices", none)
    monkeypatch.setattr(cuda_selection, "choose_devices", lambda indices: none())
    assert tie_engines.tallies_on("cpu", 1, None) is None
    assert tie_engines.tallies_on("opencl", 1, None) is None
    caplog.set_level(logging.INFO, "pairalign")
    many, problem = pairs_of([SECOND]), cast("TieProblem", None)
    said = "optimal alignments are counted on cores: no CUDA device"
    for has_gpu in (False, True):
        monkeypatch.setattr(cuda_devices, "has_nvidia_gpu", lambda answer=has_gpu: answer)
        tallies = tie_engines.tallies_on("auto", 1, None)
        assert tallies is not None
        tally = tallies(problem)
        assert tally.count(many) is None
        assert tally.count(many) is None
        assert caplog.text.count(said) == has_gpu
    tallies = tie_engines.tallies_on("cuda", 1, None)
    assert tallies is not None
    with pytest.raises(DeviceError, match="no CUDA device"):
        tallies(problem).count(many)
