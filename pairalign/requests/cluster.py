"""What is asked of clusters: ``pairalign cluster``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pairalign.base.choices import (
    CLUSTER_ORDERS,
    CLUSTER_SUFFIXES,
    EDGE_RANKS,
    LINKAGES,
    NETWORK_NAMES,
    REPRESENTATIVES,
)
from pairalign.base.declaration import Rule, again, choice, flag, option
from pairalign.requests.kinds import PATH
from pairalign.requests.shared import (
    RANK_NEEDS_HITS,
    Asked,
    HitsOptions,
    InputOptions,
    OutputOptions,
    ReportOptions,
    ResourcesOptions,
    ScoringOptions,
    SequencesOptions,
    StrandOptions,
    ThresholdsOptions,
    describe_thresholds,
    format_option,
)

_CLUSTERS = "clusters"


@dataclass(frozen=True)
class RepresentativesOptions(Asked):
    """A second file."""

    representatives: str | None = option(
        help="write the representatives there as well",
        metavar="FASTA",
        kind=PATH,
        decides=False,
        surface="command",
    )


@dataclass(frozen=True)
class LinkageOptions(Asked):
    """What clusters are."""

    linkage: str = choice(
        LINKAGES,
        "greedy: similar to a representative; single: connected; complete: all pairs similar "
        "enough; average: on average (default: %(default)s)",
    )
    order: str = choice(
        CLUSTER_ORDERS,
        "greedy: what becomes a representative first, the longest or what was seen most "
        "often, by ;size= in headers (default: %(default)s)",
    )
    representative: str = choice(
        REPRESENTATIVES,
        "what stands for a cluster: its longest sequence, or the one most similar to the "
        "others (default: %(default)s)",
    )
    extend: str | None = option(
        help="--linkage single: clusters of some of the sequences, made with the same options, as "
        "tsv, .uc or .clstr: align only pairs with another sequence",
        metavar="CLUSTERS",
        kind=PATH,
        surface="command",
    )


@dataclass(frozen=True)
class SizesOptions(Asked):
    """How often sequences were seen, in what is written."""

    sizein: bool = flag(
        "count each sequence as often as ;size=N of its header says: sums of --sizeout and of "
        "lines C in .uc (tsv and otutab have such sums in any case)",
        surface="command",
    )
    sizeout: bool = flag(
        "write ;size=N in headers of representatives: sequences of the cluster, or with --sizein "
        "their sum",
        surface="command",
    )
    clusters_by: str = choice(
        CLUSTER_ORDERS,
        "which clusters come first in files: those of the longest sequences, or those seen most "
        "often, by ;size= in headers (default: %(default)s)",
        surface="command",
    )


@dataclass(frozen=True)
class ClusterOptions(
    SequencesOptions,
    OutputOptions,
    RepresentativesOptions,
    ReportOptions,
    ThresholdsOptions,
    LinkageOptions,
    SizesOptions,
    HitsOptions,
    StrandOptions,
    ScoringOptions,
    InputOptions,
    ResourcesOptions,
):
    """All that ``pairalign cluster`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN and put those that are similar enough together. "
        "The order of IN makes no difference."
    )
    EPILOG: ClassVar[str | None] = describe_thresholds()
    VERBATIM: ClassVar[bool] = True
    STDOUT_FORMAT: ClassVar[str] = "tsv"
    FIXED: ClassVar[dict[str, Any]] = {"input2": None}
    PLACED: ClassVar[dict[type, str]] = {
        one: _CLUSTERS
        for one in (ThresholdsOptions, LinkageOptions, SizesOptions, HitsOptions, StrandOptions)
    }

    RULES: ClassVar[tuple[Rule, ...]] = (RANK_NEEDS_HITS,)

    format: str | None = format_option((*CLUSTER_SUFFIXES, *NETWORK_NAMES), "tsv")
    min_identity: Any = again(
        ThresholdsOptions,
        "min_identity",
        help="what pairs must attain to be similar enough, such as 0.97 or 97%%",
        required=True,
    )
    coverage_of: str = again(ThresholdsOptions, "coverage_of", default="aligned")
    max_hits: int | None = again(
        HitsOptions,
        "max_hits",
        help="networks: only pairs that are among the best K of either sequence",
    )
    rank: str | None = again(
        HitsOptions,
        "rank",
        values=EDGE_RANKS,
        help=f"what the best hits are the best by (default: {EDGE_RANKS[0]})",
    )
