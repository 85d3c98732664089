"""The other programs, each run as its authors recommend and no slower than that.

A peer turns a sample into scores of all pairs i < j, row by row; `kernels` lists its ways to do so
for a mode. parasail is called from a loop in C (`parasail_loop.c`) as well as through its Python
package, which takes one pair a call; pyopal and stringzillas through their own Python packages,
which take many.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from bench.data import Sample

Run = Callable[[], np.ndarray]
MATRIX = "BLOSUM62"
GAP_OPEN, GAP_EXTEND = 11, 1


class Peer(Protocol):
    """Another program; raises ImportError when made where it is not installed."""

    name: str

    def kernels(self, mode: str, cigar: bool) -> list[str]:
        """Names of what it has for this job; none if it cannot do it."""
        ...

    def job(self, kernel: str, sample: Sample, mode: str, cigar: bool) -> Run:
        """Prepare; the function returned does the job and returns the scores, int array."""
        ...


class Parasail:
    """parasail from C: one pair at a time, a profile a row. All its kernels that take profiles."""

    name = "parasail (C)"
    PREFIX: ClassVar = {"global": "nw", "semiglobal": "sg", "local": "sw"}

    def __init__(self) -> None:
        import parasail

        self._library = _compile_loop(Path(parasail.__file__).parent)

    def kernels(self, mode: str, cigar: bool) -> list[str]:
        kind = f"{self.PREFIX[mode]}_trace" if cigar else self.PREFIX[mode]
        # 8 bits alone overflow on most pairs; `sat` starts with them and repeats what overflowed.
        # The diag kernels take no profile and are the slowest by far.
        return [
            f"{kind}_{how}_profile_{bits}" for how in ("striped", "scan") for bits in ("16", "sat")
        ]

    def oracle(self, mode: str) -> str:
        """The kernel to trust: scan, in 32 bits."""
        return f"{self.PREFIX[mode]}_scan_profile_32"

    def job(self, kernel: str, sample: Sample, mode: str, cigar: bool) -> Run:
        sequences = sample.sequences
        letters = sequences.residues.tobytes()
        offsets = sequences.offsets.astype(np.int64)
        scores = np.zeros(sample.pairs, dtype=np.int32)
        runs = ctypes.c_int64()

        def run() -> np.ndarray:
            failed = self._library.all_pairs(
                kernel.encode(),
                MATRIX.lower().encode(),
                GAP_OPEN,
                GAP_EXTEND,
                len(sequences),
                letters,
                offsets.ctypes.data_as(ctypes.c_void_p),
                int(cigar),
                scores.ctypes.data_as(ctypes.c_void_p),
                ctypes.byref(runs),
            )
            if failed:
                raise RuntimeError(f"parasail has no kernel {kernel}")
            return scores

        return run


class ParasailFromPython(Parasail):
    """The same kernels through parasail's Python package, some microseconds a pair slower."""

    name = "parasail (Python)"

    def __init__(self) -> None:
        import parasail

        self._parasail = parasail

    def job(self, kernel: str, sample: Sample, mode: str, cigar: bool) -> Run:
        letters = sample.residues
        matrix = self._parasail.Matrix(MATRIX.lower())
        align = getattr(self._parasail, kernel)
        create = getattr(self._parasail, "profile_create_" + kernel.rsplit("_", 1)[1])

        def run() -> np.ndarray:
            scores = []
            for row, query in enumerate(letters):
                profile = create(query, matrix)
                for target in letters[row + 1 :]:
                    result = align(profile, target, GAP_OPEN, GAP_EXTEND)
                    scores.append(result.score)
                    if cigar:
                        result.cigar.seq  # noqa: B018 - the runs, as an array
            return np.array(scores, dtype=np.int32)

        return run


