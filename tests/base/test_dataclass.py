"""Our dataclasses beside those of Python."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from pairalign.base.dataclass import dataclass


def make(decorator: Any, **options: Any) -> Any:
    class Kind:
        name: str
        size: int = 3
        hidden: list[int] = dataclasses.field(default_factory=list, repr=False, compare=False)

    return decorator(**options)(Kind)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"frozen": True},
    {"eq": False},
    {"frozen": True, "eq": False, "repr": False},
    {"frozen": True, "kw_only": True},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_objects_are_compared_hashed_and_copied_as_those_of_python(options: Any) -> None:
    found = []
    for decorator in (dataclass, dataclasses.dataclass):
        kind = make(decorator, **options)
        one, same, other = kind(name="a"), kind(name="a", hidden=[1]), kind(name="a", size=4)
        is_hashed = kind.__hash__ is not None
        found.append(
            (
                [one == same, one == other, one == ("a", 3), one == one],
                is_hashed and [hash(one) == hash(same), hash(one) == hash(one)],
                options.get("repr", True) and [repr(one), repr(other)],
                vars(copy.copy(other)),
                vars(dataclasses.replace(other, name="b")),
                dataclasses.astuple(other),
            )
        )
    assert found[0] == found[1]


def test_a_frozen_object_stays_as_it_is() -> None:
    one = make(dataclass, frozen=True)(name="a")
    for name in ("name", "size", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.name
    assert one.name == "a"


@dataclass(frozen=True)
class _Kept:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.name.lower() == self.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


def test_own_methods_stay_and_objects_are_pickled() -> None:
    assert _Kept("A") == _Kept("a")
    assert hash(_Kept("A")) == hash(_Kept("a"))
    assert pickle.loads(pickle.dumps(_Kept("A"))).name == "A"
