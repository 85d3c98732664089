"""Sets of sequences that come of a few others."""

from __future__ import annotations

import numpy as np


def families(seed: int, count: int = 24, length: int = 22, letters: str = "ACGT") -> dict[str, str]:
    """Sequences that descend from a few, some twice, some reaching further."""
    rng = np.random.default_rng(seed)
    made: dict[str, str] = {}
    ancestors = ["".join(rng.choice(list(letters), length)) for _ in range(3)]
    for k in range(count):
        body = list(ancestors[rng.integers(len(ancestors))])
        for _ in range(rng.integers(0, 6)):
            at = int(rng.integers(len(body)))
            change = rng.integers(4)
            if change == 0 and len(body) > 2:
                del body[at]
            elif change == 1:
                body.insert(at, str(rng.choice(list(letters))))
            else:
                body[at] = str(rng.choice(list(letters)))
        ancestors.append("".join(body))
        made[f"s{rng.integers(10**6)}_{k}"] = "".join(body)
    return made
