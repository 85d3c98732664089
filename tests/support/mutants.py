"""Damaged copies of small real files, and what a reader may do with them: read, or refuse.

A reader passes if each mutant gives a result or a `PairalignError` within seconds::

    check_mutants(Path("in.gb").read_bytes(), lambda data: read_fasta(io.BytesIO(data)))
"""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pairalign.base.error_types import PairalignError

NUMBER = 40 if os.environ.get("HYPOTHESIS_PROFILE") == "few" else 400
SECONDS = 5
_MOST_AT_ONCE = 3
_ODD = (
    *(b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\x1a", b"\x1c", b"\xff", b"\xc3", "é".encode()),
    *(b">", b"@", b"+", b"-", b".", b"*", b"//\n", b"0", b"-1", b"99999999999999999999"),
    *(b"1e308", b"nan", b"inf", b'"', b"'", b"<", b"&", b"(", b")", b":", b";", b",", b"=", b"#"),
    *(b"\xef\xbb\xbf", b"\xf0\x9f\xa7\xac", b"A" * 3000, b"\n" * 50),
)


class TooSlow(BaseException):
    """A reader took longer than it may; no ``except Exception`` of a parser catches it."""


def mutants(data: bytes, number: int = NUMBER, seed: int = 1) -> Iterator[bytes]:
    """Yield damaged copies of a file: always the same ones of the same seed."""
    chance = random.Random(seed)
    for _ in range(number):
        mutant = data
        for _ in range(chance.randint(1, _MOST_AT_ONCE)):
            mutant = chance.choice(_DAMAGES)(mutant, chance)
        yield mutant


def check_mutants(
    data: bytes,
    read: Callable[[bytes], object],
    *,
    number: int = NUMBER,
    seed: int = 1,
    seconds: float = SECONDS,
) -> int:
    """Read mutants of a file, each within some seconds; return how many were read, not refused.

    Whatever a reader raises besides `PairalignError` fails the test, with the mutant in a note.
    """
    accepted = 0
    for index, mutant in enumerate(mutants(data, number, seed)):
        try:
            with time_limit(seconds):
                read(mutant)
            accepted += 1
        except PairalignError:
            continue
        except BaseException as error:
            shown = mutant if len(mutant) < 2000 else mutant[:1000] + b" ... " + mutant[-1000:]
            raise AssertionError(f"mutant {index} of seed {seed}: {error!r}: {shown!r}") from error
    return accepted


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in Python code that has not ended after some seconds."""

    def stop(*_: object) -> None:
        raise TooSlow(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randint(0, len(data))


def _piece(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = _place(data, chance)
    return start, min(len(data), start + chance.choice((1, 2, 8, 40, 300)))


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8) if data else 0):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut_end(data: bytes, chance: random.Random) -> bytes:
    return data[: _place(data, chance)]


def _cut_start(data: bytes, chance: random.Random) -> bytes:
    return data[_place(data, chance) :]


def _cut_out(data: bytes, chance: random.Random) -> bytes:
    start, stop = _piece(data, chance)
    return data[:start] + data[stop:]


def _duplicate(data: bytes, chance: random.Random) -> bytes:
    start, stop = _piece(data, chance)
    at = chance.choice((stop, _place(data, chance)))
    return data[:at] + data[start:stop] + data[at:]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at, found = _place(data, chance), chance.choice(_ODD)
    return data[:at] + found + data[at:]


def _replace(data: bytes, chance: random.Random) -> bytes:
    start, stop = _piece(data, chance)
    return data[:start] + chance.choice(_ODD) + data[stop:]


def _change_lines(data: bytes, chance: random.Random) -> bytes:
    """Drop, repeat or move a line, or cut it."""
    lines = data.splitlines(keepends=True) or [b""]
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.choice((0, 1, 1, 2))):
        kept = chance.choice((line, line[: _place(line, chance)] + b"\n"))
        lines.insert(chance.randint(0, len(lines)), kept)
    return b"".join(lines)


_DAMAGES = (
    *(_flip, _cut_end, _cut_start, _cut_out, _duplicate, _insert, _replace),
    *(_change_lines, _change_lines),
)
