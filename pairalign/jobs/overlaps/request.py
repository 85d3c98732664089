"""What is asked of overlaps: made of the command's options, or of the arguments in Python."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from pairalign.base.arguments import Shard
from pairalign.jobs.overlaps.plan import Limits
from pairalign.jobs.overlaps.presets import AUTO
from pairalign.jobs.run.progress import Progress
from pairalign.reads.candidates import Candidates


@dataclass(frozen=True)
class OverlapRequest:
    """What is asked of the overlaps of a set of reads.

    Attributes
    ----------
    preset : {"auto", "short", "hifi", "ont"}
    limits : Limits
        Thresholds instead of the preset's.
    candidates : Candidates, path, "mappy" or None
        Only these pairs.
    filter : {"auto", "none", "bitwise", "runs"}
    device, threads, memory_bytes, progress, kernel, shard, result_seconds
        As for `pairalign.jobs.run.align.AlignmentJob`; None: its default.
    """

    preset: str = AUTO
    limits: Limits = field(default_factory=Limits)
    candidates: Candidates | str | os.PathLike[str] | None = None
    filter: str = "auto"
    device: str = "auto"
    threads: int | None = None
    memory_bytes: int | None = None
    progress: Progress = False
    kernel: str | None = None
    shard: Shard | None = None
    result_seconds: float | None = None
