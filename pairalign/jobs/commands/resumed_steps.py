"""Commands whose results appear at the end, and that go on by what they have kept of the steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pairalign.base.console import log
from pairalign.formats.part_output import replace_leftovers
from pairalign.formats.step_results import KeptResults
from pairalign.jobs.run.run_identity import describe
from pairalign.requests.shared import ResumeOptions


@contextmanager
def kept_results(
    output: str, request: ResumeOptions, job: str, **decided: Any
) -> Iterator[KeptResults | None]:
    """Keep results of steps beside the output with ``--resume``, until a block has written it.

    Parameters
    ----------
    **decided
        What decides the results, see `pairalign.jobs.run.run_identity.describe`.

    Yields
    ------
    KeptResults or None
        None without ``--resume``.
    """
    if not request.resume:
        replace_leftovers(output)
        yield None
        return
    kept = KeptResults(output, describe(job, **decided), request.commit_every)
    if kept.pairs:
        log.warning("resumed: the posteriors of %s pairs were kept", f"{kept.pairs:,}")
    try:
        yield kept
    except BaseException:
        kept.abort()
        raise
    kept.discard()
