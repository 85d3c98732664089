"""Which engine computes posteriors, and that what is made of them does not depend on it."""

from typing import Any

import numpy as np
import pytest
from cuda_engines import host_device

import pairalign
from pairalign.cli.main import main
from pairalign.engines import posterior_engines
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.cuda import cuda_posterior, cuda_selection
from pairalign.errors import DeviceError
from pairalign.jobs.msa.one_family import MOST_OF_ALL_PAIRS
from pairalign.jobs.posterior import posterior as job_module
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A GPU that is this CPU, and that is given all pairs."""
    device = host_device()
    monkeypatch.setattr(cuda_selection, "usable_devices", lambda: [device])
    monkeypatch.setattr(cuda_selection, "choose_devices", lambda indices: [device])
    engine = cuda_posterior.CudaPosteriorEngine
    defaults = {**(engine.__init__.__kwdefaults__ or {}), "least_cells": 0}
    monkeypatch.setattr(engine.__init__, "__kwdefaults__", defaults)
    return device


def family(count: int, length: int) -> list[str]:
    random = np.random.default_rng(count)
    ancestor = random.choice(list("ARNDCQEGHILKMFPSTWYV"), length)
    strings = []
    for _ in range(count):
        own = ancestor.copy()
        changed = random.random(length) < 0.5
        own[changed] = random.choice(list("ARNDCQEGHILKMFPSTWYV"), int(changed.sum()))
        strings.append("".join(np.delete(own, random.integers(0, length, 3))))
    return strings


def launches() -> list[str]:
    from cuda_on_host import driver

    return driver.memory.launches


@pytest.mark.parametrize("format", ["tsv", "npz", "tc_lib"])
def test_the_command_writes_the_same_bytes(emulated, format, tmp_path, monkeypatch):
    monkeypatch.setattr(job_module, "PIECE_RESIDUES", 200)
    monkeypatch.setattr(cuda_posterior.CudaPosteriorEngine, "residues_at_once", 600)
    fasta = tmp_path / "family.fa"
    strings = family(9, 50)
    fasta.write_text("".join(f">s{k}\n{one}\n" for k, one in enumerate(strings)))
    outputs = []
    for device in ("cpu", "cuda"):
        launches().clear()
        outputs.append(tmp_path / f"{device}.{format}")
        assert main(["posterior", str(fasta), "-o", str(outputs[-1]), "--device", device]) == 0
        assert bool(launches()) == (device == "cuda")
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize(("count", "match_states"), [(6, 4), (MOST_OF_ALL_PAIRS + 3, 1)])
def test_a_multiple_alignment_is_the_same(emulated, count, match_states):
    """In one piece, and in groups that are joined."""
    sequences = SequenceSet.from_strings(family(count, 20), alphabet="protein")
    launches().clear()
    one, other = (pairalign.msa(sequences, device=name) for name in ("cpu", "cuda"))
    assert f"posteriors_float32_{match_states}" in launches()
    assert np.array_equal(one.columns, other.columns)
    assert np.array_equal(one.support, other.support)


def test_auto_takes_a_gpu_that_is_worth_its_start(emulated, monkeypatch):
    sequences = SequenceSet.from_strings(family(3, 30), alphabet="protein")
    job = job_module.PosteriorJob(sequences, Resources())
    assert isinstance(job._open(), PosteriorEngine)
    monkeypatch.setattr(posterior_engines, "WORTH_A_GPU", job.cells)
    engine = job._open()
    assert isinstance(engine, cuda_posterior.CudaPosteriorEngine)
    engine.close()


def test_auto_takes_the_cpu_where_a_gpu_fails(monkeypatch):
    def none() -> Any:
        raise DeviceError("no GPU")

    monkeypatch.setattr(cuda_selection, "usable_devices", none)
    monkeypatch.setattr(posterior_engines, "WORTH_A_GPU", 0)
    sequences = SequenceSet.from_strings(family(3, 30), alphabet="protein")
    assert len(pairalign.posterior(sequences)) == 3
    with pytest.raises(DeviceError, match="no GPU"):
        pairalign.posterior(sequences, device="cuda")


def test_a_job_that_is_left_gives_its_memory_back(emulated):
    from cuda_on_host import driver

    used = driver.memory.used_bytes
    sequences = SequenceSet.from_strings(family(5, 30), alphabet="protein")
    pieces = iter(job_module.PosteriorJob(sequences, Resources(device="cuda")))
    next(pieces)
    assert driver.memory.used_bytes > used
    pieces.close()
    assert driver.memory.used_bytes == used