class Pyopal:
    """pyopal (Opal): one query against many targets, a lane each; 8 bits first, then 16."""

    name = "pyopal"
    ALGORITHM: ClassVar = {"global": "nw", "semiglobal": "ov", "local": "sw"}

    def __init__(self) -> None:
        import pyopal
        from scoring_matrices import ScoringMatrix

        self._pyopal = pyopal
        self._matrix = ScoringMatrix.from_name(MATRIX)

    def kernels(self, mode: str, cigar: bool) -> list[str]:
        return ["simple", "buckets"]

    def job(self, kernel: str, sample: Sample, mode: str, cigar: bool) -> Run:
        letters = sample.residues
        database = self._pyopal.Database(letters, self._pyopal.Alphabet(self._matrix.alphabet))
        aligner = self._pyopal.Aligner(self._matrix, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
        options: dict[str, Any] = {
            "mode": "full" if cigar else "score",
            "overflow": kernel,
            "algorithm": self.ALGORITHM[mode],
        }

        def run() -> np.ndarray:
            scores: list[int] = []
            for row, query in enumerate(letters[:-1]):
                results = aligner.align(query, database, start=row + 1, **options)
                scores += [result.score for result in results]
                if cigar:
                    for result in results:
                        result.cigar()
            return np.array(scores, dtype=np.int32)

        return run


class Stringzillas:
    """stringzillas: scores of one set of strings against another, or against itself."""

    name = "stringzillas"
    ENGINE: ClassVar = {"global": "NeedlemanWunschScores", "local": "SmithWatermanScores"}

    def __init__(self) -> None:
        import stringzilla
        import stringzillas
        from Bio.Align import substitution_matrices

        self._strings = stringzilla.Strs
        self._module = stringzillas
        matrix = substitution_matrices.load(MATRIX)
        letters = str(matrix.alphabet)
        self._classes = np.full(256, letters.index("X"), dtype=np.uint8)
        self._classes[[ord(letter) for letter in letters]] = np.arange(len(letters))
        self._costs = np.zeros((32, 32), dtype=np.int8)
        self._costs[: len(letters), : len(letters)] = np.array(matrix)

    def kernels(self, mode: str, cigar: bool) -> list[str]:
        return [] if cigar or mode not in self.ENGINE else ["whole set", "row by row"]

    def job(self, kernel: str, sample: Sample, mode: str, cigar: bool) -> Run:
        make = getattr(self._module, self.ENGINE[mode])
        engine = make(self._classes, self._costs, -GAP_OPEN, -GAP_EXTEND)
        one_core = self._module.DeviceScope(cpu_cores=1)
        letters = sample.residues
        strings = self._strings(letters)
        queries = [self._strings([one]) for one in letters]
        targets = [self._strings(letters[row + 1 :]) for row in range(len(letters) - 1)]
        upper = np.triu_indices(len(letters), 1)

        def whole_set() -> np.ndarray:
            return engine(strings, device=one_core)[upper]

        def row_by_row() -> np.ndarray:
            rows = [
                engine(q, t, device=one_core)[0] for q, t in zip(queries, targets, strict=False)
            ]
            return np.concatenate(rows)

        return whole_set if kernel == "whole set" else row_by_row


def available() -> tuple[list[Peer], list[str]]:
    """The peers that are installed, and a line about each that is not."""
    found: list[Peer] = []
    missing = []
    for kind in (Parasail, ParasailFromPython, Pyopal, Stringzillas):
        try:
            found.append(kind())
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            missing.append(f"{kind.name} is left out: {error}")
    return found, missing


def _compile_loop(package: Path) -> ctypes.CDLL:
    """Build parasail_loop.c against the library and the header that the package brings."""
    source = Path(__file__).with_name("parasail_loop.c")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    words = 2 if compiler[0].endswith("ccache") else 1
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "parasail_loop.so"
        include, library = package / "include", package / "libparasail.so"
        subprocess.run(
            [
                *(*compiler[:words], "-O2", "-shared", "-fPIC", f"-I{include}", str(source)),
                *("-o", str(target), str(library), f"-Wl,-rpath,{package}"),
            ],
            check=True,
        )
        return ctypes.CDLL(str(target))
