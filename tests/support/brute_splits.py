"""The identities of all pairs of a set, one pair at a time."""

from fractions import Fraction

from identity_words import identity_in_words

import pairalign


def brute_identities(
    given: dict[str, str], mode: str, identity_of: str
) -> dict[frozenset[str], Fraction]:
    every = pairalign.align(given, mode=mode, device="cpu")
    return {
        frozenset((pair.query.name, pair.target.name)): identity_in_words(pair, identity_of)
        for pair in every
    }
