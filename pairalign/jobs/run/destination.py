"""Where the results of a command go: checked before work begins, opened when it does."""

from __future__ import annotations

from collections.abc import Sequence

from pairalign.base.console import name_output
from pairalign.base.dry_run import begin
from pairalign.formats.output import check_writable
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.file_destination import Destination
from pairalign.requests.shared import OutputOptions, OutputRules

__all__ = ["Destination", "open_destination", "prepare_output"]


def prepare_output(writing: OutputRules) -> None:
    """Make sure that results can go to an output of a known format; make the folder of a shard.

    Messages name the output, or the manifest of a shard.

    Raises
    ------
    OutputError, PartsError
        They cannot go there, or what is there is not pairalign's.
    """
    if writing.shard is not None:
        from pairalign.jobs.run.in_parts import prepare_shard

        prepare_shard(writing)
        return
    check_writable(writing.output)
    name_output(writing.output)


def open_destination(
    request: OutputOptions,
    job: Job,
    *,
    of_block: bool = False,
    command: Sequence[str] = (),
    **more: object,
) -> Destination:
    """Find out what was written before, or have a cluster write it, and open what takes the rest.

    Parameters
    ----------
    request : OutputOptions
        With a format; a shard stores it.
    of_block : bool
        Whether results may be those of `AlignmentJob.of_block`.
    command : sequence of str
        Makes a shard on a cluster, see `pairalign.jobs.run.dask_cluster.make_parts`.
    **more
        What else decides the bytes, see `pairalign.jobs.run.kept_results.describe_run`.

    Raises
    ------
    PartsError, OutputError
        See `PartOutput`.
    MissingPackageError, DeviceError
        See `make_parts`.
    """
    begin(lambda: job)
    writing = request.writing
    if writing.part is None and writing.dask is None:
        return Destination(writing, job)
    from pairalign.jobs.run.in_parts import open_parts

    return open_parts(request, job, of_block=of_block, command=command, **more)
