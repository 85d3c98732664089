"""Parts of a result in a folder: each a file and a manifest, made by whoever and in any order.

``part-03-of-64.paf`` are the bytes that the third of 64 parts adds to the whole file, in pieces:
the first part has its header, the last its footer. ``part-03-of-64.json``, its manifest, comes when
the part is complete: which run it belongs to, how many bytes it has, their checksum, and where its
pieces are. Before that there is a manifest of another name, ``.part-03-of-64.begun``, so a part
without either is never pairalign's.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pairalign.base.checksum import add_to_checksum, measure_file, read_blocks, read_range
from pairalign.base.error_types import OutputError, PartsError, error_by_cause
from pairalign.base.spelling import spelled
from pairalign.formats.output import open_output
from pairalign.formats.schemas import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    SUMMARY_LEFT,
    SchemaError,
    check_object,
    read_object,
)

_log = logging.getLogger("pairalign")
_MANIFEST = re.compile(r"part-\d+-of-\d+\.json")
_SHOWN_DIFFERENCES = 6


@dataclass(frozen=True)
class Manifest:
    """What is known of a complete part.

    Attributes
    ----------
    run : dict
        What decides the bytes of the whole: the same in all parts.
    shard, shards : int
        Which part of how many, counted from 1.
    start, pairs : int
        Pairs of the pair matrix that come before its first one, and that it covers.
    bytes : int
        Size of the part.
    checksum : str
        CRC-32 of the part, in hexadecimal.
    number, shown : int
        Number of its first pair as it was written, and how many pairs it has; of formats that
        number them.
    command : list of str
        The arguments of the program that wrote it.
    request : dict
        What was asked of the run, see `pairalign.base.declaration.stored`.
    pieces : list of list of int
        Of a part whose pairs do not all follow one another, for each piece: pairs that come before
        it, pairs that it covers, where it ends in the file, and the number of the pair after it.
    summary : dict
        What `pairalign.jobs.commands.summary` has to know of its results.
    """

    run: dict[str, Any]
    format: str
    shard: int
    shards: int
    start: int
    pairs: int
    bytes: int
    checksum: str
    number: int = 1
    shown: int = 0
    command: list[str] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    pieces: list[list[int]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)

    def write(self, path: str) -> None:
        """Write it: `manifest_path` says that the part is complete, `begun_path` that it is begun.

        With the latter all that follows `shards` and is not the command says nothing yet.
        """
        text = json.dumps(asdict(self), indent=1) + "\n"
        with open_output(path) as output:
            output.write(text.encode())


class Rows(NamedTuple):
    """Some rows of a table in a file: from one up to another."""

    data: memoryview
    start: int
    stop: int


class PartPiece(NamedTuple):
    """Pairs of a part that follow one another.

    Attributes
    ----------
    path : str
        The part.
    start, pairs : int
        Pairs of the pair matrix that come before it, and that it covers.
    first, last : int
        Bytes of the part: from one up to another.
    number, next : int
        Numbers of its first pair, and of the one after it, as they were written.
    """

    path: str
    start: int
    pairs: int
    first: int
    last: int
    number: int
    next: int


def pieces_of(path: str, manifest: Manifest) -> list[PartPiece]:
    """Return the pieces of a part, in its order."""
    end = manifest.number + manifest.shown
    whole = [[manifest.start, manifest.pairs, manifest.bytes, end]] if manifest.pairs else []
    pieces: list[PartPiece] = []
    first, number = 0, manifest.number
    for start, pairs, last, after in manifest.pieces or whole:
        pieces.append(PartPiece(path, start, pairs, first, last, number, after))
        first, number = last, after
    return pieces


def part_path(folder: str, shard: int, shards: int, suffix: str) -> str:
    """Return where a part goes: ``part-03-of-64.paf``."""
    width = len(str(shards))
    return os.path.join(folder, f"part-{shard:0{width}}-of-{shards}{suffix}")


def manifest_path(folder: str, shard: int, shards: int) -> str:
    """Return where the manifest of a part goes."""
    return part_path(folder, shard, shards, ".json")


def begun_path(folder: str, shard: int, shards: int) -> str:
    """Return where the manifest goes of a part that is not complete."""
    return _hidden(part_path(folder, shard, shards, ".begun"))


def _hidden(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}")


def prepare_folder(folder: str) -> None:
    """Make a folder where there is none yet; OutputError if that cannot be."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if os.path.isfile(folder) else error.strerror
        raise OutputError(f"cannot use '{folder}' as a folder: {reason}") from error


