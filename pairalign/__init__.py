"""pairalign: exact alignment of every pair in a set of sequences, with the alignment itself.

Names are imported when they are first used: importing the package loads neither engines nor NumPy.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairalign.base.version import __version__ as __version__
    from pairalign.errors import (
        AlphabetError,
        CapacityError,
        DeviceError,
        DistanceError,
        FastaError,
        KernelBuildError,
        OutputError,
        PairalignError,
        PairListError,
        ScoringError,
        SplitError,
    )
    from pairalign.formats.merge import merge
    from pairalign.formats.pairset import pack
    from pairalign.jobs.circular.rotate import rotate
    from pairalign.jobs.clusters.cluster import cluster
    from pairalign.jobs.clusters.clusters_result import Clusters
    from pairalign.jobs.distances.distance import distance
    from pairalign.jobs.distances.guide_tree import tree
    from pairalign.jobs.msa.families import align_families
    from pairalign.jobs.msa.msa import msa
    from pairalign.jobs.msa.msa_result import MultipleAlignment
    from pairalign.jobs.overlaps.overlap import overlap
    from pairalign.jobs.overlaps.overlap_table import Overlaps
    from pairalign.jobs.posterior.posterior import posterior
    from pairalign.jobs.posterior.posteriors_result import SparsePosteriors
    from pairalign.jobs.run.align_all import align, align_pair, stream
    from pairalign.jobs.splits.audit import Violations, audit
    from pairalign.jobs.splits.audit_interactions import InteractionViolations
    from pairalign.jobs.splits.split import split
    from pairalign.jobs.splits.splits_result import InteractionSplit, Split
    from pairalign.jobs.update.update import Updated, update
    from pairalign.jobs.verify.verification import Verification, verify
    from pairalign.results.alignment_result import Alignment
    from pairalign.results.alignments_result import Alignments
    from pairalign.results.distances_result import (
        DistanceMatrix,
        GroupDistances,
        RectangularDistances,
        SparseDistances,
    )
    from pairalign.results.tree_result import GuideTree
    from pairalign.scoring.scoring import Scoring, make_scoring
    from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
    from pairalign.sequences.sequence_records import Sequence
    from pairalign.sequences.set_reading import read_fasta
    from pairalign.sequences.sets import SequenceSet

__all__ = [
    "DNA",
    "PROTEIN",
    "Alignment",
    "Alignments",
    "Alphabet",
    "AlphabetError",
    "CapacityError",
    "Clusters",
    "DeviceError",
    "DistanceError",
    "DistanceMatrix",
    "FastaError",
    "GroupDistances",
    "GuideTree",
    "InteractionSplit",
    "InteractionViolations",
    "KernelBuildError",
    "MultipleAlignment",
    "OutputError",
    "Overlaps",
    "PairListError",
    "PairalignError",
    "RectangularDistances",
    "Scoring",
    "ScoringError",
    "Sequence",
    "SequenceSet",
    "SparseDistances",
    "SparsePosteriors",
    "Split",
    "SplitError",
    "Updated",
    "Verification",
    "Violations",
    "align",
    "align_families",
    "align_pair",
    "audit",
    "cluster",
    "distance",
    "make_scoring",
    "merge",
    "msa",
    "overlap",
    "pack",
    "posterior",
    "read_fasta",
    "rotate",
    "split",
    "stream",
    "tree",
    "update",
    "verify",
]

_NAMES = {
    "formats.merge": ("merge",),
    "formats.pairset": ("pack",),
    "errors": (
        "AlphabetError",
        "CapacityError",
        "DeviceError",
        "DistanceError",
        "FastaError",
        "KernelBuildError",
        "OutputError",
        "PairListError",
        "PairalignError",
        "ScoringError",
        "SplitError",
    ),
    "jobs.posterior.posterior": ("posterior",),
    "jobs.run.align_all": ("align", "align_pair", "stream"),
    "jobs.circular.rotate": ("rotate",),
    "jobs.clusters.cluster": ("cluster",),
    "jobs.distances.distance": ("distance",),
    "jobs.distances.guide_tree": ("tree",),
    "jobs.msa.families": ("align_families",),
    "jobs.msa.msa": ("msa",),
    "jobs.overlaps.overlap_table": ("Overlaps",),
    "jobs.overlaps.overlap": ("overlap",),
    "jobs.splits.audit": ("Violations", "audit"),
    "jobs.splits.audit_interactions": ("InteractionViolations",),
    "jobs.splits.split": ("split",),
    "jobs.update.update": ("Updated", "update"),
    "jobs.verify.verification": ("Verification", "verify"),
    "results.alignment_result": ("Alignment",),
    "results.alignments_result": ("Alignments",),
    "jobs.clusters.clusters_result": ("Clusters",),
    "results.distances_result": (
        "DistanceMatrix",
        "GroupDistances",
        "RectangularDistances",
        "SparseDistances",
    ),
    "jobs.msa.msa_result": ("MultipleAlignment",),
    "jobs.posterior.posteriors_result": ("SparsePosteriors",),
    "jobs.splits.splits_result": ("InteractionSplit", "Split"),
    "results.tree_result": ("GuideTree",),
    "scoring.scoring": ("Scoring", "make_scoring"),
    "sequences.alphabets": ("DNA", "PROTEIN", "Alphabet"),
    "sequences.set_reading": ("read_fasta",),
    "sequences.sequence_records": ("Sequence",),
    "sequences.sets": ("SequenceSet",),
    "base.version": ("__version__",),
}
"""The names of `__all__`, and the version, by the module that has them."""

_FOLDER = os.path.dirname(__file__)
_HOMES = {
    name: module
    for module, names in _NAMES.items()
    if os.path.exists(os.path.join(_FOLDER, *module.split(".")) + ".py")  # jobs may be left out
    for name in names
}


if not TYPE_CHECKING:  # or else every name would be there
    __all__ = [name for name in __all__ if name in _HOMES]

    def __getattr__(name: str) -> Any:
        """Import a public name, or a module of the package, when it is first used (PEP 562)."""
        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
            if hasattr(value, "taken"):
                import_module(f"{__name__}.base.function_options").show_options(value)
        elif not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
