"""Compile the kernels of all families ahead: ``python -m pairalign.engines.cuda.build_ahead``."""

from __future__ import annotations

import sys

from pairalign.engines.cuda.build import AHEAD_FOLDER, compile_ahead, resources
from pairalign.engines.cuda.engine import FAMILIES
from pairalign.engines.cuda.reverse_complement import SOURCE as STRAND_SOURCE
from pairalign.errors import KernelBuildError


def main() -> None:
    """Compile, drop what older sources left behind, and print registers and spills."""
    variants = [variant for family in FAMILIES.values() for variant in family().variants()]
    variants.append((STRAND_SOURCE, {}))
    current = set()
    try:
        for path, printed in compile_ahead(variants):
            current.add(path)
            print(path.name, *resources(printed), sep="\n    ", flush=True)
    except KernelBuildError as error:
        sys.exit(f"pairalign: error: {error}")
    for path in AHEAD_FOLDER.glob("*.fatbin"):
        if path not in current:
            path.unlink()


if __name__ == "__main__":
    main()
