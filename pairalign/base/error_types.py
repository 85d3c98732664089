"""Errors that pairalign raises on purpose.

::

    PairalignError
    ├── FastaError         (ValueError)    an input file cannot be read as sequences
    ├── AlphabetError      (ValueError)    a residue that the scoring cannot use
    ├── ScoringError       (ValueError)    a matrix or gap costs that make no sense
    │   └── MatrixFileError                a file that holds no matrix for the sequences
    ├── OutputError        (OSError)       a result cannot be written
    ├── FormatError        (ValueError)    an output format that cannot hold the results
    │   └── UsageError                     options that make no sense, or exclude each other
    │       └── WrongTypeError (TypeError) an argument is of a type that it cannot have
    ├── AlignmentFileError (ValueError)    a file of alignments that cannot be read
    ├── PairListError      (ValueError)    a list of pairs that cannot be read or used
    ├── DistanceError      (ValueError)    a matrix or tree that cannot be made, read or used
    ├── SplitError         (ValueError)    folds that cannot be made as asked, or groups not read
    ├── PartsError     (ValueError)    parts of a result, or of a run to resume, that do not fit
    ├── MissingPackageError (ImportError)  a package or the compiled library is missing
    ├── CapacityError      (MemoryError)   a pair needs more memory than allowed
    ├── DeviceError        (RuntimeError)  a device is missing or has failed
    └── KernelBuildError   (RuntimeError)  a kernel does not compile or load

A message says what happened, what was found, what was expected and where.
"""

from __future__ import annotations

from pairalign.base.spelling import spelled

_MOST_OF_A_MESSAGE = 2000


class PairalignError(Exception):
    """Base class of every error that pairalign raises on purpose.

    What was read from a file may be in a message, of any length: one that is very long is shown
    without its middle.
    """

    def __str__(self) -> str:
        return cut_name(super().__str__(), _MOST_OF_A_MESSAGE)


class FastaError(PairalignError, ValueError):
    """An input file cannot be read as sequences."""


class RecordError(FastaError):
    """A record that cannot be read as it is.

    Attributes
    ----------
    advises : str or None
        The option of reading that the message advises.
    """

    def __init__(self, message: str, advises: str | None = None) -> None:
        super().__init__(message)
        self.advises = advises


class NoSequencesError(FastaError):
    """An input file, or a set, has no sequence."""


class AlphabetError(PairalignError, ValueError):
    """A sequence holds a residue that the scoring cannot use."""


class ScoringError(PairalignError, ValueError):
    """A substitution matrix or gap costs that make no sense, or scores too large for 32 bits."""


class MatrixFileError(ScoringError):
    """A file of a substitution matrix that cannot be read, or lacks residues of the sequences."""


class OutputError(PairalignError, OSError):
    """A result cannot be written."""


class FormatError(PairalignError, ValueError):
    """An output format that is unknown, cannot hold the results, or needs a missing package."""


class UsageError(FormatError):
    """Options or arguments that make no sense, or exclude or need each other."""


class WrongTypeError(UsageError, TypeError):
    """An argument of a function is of a type that it cannot have."""


class PairListError(PairalignError, ValueError):
    """A list of pairs that cannot be read, or names what the sequences do not have."""


class AlignmentFileError(PairalignError, ValueError):
    """A file of alignments that cannot be read at all; what is wrong with a record is no error."""


class DistanceError(PairalignError, ValueError):
    """Distances that are not a distance matrix, or too few of them for a tree."""


class SplitError(PairalignError, ValueError):
    """Folds that cannot be made as asked; labels, folds or clusters that cannot be read."""


class PartsError(PairalignError, ValueError):
    """Parts of a result that are missing, damaged or not of one run; a run that cannot go on."""


class MissingPackageError(PairalignError, ImportError):
    """A package that an extra installs, or the compiled library, is missing."""


class CapacityError(PairalignError, MemoryError):
    """A pair needs more memory than it may use.

    Parameters
    ----------
    message : str
        Names the pair and says how to go on.
    needed_bytes, available_bytes : int
        What the pair needs and what it may use.
    """

    def __init__(self, message: str, needed_bytes: int = 0, available_bytes: int = 0) -> None:
        super().__init__(message)
        self.needed_bytes = needed_bytes
        self.available_bytes = available_bytes


class DeviceError(PairalignError, RuntimeError):
    """A device is missing, cannot be used, or failed while working."""


class KernelBuildError(PairalignError, RuntimeError):
    """A GPU kernel does not compile, or cannot be loaded on the device present."""


class MissingFileError(PairalignError, FileNotFoundError):
    """There is no such file, of whatever kind it was to be."""


class MissingSequencesError(MissingFileError, FastaError):
    """There is no such file of sequences."""


class MissingMatrixError(MissingFileError, MatrixFileError):
    """There is no such file of a substitution matrix."""


class UnknownMatrixError(MissingFileError, ScoringError):
    """A substitution matrix that is neither a known name nor a file."""


class MissingPairsError(MissingFileError, PairListError):
    """There is no such list of pairs."""


class MissingAlignmentsError(MissingFileError, AlignmentFileError):
    """There is no such file of alignments."""


class MissingDistancesError(MissingFileError, DistanceError):
    """There is no such file of distances."""


class MissingGroupsError(MissingFileError, SplitError):
    """There is no such file of labels, folds, clusters or groups."""


class MissingPartsError(MissingFileError, PartsError):
    """There is no such folder of parts."""


_OF_MISSING: dict[type[PairalignError], type[PairalignError]] = {
    FastaError: MissingSequencesError,
    MatrixFileError: MissingMatrixError,
    PairListError: MissingPairsError,
    AlignmentFileError: MissingAlignmentsError,
    DistanceError: MissingDistancesError,
    SplitError: MissingGroupsError,
    PartsError: MissingPartsError,
}
"""What is raised for a file that is not there, by the error of files of its kind."""


def describe_unreadable(error: OSError | ValueError, expected: str) -> str:
    """Say why a file that was to be read cannot be, to follow its name."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return f"is a directory, expected {expected}"
    if isinstance(error, PermissionError):
        return "permission denied"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def unreadable(
    kind: type[PairalignError], name: str, error: OSError | ValueError, expected: str
) -> PairalignError:
    """Return the error to raise of a file that cannot be read."""
    return error_by_cause(kind, f"{name}: {describe_unreadable(error, expected)}", error)


def error_by_cause(kind: type[PairalignError], message: str, cause: Exception) -> PairalignError:
    """Return an error of a kind, which is a FileNotFoundError as well where its cause is one."""
    return (_OF_MISSING[kind] if isinstance(cause, FileNotFoundError) else kind)(message)


_MOST_OF_A_NAME = 80
"""Characters; a message with thousands hides what it says."""


def shown_name(name: str) -> str:
    """Return a name, or another field that was read, as messages show it.

    In quotes; a long one without its middle.
    """
    return repr(cut_name(name))


def cut_name(name: str, most: int = _MOST_OF_A_NAME) -> str:
    """Return a text without its middle if it is longer than `most` characters."""
    if len(name) <= most:
        return name
    kept = most // 2
    return f"{name[:kept]}...{name[-kept:]}"


def out_of_memory() -> str:
    """Return what is said of a MemoryError, which says nothing itself."""
    return f"out of memory; lower {spelled('memory')} or {spelled('threads')}"
