"""``--cluster``: a command's shards as tasks of a Dask cluster, merged in the end.

Every task runs the command itself, with ``--shard``, in a process of its own, and writes its part
into a folder that all workers see. A part appears under its name when it is complete, so a task
that runs twice, after its worker has died, does no harm.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pairalign.cli.console import log
from pairalign.cli.options import converter, progress_of
from pairalign.cli.parts import without_option
from pairalign.engines.selection import usable_cores
from pairalign.errors import DeviceError, FormatError, MissingPackageError
from pairalign.formats.merge import merge_alignments
from pairalign.formats.parts import is_complete, prepare_folder, read_manifests
from pairalign.formats.resumable import check_resumable
from pairalign.formats.writer import Writer
from pairalign.jobs.align import AlignmentJob
from pairalign.jobs.progress import show_progress
from pairalign.jobs.run_identity import describe_run

TASKS_A_WORKER = 8
MOST_TASKS = 10_000
_RETRIES = 3
_LOCAL = "local:"


def _parse_cluster(text: str) -> str:
    if text.startswith(_LOCAL) and int(text.removeprefix(_LOCAL)) < 1:
        raise ValueError
    return text


CLUSTER = converter(_parse_cluster, "the address of a Dask scheduler, or local:N")


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add ``--cluster``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    parser.add_argument_group("on a cluster").add_argument(
        "--cluster",
        metavar="ADDRESS|local:N",
        type=CLUSTER,
        help="align on the workers of a Dask scheduler, or on N here; parts go into the folder "
        "OUT.parts, which all workers must see (pip install 'pairalign[cluster]')",
    )


def run_on_cluster(
    options: argparse.Namespace, job: AlignmentJob, format: type[Writer], **more: Any
) -> None:
    """Do a command on a cluster and write its output.

    Parameters
    ----------
    options : argparse.Namespace
    job : AlignmentJob
        Only planned.
    format : type of Writer
    **more
        As for `pairalign.jobs.run_identity.describe_run`.

    Raises
    ------
    MissingPackageError
        Dask is not installed.
    DeviceError
        A task failed again and again; the message has what it said.
    """
    check_resumable(options.output)
    if options.shard is not None:
        raise FormatError("--cluster makes shards itself: leave --shard out")
    if "-" in (options.input, getattr(options, "input2", None)):
        raise FormatError("--cluster needs files as input: workers do not see standard input")
    folder = os.path.abspath(f"{options.output}.parts")
    described = json.loads(json.dumps(describe_run(job, format=format.name, **more)))
    with _open_client(options) as client:
        workers = max(1, len(client.scheduler_info(-1)["workers"]))
        tasks = min(MOST_TASKS, TASKS_A_WORKER * workers, job.pairs)
        tasks, done = _reusable(folder, described, format, tasks) if options.resume else (tasks, [])
        if not done:
            shutil.rmtree(folder, ignore_errors=True)
        prepare_folder(folder)
        command = _task_command(options, folder, format)
        shards = [(k, tasks) for k in range(1, tasks + 1) if k not in done]
        _run_tasks(client, command, shards, job.cells, options)
    merge_alignments(folder, read_manifests(folder), options.output, job.threads)
    shutil.rmtree(folder, ignore_errors=True)


def _reusable(
    folder: str, described: dict[str, Any], format: type[Writer], tasks: int
) -> tuple[int, list[int]]:
    """Return the number of parts, and which of them a run that was ended has left, complete."""
    if not os.path.isdir(folder) or not any(name.endswith(".json") for name in os.listdir(folder)):
        return tasks, []
    manifests = [one for one in read_manifests(folder) if one.run == described]
    done = [one.shard for one in manifests if is_complete(folder, one, format.suffixes[0])]
    if not done:
        return tasks, []
    log.warning("resumed: %s of %s parts are there", len(done), manifests[0].shards)
    return manifests[0].shards, done


def _task_command(options: argparse.Namespace, folder: str, format: type[Writer]) -> list[str]:
    command = without_option(options.given, "--cluster", values=1)
    command = without_option(command, "--resume", values=0)
    if options.cluster.startswith(_LOCAL) and options.threads is None:
        workers = int(options.cluster.removeprefix(_LOCAL))
        command += ["--threads", str(max(1, usable_cores() // workers))]
    return [*command, "--output", folder, "--format", format.name]


def run_shard(command: list[str], shard: tuple[int, int], cwd: str) -> int:
    """Do one shard in a process of its own; what a worker of the cluster does."""
    arguments = [*command, "--shard", "{}/{}".format(*shard)]
    done = subprocess.run(
        [sys.executable, "-m", "pairalign", *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-2000:]
        raise RuntimeError(f"shard {shard[0]}/{shard[1]}: {said}")
    return shard[0]


def _run_tasks(
    client: Any,
    command: list[str],
    shards: list[tuple[int, int]],
    cells: int,
    options: argparse.Namespace,
) -> None:
    from distributed import as_completed

    workers = client.scheduler_info(-1)["workers"].values()
    on_gpus = any(worker.get("resources", {}).get("GPU") for worker in workers)
    futures = [
        client.submit(
            run_shard,
            command,
            shard,
            os.getcwd(),
            pure=False,
            retries=_RETRIES,
            resources={"GPU": 1} if on_gpus else None,
        )
        for shard in shards
    ]
    try:
        with show_progress(cells, progress_of(options)) as meter:
            meter.update(cells - cells * len(shards) // max(1, shards[0][1] if shards else 1))
            for future in as_completed(futures):
                future.result()
                meter.update(cells // shards[0][1])
    except Exception as error:  # of any kind: what the task raised
        raise DeviceError(f"cluster: {error}") from error
    finally:
        client.cancel(futures)


@contextmanager
def _open_client(options: argparse.Namespace) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingPackageError(
            "--cluster needs Dask, which is not installed: pip install 'pairalign[cluster]'"
        ) from error
    address = options.cluster
    if not address.startswith(_LOCAL):
        try:
            client = Client(address)
        except (ValueError, OSError) as error:
            raise DeviceError(f"--cluster {address}: {error}") from error
        with client:
            yield client
        return
    workers = int(address.removeprefix(_LOCAL))
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client
