"""The request of clusters: ``pairalign cluster``."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import IN_FILE, out_file
from pairalign.base.choices import (
    CLUSTER_ORDERS,
    CLUSTER_SUFFIXES,
    EDGE_RANKS,
    LINKAGES,
    NETWORK_NAMES,
    REPRESENTATIVES,
)
from pairalign.base.declaration import Rule, again, choice, flag, group, option, request
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    SCORING,
    CommandOptions,
    DryRunOptions,
    HitsArguments,
    HitsOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
    Ranking,
    ReportOptions,
    SequencesOptions,
    StrandOptions,
    ThresholdsOptions,
    describe_thresholds,
    needs_local,
    written_as,
)
from pairalign.requests.similar import (
    SimilarArguments,
    SimilarOptions,
    StatisticsOptions,
    with_mode,
)
from pairalign.scoring.scoring_request import ScoringRequest

_CLUSTERS = "clusters"


@request
class RepresentativesOptions(CommandOptions):
    """A second file."""

    representatives: str | None = option(
        help="write the representatives there as well",
        metavar="FASTA",
        kind=out_file("representatives are written as FASTA", CLUSTER_SUFFIXES["fasta"]),
        decides=False,
        surface="command",
        elsewhere=("--centroids", "-centroids"),
    )


@request
class LinkageOptions(CommandOptions):
    """What clusters are."""

    linkage: str = choice(
        LINKAGES,
        "greedy: similar to a representative; single: connected; complete: all pairs similar "
        "enough; average: on average (default: %(default)s)",
        elsewhere=("--cluster-mode",),
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
        about="what stands for a cluster: its longest sequence, or the one with the highest mean "
        "identity with all others of its cluster, for which the pairs of each cluster are aligned "
        "again",
    )
    extend: Any = option(
        help="--linkage single: clusters of some of the sequences, made with the same options, as "
        "tsv, .uc or .clstr: align only pairs with another sequence",
        metavar="CLUSTERS",
        kind=IN_FILE,
    )


@request
class SizesOptions(CommandOptions):
    """How often sequences were seen, in what is written."""

    sizein: bool = flag(
        "count each sequence as often as ;size=N of its header says: sums of --sizeout and of "
        "lines C in .uc (tsv, otutab and biom have such sums in any case)",
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


@request
class ClusterRequest(SimilarOptions, LinkageOptions, HitsOptions, StrandOptions):
    """The request of the clusters of a set.

    Attributes
    ----------
    edges : bool
        Whether `Clusters.edges` is wanted; they take some 60 bytes each.
    extend : ndarray of int32, shape (n,), or None
        For `ClusterJob`: the cluster of each sequence in an earlier run, by input index; -1: it is
        new.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        *SimilarOptions.RULES,
        Rule(
            lambda request: (
                request.linkage == "average" and request.thresholds.min_identity is None
            ),
            "{linkage=average} is a mean of identities: give {min_identity=X}",
        ),
        Rule(
            lambda request: request.order != CLUSTER_ORDERS[0] and request.linkage != LINKAGES[0],
            "{order=.} is for {linkage=greedy}, not {.linkage}",
        ),
        Rule(
            lambda request: request.extend is not None and request.linkage != "single",
            "{extend} is for {linkage=single}, not {.linkage}: a new sequence may take earlier "
            "clusters apart, so all pairs count",
        ),
    )

    edges: bool = False
    scoring: ScoringRequest = group(
        ScoringRequest,
        SCORING,
        but=("ties",),  # which depend on which sequence is the query
        mode={"default": None, "help": "default: global; local with --max-evalue"},
    )
    thresholds: PairThresholds = again(
        ThresholdsOptions,
        "thresholds",
        min_identity={"help": "what pairs must attain to be similar enough, such as 0.97 or 97%%"},
        coverage_of={"default": "aligned"},
    )
    ranking: Ranking = again(
        HitsOptions,
        "ranking",
        max_hits={
            "help": "networks: only pairs that are among the best K of either sequence",
            "about": "of `edges` only the best of each sequence, at most that number: those of "
            "highest rank, then of highest score, then whose other sequence comes first by "
            "residues, then by name",
        },
        rank={
            "values": EDGE_RANKS,
            "help": f"what the best hits are the best by (default: {EDGE_RANKS[0]})",
        },
    )

    @property
    def uses_identity(self) -> bool:
        """Whether anything depends on the identity of pairs."""
        by_identity = self.representative == REPRESENTATIVES[1] or self.edges
        return self.thresholds.min_identity is not None or by_identity


class ClusterArguments(SimilarArguments, HitsArguments, total=False):
    """Types of what `pairalign.cluster` takes besides sequences, scoring and mode."""

    linkage: Literal["greedy", "single", "complete", "average"]
    order: Literal["length", "size"]
    representative: Literal["longest", "medoid"]


EDGES_IN_PYTHON = (
    Rule(
        lambda request: request.ranking and not request.edges,
        "{max_hits} chooses among the edges: keep them, with edges=True",
    ),
    Rule(
        lambda request: request.extend is not None and request.edges,
        "edges are those of all pairs, which clusters do not have: leave {extend} out",
    ),
)
"""What functions need of edges, which commands have by the format."""


@request
class ClusterOptions(
    SequencesOptions,
    OutputOptions,
    RepresentativesOptions,
    ReportOptions,
    ClusterRequest,
    SizesOptions,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """The request of ``pairalign cluster``."""

    SHORT: ClassVar[str] = (
        "output representatives report min_identity min_coverage max_evalue linkage order "
        "strand threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN and put those that are similar enough together. "
        "The order of IN makes no difference."
    )
    EPILOG: ClassVar[str | None] = describe_thresholds()
    STDOUT_FORMAT: ClassVar[str] = "tsv"
    PLACED: ClassVar[dict[type, str]] = {
        one: _CLUSTERS
        for one in (
            *(ThresholdsOptions, StatisticsOptions, LinkageOptions, SizesOptions, HitsOptions),
            StrandOptions,
        )
    }

    RULES: ClassVar[tuple[Rule, ...]] = (
        *ClusterRequest.RULES,
        *needs_local("max_evalue"),
        Rule(
            lambda request: request.ranking and request.writing.format in CLUSTER_SUFFIXES,
            f"{{max_hits}} is for {', '.join(NETWORK_NAMES)}, but the format is {{.format}}",
        ),
        Rule(
            lambda request: request.extend is not None and request.writing.format in NETWORK_NAMES,
            "{.format} has all edges, which clusters do not have: leave {extend} out",
        ),
    )

    writing: OutputRules = written_as((*CLUSTER_SUFFIXES, *NETWORK_NAMES), "tsv")

    @property
    def uses_identity(self) -> bool:
        """Whether anything depends on, or shows, the identity of pairs."""
        shows = self.writing.format not in CLUSTER_SUFFIXES or self.report is not None
        return super().uses_identity or shows

    def completed(self) -> ClusterOptions:
        """Return the request with a mode."""
        return with_mode(self)
