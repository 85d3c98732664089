"""Compile the kernels of all families ahead: ``python -m pairalign.engines.cuda.build_ahead``.

``--for 90`` compiles for compute capability 9.0 alone, ``--for 80,90,ptx80`` also for 8.0 and, as
PTX, for all newer ones. What is compiled already is not compiled again.
"""

from __future__ import annotations

import argparse
import sys

from pairalign.base.error_types import KernelBuildError
from pairalign.engines.cuda.ahead_files import ALL_CODES, Codes, drop_others, parse_codes
from pairalign.engines.cuda.build import AHEAD_FOLDER, compile_ahead, resources
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.cuda.cuda_near import NearKernel
from pairalign.engines.cuda.cuda_pair_filter import SOURCE as FILTER_SOURCE
from pairalign.engines.cuda.cuda_pair_filter import SUBSEQUENCES_SOURCE
from pairalign.engines.cuda.cuda_reverse_complement import SOURCE as STRAND_SOURCE
from pairalign.engines.cuda.cuda_tcrdist import TcrKernel
from pairalign.engines.cuda.cuda_ties import SOURCE as TIES_SOURCE
from pairalign.engines.cuda.cuda_ties import VARIANTS as TIES_VARIANTS
from pairalign.engines.cuda.posterior_plan import SOURCE as POSTERIOR_SOURCE
from pairalign.engines.kernels import find_kernel
from pairalign.scoring.scoring import make_scoring


def useful_codes(source: str, codes: Codes = ALL_CODES) -> Codes:
    """Return the codes with which some family can use a source; PTX is kept.

    All of them where that depends on scores: proteins' are compiled.
    """
    scoring = make_scoring("protein")
    families = [make() for make in FAMILIES.values()]
    users = [family for family in families if source in {other for other, _ in family.variants()}]

    def is_used(architecture: int) -> bool:
        capability = divmod(architecture, 10)
        details = [(family, find_kernel(family.name, "cuda").detail) for family in users]
        return any(
            family.supports(scoring, detail, capability) is None for family, detail in details
        )

    used = [code for code in codes if code[0] == "ptx" or is_used(code[1])]
    return used if any(kind == "sm" for kind, _ in used) else codes


def main() -> None:
    """Compile, drop what older sources left behind, and print registers and spills."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--for", dest="codes", default=None, help="default: all that wheels have")
    text = parser.parse_args().codes
    try:
        codes = ALL_CODES if text is None else parse_codes(text)
    except ValueError as error:
        parser.error(str(error))
    variants = [variant for family in FAMILIES.values() for variant in family().variants()]
    others = (STRAND_SOURCE, FILTER_SOURCE, SUBSEQUENCES_SOURCE, POSTERIOR_SOURCE)
    variants += [(source, {}) for source in (*others, NearKernel.source, TcrKernel.source)]
    variants += [(TIES_SOURCE, variant) for variant in TIES_VARIANTS]
    current = []
    try:
        built = compile_ahead(variants, codes_of=lambda source: useful_codes(source, codes))
        for path, printed in built:
            current.append(path)
            print(path.name, *resources(printed), sep="\n    ", flush=True)
    except KernelBuildError as error:
        sys.exit(f"pairalign: error: {error}")
    drop_others(AHEAD_FOLDER, current)


if __name__ == "__main__":
    main()
