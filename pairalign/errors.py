"""Errors that pairalign raises on purpose, as users import them; see `pairalign.base.errors`."""

from pairalign.base.errors import (
    AlignmentFileError,
    AlphabetError,
    CapacityError,
    DeviceError,
    DistanceError,
    FastaError,
    FormatError,
    KernelBuildError,
    MatrixFileError,
    MissingPackageError,
    OutputError,
    PairalignError,
    PairListError,
    PartsError,
    ScoringError,
    SplitError,
)

__all__ = [
    "AlignmentFileError",
    "AlphabetError",
    "CapacityError",
    "DeviceError",
    "DistanceError",
    "FastaError",
    "FormatError",
    "KernelBuildError",
    "MatrixFileError",
    "MissingPackageError",
    "OutputError",
    "PairListError",
    "PairalignError",
    "PartsError",
    "ScoringError",
    "SplitError",
]
