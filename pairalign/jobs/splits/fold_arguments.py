"""What `pairalign.split` and `pairalign.audit` take by name, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from pairalign.base.choices import Coverage, Identity
from pairalign.jobs.run.inputs import AnyScoring, ProblemArguments
from pairalign.jobs.run.progress import Progress

Share = float | str | Fraction


class SimilarArguments(ProblemArguments, total=False):
    """What is similar, and what a job may use."""

    min_identity: Share | None
    identity_of: Identity | None
    min_coverage: Share | None
    coverage_of: Coverage
    max_length_ratio: Share | None
    max_evalue: float | None
    db_size: int | None
    search_space: float | None
    comp_based_stats: int | None
    scoring: AnyScoring | None
    mode: str | None
    device: str
    kernel: str | None
    threads: int | None
    memory: int | str | None
    progress: Progress


class SplitArguments(SimilarArguments, total=False):
    """What folds are asked for."""

    folds: int | None
    test: Share | None
    val: Share | None
    labels: Sequence[str] | str | None
    priorities: Sequence[float] | str | None
    tolerance: Share
    remove: bool
    nearest_from: Share | None
    seed: int
    strand: str


class AuditArguments(SimilarArguments, total=False):
    """How groups are read, and which pairs are looked at."""

    name_column: str | None
    fold_column: str | None
    across: Literal["all", "none"]
    strand: Literal["plus", "both"]
    read_as: Literal["folds", "clstr", "uc", "tsv", "fasta"] | None
