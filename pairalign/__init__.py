"""pairalign: exact alignment of every pair in a set of sequences, with the alignment itself."""

from importlib.metadata import PackageNotFoundError, version

from pairalign.alignments import Alignment, Alignments
from pairalign.distance_matrix import DistanceMatrix
from pairalign.errors import (
    AlphabetError,
    CapacityError,
    DeviceError,
    DistanceError,
    FastaError,
    KernelBuildError,
    OutputError,
    PairalignError,
    ScoringError,
)
from pairalign.jobs.align import Run, align
from pairalign.jobs.distances import distances
from pairalign.jobs.guide_tree import guide_tree
from pairalign.jobs.overlaps import Overlaps, overlaps
from pairalign.scoring import Scoring, make_scoring
from pairalign.sequences import DNA, PROTEIN, Alphabet, Sequence, SequenceSet, read_fasta
from pairalign.trees.tree import GuideTree

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
    "DistanceError",
    "DistanceMatrix",
    "FastaError",
    "GuideTree",
    "KernelBuildError",
    "OutputError",
    "Overlaps",
    "PairalignError",
    "Run",
    "Scoring",
    "ScoringError",
    "Sequence",
    "SequenceSet",
    "align",
    "distances",
    "guide_tree",
    "make_scoring",
    "overlaps",
    "read_fasta",
]
