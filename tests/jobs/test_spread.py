"""Work that is spread over executors and clusters gives the bytes of a single run."""

import os
import random
import subprocess
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import PROGRAM, TIMEOUT_SECONDS
from resuming import md5

import pairalign
from pairalign.cli.main import main
from pairalign.formats.pieces import read_manifest
from pairalign.jobs.run import dask_cluster


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    rng = np.random.default_rng(7)
    with Path("in.fa").open("w") as file:
        for i in range(60):
            letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), int(rng.integers(5, 200)))
            file.write(f">p{i}\n{''.join(letters)}\n")


def check_executor(executor: Executor, **options: object) -> None:
    expected = pairalign.align("in.fa", window=16, **options)
    found = pairalign.align("in.fa", window=16, executor=executor, **options)
    for name in ("query", "target", "raw_score", "matches", "cigar", "cigar_offsets"):
        one, other = getattr(expected, name), getattr(found, name)
        assert (one is None and other is None) or (one == other).all()
    assert found.queries is found.targets


@pytest.mark.parametrize("detail", ["cigar", "stats", "score"])
def test_threads(detail):
    with ThreadPoolExecutor(3) as executor:
        check_executor(executor, detail=detail, mode="local", min_score=20)


def test_processes():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        check_executor(executor)


def test_what_a_task_raises_is_raised():
    class Broken(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
            return super().submit(int, "x")

    with Broken(1) as executor, pytest.raises(ValueError, match="invalid literal"):
        pairalign.align("in.fa", executor=executor)


@pytest.fixture(scope="module")
def dask():
    return pytest.importorskip("distributed", reason="needs Dask (extra cluster)")


@pytest.fixture(scope="module")
def scheduler(dask):
    """The address of a cluster in this process, with a worker of two threads and no GPU."""
    with dask.LocalCluster(
        n_workers=1, processes=False, threads_per_worker=2, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "TASKS_A_WORKER", 3)


def test_an_executor_of_dask(dask, scheduler):
    with dask.Client(scheduler) as client:
        check_executor(client.get_executor())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output", "command"),
    [
        ("out.parquet", ("align", "in.fa", "--mode", "local", "--min-score", "15")),
        ("hsps.paf", ("align", "in.fa", "--mode", "local", "--hsps", "3", "--min-score", "8")),
        ("hits.sam", ("align", "in.fa", "--mode", "local", "--max-hits", "2")),
        ("out.paf", ("overlap", "reads.fa", "--min-overlap", "60", "--dual")),
        ("out.phylip", ("distance", "in.fa", "--measure", "kimura", "--lower")),
        ("out.tsv", ("distance", "gaps.fa", "--degap", "--gap-open", "9", "--matrix", "PAM250")),
        ("both.tsv", ("distance", "reads.fa", "--strand", "both")),
        ("two.tsv", ("distance", "reads.fa", "more.fa", "--strand", "both")),
        ("out.nwk", ("tree", "in.fa", "--method", "mixed", "--measure", "score")),
    ],
)
def test_commands_on_a_cluster(scheduler, few_tasks, output, command):
    rng = np.random.default_rng(4)
    genome = "".join(rng.choice(list("ACGT"), 2000))
    starts = range(0, 1700, 60)
    Path("reads.fa").write_text("".join(f">r{i}\n{genome[i : i + 260]}\n" for i in starts))
    Path("more.fa").write_text(f">more\n{genome[400:700][::-1]}\n>less\n{genome[90:200]}\n")
    Path("gaps.fa").write_text(Path("in.fa").read_text().replace("W", "W-"))
    assert main([*command, "-o", f"one.{output}", "-q"]) == 0
    assert main([*command, "-o", output, "-q", "--dask", scheduler, "--device", "cpu"]) == 0
    assert md5(output) == md5(f"one.{output}")
    assert os.path.getsize(output) > 100
    assert not os.path.exists(f"{output}.parts")


