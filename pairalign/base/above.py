"""What results do with modules above theirs: they are found by name, and loaded when used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def above(place: str) -> Any:
    """Return what ``module:name`` means, the module counted from the package."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"pairalign.{module}"), name)
