"""What is made of a declaration: signatures are held to it, messages are spelled for the user."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

import pairalign
from pairalign.base.arguments import parse_ratio, parse_share
from pairalign.base.declaration import check, make, options_of, restored, stored
from pairalign.base.spelling import options_are_spelled
from pairalign.errors import UsageError
from pairalign.requests.align import AlignOptions, AlignRequest
from pairalign.requests.audit import AuditOptions

IN_PYTHON_OF_THE_SCORING = {"mode": None}
"""Without one, the mode is that of the scoring."""


@pytest.mark.parametrize("function", [pairalign.align, pairalign.stream])
def test_arguments_and_defaults_are_those_declared(function: Callable[..., Any]) -> None:
    taken = {one.name: one.default for one in inspect.signature(function).parameters.values()}
    declared = {one.name: one.default for one in options_of(AlignRequest) if one.surface == "both"}
    assert {name: taken.get(name, "none") for name in declared} == {
        **declared,
        **IN_PYTHON_OF_THE_SCORING,
    }


def test_a_request_is_restored_as_it_was() -> None:
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


def test_options_are_spelled_as_the_user_gives_them() -> None:
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
