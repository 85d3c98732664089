"""The packed kernels: what each is called, and what it is compiled from.

The list is nowhere else. A CUDA source defines ``ENTRY(NAME, FUNCTION)`` and makes a kernel of each
entry in the definition ``PAIRALIGN_ENTRIES``: all of them ahead of time, at first use those that a
run needs, each for itself.
"""

from __future__ import annotations

from pairalign.base.choices import ALL_MODES
from pairalign.engines.cuda.build import PTXAS_LEVEL
from pairalign.engines.cuda.packed.batches import Kind
from pairalign.engines.cuda.packed.tilings import STRIPS, TIER, TILINGS

FILL, TRACEBACK = "packed/fill.cu", "packed/traceback.cu"
RUNS, PASSING = "packed/runs.cu", "packed/passing.cu"

FAR_PROFILES = "build_far_profiles"
"""In `TRACEBACK` whatever its entries are."""

RUN_KERNELS = ("count_runs", "place_runs", "write_runs")
"""In `RUNS`: of alignments, whatever their tiling."""

PASSING_KERNELS = ("count_passing", "place_runs", "write_passing")
"""In `PASSING` and `RUNS`: of scores with a minimum."""

BOUNDED_KERNELS = ("count_passing", "place_runs", "write_bounded_passing")
"""The same, with a minimum for each end cell besides."""


def fill_name(kind: Kind, traced: bool) -> str:
    """Name of the kernel that scores a kind of items, and when `traced` keeps their tiles."""
    group = "strips" if kind.strips else f"g{kind.tiling.group}"
    return f"{'fill' if traced else 'score'}_{group}_k{kind.tiling.columns}"


def traceback_name(kind: Kind) -> str:
    """Name of the kernel that makes alignments of a kind of items."""
    return f"traceback_{'far_' if kind.strips else ''}k{kind.tiling.columns}"


def kernels_of(kind: Kind, traced: bool) -> list[str]:
    """Names of the kernels that a kind of items needs, in the order of their launches."""
    names = [fill_name(kind, traced)]
    if traced:
        names += [FAR_PROFILES] if kind.strips else []
        names.append(traceback_name(kind))
    return names


def _functions() -> dict[str, dict[str, str]]:
    """Return the device function of each kernel, by source and name."""
    kinds = [Kind(tiling, False, False) for tiling in TILINGS]
    kinds += [Kind(tiling, False, True) for tiling in STRIPS]
    functions: dict[str, dict[str, str]] = {FILL: {}, TRACEBACK: {}}
    for kind in kinds:
        tiling, strips = kind.tiling, str(kind.strips).lower()
        for traced in (False, True):
            arguments = f"{tiling.group},{tiling.columns},{str(traced).lower()},{strips}"
            functions[FILL][fill_name(kind, traced)] = f"fill<{arguments}>"
        functions[TRACEBACK][traceback_name(kind)] = f"traceback<{tiling.columns},{strips}>"
    return functions


_FUNCTIONS = _functions()


def takes_shared_memory(kernel: str) -> bool:
    """Whether a kernel takes more shared memory than every device gives without asking."""
    return any(kernel in functions for functions in _FUNCTIONS.values())


def source_of(kernel: str) -> str:
    """Return the source that a kernel is in."""
    if kernel.endswith("_runs"):
        return RUNS
    if kernel.endswith("_passing"):
        return PASSING
    return FILL if kernel in _FUNCTIONS[FILL] else TRACEBACK


def entry_defines(
    source: str, mode: str, wide: bool, kernel: str | None = None, two_sets: bool = False
) -> dict[str, int | str]:
    """Return what a source is compiled with: for all of its entries, or one kernel's only.

    Local tracebacks of two sets are compiled by themselves, see `path.transposed` in the source.
    """
    if source not in _FUNCTIONS:
        return {}
    functions = _FUNCTIONS[source]
    names = [name for name in functions if kernel in (None, name)]
    apart = source == TRACEBACK and mode == "local"
    return {
        **({"PAIRALIGN_RANKS": int(two_sets)} if apart else {}),
        **({PTXAS_LEVEL: 1} if apart and two_sets else {}),
        "PAIRALIGN_MODE": ALL_MODES.index(mode),
        "PAIRALIGN_WIDE": int(wide),
        "PAIRALIGN_TIER": TIER,
        "PAIRALIGN_ENTRIES": " ".join(f"ENTRY({name},{functions[name]})" for name in names),
    }
