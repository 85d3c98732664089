"""A mapping whose values are found when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

_Value = TypeVar("_Value")


class LazyDict(Mapping[str, _Value]):
    """Names and what they stand for, each found once, when it is first looked up.

    Parameters
    ----------
    find : callable
        Returns what a name stands for.
    """

    def __init__(self, names: Iterable[str], find: Callable[[str], _Value]) -> None:
        self._names = tuple(names)
        self._find = find
        self._found: dict[str, _Value] = {}

    def __getitem__(self, name: str) -> _Value:
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            self._found[name] = self._find(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # finds nothing

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
