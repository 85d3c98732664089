"""What is made of a declaration: signatures are held to it, messages are spelled for the user."""

import inspect
import json

import pytest

import pairalign
from pairalign.base.arguments import parse_ratio, parse_share
from pairalign.base.declaration import check, make, options_of, restored, stored
from pairalign.base.spelling import options_are_spelled
from pairalign.errors import UsageError
from pairalign.jobs.clusters.cluster_request import ClusterRequest
from pairalign.jobs.msa.msa_request import ConfidenceOptions, HomologsOptions, MsaOptions
from pairalign.jobs.overlaps.overlap_request import OverlapRequest
from pairalign.jobs.posterior.posterior_request import ThresholdOptions
from pairalign.jobs.splits.audit_request import AuditOptions, AuditRequest
from pairalign.jobs.splits.split_request import SplitRequest
from pairalign.requests.align_request import AlignOptions, AlignRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.shared import StrandOptions
from pairalign.requests.tree_request import TreeRequest

NEGATED = {"no_remove": "remove"}
"""Options of which the argument in Python says the opposite."""
OF_THE_SCORING = {"mode": None}
"""Without one, the mode is that of the scoring."""

FUNCTIONS = [
    (pairalign.align, AlignRequest, OF_THE_SCORING),
    (pairalign.stream, AlignRequest, OF_THE_SCORING),
    (pairalign.cluster, ClusterRequest, {}),
    (pairalign.split, SplitRequest, {}),
    (pairalign.audit, AuditRequest, {}),
    (pairalign.distance, DistanceRequest, {}),
    (pairalign.tree, TreeRequest, {}),
    (pairalign.overlap, OverlapRequest, {}),
    (pairalign.posterior, ThresholdOptions, {}),
    (pairalign.rotate, StrandOptions, {}),
    (pairalign.msa, MsaOptions, {}),
    (pairalign.align_families, ConfidenceOptions, {}),
    (pairalign.align_families, HomologsOptions, {}),
]
"""Functions, the request that has their options, and the defaults that Python has of its own."""


@pytest.mark.parametrize(("function", "request_type", "own"), FUNCTIONS)
def test_arguments_and_defaults_are_those_declared(function, request_type, own):
    taken = {one.name: one.default for one in inspect.signature(function).parameters.values()}
    taken |= {name: not taken[said] for name, said in NEGATED.items() if said in taken}
    declared = {one.name: one.default for one in options_of(request_type) if one.surface == "both"}
    assert {name: taken.get(name, "none") for name in declared} == {**declared, **own}


@pytest.mark.parametrize(("function", "request_type", "own"), FUNCTIONS)
def test_docstrings_have_the_arguments_declared(function, request_type, own):
    text = inspect.getdoc(function)
    parameters = text.partition("Parameters\n")[2].partition("\n\n")[0]
    lines = [line for line in parameters.splitlines() if line and not line.startswith(" ")]
    described = {name for line in lines for name in line.partition(" : ")[0].split(", ")}
    options = (one.name for one in options_of(request_type) if one.surface == "both")
    declared = {NEGATED.get(name, name) for name in options}
    assert declared - described == set()


def test_a_request_is_restored_as_it_was():
    """Each option that a run stores, through JSON; exact numbers stay exact."""
    given = {
        **{"input": "a.fa", "also": ("b.fa", "c.fa"), "degap": True, "mode": "local", "hsps": 2},
        **{"min_identity": parse_share("33.3333333333333333%"), "min_score": "1.50"},
        **{"max_length_ratio": parse_ratio("123456789012345.125"), "max_evalue": 0.1 + 0.2},
        **{"comp_based_stats": 0, "db_size": 10**9, "gap_open": "11", "columns": "query,target"},
        **{"threads": 3, "output": "out.paf", "quiet": True},
    }
    request = make(AlignOptions, given)
    kept = json.loads(json.dumps(stored(request)))
    assert set(kept) == set(given) - {"threads", "output", "quiet"}
    again = restored(AlignOptions, kept)
    assert again == make(AlignOptions, {name: given[name] for name in kept})


def test_options_are_spelled_as_the_user_gives_them():
    asked = make(AlignOptions, {"hsps": 2, "mode": "global"})
    with pytest.raises(UsageError, match=r"^hsps needs mode='local', but the mode is global$"):
        check(asked)
    with (
        options_are_spelled(),
        pytest.raises(UsageError, match=r"^--hsps needs --mode local, but the mode is global$"),
    ):
        check(asked)
    with options_are_spelled(), pytest.raises(UsageError, match=r"^--from 'odd': expected one of"):
        check(make(AuditOptions, {"read_as": "odd"}))
