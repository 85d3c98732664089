"""Packages that few commands need: loaded where they are used, and what is said without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from pairalign.base.error_types import MissingPackageError, PairalignError

if TYPE_CHECKING:
    import pandas

DRAWS = ("a picture", "matplotlib", "'pairalign[plot]'")
"""What is said where pictures cannot be drawn; see `needed`."""


@contextmanager
def needed(
    what: str,
    name: str,
    install: str | None = None,
    kind: type[PairalignError] = MissingPackageError,
) -> Iterator[None]:
    """Say what is missing where an import fails in a ``with`` block.

    Parameters
    ----------
    what, name : str
        What needs the package, and what that is called.
    install : str, optional
        What pip is to install; default: `name`.
    kind : type
        Of the error that is raised where the package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise kind(
            f"{what} needs {name}, which is not installed: pip install {install or name}"
        ) from error


def check_biopython(what: str) -> None:
    """Raise MissingPackageError where Biopython is not installed; `what` needs it."""
    check_package("Bio", what, "Biopython", "biopython")


def check_package(
    module: str,
    what: str,
    name: str,
    install: str,
    kind: type[PairalignError] = MissingPackageError,
) -> None:
    """Raise an error where a module cannot be imported; as for `needed`."""
    with needed(what, name, install, kind):
        import_module(module)


def make_frame(
    data: object, index: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Return a ``pandas.DataFrame``; MissingPackageError without pandas."""
    with needed("a DataFrame", "pandas"):
        from pandas import DataFrame
    return DataFrame(data, index, columns)
