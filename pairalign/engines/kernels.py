"""What kernels there are, what each can do, and why not: the registry behind ``--kernel``.

A *kernel* is a way to align the pairs of a window on one framework. Names are unique within a
framework: ``--kernel striped`` is the CUDA one unless ``--device opencl`` says otherwise. Engines
take the names of their kernels from here, and ask here first whether a kernel can do something.
They add what depends on the device (`pairalign.engines.cuda.cuda_family.KernelFamily.supports`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pairalign.base.choices import ALL_MODES, AUTO_KERNEL, MODES, TIES
from pairalign.base.error_types import DeviceError
from pairalign.base.spelling import spelled
from pairalign.pairs.want import Detail

if TYPE_CHECKING:
    from pairalign.scoring.scoring import Scoring

AUTO = AUTO_KERNEL
FRAMEWORKS = ("cuda", "opencl", "cpu")
"""In the order in which ``--device auto --kernel NAME`` looks for a kernel of that name."""

_BOTH = ("protein", "dna")
_DOHI = "Dohi et al. 2010"
_GPU_PAIRALIGN = "Blazewicz et al. 2011"
_KAKIMOTO = "Kakimoto et al. 2012"
_NISHIMURA = "Nishimura et al. 2017"


class Kernel(NamedTuple):
    """A kernel and what it can do.

    Attributes
    ----------
    name : str
        What ``--kernel`` and messages call it; unique within a framework.
    framework : {"cuda", "opencl", "cpu"}
    modes : tuple of str
        Of `pairalign.base.choices.ALL_MODES`.
    gap_model : {"affine", "linear"}
        ``linear``: only where opening a gap costs what extending it does.
    alphabets : tuple of str
        Names of alphabets.
    detail : Detail
        The most that it computes: SCORE, or CIGAR for alignments.
    longest : int or None
        Residues that the shorter sequence of a pair may have; None: as memory and scores allow.
    automatic : str
        When ``auto`` takes it, in a few words; empty: never.
    needs : str
        The least that it runs on; ``sm_80`` is compute capability 8.0.
    source : str
        The paper that it follows.
    ties : tuple of str
        Of `pairalign.base.choices.TIES`, the rules by which it aligns.
    """

    name: str
    framework: str
    modes: tuple[str, ...]
    gap_model: str
    alphabets: tuple[str, ...]
    detail: Detail
    longest: int | None
    automatic: str
    needs: str
    source: str
    ties: tuple[str, ...] = TIES[:1]

    def why_not(self, scoring: Scoring, detail: Detail) -> str | None:
        """None when it can do this on a fitting device, else the reason why not."""
        if detail > self.detail:
            results = "alignments" if detail == Detail.CIGAR else "identities or spans"
            return f"computes scores only ({spelled('detail', 'score')}), not {results}"
        if scoring.mode not in self.modes:
            return f"mode {scoring.mode}, does {' and '.join(self.modes)} only"
        if scoring.alphabet.name not in self.alphabets:
            return f"alphabet {scoring.alphabet.name}, does {' and '.join(self.alphabets)} only"
        ties = TIES[0] if scoring.end_gaps is None else scoring.end_gaps.ties
        if detail > Detail.SCORE and ties not in self.ties:
            return f"ties of {ties}, does the {' and '.join(self.ties)} ones only"
        if self.gap_model == "linear" and scoring.gap_open != scoring.gap_extend:
            return f"affine gaps, needs {spelled('gap_open')} equal to {spelled('gap_extend')}"
        return None


KERNELS: tuple[Kernel, ...] = (
    Kernel(
        "packed", "cuda", ALL_MODES, "affine", _BOTH, Detail.CIGAR, None,
        "first choice", "sm_80, sm_87, sm_90 to sm_110", _DOHI,
    ),
    Kernel(
        "pair-per-thread", "cuda", ALL_MODES, "affine", _BOTH, Detail.CIGAR, None,
        "where packed cannot", "sm_61", _GPU_PAIRALIGN,
    ),
    Kernel(
        "block-diagonals", "cuda", MODES, "affine", _BOTH, Detail.CIGAR, None,
        "few or long pairs", "sm_61", "Huynh et al.",
    ),
    Kernel(
        "pruned", "cuda", ("global",), "affine", _BOTH, Detail.CIGAR, None,
        "similar, long", "sm_61", "Ukkonen 1985; Zhang 2000",
    ),
    Kernel(
        "pair-per-warp", "cuda", MODES, "affine", _BOTH, Detail.SCORE, None,
        "", "sm_61", _DOHI,
    ),
    Kernel(
        "striped", "cuda", MODES, "affine", _BOTH, Detail.SCORE, None,
        "", "sm_61", _KAKIMOTO,
    ),
    Kernel(
        "bitwise", "cuda", ("local",), "linear", ("dna",), Detail.SCORE, None,
        "", "sm_61", _NISHIMURA,
    ),
    Kernel(
        "pair-per-thread", "opencl", ALL_MODES, "affine", _BOTH, Detail.CIGAR, None,
        "on OpenCL", "OpenCL 1.2", _GPU_PAIRALIGN,
    ),
    Kernel(
        "striped", "opencl", MODES, "affine", _BOTH, Detail.SCORE, None,
        "", "OpenCL 1.2", _KAKIMOTO,
    ),
    Kernel(
        "lanes", "cpu", ALL_MODES, "affine", _BOTH, Detail.CIGAR, None,
        "small sets, no GPU", "any core", "Farrar 2007; Rognes 2011", TIES,
    ),
    Kernel(
        "pruned", "cpu", MODES, "affine", _BOTH, Detail.CIGAR, None,
        "similar, long", "any core", "Ukkonen 1985; Zhang 2000",
    ),
    Kernel(
        "bitwise", "cpu", ("local",), "linear", ("dna",), Detail.SCORE, None,
        "", "any core", _NISHIMURA,
    ),
)  # fmt: skip
"""Every kernel, the preferred of a framework first."""


def kernels_of(framework: str) -> tuple[Kernel, ...]:
    """Return the kernels of a framework, the preferred first."""
    return tuple(kernel for kernel in KERNELS if kernel.framework == framework)


def kernel_names() -> tuple[str, ...]:
    """Return every name that ``--kernel`` takes, `AUTO` first."""
    return (AUTO, *dict.fromkeys(kernel.name for kernel in KERNELS))


def find_kernel(name: str, framework: str | None = None) -> Kernel:
    """Return the kernel of a name, on a framework or on the first that has it.

    Raises
    ------
    DeviceError
        There is none; the message lists those there are.
    """
    named = sorted(
        (kernel for kernel in KERNELS if kernel.name == name),
        key=lambda kernel: FRAMEWORKS.index(kernel.framework),
    )
    if not named:
        names = [kernel.name for kernel in KERNELS if framework in (None, kernel.framework)]
        raise DeviceError(
            f"kernel '{name}' is not known, expected {' or '.join(dict.fromkeys(names))}"
        )
    for kernel in named:
        if framework in (None, kernel.framework):
            return kernel
    others = [kernel.name for kernel in kernels_of(str(framework))]
    raise DeviceError(
        f"kernel '{name}' runs on {_where(named)}, found device '{framework}', whose kernels are "
        f"{' and '.join(others)}"
    )


def check_kernel(
    name: str | None, framework: str | None, scoring: Scoring, detail: Detail
) -> Kernel | None:
    """Return the kernel of a name, or None for `AUTO` and None.

    Raises
    ------
    DeviceError
        There is none, or it cannot do this; the message says why.
    """
    if name is None or name == AUTO:
        return None
    kernel = find_kernel(name, framework)
    reason = kernel.why_not(scoring, detail)
    if reason is not None:
        raise DeviceError(f"kernel '{name}': {reason}")
    return kernel


def kernel_table() -> Iterator[str]:
    """Yield the lines of ``pairalign devices --kernels``."""
    heading = ("KERNEL", "ON", "MODES", "GAPS", "ALPHABET", "RESULT", "LENGTH", "AUTO", "NEEDS")
    rows = [(*heading, "AFTER")]
    for kernel in KERNELS:
        rows.append(
            (
                kernel.name,
                kernel.framework,
                {MODES: "all", ALL_MODES: "all+ends"}.get(kernel.modes, ",".join(kernel.modes)),
                kernel.gap_model,
                "any" if set(kernel.alphabets) == set(_BOTH) else ",".join(kernel.alphabets),
                "scores" if kernel.detail == Detail.SCORE else "alignments",
                "any" if kernel.longest is None else f"<={kernel.longest}",
                kernel.automatic or "never",
                kernel.needs,
                kernel.source or "-",
            )
        )
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _where(kernels: list[Kernel]) -> str:
    names = {"cuda": "a CUDA GPU", "opencl": "an OpenCL device", "cpu": "the CPU"}
    return " or ".join(names[kernel.framework] for kernel in kernels)
