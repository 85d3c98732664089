"""Sets of sequences that come of a few others."""

import numpy as np

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


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


def small_families(count: int, seed: int, families: int = 4) -> dict[str, str]:
    """Members of families of few letters, some of them copies: many ties."""
    roots = np.random.default_rng(0).choice(list(AMINO_ACIDS), (families, 40))
    rng = np.random.default_rng(seed)
    made = {}
    for k in range(count):
        letters = roots[int(rng.integers(families))].copy()
        changed = rng.random(40) < rng.choice([0, 0.2, 0.5])
        letters[changed] = rng.choice(list(AMINO_ACIDS), int(changed.sum()))
        made[f"p{k}"] = "".join(letters[: int(rng.integers(20, 41))])
    return made