def read_manifests(folder: str) -> list[Manifest]:
    """Read the manifests of a folder, in the order of their parts.

    Of one run that was cut into several numbers of parts, whose results are the same, those of the
    smallest number that is complete; a warning names the first of the others.

    Raises
    ------
    PartsError
        There is none, one is damaged, or they are not of one run; the message says what differs.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if _MANIFEST.fullmatch(name))
    except OSError as error:
        reason = f"'{folder}': {error.strerror}, expected a folder of parts"
        raise error_by_cause(PartsError, reason, error) from error
    if not names:
        raise PartsError(f"'{folder}': there is no part (part-1-of-N.json) in it")
    manifests = [read_manifest(os.path.join(folder, name)) for name in names]
    manifests, names = _without_left_over(folder, manifests, names)
    for name, manifest in zip(names, manifests, strict=True):
        _check_same(folder, names[0], manifests[0], name, manifest)
    return sorted(manifests, key=lambda manifest: manifest.shard)


def _without_left_over(
    folder: str, manifests: list[Manifest], names: list[str]
) -> tuple[list[Manifest], list[str]]:
    """Leave out parts of another number of parts of the same run; say which."""
    present = Counter(manifest.shards for manifest in manifests)
    complete = [shards for shards, count in present.items() if count == shards]
    if (
        len(present) == 1
        or not complete
        or any(manifest.run != manifests[0].run for manifest in manifests)
    ):
        return manifests, names
    chosen = min(complete)
    others = [
        name for name, manifest in zip(names, manifests, strict=True) if manifest.shards != chosen
    ]
    _log.warning(
        "'%s': its %s parts are taken; left over is what the same run was cut into otherwise: %s",
        folder,
        f"{chosen:,}",
        f"{others[0]}{f' and {len(others) - 1:,} more' if len(others) > 1 else ''}",
    )
    kept = [k for k, manifest in enumerate(manifests) if manifest.shards == chosen]
    return [manifests[k] for k in kept], [names[k] for k in kept]


def read_manifest(path: str) -> Manifest:
    """Read a manifest; PartsError if it cannot be read or is damaged."""
    try:
        manifest = Manifest(**read_object(_read_small(path), MANIFEST))
        where = (os.path.dirname(path), manifest.shard, manifest.shards)
        is_expected = path in (manifest_path(*where), begun_path(*where))
        if not is_expected or manifest.shard > manifest.shards:
            raise SchemaError(f"it is that of part {manifest.shard} of {manifest.shards}")
        if manifest.summary:
            check_object(manifest.summary, SUMMARY_LEFT)
    except OSError as error:
        raise PartsError(f"'{path}': {error.strerror}") from error
    except SchemaError as error:
        raise PartsError(
            f"'{path}' is damaged ({error}): delete it and make its part again"
        ) from error
    return manifest


def _read_small(path: str) -> bytes:
    """Read a manifest; SchemaError if it is no file or larger than any manifest."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SchemaError("it is no regular file")
        text = file.read(MOST_MANIFEST_BYTES + 1)
    if len(text) > MOST_MANIFEST_BYTES:
        raise SchemaError("it is too large")
    return text


def _check_same(folder: str, first: str, manifest: Manifest, second: str, other: Manifest) -> None:
    differences = find_differences(
        {**manifest.run, "format": manifest.format, "parts": manifest.shards},
        {**other.run, "format": other.format, "parts": other.shards},
    )
    if differences:
        raise PartsError(
            f"'{folder}': {first} and {second} are not of the same run; "
            + "; ".join(differences[:_SHOWN_DIFFERENCES])
        )


def find_differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Say in which values two descriptions of runs differ: ``scoring.gap_open: 11 and 12``."""
    flat, others = (_flatten(*two) for two in ((one, other), (other, one)))
    missing = "nothing"
    return [
        f"{key}: {flat.get(key, missing)} and {others.get(key, missing)}"
        for key in sorted({*flat, *others})
        if flat.get(key, missing) != others.get(key, missing)
    ]


def _flatten(described: Any, other: Any, name: str = "") -> dict[str, Any]:
    """Return values by their names; what the other has not at all is only ``given``."""
    if not isinstance(described, dict):
        return {name: described}
    if not isinstance(other, dict):
        return {name: "given"}
    values: dict[str, Any] = {}
    for key, value in described.items():
        values.update(_flatten(value, other.get(key), f"{name}.{key}" if name else key))
    return values


def missing_shards(manifests: Sequence[Manifest]) -> list[int]:
    """Return the numbers of the parts that are not there; a manifest says a million at most."""
    there = {manifest.shard for manifest in manifests}
    return [shard for shard in range(1, manifests[0].shards + 1) if shard not in there]


def describe_shards(shards: Sequence[int]) -> str:
    """Shorten numbers as Slurm's ``--array`` takes them: ``3,17-20``."""
    runs: list[list[int]] = []
    for shard in shards:
        if runs and shard == runs[-1][1] + 1:
            runs[-1][1] = shard
        else:
            runs.append([shard, shard])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def checksum_of(path: str) -> tuple[int, str]:
    """Return the size of a file and its CRC-32, in hexadecimal."""
    size, checksum = measure_file(path)
    return size, f"{checksum:08x}"


