"""Dataclasses that take little time to make.

`dataclasses.dataclass` compiles up to six functions for each class, and a command has fifty such
classes: a tenth of what ``pairalign align`` takes for a small set. Here the constructor alone is
compiled; all classes share the other methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from functools import partial
    from reprlib import recursive_repr

    def dataclass(kind=None, /, *, frozen=False, eq=True, repr=True, kw_only=False):
        """Do what `dataclasses.dataclass` does; a frozen object has each value set once."""
        if kind is None:
            return partial(dataclass, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
        own, shared = vars(kind), {}
        if repr:
            shared["__repr__"] = _show
        if eq:
            if own.get("__hash__") is None:  # or Python has set it, for an own __eq__
                kind.__hash__ = _hash if frozen else None
            shared["__eq__"] = _are_equal
        if frozen:
            shared |= {"__setattr__": _set_once, "__delattr__": _refuse}
        for name in shared.keys() - own.keys():
            setattr(kind, name, shared[name])
        return dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)(kind)

    @recursive_repr()
    def _show(self):
        values = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
        return f"{type(self).__qualname__}({', '.join(values)})"

    def _are_equal(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _compared(self) == _compared(other)

    def _hash(self):
        return hash(_compared(self))

    def _compared(one):
        return tuple(getattr(one, f.name) for f in dataclasses.fields(one) if f.compare)

    def _set_once(self, name, value):
        if name in vars(self) or name not in self.__dataclass_fields__:
            _refuse(self, name)
        vars(self)[name] = value

    def _refuse(self, name):
        raise dataclasses.FrozenInstanceError(f"field {name!r} of a frozen object stays as it is")
