"""``--dask``: a command's shards as tasks on workers, merged in the end.

Every task runs the command itself, with ``--shard``, in a process of its own, and writes its part
into a folder that all workers see. A part appears under its name when it is complete, so a task
that runs twice, after its worker has died, does no harm.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from pairalign.base.arguments import Shard
from pairalign.base.console import log
from pairalign.base.declaration import value_of
from pairalign.base.error_types import DeviceError, PartsError
from pairalign.base.packages import needed
from pairalign.base.run_files import parts_folder_of
from pairalign.formats.pieces import (
    Part,
    is_complete,
    parts_in,
    prepare_folder,
    read_manifests,
    remove_parts,
    without_option,
)
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.kept_results import Description
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.shared import OutputOptions

if TYPE_CHECKING:
    from distributed import Client

TASKS_A_WORKER = 8
MOST_TASKS = 10_000
_RETRIES = 3
_SHOWN_BYTES = 2000


def make_parts(
    request: OutputOptions, job: Job, run: Description, command: Sequence[str] = ()
) -> list[Part]:
    """Make all parts of a result on a cluster.

    Parameters
    ----------
    job : Job
        Only planned.
    run : dict
        What decides the bytes, see `pairalign.jobs.run.kept_results.describe_run`.
    command : sequence of str
        Arguments of the program that make a part, less ``--output`` and ``--shard``; default: the
        request's.

    Returns
    -------
    list of Part
        In the folder ``OUT.parts``, from which the caller removes them when it has used them.

    Raises
    ------
    MissingPackageError
        Dask is not installed.
    DeviceError
        A task failed again and again; the message has what it said.
    """
    writing = request.writing
    assert writing.dask is not None
    command = [*command] or _command_of_a_part(request)
    folder = parts_folder_of(writing.output)
    _parts_there(folder, run)
    with _open_client(writing.dask) as client:
        workers = client.scheduler_info(-1)["workers"].values()
        tasks = min(MOST_TASKS, TASKS_A_WORKER * max(1, len(workers)), job.pairs)
        before = _parts_there(folder, run)  # a task of a run before may have ended meanwhile
        kept = [part for part in before if writing.resume and is_complete(part)]
        if kept:
            tasks = kept[0].shards
            kept = [part for part in kept if part.shards == tasks]
            log.warning("resumed: %s of %s parts are there", len(kept), tasks)
        done = [part.shard for part in kept]  # of which some may be begun again
        remove_parts([part for part in before if part.shards != tasks or part.shard not in done])
        prepare_folder(folder)
        needed = _needed_resources(value_of(request, "device"), workers)
        submit = partial(client.submit, pure=False, retries=_RETRIES, resources=needed)
        futures = [
            submit(run_shard, command, (k, tasks), folder, os.getcwd())
            for k in range(1, tasks + 1)
            if k not in done
        ]
        _await_parts(client, futures, job, tasks)
    return read_manifests(folder)


def _parts_there(folder: str, run: dict[str, Any]) -> list[Part]:
    """Return the parts in a folder, if there is one; PartsError if some are of another run."""
    parts = parts_in(folder) if os.path.lexists(folder) else []
    if any(part.run != run for part in parts):
        raise PartsError(f"'{folder}' has parts of another run: move it away")
    return parts


def _command_of_a_part(request: OutputOptions) -> list[str]:
    """Return the arguments of a command, less those that are of the whole."""
    command = list(request.command_line)
    for name, values in (("--dask", 1), ("--log", 1), ("--commit-every", 1), ("--resume", 0)):
        command = without_option(command, name, values)
    return [*command, "--format", request.writing.known_format]


def run_shard(command: list[str], shard: Shard, folder: str, cwd: str) -> Shard:
    """Do one shard in a process of its own; what a worker of a Dask cluster does.

    The folder holds parts of this run alone. A part is there already where its task is done again
    because the worker that knew it done has died.
    """
    if os.path.exists(Part(folder, *shard).manifest):
        return shard
    import subprocess  # few runs need it

    # Modules are looked for where this process does: ``-m`` would look in the working directory
    # first, into which others may be able to write.
    run = (
        f"import sys; sys.path[:] = {sys.path!r}; from pairalign.cli.main import program; "
        "sys.exit(program())"
    )
    arguments = [*command, "--output", folder, "--shard", "{}/{}".format(*shard)]
    done = subprocess.run(
        [sys.executable, "-c", run, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-_SHOWN_BYTES:]
        raise RuntimeError("shard {}/{}: ".format(*shard) + said)
    return shard


def _await_parts(client: Client, futures: list[Any], job: Job, tasks: int) -> None:
    """Wait for the parts that are not there yet, and show how far that has come."""
    from distributed import as_completed

    cells = job.cells
    try:
        with ExitStack() as at_end, show_progress(cells, job.resources.progress) as meter:
            at_end.callback(client.cancel, futures)
            meter.update(cells - cells * len(futures) // max(1, tasks))
            for future in as_completed(futures):
                future.result()
                meter.update(cells // tasks)
    except Exception as error:  # of any kind: what the task raised
        raise DeviceError(f"cluster: {error}") from error


def _needed_resources(device: str, workers: Collection[dict[str, Any]]) -> dict[str, int] | None:
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


def _open_client(address: str) -> Client:
    """Connect to the scheduler that ``--dask`` names."""
    with needed("--dask", "Dask", "'pairalign[cluster]'"):
        from distributed import Client
    try:
        return Client(address)
    except (ValueError, OSError) as error:
        raise DeviceError(f"--dask {address}: {error}") from error
