"""What all results have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Result:
    """A class of data with what users do with it: files, pictures, objects of other packages.

    The class of data has the same name, and knows nothing of this one. Its docstring, which says
    what the fields are, is that of both.
    """

    def __init_subclass__(cls) -> None:
        data = (base for base in cls.__mro__[1:] if base.__name__ == cls.__name__)
        cls.__doc__ = next(data).__doc__

    @classmethod
    def of(cls, data: object) -> Self:
        """Return data as a result: the same fields, neither copied nor checked again.

        Parameters
        ----------
        data : object
            Of the class of data that this one extends.

        Returns
        -------
        Result
        """
        result = object.__new__(cls)
        vars(result).update(vars(data))
        return result
