"""``--dask``: a command's shards as tasks on workers, merged in the end.

Every task runs the command itself, with ``--shard``, in a process of its own, and writes its part
into a folder that all workers see. A part appears under its name when it is complete, so a task
that runs twice, after its worker has died, does no harm.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from pairalign.base.arguments import Shard
from pairalign.base.console import log
from pairalign.base.error_types import DeviceError, FormatError, MissingPackageError
from pairalign.base.run_files import parts_folder_of
from pairalign.formats.part_output import whole_part
from pairalign.formats.pieces import (
    Part,
    check_folder,
    clear_parts,
    is_whole,
    prepare_folder,
    read_manifests,
    without_option,
)
from pairalign.formats.writer import Writer
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.run.run_identity import describe_run
from pairalign.requests.resources import Resources

TASKS_A_WORKER = 8
MOST_TASKS = 10_000
_RETRIES = 3
_SHOWN_BYTES = 2000


@dataclass(frozen=True)
class WorkersRequest:
    """A command on a cluster.

    Attributes
    ----------
    address : str
        Of the scheduler.
    resume : bool
        Whether parts that are there stay.
    command_line : tuple of str
        The program's arguments.
    """

    address: str
    resume: bool
    command_line: tuple[str, ...]
    resources: Resources


def run_on_cluster(
    request: WorkersRequest, path: str, job: AlignmentJob, format: type[Writer], **more: Any
) -> None:
    """Do a command on a cluster and write its output.

    Parameters
    ----------
    path : str
        Of the output.
    job : AlignmentJob
        Only planned.
    **more
        As for `pairalign.jobs.run.run_identity.describe_run`.

    Raises
    ------
    MissingPackageError
        Dask is not installed.
    DeviceError
        A task failed again and again; the message has what it said.
    """
    from pairalign.formats.merge import merge_pieces

    command = without_option(list(request.command_line), "--dask", values=1)
    command = without_option(command, "--log", values=1)
    command = without_option(command, "--commit-every", values=1)
    command = [*without_option(command, "--resume", values=0), "--format", format.name]
    parts = Parts(format.name, command)
    folder = make_parts(request, path, job, parts, **more)
    manifests = read_manifests(folder)
    merge_pieces(folder, manifests, path, job.threads)
    clear_parts(folder, manifests[0].run)


@dataclass(frozen=True)
class Parts:
    """What the tasks on a cluster make.

    Attributes
    ----------
    format : str
        Of the parts.
    command : list of str
        Arguments of the program that make a part, less ``--output`` and ``--shard``.
    """

    format: str
    command: list[str]


def workers_of(options: Any) -> WorkersRequest | None:
    """Return what ``--dask`` asks for; refuse, before any work, what cannot be done on a cluster.

    Raises
    ------
    OutputError
        There is no file to write.
    FormatError
        An input cannot be read by workers.
    """
    if options.dask is None:
        return None
    whole_part(options.output)
    if "-" in (options.input, getattr(options, "input2", None), *options.reading.also):
        raise FormatError("--dask needs files as input: workers do not see standard input")
    return WorkersRequest(options.dask, options.resume, options.command_line, options.resources)


def make_parts(
    request: WorkersRequest, path: str, job: AlignmentJob, parts: Parts, **more: Any
) -> str:
    """Make all parts of a result on a cluster.

    Parameters
    ----------
    asked, path, job, **more
        As for `run_on_cluster`.

    Returns
    -------
    str
        The folder they are in, ``OUT.parts``, which the caller removes when it has used them.
    """
    folder = parts_folder_of(path)
    described = describe_run(job, format=parts.format, **more)
    check_folder(folder, described)
    with _open_workers(request) as workers:
        tasks = min(MOST_TASKS, TASKS_A_WORKER * workers.count, job.pairs)
        tasks, done = _reusable(folder, described, tasks) if request.resume else (tasks, [])
        if not done:
            clear_parts(folder, described)
        prepare_folder(folder)
        shards = [(k, tasks) for k in range(1, tasks + 1) if k not in done]
        _run_tasks(workers, parts.command, shards, folder, job)
    return folder


def _reusable(folder: str, described: dict[str, Any], tasks: int) -> tuple[int, list[int]]:
    """Return the number of parts, and which of them a run that was ended has left, complete."""
    if not os.path.isdir(folder) or not any(name.endswith(".json") for name in os.listdir(folder)):
        return tasks, []
    manifests = [manifest for manifest in read_manifests(folder) if manifest.run == described]
    done = [manifest.shard for manifest in manifests if all(map(is_whole, manifest.files(folder)))]
    if not done:
        return tasks, []
    log.warning("resumed: %s of %s parts are there", len(done), manifests[0].shards)
    return manifests[0].shards, done


def run_shard(command: list[str], shard: Shard, folder: str, cwd: str) -> Shard:
    """Do one shard in a process of its own; what a worker of a Dask cluster does.

    The folder holds parts of this run alone. A part is there already where its task is done again
    because the worker that knew it done has died.
    """
    if os.path.exists(Part(folder, *shard).manifest):
        return shard
    import subprocess  # few runs need it

    done = subprocess.run(
        _shard_command(command, shard, folder),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-_SHOWN_BYTES:]
        raise RuntimeError("shard {}/{}: ".format(*shard) + said)
    return shard


def _shard_command(command: list[str], shard: Shard, folder: str) -> list[str]:
    """Return the program and its arguments that make one part, in a process of its own.

    It looks for modules where this process does: ``-m`` would look in the working directory first,
    into which others may be able to write.
    """
    run = (
        f"import sys; sys.path[:] = {sys.path!r}; from pairalign.cli.main import program; "
        "sys.exit(program())"
    )
    arguments = [*command, "--output", folder, "--shard", "{}/{}".format(*shard)]
    return [sys.executable, "-c", run, *arguments]


def _run_tasks(
    workers: _DaskWorkers,
    command: list[str],
    shards: list[Shard],
    folder: str,
    job: AlignmentJob,
) -> None:
    """Make all parts that are not there yet, and show how far that has come."""
    cells = job.cells
    results = workers.run(command, shards, folder)
    try:
        with closing(results), show_progress(cells, job.resources.progress) as meter:
            meter.update(cells - cells * len(shards) // max(1, shards[0][1] if shards else 1))
            for _, parts in results:
                meter.update(cells // parts)
    except Exception as error:  # of any kind: what the task raised
        raise DeviceError(f"cluster: {error}") from error


class _DaskWorkers:
    """The workers of a Dask cluster; `count` is how many parts they make at a time."""

    def __init__(self, client: Any, device: str) -> None:
        self._client = client
        workers = client.scheduler_info(-1)["workers"]
        self.count = max(1, len(workers))
        self._resources = _needed_resources(device, workers.values())

    def run(
        self, command: list[str], shards: list[Shard], folder: str
    ) -> Generator[Shard, None, None]:
        """Make parts, and yield each shard when its part is there.

        Raises what a task has raised again and again.
        """
        from distributed import as_completed

        futures = [
            self._client.submit(
                run_shard,
                command,
                shard,
                folder,
                os.getcwd(),
                pure=False,
                retries=_RETRIES,
                resources=self._resources,
            )
            for shard in shards
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            self._client.cancel(futures)


def _needed_resources(device: str, workers: Iterable[dict[str, Any]]) -> dict[str, int] | None:
    """Return what a worker must have free for a task: a GPU, where workers have declared some."""
    if device.partition(":")[0] not in ("auto", "cuda"):
        return None
    if any(worker.get("resources", {}).get("GPU") for worker in workers):
        return {"GPU": 1}
    if device != "auto":
        log.warning(
            "no worker declares a GPU: tasks on one worker are not kept apart; start workers "
            "with --resources GPU=1"
        )
    return None


@contextmanager
def _open_workers(request: WorkersRequest) -> Iterator[_DaskWorkers]:
    """Find the workers that ``--dask`` names; they are let go in the end."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPackageError(
            "--dask needs Dask, which is not installed: pip install 'pairalign[cluster]'"
        ) from error
    try:
        client = Client(request.address)
    except (ValueError, OSError) as error:
        raise DeviceError(f"--dask {request.address}: {error}") from error
    with client:
        yield _DaskWorkers(client, request.resources.device)