@pytest.mark.parametrize("output", ["all.paf", "all.nwk"])
def test_whole_parts_are_not_made_again(scheduler, few_tasks, output, capfd):
    command = "align" if output == "all.paf" else "tree"
    made_by = ["align"] if output == "all.paf" else ["distance", "--measure", "identity-shorter"]
    options = [] if output == "all.paf" else ["--measure", "identity-shorter"]
    assert main([command, "in.fa", "-o", f"one.{output}", "-q", *options]) == 0
    for k in (1, 3, 4):
        shard = ["-o", f"{output}.parts", "-q", "--shard", f"{k}/4"]
        assert main([*made_by, "in.fa", *shard]) == 0
    with next(Path(f"{output}.parts").glob("part-4-of-4.[!j]*")).open("ab") as file:
        file.write(b"more")  # so it is made again
    killed = read_manifest(f"{output}.parts/part-1-of-4.json")  # as it was ended
    os.close(replace(killed, pieces=[], complete=False).write(killed.begun))
    cluster = ["--dask", scheduler, "--resume", "--device", "cpu"]
    assert main([command, "in.fa", "-o", output, *options, *cluster]) == 0
    said = capfd.readouterr().err
    assert "2 of 4 parts are there" in said
    assert ("most distant" if output == "all.paf" else "mean") in said
    assert md5(output) == md5(f"one.{output}")


def test_a_part_that_is_complete_when_the_cluster_answers(scheduler, few_tasks, monkeypatch):
    """A task of the run before goes on when that was killed."""
    command = ["align", "in.fa", "-q"]
    assert main([*command, "-o", "one.paf"]) == 0
    assert main([*command, "-o", "all.paf.parts", "--format", "paf", "--shard", "1/3"]) == 0
    part = read_manifest("all.paf.parts/part-1-of-3.json")
    os.close(replace(part, pieces=[], complete=False).write(part.begun))
    os.rename(part.manifest, "kept")
    real = dask_cluster._open_client

    def opened(address: str) -> Any:
        os.rename("kept", part.manifest)
        os.unlink(part.begun)
        return real(address)

    monkeypatch.setattr(dask_cluster, "_open_client", opened)
    cluster = ["--dask", scheduler, "--resume", "--device", "cpu"]
    assert main([*command, "-o", "all.paf", *cluster]) == 0
    assert md5("all.paf") == md5("one.paf")


def test_a_task_that_runs_again_when_its_part_is_there():
    """A worker dies with what it knew to be done, and parts may be read while it is done again."""
    command = ["align", "in.fa", "-q", "--format", "paf"]
    folder, cwd = os.path.abspath("parts"), os.getcwd()
    part, manifest = Path("parts/part-2-of-3.paf"), Path("parts/part-2-of-3.json")
    os.mkdir(folder)
    assert dask_cluster.run_shard(command, (2, 3), folder, cwd) == (2, 3)
    first = [os.stat(path) for path in (part, manifest)]
    assert dask_cluster.run_shard(command, (2, 3), folder, cwd) == (2, 3)
    assert [os.stat(path) for path in (part, manifest)] == first


def test_modules_of_the_working_directory_are_not_loaded():
    """Others may write there, as into the folder for temporary files."""
    for name in ("numpy", "argparse", "pairalign"):
        Path(f"{name}.py").write_text("open('harmed', 'w')\n")
    command = ["align", "in.fa", "-q", "--format", "paf"]
    os.mkdir("parts")
    dask_cluster.run_shard(command, (2, 3), os.path.abspath("parts"), os.getcwd())
    assert Path("parts/part-2-of-3.paf").exists()
    assert not os.path.exists("harmed")


def test_a_part_stays_until_the_same_command_has_made_it_again(monkeypatch):
    command = ["align", "in.fa", "-q", "-o", "parts", "--shard", "2/3", "--format", "paf"]
    assert main(command) == 0
    found = {path: path.read_bytes() for path in Path("parts").iterdir()}

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("pairalign.base.part_file.PartFile.publish", fail)
        assert main(command) == 1
    assert {path: path.read_bytes() for path in Path("parts").iterdir()} == found
    assert main(command) == 0


