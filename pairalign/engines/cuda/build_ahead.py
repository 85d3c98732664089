"""Compile the kernels of all families ahead: ``python -m pairalign.engines.cuda.build_ahead``."""

from __future__ import annotations

import sys

from pairalign.engines.cuda.build import (
    AHEAD_ARCHITECTURES,
    AHEAD_FOLDER,
    compile_ahead,
    resources,
)
from pairalign.engines.cuda.engine import FAMILIES
from pairalign.engines.cuda.pair_filter import SOURCE as FILTER_SOURCE
from pairalign.engines.cuda.reverse_complement import SOURCE as STRAND_SOURCE
from pairalign.engines.kernels import find_kernel
from pairalign.errors import KernelBuildError
from pairalign.scoring import make_scoring


def architectures_of(source: str) -> list[int]:
    """Return the compute capabilities (10 x) on which some family can use a source.

    All of them where that depends on scores: proteins' are asked for.
    """
    scoring = make_scoring("protein")
    families = [make() for make in FAMILIES.values()]
    users = [one for one in families if source in {other for other, _ in one.variants()}]

    def is_used(architecture: int) -> bool:
        capability = divmod(architecture, 10)
        details = [(one, find_kernel(one.name, "cuda").detail) for one in users]
        return any(one.supports(scoring, detail, capability) is None for one, detail in details)

    used = [architecture for architecture in AHEAD_ARCHITECTURES if is_used(architecture)]
    return used or list(AHEAD_ARCHITECTURES)


def main() -> None:
    """Compile, drop what older sources left behind, and print registers and spills."""
    variants = [variant for family in FAMILIES.values() for variant in family().variants()]
    variants += [(STRAND_SOURCE, {}), (FILTER_SOURCE, {})]
    current = set()
    try:
        for path, printed in compile_ahead(variants, architectures_of=architectures_of):
            current.add(path)
            print(path.name, *resources(printed), sep="\n    ", flush=True)
    except KernelBuildError as error:
        sys.exit(f"pairalign: error: {error}")
    for path in AHEAD_FOLDER.glob("*.fatbin"):
        if path not in current:
            path.unlink()


if __name__ == "__main__":
    main()
