"""Where a user's results are kept that take long to compute: kernels, statistics."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder: ``$PAIRALIGN_CACHE``, or ``pairalign`` in the user's cache."""
    chosen = os.environ.get("PAIRALIGN_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pairalign"
