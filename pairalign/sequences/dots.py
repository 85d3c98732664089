"""What ``.`` is in the FASTA of proteins: a gap of an alignment, or a stop, as gffread writes it.

It is a stop where the file cannot be an alignment: no sequence has ``-``, and they differ in length
or all end with ``.``. Where an alignment is said to be there (``--degap``), equal lengths, or one
sequence alone, are enough for gaps.
"""

from __future__ import annotations

import logging

from pairalign.base.byte_counts import count_bytes
from pairalign.base.error_types import shown_name
from pairalign.sequences.alphabets import PROTEIN, guess_alphabet

WHITE_SPACE = b" \t\n\v\f\r"
"""What sequences may have in them and is dropped."""

log = logging.getLogger("pairalign")


def stops_for_dots(
    bodies: list[bytes], names: list[str], source: str, *, degap: bool
) -> list[bytes]:
    """Return sequences with ``*`` for ``.`` where these are stops, else as they are.

    Parameters
    ----------
    bodies : list of bytes
        The lines of each sequence.
    source : str
        What messages call the file.
    degap : bool
        Whether the file is said to hold an alignment.
    """
    dotted = [index for index, body in enumerate(bodies) if b"." in body]
    if not dotted or not _are_stops(bodies, degap):
        return bodies
    log.warning(
        "%s: . in %s (the first is %s) is read as *, a stop as gffread writes it: this is no "
        "alignment",
        source,
        f"{len(dotted):,} record{'s' * (len(dotted) > 1)}",
        shown_name(names[dotted[0]]),
    )
    return [body.replace(b".", b"*") for body in bodies]


def _are_stops(bodies: list[bytes], degap: bool) -> bool:
    if any(b"-" in body for body in bodies):
        return False
    lengths = {len(body) - sum(map(body.count, WHITE_SPACE)) for body in bodies}
    if len(lengths) == 1 and (degap or not (len(bodies) == 1 or _all_end_with_dots(bodies))):
        return False
    return guess_alphabet(count_bytes(b"".join(bodies))) == PROTEIN


def _all_end_with_dots(bodies: list[bytes]) -> bool:
    return all(body.rstrip().endswith(b".") for body in bodies)
