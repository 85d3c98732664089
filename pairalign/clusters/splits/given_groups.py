"""Groups that Python has: a split, clusters, or a mapping of names to folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pairalign.base.error_types import UsageError
from pairalign.clusters.clusters import Clusters
from pairalign.clusters.splits.groups import Membership
from pairalign.clusters.splits.result import Split
from pairalign.sequences.sets import SequenceSet

GivenGroups = Split | Clusters | Mapping[str, Any]
"""What Python may have groups as; a mapping is of names to groups."""

_LONGEST = 20
"""Characters of a name of a fold, where nobody has said that it is one."""


def promise_of(groups: object) -> dict[str, Any]:
    """Return the options that say what a split or clusters promise; none of other groups."""
    if not isinstance(groups, (Split, Clusters)):
        return {}
    thresholds = groups.thresholds
    options: dict[str, Any] = {
        name: getattr(thresholds, name) for name in ("identity_of", "coverage_of")
    }
    if thresholds.min_coverage:
        options["min_coverage"] = thresholds.min_coverage
    if thresholds.max_length_ratio is not None:
        options["max_length_ratio"] = thresholds.max_length_ratio
    evalue = groups.max_evalue if isinstance(groups, Split) else None
    if thresholds.min_identity or evalue is None:
        options["min_identity"] = thresholds.least_identity
    return options if evalue is None else {**options, "max_evalue": evalue}


def memberships_of(
    groups: object, read_as: str | None, sequences: SequenceSet
) -> list[Membership] | None:
    """Return which sequences are in which group; None: these are no groups but sequences.

    Parameters
    ----------
    groups : Split, Clusters, mapping of names to folds, or sequences
    read_as : str or None
        ``"folds"`` or ``"fasta"`` says what a mapping is. Else one of names that `sequences` has to
        short values of which few differ, or to no text, is of folds.

    Raises
    ------
    UsageError
        A mapping may be of folds or of sequences.
    """
    if isinstance(groups, Split):
        names = groups.sequences.names
        return [
            Membership(name, groups.fold_names[fold], None, number)
            for number, (name, fold) in enumerate(zip(names, groups.folds, strict=True), 1)
            if fold >= 0
        ]
    if isinstance(groups, Clusters):
        leaders = [groups.sequences.names[k] for k in groups.representatives]
        of_each = zip(groups.sequences.names, groups.labels, strict=True)
        return [
            Membership(name, leaders[label], leaders[label], number)
            for number, (name, label) in enumerate(of_each, 1)
        ]
    if not isinstance(groups, Mapping) or not _are_folds(groups, read_as, sequences):
        return None
    return [
        Membership(str(name), str(fold), None, number)
        for number, (name, fold) in enumerate(groups.items(), 1)
        if fold is not None and fold != "" and fold == fold  # NaN is missing as well
    ]


def _are_folds(groups: Mapping[Any, Any], read_as: str | None, sequences: SequenceSet) -> bool:
    if read_as is not None:
        return read_as == "folds"
    values = list(groups.values())
    if any(value is None or hasattr(value, "__index__") for value in values):
        return True
    if not all(isinstance(value, str) and len(value) < _LONGEST for value in values):
        return False
    shared_names = set(sequences.names).intersection(map(str, groups))
    if shared_names and len(set(values)) <= max(2, len(values) // 2):
        return True
    if len(shared_names) == len(values) > 0:
        raise UsageError(
            "groups: the names are those of sequences, and their values may be folds or residues: "
            "add read_as='folds' or read_as='fasta'"
        )
    return False