def test_what_a_worker_says_is_said(scheduler, few_tasks, capfd, monkeypatch):
    monkeypatch.setattr(dask_cluster, "_RETRIES", 0)
    for name in ("align", "distance"):
        command = [name, "in.fa", "-o", "all.tsv", "--dask", scheduler, "--kernel", "striped"]
        assert main([*command, "--device", "cpu"]) == 1
        assert "shard " in capfd.readouterr().err
        assert not os.path.exists("all.tsv")


# ---------------------------------------------------------------------------------------------
# GPUs, without one


@pytest.mark.slow
def test_one_task_a_gpu(dask, few_tasks, monkeypatch):
    """Workers of four threads that declare one GPU do one task of a GPU at a time."""
    real = dask_cluster.run_shard

    def on_a_cpu(command: list[str], shard: tuple[int, int], folder: str, cwd: str) -> int:
        place = os.path.join(cwd, f"busy.{os.getpid()}")
        try:
            os.mkdir(place)
        except FileExistsError:
            Path(cwd, "collided").touch()
        done = real([*command, "--device", "cpu"], shard, folder, cwd)
        Path(place).rmdir()
        return done

    monkeypatch.setattr(dask_cluster, "run_shard", on_a_cpu)
    assert main(["align", "in.fa", "-o", "one.paf", "-q"]) == 0
    with dask.LocalCluster(
        n_workers=2, threads_per_worker=4, dashboard_address=":0", resources={"GPU": 1}
    ) as cluster:
        command = ["align", "in.fa", "-o", "all.paf", "-q", "--device", "cuda"]
        assert main([*command, "--dask", cluster.scheduler_address]) == 0
    assert md5("all.paf") == md5("one.paf")
    assert not os.path.exists("collided")


@pytest.mark.parametrize(
    ("device", "declared", "needed"),
    [
        ("cuda", {"GPU": 1.0}, {"GPU": 1}),
        ("cuda:0,1", {"GPU": 2.0}, {"GPU": 1}),
        ("auto", {"GPU": 1.0}, {"GPU": 1}),
        ("cpu", {"GPU": 1.0}, None),
        ("opencl", {"GPU": 1.0}, None),
        ("auto", {}, None),
        ("cuda", {"other": 1.0}, None),
    ],
)
def test_which_tasks_ask_for_a_gpu(device, declared, needed):
    workers = [{"resources": {}}, {"resources": declared}]
    assert dask_cluster._needed_resources(device, workers) == needed


@pytest.mark.slow
def test_workers_that_are_killed(dask):
    """Three workers, of which two are killed in mid-run; the scheduler and their nannies live."""
    rng = np.random.default_rng(8)
    with Path("in.fa").open("w") as file:
        for i in range(250):
            letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 500)
            file.write(f">p{i}\n{''.join(letters)}\n")
    assert main(["align", "in.fa", "-o", "one.paf", "-q"]) == 0
    with dask.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        options = ["--dask", address, "--device", "cpu", "--threads", "1", "-q"]
        process = subprocess.Popen([*PROGRAM, "align", "in.fa", "-o", "all.paf", *options])
        killed = 0
        chance = random.Random(1)
        end = time.monotonic() + 5 * TIMEOUT_SECONDS
        while killed < 2 and time.monotonic() < end:
            time.sleep(0.05)
            made = os.listdir("all.paf.parts") if os.path.isdir("all.paf.parts") else []
            if len(made) >= 4 * (killed + 1):
                chance.choice(list(cluster.workers.values())).process.process.kill()
                killed += 1
        assert killed == 2
        assert process.wait(5 * TIMEOUT_SECONDS) == 0
    assert md5("all.paf") == md5("one.paf")
