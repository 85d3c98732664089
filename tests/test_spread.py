"""Work that is spread over executors and clusters gives the bytes of a single run."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from commands import PROGRAM, TIMEOUT_SECONDS

import pairalign
from pairalign.cli.main import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    with Path("in.fa").open("w") as file:
        for i in range(60):
            letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), int(rng.integers(5, 200)))
            file.write(f">p{i}\n{''.join(letters)}\n")


def md5(path: str) -> str:
    return hashlib.md5(Path(path).read_bytes()).hexdigest()


def check_executor(executor: Executor, **options: object) -> None:
    expected = pairalign.align("in.fa", window=16, **options)
    found = pairalign.align("in.fa", window=16, executor=executor, **options)
    for name in ("query", "target", "raw_score", "matches", "cigar", "cigar_offsets"):
        one, other = getattr(expected, name), getattr(found, name)
        assert (one is None and other is None) or (one == other).all()
    assert found.queries is found.targets


@pytest.mark.parametrize("detail", ["cigar", "stats", "score"])
def test_threads(detail: str) -> None:
    with ThreadPoolExecutor(3) as executor:
        check_executor(executor, detail=detail, mode="local", min_score=20)


def test_processes() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        check_executor(executor)


def test_two_sets_on_threads() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = pairalign.align(["MKV", "MKVLA"], "in.fa", executor=executor)
    expected = pairalign.align(["MKV", "MKVLA"], "in.fa")
    assert (found.raw_score == expected.raw_score).all()
    assert len(found) == 120


def test_what_a_task_raises_is_raised() -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
            return super().submit(int, "x")

    with Broken(1) as executor, pytest.raises(ValueError, match="invalid literal"):
        pairalign.align("in.fa", executor=executor)


@pytest.fixture
def dask():
    return pytest.importorskip("distributed", reason="needs Dask (extra cluster)")


def test_a_cluster_of_dask(dask: object) -> None:
    assert main(["align", "in.fa", "-o", "one.fasta.gz", "-q", "--mode", "local"]) == 0
    command = ["align", "in.fa", "-o", "all.fasta.gz", "-q", "--mode", "local"]
    assert main([*command, "--cluster", "local:2", "--device", "cpu"]) == 0
    assert md5("all.fasta.gz") == md5("one.fasta.gz")
    assert not os.path.exists("all.fasta.gz.parts")


def test_parts_that_are_there_are_not_made_again(
    dask: object, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", "in.fa", "-o", "one.paf", "-q"]) == 0
    for k in (1, 3):
        assert main(["align", "in.fa", "-o", "all.paf.parts", "-q", "--shard", f"{k}/4"]) == 0
    command = ["align", "in.fa", "-o", "all.paf", "--cluster", "local:1", "--resume"]
    assert main([*command, "--device", "cpu"]) == 0
    assert "2 of 4 parts are there" in capfd.readouterr().err
    assert md5("all.paf") == md5("one.paf")


def test_what_a_worker_says_is_said(dask: object, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["align", "in.fa", "-o", "all.paf", "--cluster", "local:1", "--kernel", "striped"]
    assert main([*command, "--device", "cpu"]) == 1
    assert "shard " in capfd.readouterr().err
    assert not os.path.exists("all.paf")


def test_wrong_clusters(dask: object) -> None:
    for address in ("local:0", "local:x"):
        with pytest.raises(SystemExit):
            main(["align", "in.fa", "-o", "x.paf", "--cluster", address])
    assert main(["align", "in.fa", "-o", "-", "--cluster", "local:1"]) == 1
    assert main(["align", "in.fa", "-o", "x.parquet", "--cluster", "local:1"]) == 2


@pytest.mark.slow
def test_workers_that_are_killed(dask) -> None:
    """Three workers, of which two are killed in mid-run; the scheduler and their nannies live."""
    rng = np.random.default_rng(8)
    with Path("in.fa").open("w") as file:
        for i in range(400):
            letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 500)
            file.write(f">p{i}\n{''.join(letters)}\n")
    assert main(["align", "in.fa", "-o", "one.paf", "-q"]) == 0
    with dask.LocalCluster(3, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        options = ["--cluster", address, "--device", "cpu", "--threads", "1", "-q"]
        process = subprocess.Popen([*PROGRAM, "align", "in.fa", "-o", "all.paf", *options])
        killed = 0
        chance = random.Random(1)
        end = time.monotonic() + TIMEOUT_SECONDS
        while killed < 2 and time.monotonic() < end:
            time.sleep(0.05)
            made = os.listdir("all.paf.parts") if os.path.isdir("all.paf.parts") else []
            if len(made) >= 4 * (killed + 1):
                chance.choice(list(cluster.workers.values())).process.process.kill()
                killed += 1
        assert killed == 2
        assert process.wait(3 * TIMEOUT_SECONDS) == 0
    assert md5("all.paf") == md5("one.paf")
