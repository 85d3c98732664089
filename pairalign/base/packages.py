"""Packages that few commands need: loaded where they are used, and what is said without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pairalign.base.error_types import MissingPackageError

if TYPE_CHECKING:
    import pandas


@contextmanager
def needed(what: str, name: str, install: str | None = None) -> Iterator[None]:
    """Say what is missing where an import fails in a ``with`` block.

    Parameters
    ----------
    what, name : str
        What needs the package, and what that is called.
    install : str, optional
        What pip is to install; default: `name`.

    Raises
    ------
    MissingPackageError
        The package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise _missing(what, name, install or name) from error


def check_biopython(what: str) -> None:
    """Raise MissingPackageError where Biopython is not installed; `what` needs it."""
    if find_spec("Bio") is None:
        raise _missing(what, "Biopython", "biopython")


def _missing(what: str, name: str, install: str) -> MissingPackageError:
    return MissingPackageError(
        f"{what} needs {name}, which is not installed: pip install {install}"
    )


def make_frame(
    data: object, index: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Return a ``pandas.DataFrame``; MissingPackageError without pandas."""
    with needed("a DataFrame", "pandas"):
        from pandas import DataFrame
    return DataFrame(data, index, columns)
