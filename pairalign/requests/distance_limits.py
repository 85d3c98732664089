"""What limits distances are held to, and what of groups and receptors they are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pairalign.base.choices import BY_FILE, BY_PREFIX, BY_RECORD
from pairalign.base.declaration import again, option, request
from pairalign.base.option_kinds import PATH, SHARE, WHOLE
from pairalign.requests.shared import Asked, ThresholdsOptions
from pairalign.requests.similar import StatisticsOptions

LIMIT = "pairs within a limit"
GROUPED = "groups of proteins or of records of DNA, as proteomes and genomes"
"""Titles in help."""


@request
class LimitsOptions(Asked):
    """Pairs of short sequences within a limit."""

    max_drop: int | None = option(
        help="keep pairs with min(S(a,a), S(b,b)) - S(a,b) of at most D; S: the global score",
        metavar="D",
        kind=WHOLE,
        group=LIMIT,
    )
    max_edits: int | None = option(
        help="keep pairs of at most K edits", metavar="K", kind=WHOLE, group=LIMIT
    )
    max_tcrdist: int | None = option(
        help="keep pairs with a TCRdist of at most D", metavar="D", kind=WHOLE, group=LIMIT
    )
    max_length_ratio: Fraction | None = again(
        ThresholdsOptions, "max_length_ratio", group=LIMIT, decides=True
    )


@request
class ReceptorOptions(Asked):
    """What is known of receptors."""

    v_genes: Any = option(
        help="tcrdist: loops by V gene, a table of gene, cdr1, cdr2 and cdr2.5",
        metavar="TSV",
        kind=PATH,
    )


@request
class GroupsOptions(Asked):
    """Groups of sequences, and what their alignments reach."""

    group_by: Any = option(
        help="the groups: files of IN, records, names up to the first |, or FILE with a name and "
        "its group a line, a tab between",
        metavar=f"{BY_FILE}|{BY_RECORD}|{BY_PREFIX}|FILE",
        kind=PATH,
        group=GROUPED,
    )
    min_identity: Fraction | None = again(
        ThresholdsOptions,
        "min_identity",
        help="leave out alignments with a lower identity, such as 0.3",
        about="with `group_by`: leave out alignments with a lower identity, by columns",
        group=GROUPED,
    )
    min_coverage: Fraction | None = again(
        ThresholdsOptions,
        "min_coverage",
        help="and with a smaller aligned part of either sequence",
        about="with `group_by`: and with a smaller aligned part of either sequence",
        group=GROUPED,
    )
    max_evalue: float | None = again(
        StatisticsOptions,
        "max_evalue",
        help="and with a larger E-value, in a database of all groups (local mode)",
        about="with `group_by`: and with a larger E-value, in a database of all groups, in mode "
        "local",
        group=GROUPED,
    )


@request
class MatchesOptions(Asked):
    """What is matched between groups."""

    matches: str | None = option(
        help="write a table of each two groups: identity, matched proteins and their shares; of "
        "genomes ANI, tANI and coverages",
        metavar="TSV",
        kind=PATH,
        group=GROUPED,
        decides=False,
        surface="command",
    )


@request
class GroupClustersOptions(Asked):
    """Clusters of groups."""

    clusters: str | None = option(
        help="write clusters of groups: the subtrees of their UPGMA tree within --max-distance",
        metavar="TSV",
        kind=PATH,
        group=GROUPED,
        decides=False,
        surface="command",
    )
    max_distance: Fraction | None = option(
        help="the largest distance of clusters, such as 0.05",
        metavar="X",
        kind=SHARE,
        group=GROUPED,
        decides=False,
        surface="command",
    )
