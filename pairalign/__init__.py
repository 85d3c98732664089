"""pairalign: exact alignment of every pair in a set of sequences, with the alignment itself."""

from importlib.metadata import PackageNotFoundError, version

from pairalign.alignments import Alignment, Alignments
from pairalign.errors import (
    AlphabetError,
    CapacityError,
    DeviceError,
    FastaError,
    KernelBuildError,
    OutputError,
    PairalignError,
    ScoringError,
)
from pairalign.pairwise import Run, align
from pairalign.scoring import Scoring, make_scoring
from pairalign.sequences import DNA, PROTEIN, Alphabet, Sequence, SequenceSet, read_fasta

try:
    __version__ = version("pairalign")
except PackageNotFoundError:  # used from a source tree that was not installed
    __version__ = "0+unknown"

__all__ = [
    "DNA",
    "PROTEIN",
    "Alignment",
    "Alignments",
    "Alphabet",
    "AlphabetError",
    "CapacityError",
    "DeviceError",
    "FastaError",
    "KernelBuildError",
    "OutputError",
    "PairalignError",
    "Run",
    "Scoring",
    "ScoringError",
    "Sequence",
    "SequenceSet",
    "align",
    "make_scoring",
    "read_fasta",
]
