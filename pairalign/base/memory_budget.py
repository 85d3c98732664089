"""Whether memory is left: asked before code that fails without saying that there is none.

Libraries that are loaded, and OpenBLAS at its first product, end the process or raise anything.
"""

from __future__ import annotations

import mmap

from pairalign.base.error_types import out_of_memory


def has_room(size: int) -> bool:
    """Whether the process may map `size` bytes more; they are not used."""
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, MemoryError):
        return False
    return True


def check_room(size: int) -> None:
    """Raise MemoryError unless the process may map `size` bytes more."""
    if not has_room(size):
        raise MemoryError(out_of_memory())