def is_complete(folder: str, manifest: Manifest, suffix: str) -> bool:
    """Whether the part of a manifest is there as it was written."""
    try:
        size_and_checksum = checksum_of(part_path(folder, manifest.shard, manifest.shards, suffix))
    except OSError:
        return False
    return size_and_checksum == (manifest.bytes, manifest.checksum)


def check_parts(folder: str, manifests: Sequence[Manifest], suffix: str) -> None:
    """Raise PartsError unless all parts are there, meet, and have the size that they should.

    What they hold is checked when it is copied.
    """
    missing = missing_shards(manifests)
    if missing:
        raise PartsError(
            f"'{folder}': {len(missing):,} of {manifests[0].shards:,} parts are missing: "
            f"{describe_shards(missing)}; {spelled('plan')} says how to make them"
        )
    end = 0
    paths = [part_path(folder, manifest.shard, manifest.shards, suffix) for manifest in manifests]
    pieces = map(pieces_of, paths, manifests)
    for piece in sorted(itertools.chain(*pieces), key=lambda piece: piece.start):
        if piece.start != end:
            raise PartsError(
                f"'{piece.path}' has pairs from {piece.start + 1:,} on, and what comes before them "
                f"ends with pair {end:,}: another version has cut it; make it again"
            )
        end += piece.pairs
    for manifest in manifests:
        path = part_path(folder, manifest.shard, manifest.shards, suffix)
        try:
            size = os.path.getsize(path)
        except OSError as error:
            raise PartsError(f"'{path}': {error.strerror}; make it again") from error
        if size != manifest.bytes:
            raise PartsError(_damaged(path, f"{size:,} bytes, expected {manifest.bytes:,}"))


def ordered_pieces(parts: Sequence[tuple[str, Manifest]]) -> list[PartPiece]:
    """Return what parts hold in the order of output: their pieces, and what has no pairs.

    Parts of several pieces are read, and checked, here: each piece alone has no checksum.

    Parameters
    ----------
    parts : sequence of (str, Manifest)
        All of a whole, in the order of their numbers; each with its path.

    Raises
    ------
    PartsError
        A part is not what was written.
    """
    pieces: list[PartPiece] = []
    begins: list[PartPiece] = []
    ends: list[PartPiece] = []
    for path, manifest in parts:
        part_pieces = pieces_of(path, manifest)
        if len(part_pieces) > 1:
            for _ in checked_blocks(path, manifest):
                pass
        if not part_pieces and manifest.bytes:
            number = manifest.number
            empty = PartPiece(path, 0, 0, 0, manifest.bytes, number, number)
            (begins if manifest.shard == 1 else ends).append(empty)
        pieces += part_pieces
    return [*begins, *sorted(pieces, key=lambda piece: piece.start), *ends]


def piece_blocks(piece: PartPiece, manifest: Manifest) -> Iterator[bytes]:
    """Read a piece; PartsError in the end if it is a whole part that is not what was written."""
    if (piece.first, piece.last) == (0, manifest.bytes):
        return checked_blocks(piece.path, manifest)
    return read_range(piece.path, piece.first, piece.last)


def checked_blocks(path: str, manifest: Manifest) -> Iterator[bytes]:
    """Read a part; PartsError in the end if it is not what was written."""
    size, checksum = 0, 0
    for block in read_blocks(path):
        size += len(block)
        checksum = add_to_checksum(checksum, block)
        yield block
    if (size, f"{checksum:08x}") != (manifest.bytes, manifest.checksum):
        raise PartsError(_damaged(path, "its checksum is another"))


def _damaged(path: str, reason: str) -> str:
    return f"'{path}' is not what was written ({reason}): delete it and its .json and make it again"
