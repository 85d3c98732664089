"""What may be used for the work of a command or function, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pairalign.base.arguments import DEVICE, OUT_FILE, POSITIVE, SIZE, out_file
from pairalign.base.choices import AUTO_KERNEL, SUMMARIES
from pairalign.base.declaration import Request, choice, flag, group, option, request
from pairalign.requests.shared import RESOURCES, CommandOptions

if TYPE_CHECKING:
    from typing import Literal

    Progress = bool | Literal["lines"]


def _kernel_names() -> tuple[str, ...]:
    """Return the names of all kernels, whose module help does without."""
    from pairalign.engines.kernels import kernel_names

    return kernel_names()


@request
class Resources(Request):
    """What may be used for the work, and whether it shows how far it is."""

    device: str = option(
        "auto",
        about='``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:0,1"``, ``"opencl"`` or ``"opencl:0,1"``',
        metavar="auto|cpu|cuda[:0,1]|opencl[:0,1]",
        kind=DEVICE,
        is_how=True,
    )
    kernel: str | None = choice(
        _kernel_names,
        "the way to align, see: pairalign devices --kernels (default: %(default)s)",
        about="the way to align: a kernel instead of the best that can",
        default=AUTO_KERNEL,
        metavar="auto|NAME",
        is_how=True,
    )
    threads: int | None = option(
        help="default: all cores",
        flags=("-t", "--threads"),
        metavar="N",
        kind=POSITIVE,
        is_how=True,
        elsewhere=("-num_threads", "-threads", "--thread", "-T", "-p"),
    )
    memory: int | None = option(
        help="what may be held in memory, and on each GPU, such as 4G; default: half of what is "
        "free, on GPUs nine tenths",
        metavar="SIZE",
        kind=SIZE,
        is_how=True,
        elsewhere=("-M",),
    )
    progress: Progress = flag(
        "a line every 30 s on how far it is, as in a log, also on a terminal instead of a bar",
        excludes="loudness",
        is_how=True,
        surface="command",
    )

    @property
    def used_threads(self) -> int:
        """The threads that are used."""
        from pairalign.base.limits import usable_cores

        return usable_cores() if self.threads is None else self.threads

    @property
    def memory_bytes(self) -> int | None:
        """The memory that may be used; None: half of what is free."""
        return self.memory


_CORE_DEVICE = {
    "about": '``"cpu"``, ``"cuda"`` for the first GPU that can be used, ``"cuda:1"`` for that '
    'one, or ``"auto"``: a GPU if there is one and the work is worth its start',
    "metavar": "auto|cpu|cuda[:0]",
}
"""What is known of the device where the work has one kernel."""


@request
class Messages(Request):
    """What is said about a run."""

    quiet: bool = flag(
        "no summary", flags=("-q", "--quiet"), excludes="loudness", is_how=True, surface="command"
    )
    verbose: bool = flag(
        "say also what engines do, and what time and memory the run takes",
        flags=("-v", "--verbose"),
        is_how=True,
        surface="command",
    )
    summary: str = choice(
        SUMMARIES,
        "what is said in the end: lines, or a JSON object on one line (default: %(default)s)",
        is_how=True,
        surface="command",
    )
    log: str | None = option(
        help="append what is said to FILE as well, with the time",
        metavar="FILE",
        kind=OUT_FILE,
        is_how=True,
        surface="command",
    )
    multiqc: str | None = option(
        help="write the numbers of the summary for MultiQC, which finds names such as x_mqc.json",
        metavar="FILE",
        kind=out_file("MultiQC finds a summary by the end of its name", ("_mqc.json",)),
        is_how=True,
        surface="command",
    )


class CoreArguments(TypedDict, total=False):
    """Types of `Resources` in Python, of work that has one kernel."""

    device: str
    threads: int | None
    memory: int | str | None


class ResourceArguments(CoreArguments, total=False):
    """Types of `Resources` in Python."""

    kernel: str | None


@request
class MessagesOptions(CommandOptions):
    """What is said about a run."""

    messages: Messages = group(Messages, RESOURCES)


@request
class CoreOptions(CommandOptions):
    """What may be used for work that has one kernel, and what is said about it."""

    resources: Resources = group(
        Resources, RESOURCES, but=("kernel", "progress"), device=_CORE_DEVICE
    )
    messages: Messages = group(Messages, RESOURCES, quiet={"help": "no progress, no summary"})


@request
class ResourcesOptions(CommandOptions):
    """What may be used for the work, and what is said about it."""

    resources: Resources = group(Resources, RESOURCES)
    messages: Messages = group(
        Messages, RESOURCES, quiet={"help": "no progress, no summary, no warnings"}
    )
