"""What may be used for the work of a command or function, and what is said about it."""

from __future__ import annotations

from dataclasses import field
from typing import TypedDict

from pairalign.base.choices import AUTO_KERNEL, SUMMARIES
from pairalign.base.declaration import again, choice, flag, option, request
from pairalign.requests.option_kinds import DEVICE, PATH, POSITIVE, SIZE
from pairalign.requests.shared import RESOURCES, Asked


@request
class ThreadsOptions(Asked):
    """Cores of this machine."""

    threads: int | None = option(
        help="default: all cores",
        flags=("-t", "--threads"),
        metavar="N",
        kind=POSITIVE,
        group=RESOURCES,
        is_how=True,
        elsewhere=("-num_threads", "-threads", "--thread", "-T", "-p"),
    )


@request
class MessagesOptions(Asked):
    """What is said about a run."""

    given: list[str] = field(default_factory=list)
    """The program's arguments."""
    quiet: bool = flag(
        "no summary",
        flags=("-q", "--quiet"),
        excludes="loudness",
        group=RESOURCES,
        is_how=True,
        surface="command",
    )
    verbose: bool = flag(
        "say also what engines do, and what time and memory the run takes",
        flags=("-v", "--verbose"),
        group=RESOURCES,
        is_how=True,
        surface="command",
    )
    summary: str = choice(
        SUMMARIES,
        "what is said in the end: lines, or a JSON object on one line (default: %(default)s)",
        group=RESOURCES,
        is_how=True,
        surface="command",
    )
    log: str | None = option(
        help="append what is said to FILE as well, with the time",
        metavar="FILE",
        kind=PATH,
        group=RESOURCES,
        is_how=True,
        surface="command",
    )
    multiqc: str | None = option(
        help="write the numbers of the summary for MultiQC, which finds names such as x_mqc.json",
        metavar="FILE",
        kind=PATH,
        group=RESOURCES,
        is_how=True,
        surface="command",
    )


@request
class CoreResources(Asked):
    """What may be used for work that has one kernel."""

    device: str = option(
        "auto",
        about='``"cpu"``, ``"cuda"`` for the first GPU that can be used, ``"cuda:1"`` for that '
        'one, or ``"auto"``: a GPU if there is one and the work is worth its start',
        metavar="auto|cpu|cuda[:0]",
        kind=DEVICE,
        group=RESOURCES,
        is_how=True,
    )
    threads: int | None = again(ThreadsOptions, "threads")
    memory: int | None = option(
        help="what may be held in memory, such as 4G; default: half of what is free",
        metavar="SIZE",
        kind=SIZE,
        group=RESOURCES,
        is_how=True,
        elsewhere=("-M",),
    )


class CoreArguments(TypedDict, total=False):
    """Types of `CoreResources` in Python."""

    device: str
    threads: int | None
    memory: int | str | None


@request
class CoreOptions(CoreResources, MessagesOptions):
    """What may be used for work that has one kernel, and what is said about it."""

    quiet: bool = again(MessagesOptions, "quiet", help="no progress, no summary")


def _kernel_names() -> tuple[str, ...]:
    """Return the names of all kernels, whose module help does without."""
    from pairalign.engines.kernels import kernel_names

    return kernel_names()


@request
class KernelResources(Asked):
    """What may be used for the work."""

    device: str = again(
        CoreResources,
        "device",
        about='``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:0,1"``, ``"opencl"`` or ``"opencl:0,1"``',
        metavar="auto|cpu|cuda[:0,1]|opencl[:0,1]",
    )
    kernel: str = choice(
        _kernel_names,
        "the way to align, see: pairalign devices --kernels (default: %(default)s)",
        about="the way to align: a kernel instead of the best that can",
        default=AUTO_KERNEL,
        metavar="auto|NAME",
        group=RESOURCES,
        is_how=True,
    )
    threads: int | None = again(CoreResources, "threads")
    memory: int | None = again(CoreResources, "memory")


class ResourceArguments(CoreArguments, total=False):
    """Types of `KernelResources` in Python."""

    kernel: str | None


@request
class ResourcesOptions(KernelResources, MessagesOptions):
    """What may be used for the work, and what is said about it."""

    quiet: bool = again(MessagesOptions, "quiet", help="no progress, no summary, no warnings")
    progress: bool = flag(
        "a line every 30 s on how far it is, as in a log, also on a terminal instead of a bar",
        excludes="loudness",
        group=RESOURCES,
        is_how=True,
        surface="command",
    )
