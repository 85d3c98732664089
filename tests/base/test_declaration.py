"""What is made of a declaration: signatures are held to it, messages are spelled for the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import pairalign
from pairalign.base.declaration import check, make, options_of
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
